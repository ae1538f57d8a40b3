#include "recursive_sum.hpp"

#include <bit>
#include <numeric>

namespace steadfold::bench {
namespace {

/// The sum of the 2^height elements from `first` on, of which not all need be there.
double sum_of_node(std::span<const double> x, std::size_t first, unsigned height) noexcept {
  if (height == 0) return x[first];
  const double left = sum_of_node(x, first, height - 1);
  const std::size_t second = first + (std::size_t{1} << (height - 1));
  return second < x.size() ? left + sum_of_node(x, second, height - 1) : left;
}

}  // namespace

double recursive_sum(std::span<const double> x) noexcept {
  return x.empty() ? 0 : sum_of_node(x, 0, static_cast<unsigned>(std::bit_width(x.size() - 1)));
}

double loop_sum(std::span<const double> x) noexcept { return std::accumulate(x.begin(), x.end(), 0.0); }

}  // namespace steadfold::bench
