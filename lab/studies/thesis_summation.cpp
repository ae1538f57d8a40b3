// Sums of one process: [S0]'s tree by a function that calls itself, std::accumulate, and `tree` as it is now.
// Source: [S0] figure 3.8 (AVX2 more than twice as fast as std::accumulate from 64 elements on), section 3.1 (without
// recursion 4.9 times as fast, 2^27 elements).
#include <bit>
#include <random>

#include "lab/bench/recursive_sum.hpp"
#include "steadfold/steadfold.hpp"
#include "thesis.hpp"

namespace steadfold::command::studies::thesis {
namespace {

constexpr int smallest_power = 3;
constexpr int largest_power = 27;
constexpr int power_step = 3;

std::vector<double> normal_numbers(std::size_t count) {
  std::mt19937_64 random(20220401);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(count);
  for (double& number : numbers) number = normal(random);
  return numbers;
}

void add_rows(std::span<const double> x, int rounds, Json& rows) {
  const LocalOptions by_tree{.method = tree()};
  const std::vector<bench::Candidate> candidates = {
      {"loop", bench::calls_of([x] { bench::keep(bench::loop_sum(x)); })},
      {"recursive", bench::calls_of([x] { bench::keep(bench::recursive_sum(x)); })},
      {"tree", bench::calls_of([x, by_tree] { bench::keep(sum(x, by_tree)); })}};
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const bool same_bits = bits(bench::recursive_sum(x)) == bits(sum(x, by_tree));
  const std::vector<double> medians = medians_of(candidates, rounds);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    rows.push_back({{"part", "summation"},
                    {"elements", x.size()},
                    {"way", candidates[i].name},
                    {"ns_per_element", medians[i] / static_cast<double>(x.size()) * 1e9},
                    {"rival", "loop"},
                    {"ratio", medians[i] / medians[0]},
                    {"bits_of_tree", candidates[i].name == "loop" ? Json() : Json(same_bits)}});
  }
}

}  // namespace

Findings summation(const Asked& asked) {
  Findings found;
  for (int power = smallest_power; power <= largest_power; power += power_step) {
    const std::size_t count = std::size_t{1} << power;
    if (count <= asked.largest) add_rows(normal_numbers(count), asked.rounds, found.rows);
  }
  return found;
}

}  // namespace steadfold::command::studies::thesis
