// The tree and its interchanges; see tree.hpp.
#include "tree.hpp"

#include <algorithm>

namespace likelihood {
namespace {

constexpr std::array<Branch, branch_count> branches_of_the_true_tree = {{
    {21, 18, 0.031}, {21, 19, 0.058}, {21, 20, 0.047}, {18, 12, 0.022}, {18, 13, 0.064}, {19, 14, 0.039},
    {19, 15, 0.017}, {20, 16, 0.052}, {20, 17, 0.028}, {12, 0, 0.113},  {12, 1, 0.087},  {13, 2, 0.154},
    {13, 3, 0.069},  {14, 4, 0.201},  {14, 5, 0.095},  {15, 6, 0.132},  {15, 7, 0.178},  {16, 8, 0.076},
    {16, 9, 0.145},  {17, 10, 0.241}, {17, 11, 0.108},
}};

void replace_end(Branch& branch, int old_node, int new_node) {
  (branch.upper == old_node ? branch.upper : branch.lower) = new_node;
}

}  // namespace

Tree::Tree(std::span<const Branch, branch_count> branches) {
  std::copy(branches.begin(), branches.end(), branches_.begin());
}

bool Tree::is_internal(int index) const {
  return branch(index).upper >= taxon_count && branch(index).lower >= taxon_count;
}

std::vector<int> Tree::others(int branch_index, int node) const {
  std::vector<int> found;
  for (int i = 0; i < branch_count; ++i)
    if (i != branch_index && (branch(i).upper == node || branch(i).lower == node)) found.push_back(i);
  return found;
}

int Tree::across(int index, int node) const {
  return branch(index).upper == node ? branch(index).lower : branch(index).upper;
}

void Tree::interchange(int index, int choice) {
  const auto [upper, lower, length] = branch(index);
  const auto down = static_cast<std::size_t>(others(index, upper).front());
  const auto up = static_cast<std::size_t>(others(index, lower)[static_cast<std::size_t>(choice)]);
  replace_end(branches_[down], upper, lower);
  replace_end(branches_[up], lower, upper);
}

std::span<const Branch, branch_count> true_branches() { return branches_of_the_true_tree; }

Tree starting_tree() {
  Tree tree(true_branches());
  tree.interchange(0, 0);
  tree.interchange(7, 1);
  for (int i = 0; i < branch_count; ++i) tree.set_length(i, 0.1);
  return tree;
}

}  // namespace likelihood
