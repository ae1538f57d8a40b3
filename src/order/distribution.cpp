#include "order/distribution.hpp"

#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "order/pe_intersecting.hpp"

namespace steadfold::order {
namespace {

constexpr std::array<std::pair<std::string_view, Distribution>, 5> names{{{"lower", Distribution::lower},
                                                                          {"upper", Distribution::upper},
                                                                          {"power2", Distribution::power2},
                                                                          {"optimized", Distribution::optimized},
                                                                          {"balanced", Distribution::balanced}}};

TwoShares even(Count n, Rank p, bool surplus_first) {
  const auto ranks = static_cast<Count>(p);
  const Count share = n / ranks;
  const auto surplus = static_cast<Rank>(n % ranks);
  if (surplus_first) return {p, surplus, share + 1, share};
  // Stelz 2022, eq. 1.4 prints `i < N - (N mod p)`, but means the last N mod p ranks: i < p - N mod p.
  return {p, p - surplus, share, share + 1};
}

TwoShares power2(Count n, Rank p) {
  const auto ranks = static_cast<Count>(p);
  if (n < ranks) return even(n, p, false);  // Stelz 2022, eq. 3.8 has no value for N < p
  const Count share = std::bit_floor(n / ranks);
  return {p, p - 1, share, n - (ranks - 1) * share};
}

std::vector<Count> list(const TwoShares& shares) {
  std::vector<Count> result(static_cast<std::size_t>(shares.rank_count()));
  for (Rank rank = 0; rank < shares.rank_count(); ++rank) result[static_cast<std::size_t>(rank)] = shares.count(rank);
  return result;
}

/// Returns the element counts of Algorithm 3 of Stelz 2022, read so that it iterates on the proposed index and ends at
/// 0. Every start of `upper` moves to the index with the most trailing zeros that lies at most alpha N / p before it.
std::vector<Count> optimized(Count n, Rank p, double deviation) {
  std::vector<Count> result = list(even(n, p, false));
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
  for (const auto& [known, rule] : names) {
    if (name == known) return distribution = rule, true;
  }
  return false;
}

std::optional<TwoShares> closed_form(Distribution distribution, Count element_count, Rank rank_count) noexcept {
  switch (distribution) {
    case Distribution::lower: return even(element_count, rank_count, true);
    case Distribution::upper: return even(element_count, rank_count, false);
    case Distribution::power2: return power2(element_count, rank_count);
    case Distribution::optimized:
    case Distribution::balanced: break;
  }
  return std::nullopt;
}

std::vector<Count> counts(Distribution distribution, Count element_count, Rank rank_count, double deviation) {
  if (const auto shares = closed_form(distribution, element_count, rank_count)) return list(*shares);
  if (distribution == Distribution::balanced) deviation = balanced_deviation(element_count, rank_count);
  return optimized(element_count, rank_count, deviation);
}

std::vector<Index> starts_of(std::span<const Count> counts) {
  std::vector<Index> starts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), Count{0});
  return starts;
}

double balance_seconds(std::span<const Count> counts) {
  // Time to send a node at 10 GB/s and to combine it.
  constexpr double seconds_per_node = sizeof(double) * 1e-10 + score_addition_seconds;
  std::vector<Index> starts = starts_of(counts);
  starts.push_back(starts.back() + counts.back());
  Count nodes = 0;
  // At width w, a record has the elements of w consecutive ranks.
  for (std::size_t width = 1; width < counts.size(); width *= 2) {
    Count largest = 0;
    for (std::size_t first = width; first < counts.size(); first += 2 * width)
      largest = std::max(largest, node_count({starts[first], starts[std::min(first + width, counts.size())]}));
    nodes += largest;
  }
  return score_addition_seconds * static_cast<double>(std::ranges::max(counts)) +
         seconds_per_node * static_cast<double>(nodes);
}

double balanced_deviation(Count element_count, Rank rank_count) {
  const auto cost = [&](double deviation) { return balance_seconds(optimized(element_count, rank_count, deviation)); };
  const double fair_share = static_cast<double>(element_count) / rank_count;
  double best = 0;
  double least = cost(best);
  const auto consider = [&](double deviation) {
    const double seconds = cost(deviation);
    if (seconds < least || (seconds == least && deviation < best)) best = deviation, least = seconds;
  };
  for (double deviation = 1; deviation * fair_share >= 1; deviation /= 2) consider(deviation);
  consider(usual_deviation);
  return best;
}

}  // namespace steadfold::order
