// Part of single_notify and multi_notify: trees of ranks as data. The parameter `tree=` names a shape: `binary`,
// `binomial`, `chain`, `flat`, or `kary` with `k=` children per node.
// Rank order: the ranks of a subtree are consecutive, counted from the root: first its top, then its children's
// subtrees one after the other.
// Cost: O(depth) per rank, O(1) for chains. Source: Lapillonne & Peltekov 2013 ("arbitrary trees, given on input").
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

inline constexpr Count most_children_of_kary = 64;

/// A tree of ranks: how the ranks of a subtree are distributed to the children of its top. Smaller subtrees come first,
/// since they finish first.
class RankTree {
 public:
  /// A child's subtree: the distance of its top from its parent, and its number of ranks.
  struct Child {
    Rank offset;
    Rank ranks;
  };

  /// Makes the tree that the parameters name, or the binary tree. Throws std::invalid_argument, as `parse` does.
  explicit RankTree(const Spec* spec) : arity_(arity_of(spec)) {}

  /// Returns the number of children of the top of a subtree of `ranks` ranks.
  Rank children(Rank ranks) const {
    if (arity_ == binomial) return order::ceil_log2(static_cast<Count>(ranks));
    return std::min(arity_, ranks - 1);
  }
  Child child(Rank ranks, Rank i) const {
    if (arity_ == binomial) return {Rank{1} << i, std::min(Rank{1} << i, ranks - (Rank{1} << i))};
    const RankShares shares(ranks, children(ranks));
    const Rank larger = std::max(i - shares.small, 0);  // number of larger subtrees before child i
    return {1 + i * shares.least + larger, shares.least + (i < shares.small ? 0 : 1)};
  }
  /// Returns the number of the child whose subtree contains the rank at `offset` from the top.
  Rank child_at(Rank ranks, Rank offset) const {
    if (arity_ == binomial) return order::floor_log2(static_cast<Count>(offset));
    const RankShares shares(ranks, children(ranks));
    const Rank in_small = shares.small * shares.least;
    if (offset <= in_small) return (offset - 1) / shares.least;
    return shares.small + (offset - 1 - in_small) / (shares.least + 1);
  }
  bool is_chain() const { return arity_ == 1; }

  /// Returns the number of rounds until the top of `ranks` ranks has received all partials, child by child. Values need
  /// as many rounds on the way back. One more rank takes at most one more round. So when the top has received the
  /// smaller subtrees, the next larger one is done.
  Count rounds(Count ranks) const {
    if (arity_ == binomial) return static_cast<Count>(order::ceil_log2(ranks));
    if (is_chain()) return ranks - 1;
    const auto most = static_cast<Count>(arity_);
    Count rounds = 0;
    for (; ranks > most; ranks = (ranks - 1) / most) rounds += most;
    return rounds + ranks - 1;
  }

 private:
  static constexpr Rank binomial = 0;  // value of arity_ for the binomial tree

  /// How many ranks below a top each child gets: `least` ranks for each of the first `small` children, one more for
  /// each of the others.
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
      refuse_value(*spec, "k", "only tree=kary has this parameter", "leave out parameter k");
    if (tree == nullptr) return 2;
    const auto found = std::ranges::find(named, std::string_view(tree->value), &NamedArity::name);
    if (found == named.end() || !tree->nested.empty())
      refuse_value(*spec, "tree", "no tree has this name", "choose binary, binomial, chain, flat or kary");
    return found->arity;
  }

  Rank arity_;
};

/// The place of a rank in the tree.
struct TreePlace {
  Rank behind_root = 0;  // position of the rank, counted from the root
  Rank ranks = 1;        // number of ranks in its subtree
  Rank parent = -1;      // position of the parent; -1 for the root
  Rank number = 0;       // its number among its parent's children

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
