#include "order/distribution.hpp"

#include <bit>

namespace steadfold::order {
namespace {

std::vector<Count> even(Count n, Rank p, bool surplus_first) {
  const auto ranks = static_cast<Count>(p);
  const Count share = n / ranks;
  const Count surplus = n % ranks;
  std::vector<Count> result(ranks, share);
  // [S0] eq. 1.4 prints `i < N - (N mod p)`; it means the last N mod p ranks: i < p - N mod p.
  const Count first = surplus_first ? 0 : ranks - surplus;
  for (Count i = 0; i < surplus; ++i) ++result[first + i];
  return result;
}

std::vector<Count> power2(Count n, Rank p) {
  const auto ranks = static_cast<Count>(p);
  if (n < ranks) return even(n, p, false);  // [S0] eq. 3.8 has no value for N < p
  std::vector<Count> result(ranks, std::bit_floor(n / ranks));
  result.back() = n - (ranks - 1) * result.front();
  return result;
}

/// [S0] Algorithm 3, read so that it iterates on the proposed index and ends at 0: every start of `upper` moves to the
/// index with the most trailing zeros that lies at most alpha N / p before it.
std::vector<Count> optimized(Count n, Rank p, double deviation) {
  std::vector<Count> result = even(n, p, false);
  const double slack = deviation * static_cast<double>(n) / p;
  Index even_start = 0;
  Index previous_start = 0;
  for (std::size_t i = 0; i + 1 < result.size(); ++i) {
    even_start += result[i];
    Index start = even_start;
    while (start > 0 && static_cast<double>(even_start - parent(start)) <= slack) start = parent(start);
    if (start < previous_start) start = previous_start;
    result[i] = start - previous_start;
    previous_start = start;
  }
  result.back() = n - previous_start;
  return result;
}

}  // namespace

bool distribution_named(std::string_view name, Distribution& distribution) noexcept {
  if (name == "lower") return distribution = Distribution::lower, true;
  if (name == "upper") return distribution = Distribution::upper, true;
  if (name == "power2") return distribution = Distribution::power2, true;
  if (name == "optimized") return distribution = Distribution::optimized, true;
  return false;
}

std::vector<Count> counts(Distribution distribution, Count element_count, Rank rank_count, double deviation) {
  switch (distribution) {
    case Distribution::lower: return even(element_count, rank_count, true);
    case Distribution::upper: return even(element_count, rank_count, false);
    case Distribution::power2: return power2(element_count, rank_count);
    case Distribution::optimized: return optimized(element_count, rank_count, deviation);
  }
  return {};
}

}  // namespace steadfold::order
