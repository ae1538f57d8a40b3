// The K-ary reduction tree of Villa et al.: neighbours are summed K at a time, from left to right, level by level.
// Rank order: a function of the number of elements and K alone. Cost: O(N) time and N / K doubles; a reference.
// Source: Villa et al. 2009, as told in [S0] section 1.3.3.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace steadfold::command::studies {

/// `k` is at least 2; the sum of no elements is +0.0.
inline double kary_tree_sum(std::span<const double> elements, std::size_t k) {
  std::vector<double> level;
  for (std::span<const double> below = elements; level.size() != 1; below = level) {
    if (below.empty()) return 0;
    std::vector<double> next;
    next.reserve((below.size() + k - 1) / k);
    for (std::size_t first = 0; first < below.size(); first += k) {
      double sum = below[first];
      for (std::size_t i = first + 1; i < std::min(first + k, below.size()); ++i) sum += below[i];
      next.push_back(sum);
    }
    level = std::move(next);
  }
  return level.front();
}

}  // namespace steadfold::command::studies
