// Distributes elements over ranks. Source: Stelz 2022, eq. 1.3, 1.4, 3.8 and 3.9, implemented in src/order.
#include "spread.hpp"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "command.hpp"
#include "order/distribution.hpp"

namespace steadfold::command {
namespace {

Failure unusable(const std::string& distribution, const std::string& why, const std::string& suggestion) {
  return Failure("distribution '" + distribution + "' cannot be used (" + why + "), " + suggestion);
}

double deviation_in(const std::string& distribution, const std::string& parameters) {
  const std::string key = "deviation=";
  double value = -1;
  if (parameters.starts_with(key)) {
    const char* const last = parameters.data() + parameters.size();
    const auto [end, failed] = std::from_chars(parameters.data() + key.size(), last, value);
    if (failed == std::errc() && end == last && std::isfinite(value) && value >= 0) return value;
  }
  throw unusable(distribution, "the parameter of optimized is a deviation of 0 or more",
                 "write optimized:deviation=0.2");
}

/// Reads counts from a file. Throws Failure, which names the first word that is not a count.
std::vector<std::uint64_t> counts_in(const std::string& path) {
  // The kind of file is checked before the file is opened, because opening a pipe waits for its writer.
  std::ifstream stream;
  if (std::filesystem::is_regular_file(path)) stream.open(path);
  if (!stream.is_open()) throw unusable(path, "the file cannot be read", "name a file with one count per rank");
  std::vector<std::uint64_t> counts;
  for (std::string word; stream >> word;) {
    std::uint64_t count = 0;
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (failed != std::errc() || end != word.data() + word.size())
      throw unusable(path, "'" + word.substr(0, 40) + "' is not a count", "write one whole number per rank");
    counts.push_back(count);
  }
  return counts;
}

std::vector<std::uint64_t> spread_as_in(const std::string& path, std::uint64_t element_count, int rank_count) {
  std::vector<std::uint64_t> counts = counts_in(path);
  if (counts.size() != static_cast<std::size_t>(rank_count))
    throw unusable(
        path,
        "it has " + std::to_string(counts.size()) + " counts, but there are " + std::to_string(rank_count) + " ranks",
        "write one count per rank");
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) {
    const bool overflows = count > std::numeric_limits<std::uint64_t>::max() - sum;
    sum = overflows ? std::numeric_limits<std::uint64_t>::max() : sum + count;
  }
  if (sum != element_count)
    throw unusable(path,
                   "its counts add up to " + std::to_string(sum) + ", but there are " + std::to_string(element_count) +
                       " elements",
                   "assign every element to exactly one rank");
  return counts;
}

}  // namespace

std::vector<std::uint64_t> spread(const std::string& distribution, std::uint64_t element_count, int rank_count) {
  const std::size_t colon = distribution.find(':');
  order::Distribution rule{};
  if (!order::distribution_named(distribution.substr(0, colon), rule)) {
    if (std::filesystem::exists(distribution)) return spread_as_in(distribution, element_count, rank_count);
    throw Failure("unknown distribution '" + distribution +
                  "' (a distribution is lower, upper, power2, optimized, balanced or a file), choose one of these");
  }
  if (colon == std::string::npos) return order::counts(rule, element_count, rank_count);
  if (rule != order::Distribution::optimized)
    throw unusable(distribution, "only optimized takes parameters", "use " + distribution.substr(0, colon));
  return order::counts(rule, element_count, rank_count, deviation_in(distribution, distribution.substr(colon + 1)));
}

}  // namespace steadfold::command
