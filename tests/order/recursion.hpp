// The oracle of the tree order: the recursion of [S0] eq. 2.1-2.3, word by word, and the maximal full dyadic nodes of
// an interval by their definition. Shares nothing with src/. Rank order: not concerned. Cost: O(N). Source: [S0]
// chapter 2.
#pragma once

#include <cstdint>
#include <vector>

namespace steadfold::reference {

/// (x, y) over n elements; `leaf(x)` is the element with index x.
template <class Leaf, class Op>
auto tree_node(std::uint64_t n, std::uint64_t x, int y, const Leaf& leaf, const Op& op) -> decltype(leaf(x)) {
  if (y == 0) return leaf(x);  // 2.1
  const std::uint64_t right = x + (std::uint64_t{1} << (y - 1));
  if (right >= n) return tree_node(n, x, y - 1, leaf, op);  // 2.2
  auto left_value = tree_node(n, x, y - 1, leaf, op);
  auto right_value = tree_node(n, right, y - 1, leaf, op);
  return op(left_value, right_value);  // 2.3
}

/// The root over n >= 1 elements.
template <class Leaf, class Op>
auto tree(std::uint64_t n, const Leaf& leaf, const Op& op) -> decltype(leaf(n)) {
  int y = 0;
  for (std::uint64_t reach = 1; reach < n; reach += reach) ++y;
  return tree_node(n, 0, y, leaf, op);
}

template <class T, class Op>
T tree(const std::vector<T>& elements, const Op& op) {
  return tree(
      elements.size(), [&](std::uint64_t x) { return elements[x]; }, op);
}

struct DyadicNode {
  std::uint64_t start;
  int level;
  friend bool operator==(const DyadicNode&, const DyadicNode&) = default;
};

/// Every full dyadic node inside [begin, end) that lies in no other such node, ascending: level by level from above,
/// each multiple of 2^level that fits and is not yet covered. For small indices.
inline std::vector<DyadicNode> maximal_nodes(std::uint64_t begin, std::uint64_t end) {
  std::vector<int> level_at(end + 1, -1);
  std::vector<bool> covered(end + 1, false);
  for (int level = 20; level >= 0; --level) {
    const std::uint64_t size = std::uint64_t{1} << level;
    for (std::uint64_t start = 0; start + size <= end; start += size) {
      if (start < begin || covered[start]) continue;
      level_at[start] = level;
      for (std::uint64_t i = start; i < start + size; ++i) covered[i] = true;
    }
  }
  std::vector<DyadicNode> nodes;
  for (std::uint64_t start = begin; start < end; ++start) {
    if (level_at[start] >= 0) nodes.push_back({start, level_at[start]});
  }
  return nodes;
}

/// The maximal full dyadic nodes inside [begin, end), ascending, for any indices. Each is the largest power of two that
/// divides its start and fits, found by doubling.
inline std::vector<DyadicNode> nodes_from_left(std::uint64_t begin, std::uint64_t end) {
  std::vector<DyadicNode> nodes;
  while (begin < end) {
    int level = 0;
    std::uint64_t size = 1;
    while (level < 63 && begin % (2 * size) == 0 && 2 * size <= end - begin) {
      size *= 2;
      ++level;
    }
    nodes.push_back({begin, level});
    begin += size;
  }
  return nodes;
}

}  // namespace steadfold::reference
