// Part of single_notify and multi_notify: trees of ranks as data. The parameter `tree=` names a shape: `binary`,
// `binomial`, `chain`, `flat`, or `kary` with `k=` children per node. `parents=` lists any other tree: `0.0.1` has the
// parents of the ranks 1, 2 and 3, counted from the root.
// Rank order: the ranks of a subtree are consecutive, counted from the root: first its top, then its children's
// subtrees one after the other.
// Cost: O(depth) per rank, O(1) for chains, O(p) for lists. Source: Lapillonne & Peltekov 2013 ("arbitrary trees, given
// on input").
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

inline constexpr Count most_children_of_kary = 64;
inline constexpr std::size_t most_listed_ranks = 1024;  // limits the time and the depth of searches in lists

/// The ranks of a subtree: `ranks` ranks from `top` on, counted from the root.
struct Subtree {
  Rank top = 0;
  Rank ranks = 1;
};

/// A tree of ranks: how the ranks of a subtree are distributed to the children of its top. In named shapes smaller
/// subtrees come first, since they finish first.
class RankTree {
 public:
  /// Makes the tree that the parameters name, or the binary tree. Throws std::invalid_argument, as `parse` does.
  explicit RankTree(const Spec* spec) : arity_(arity_of(spec)), parents_(parents_of(spec)) {}

  /// Returns the number of ranks of a listed tree, or 0: a named shape has any number.
  Rank listed_ranks() const { return static_cast<Rank>(parents_.size()); }

  /// Returns the number of children of the top of a subtree.
  Rank children(Subtree tree) const {
    if (!parents_.empty()) return static_cast<Rank>(std::ranges::count(ranks_below(tree), tree.top));
    if (arity_ == binomial) return order::ceil_log2(static_cast<Count>(tree.ranks));
    return std::min(arity_, tree.ranks - 1);
  }
  Subtree child(Subtree tree, Rank i) const {
    if (!parents_.empty()) return listed_child(tree, i);
    if (arity_ == binomial) return {tree.top + (Rank{1} << i), std::min(Rank{1} << i, tree.ranks - (Rank{1} << i))};
    const RankShares shares(tree.ranks, children(tree));
    const Rank larger = std::max(i - shares.small, 0);  // number of larger subtrees before child i
    return {tree.top + 1 + i * shares.least + larger, shares.least + (i < shares.small ? 0 : 1)};
  }
  /// Returns the number of the child whose subtree contains a rank below the top.
  Rank child_at(Subtree tree, Rank rank) const {
    const Rank offset = rank - tree.top;
    if (!parents_.empty())
      return static_cast<Rank>(std::ranges::count(ranks_below({tree.top, offset + 1}), tree.top)) - 1;
    if (arity_ == binomial) return order::floor_log2(static_cast<Count>(offset));
    const RankShares shares(tree.ranks, children(tree));
    const Rank in_small = shares.small * shares.least;
    if (offset <= in_small) return (offset - 1) / shares.least;
    return shares.small + (offset - 1 - in_small) / (shares.least + 1);
  }
  bool is_chain() const { return arity_ == 1; }

  /// Returns the number of rounds until the top of `ranks` ranks has received all partials, child by child. In named
  /// shapes one more rank takes at most one more round. So when the top has received the smaller subtrees, the next
  /// larger one is done.
  Count rounds_up(Count ranks) const {
    if (!parents_.empty()) return listed_rounds_up({0, listed_ranks()});
    if (arity_ == binomial) return static_cast<Count>(order::ceil_log2(ranks));
    if (is_chain()) return ranks - 1;
    const auto most = static_cast<Count>(arity_);
    Count rounds = 0;
    for (; ranks > most; ranks = (ranks - 1) / most) rounds += most;
    return rounds + ranks - 1;
  }
  /// Returns the number of rounds until all ranks have the value: in named shapes as many as on the way up.
  Count rounds_down(Count ranks) const {
    return parents_.empty() ? rounds_up(ranks) : listed_rounds_down({0, listed_ranks()});
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

  /// Returns the parents of the ranks below the top.
  std::span<const Rank> ranks_below(Subtree tree) const {
    return std::span(parents_).subspan(static_cast<std::size_t>(tree.top) + 1,
                                       static_cast<std::size_t>(tree.ranks) - 1);
  }

  Subtree listed_child(Subtree tree, Rank i) const {
    const std::span<const Rank> below = ranks_below(tree);
    auto at = std::ranges::find(below, tree.top);
    for (; i > 0; --i) at = std::find(at + 1, below.end(), tree.top);
    const auto next = std::find(at + 1, below.end(), tree.top);
    return {tree.top + 1 + static_cast<Rank>(at - below.begin()), static_cast<Rank>(next - at)};
  }
  Count listed_rounds_up(Subtree tree) const {
    Count rounds = 0;
    for (Rank i = 0; i < children(tree); ++i) rounds = std::max(rounds, listed_rounds_up(child(tree, i))) + 1;
    return rounds;
  }
  /// The value leaves to the last child first.
  Count listed_rounds_down(Subtree tree) const {
    Count rounds = 0;
    const Rank last = children(tree) - 1;
    for (Rank i = last; i >= 0; --i)
      rounds = std::max(rounds, static_cast<Count>(last - i) + 1 + listed_rounds_down(child(tree, i)));
    return rounds;
  }

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

  /// Returns the listed parents, with -1 for the root; nothing for a named shape.
  static std::vector<Rank> parents_of(const Spec* spec) {
    const Spec::Parameter* const list = spec == nullptr ? nullptr : spec->parameter("parents");
    if (list == nullptr) return {};
    if (spec->parameter("tree") != nullptr)
      refuse_value(*spec, "parents", "parameter 'tree' names another tree", "leave out one of the two");
    std::vector<Rank> parents = {-1};
    std::vector<Rank> path = {0};  // the last rank and those above it
    const char* const end = list->value.data() + list->value.size();
    for (const char* at = list->value.data(); at < end; ++at) {
      Rank parent = -1;
      const auto [stop, error] = std::from_chars(at, end, parent);
      while (!path.empty() && path.back() != parent) path.pop_back();
      if (parents.size() == most_listed_ranks)
        refuse_value(*spec, "parents", "a list has at most " + std::to_string(most_listed_ranks) + " ranks",
                     "name a shape with parameter 'tree'");
      if (error != std::errc() || path.empty() || (stop != end && (*stop != '.' || stop + 1 == end)))
        refuse_value(
            *spec, "parents",
            "the parent of rank " + std::to_string(parents.size()) + " is not the rank before it or above that",
            "write the parents of the ranks 1, 2, ... with dots between them, as in 0.0.1");
      path.push_back(static_cast<Rank>(parents.size()));
      parents.push_back(parent);
      at = stop;
    }
    return parents;
  }

  Rank arity_;
  std::vector<Rank> parents_;
};

/// The position of a rank in the tree.
struct TreePosition {
  Subtree subtree;   // of which the rank is the top
  Rank parent = -1;  // -1 for the root
  Rank number = 0;   // its number among its parent's children

  TreePosition(const RankTree& tree, Rank rank_count, Rank rank) : subtree{0, rank_count} {
    if (tree.is_chain() && rank > 0) subtree = {rank - 1, rank_count - (rank - 1)};
    while (subtree.top < rank) {
      number = tree.child_at(subtree, rank);
      parent = subtree.top;
      subtree = tree.child(subtree, number);
    }
  }
};

}  // namespace steadfold::schedule
