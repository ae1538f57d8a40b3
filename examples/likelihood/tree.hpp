// The unrooted binary tree of a phylogeny: tips 0..taxa-1, inner nodes above them, a length on every branch, and the
// nearest-neighbour interchange (NNI) with which tree searches move.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace likelihood {

inline constexpr int taxon_count = 12;
inline constexpr int node_count = 2 * taxon_count - 2;
inline constexpr int branch_count = 2 * taxon_count - 3;

struct Branch {
  int upper, lower;  // nodes; in the true tree the upper one is nearer to its root
  double length;     // expected substitutions per site
};

class Tree {
 public:
  explicit Tree(std::span<const Branch, branch_count> branches);

  const Branch& branch(int index) const { return branches_[static_cast<std::size_t>(index)]; }
  void set_length(int index, double length) { branches_[static_cast<std::size_t>(index)].length = length; }
  bool is_internal(int index) const;

  /// The other branches at an end of a branch: two at an inner node, none at a tip.
  std::vector<int> others(int branch, int node) const;
  int across(int branch, int node) const;

  /// Swaps a subtree at one end of an internal branch with one at the other: the two choices, 0 and 1, and the tree as
  /// it is are the three ways to join the four subtrees around that branch.
  void interchange(int branch, int choice);

 private:
  std::array<Branch, branch_count> branches_;
};

/// The tree along which the alignment is simulated; branches in an order that visits every node before those below it.
std::span<const Branch, branch_count> true_branches();
inline constexpr int true_root = node_count - 1;

/// Where a search starts: all lengths equal, and a few interchanges away from the true tree.
Tree starting_tree();

}  // namespace likelihood
