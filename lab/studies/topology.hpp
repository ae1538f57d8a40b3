// The study of [S3]: what a machine's nodes do to a reduction's bits and to its time. One file per part.
// Source: [S3] sections III to VI. Its "x2" to "x8" are groups of so many ranks that reduce among themselves first.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "program/site_likelihoods.hpp"
#include "study.hpp"

namespace steadfold::command::studies::topology {

Findings differences(const Asked& asked);
Findings arrival(const Asked& asked);
Findings cost(const Asked& asked);
Findings bound(const Asked& asked);
Findings control(const Asked& asked);

inline constexpr std::array<Part, 5> parts = {{
    {"differences", "results that change their bits when ranks are grouped, against those without groups", differences},
    {"arrival", "partials merged at rank 0 in the order in which they arrive, over 32 shuffled deliveries", arrival},
    {"cost", "predicted times of MPICH's schedules with groups, as ratios to those without", cost},
    {"bound", "errors of sums beside the bound g(log2 N) sum|x|, g(n) = n u / (1 - n u), u = 2^-53", bound},
    {"control", "sums by MPI_Allreduce and OpenMP, which change with algorithms, ranks and threads, beside ours",
     control},
}};

inline constexpr int groupings[] = {2, 4, 8};

/// A schedule between groups that reduce by binomial trees. `root_group_last` is one by itself.
inline std::string grouped(const std::string& schedule, int size) {
  if (schedule == "root_group_last") return fmt::format("root_group_last:size={}", size);
  return size == 1 ? schedule : fmt::format("two_level:size={}:inner=[binomial]:outer=[{}]", size, schedule);
}

/// One vector per rank, one after the other: these columns of endless vectors.
inline std::vector<double> vectors(int ranks, std::uint64_t first_column, std::uint64_t columns) {
  std::vector<double> elements;
  elements.reserve(static_cast<std::size_t>(ranks) * columns);
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::uint64_t column = first_column; column < first_column + columns; ++column)
      elements.push_back(site_likelihood((static_cast<std::uint64_t>(rank) << 32) + column));
  }
  return elements;
}

/// A binomial tree of plain sums: neighbours first, a last one without a neighbour passes through.
inline double binomial_sum(std::vector<double> level) {
  while (level.size() > 1) {
    const std::size_t pairs = level.size() / 2;
    for (std::size_t i = 0; i < pairs; ++i) level[i] = level[2 * i] + level[2 * i + 1];
    if (level.size() % 2 == 1) level[pairs] = level.back();
    level.resize((level.size() + 1) / 2);
  }
  return level.empty() ? 0 : level.front();
}

/// What `root_group_last` comes to at rank 0, for more summands than anybody has ranks. Source: [S3] section III.A.
inline double root_group_last(const std::vector<double>& elements, std::size_t size) {
  std::vector<double> between = {elements.front()};
  for (std::size_t first = size; first < elements.size(); first += size) {
    const auto end = elements.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, elements.size()));
    between.push_back(binomial_sum({elements.begin() + static_cast<std::ptrdiff_t>(first), end}));
  }
  std::vector<double> own(elements.begin(),
                          elements.begin() + static_cast<std::ptrdiff_t>(std::min(size, elements.size())));
  own.front() = binomial_sum(between);
  return binomial_sum(own);
}

}  // namespace steadfold::command::studies::topology
