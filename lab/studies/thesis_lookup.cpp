// The rank of an element: by a walk over all starts, by binary search, and in closed form.
// Source: [S0] figure 3.6, which compares the walk with a red-black tree; its chapter 5 asks for the closed form.
#include <fmt/format.h>

#include <random>

#include "bench/statistics.hpp"
#include "order/distribution.hpp"
#include "thesis.hpp"

namespace steadfold::command::studies::thesis {
namespace {

using order::Index;
using order::Rank;

constexpr Rank rank_counts[] = {2, 4, 8, 16, 64, 256, 1280, 1 << 20};
constexpr std::size_t look_ups = 256;  // per call

/// [S0] eq. 3.4 as it was first implemented.
Rank walked(std::span<const Index> starts, Index x) {
  std::size_t rank = 0;
  while (rank + 1 < starts.size() && starts[rank + 1] <= x) ++rank;
  return static_cast<Rank>(rank);
}

template <class Find>
std::function<void(std::size_t)> all_of(std::span<const Index> elements, Find find) {
  return bench::calls_of([elements, find] {
    Rank mixed = 0;
    for (const Index x : elements) mixed ^= find(x);
    bench::keep(mixed);
  });
}

void add_rows(Rank ranks, int rounds, Json& rows) {
  const order::Count count = std::uint64_t{1973} * static_cast<std::uint64_t>(ranks) - 238;
  const auto shares = order::closed_form(order::Distribution::upper, count, ranks).value();
  const auto starts = order::starts_of(order::counts(order::Distribution::upper, count, ranks));
  std::mt19937_64 random(20220401);
  std::vector<Index> elements(look_ups);
  for (Index& x : elements) x = random() % count;

  std::vector<bench::Candidate> ways = {
      {"closed form", all_of(elements, [&](Index x) { return shares.rank_of(x); })},
      {"binary search", all_of(elements, [&](Index x) { return order::rank_of(starts, x); })}};
  if (ranks <= 1280) ways.push_back({"walk", all_of(elements, [&](Index x) { return walked(starts, x); })});
  const std::vector<double> medians = medians_of(ways, rounds);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    rows.push_back({{"part", "lookup"},
                    {"ranks", ranks},
                    {"way", ways[i].name},
                    {"ns_per_lookup", medians[i] / look_ups * 1e9},
                    {"rival", "binary search"},
                    {"ratio", medians[i] / medians[1]}});
  }
}

}  // namespace

std::vector<double> medians_of(std::span<const bench::Candidate> candidates, int rounds) {
  std::vector<double> medians;
  for (const bench::Samples& samples : bench::interleave(candidates, rounds))
    medians.push_back(bench::quantile(samples.seconds, 0.5));
  return medians;
}

Findings lookup(const Asked& asked) {
  Findings found;
  for (const Rank ranks : rank_counts) add_rows(ranks, asked.rounds, found.rows);
  return found;
}

}  // namespace steadfold::command::studies::thesis
