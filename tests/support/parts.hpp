// Divides rows among ranks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace steadfold::test {

/// The part of `all` for one rank. Parts have different sizes; every fifth rank has none.
template <class T>
std::span<const T> part_of(const std::vector<T>& all, int rank, int size) {
  std::vector<std::size_t> ends = {0};
  for (int w = 0; w + 1 < size; ++w) {
    const auto i = static_cast<std::size_t>(w);
    const std::size_t left = all.size() - ends.back();
    ends.push_back(ends.back() + (i % 5 == 3 ? 0 : left * (i % 3 + 1) / static_cast<std::size_t>(size + 2)));
  }
  ends.push_back(all.size());
  const auto w = static_cast<std::size_t>(rank);
  return std::span(all).subspan(ends[w], ends[w + 1] - ends[w]);
}

}  // namespace steadfold::test
