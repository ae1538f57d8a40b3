// The expression that paper P4016R0 gives for reductions with lanes, written as the paper defines it. It shares no code
// with src/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace steadfold::reference {

/// Reduces values level by level over neighbours. The last of an odd number is carried to the next level.
template <class T, class Op>
T level_by_level(std::vector<T> level, const Op& op) {
  while (level.size() > 1) {
    std::vector<T> next;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(op(level[i], level[i + 1]));
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = next;
  }
  return level.front();
}

/// Reduces every lane, then the results of the lanes in their order. Lanes without elements have no result.
template <class T, class Op>
T of_lanes(const std::vector<T>& x, std::size_t lanes, const Op& op) {
  std::vector<T> results;
  for (std::size_t lane = 0; lane < std::min(lanes, x.size()); ++lane) {
    std::vector<T> elements;
    for (std::size_t i = lane; i < x.size(); i += lanes) elements.push_back(x[i]);
    results.push_back(level_by_level(elements, op));
  }
  return level_by_level(results, op);
}

}  // namespace steadfold::reference
