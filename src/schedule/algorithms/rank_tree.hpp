// Part of single_notify and multi_notify: trees of ranks as data. The parameter `tree=` names a shape: `binary`,
// `binomial`, `chain`, `flat`, or `kary` with `k=` children per node.
// Rank order: a subtree's ranks stand in a row behind its top, its children's subtrees one after the other, all counted
// from the root on. Cost: O(depth) per rank, O(1) for chains. Source: [S2] ("arbitrary trees, given on input").
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

inline constexpr Count most_children_of_kary = 64;

/// How the ranks of a subtree are dealt to the children of its top. Smaller subtrees come first: they are done first.
class RankTree {
 public:
  /// A child's subtree: how far its top stands behind that of its parent, and how many ranks it has.
  struct Child {
    Rank offset;
    Rank ranks;
  };

  /// As the parameters say, or binary. Throws as `parse`.
  explicit RankTree(const Spec* spec) : arity_(arity_of(spec)) {}

  /// How many children the top of a subtree of so many ranks has.
  Rank children(Rank ranks) const {
    if (arity_ == binomial) return order::ceil_log2(static_cast<Count>(ranks));
    return std::min(arity_, ranks - 1);
  }
  Child child(Rank ranks, Rank i) const {
    if (arity_ == binomial) return {Rank{1} << i, std::min(Rank{1} << i, ranks - (Rank{1} << i))};
    const RankShares shares(ranks, children(ranks));
    const Rank larger = std::max(i - shares.small, 0);  // before this one
    return {1 + i * shares.least + larger, shares.least + (i < shares.small ? 0 : 1)};
  }
  /// Which child's subtree the rank so far behind the top is in.
  Rank child_at(Rank ranks, Rank offset) const {
    if (arity_ == binomial) return order::floor_log2(static_cast<Count>(offset));
    const RankShares shares(ranks, children(ranks));
    const Rank in_small = shares.small * shares.least;
    if (offset <= in_small) return (offset - 1) / shares.least;
    return shares.small + (offset - 1 - in_small) / (shares.least + 1);
  }
  bool is_chain() const { return arity_ == 1; }

  /// Rounds until the top of so many ranks has all their partials, taking in its children one after the other; as many
  /// bring it back to all of them. One rank more takes one round more at most, so a larger subtree is done when the
  /// smaller ones have been taken in.
  Count rounds(Count ranks) const {
    if (arity_ == binomial) return static_cast<Count>(order::ceil_log2(ranks));
    if (is_chain()) return ranks - 1;
    const auto most = static_cast<Count>(arity_);
    Count rounds = 0;
    for (; ranks > most; ranks = (ranks - 1) / most) rounds += most;
    return rounds + ranks - 1;
  }

 private:
  static constexpr Rank binomial = 0;  // in place of the most children of a node

  /// The ranks behind a top, dealt to its children: to the first `small` of them `least` each, to the others one more.
  struct RankShares {
    Rank least;
    Rank small;

    RankShares(Rank ranks, Rank children) : least((ranks - 1) / children), small(children - (ranks - 1) % children) {}
  };

  static Rank arity_of(const Spec* spec) {
    struct NamedArity {
      std::string_view name;
      Rank arity;
    };
    constexpr std::array named = {NamedArity{"binary", 2}, NamedArity{"binomial", binomial}, NamedArity{"chain", 1},
                                  NamedArity{"flat", std::numeric_limits<Rank>::max()}};
    const Spec::Parameter* const tree = spec == nullptr ? nullptr : spec->parameter("tree");
    const bool is_kary = tree != nullptr && tree->value == "kary";
    if (is_kary) return static_cast<Rank>(number_of(*spec, "k", 4, 2, most_children_of_kary));
    if (spec != nullptr && spec->parameter("k") != nullptr)
      refuse_value(*spec, "k", "only tree=kary has it", "leave it out");
    if (tree == nullptr) return 2;
    const auto found = std::ranges::find(named, std::string_view(tree->value), &NamedArity::name);
    if (found == named.end() || !tree->nested.empty())
      refuse_value(*spec, "tree", "no tree has that name", "take binary, binomial, chain, flat or kary");
    return found->arity;
  }

  Rank arity_;
};

/// Where a rank stands in the tree.
struct TreePlace {
  Rank behind_root = 0;  // ranks from the root on
  Rank ranks = 1;        // of its subtree
  Rank parent = -1;      // behind the root; -1: it is the root
  Rank number = 0;       // among its parent's children

  TreePlace(const RankTree& tree, Rank rank_count, Rank behind) : ranks(rank_count) {
    if (tree.is_chain() && behind > 0) behind_root = behind - 1, ranks -= behind - 1;
    while (behind_root < behind) {
      number = tree.child_at(ranks, behind - behind_root);
      const RankTree::Child child = tree.child(ranks, number);
      parent = behind_root;
      behind_root += child.offset;
      ranks = child.ranks;
    }
  }
};

}  // namespace steadfold::schedule
