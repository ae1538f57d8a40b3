// Sums of one vector per rank, with and without groups of ranks, compared column by column in the real bits of
// simulated ranks. Long vectors are reduced in pieces, each by itself; every way has its own thread.
// Source: [S3] sections III.C and VI.B; the data are ours.
#include <bit>
#include <future>

#include "simulated_sum.hpp"
#include "topology.hpp"

namespace steadfold::command::studies::topology {
namespace {

using call::Method;

constexpr std::uint64_t lengths[] = {1, 32, 1024, 32768, 1048576};
constexpr std::uint64_t most_columns = 1024;  // per piece; divides the lengths
struct Job {
  int ranks;
  std::uint64_t longest;  // longest vector
};
constexpr Job jobs[] = {{16, 32768}, {20, 1048576}};
constexpr int sizes[] = {2, 4, 8, 6};  // those of [S3], and one that is not a power of two

struct Way {
  const char* name;
  Method method;
  std::string_view schedule;  // between groups
  bool rooted = false;
};
constexpr Way ways[] = {
    {"plain", Method::plain, "binomial", true},
    {"plain", Method::plain, "root_group_last", true},
    {"plain", Method::plain, "recursive_doubling"},
    {"plain", Method::plain, "halving_doubling"},
    {"plain", Method::plain, "ring"},
    {"plain", Method::plain, "flat", true},
    {"tree", Method::tree, "recursive_doubling"},
    {"exact", Method::exact, "recursive_doubling"},
    {"binned", Method::binned, "recursive_doubling"},
};

/// Ranks that sum pieces of their vectors in one way.
SimulatedJob job_of(const Way& way, int ranks, int group, std::uint64_t columns) {
  return {order::TwoShares(ranks, ranks, 1, 0), SimulatedSum{.method = way.method,
                                                             .schedule = grouped(std::string(way.schedule), group),
                                                             .rooted = way.rooted,
                                                             .columns = columns}};
}

struct Compared {
  std::uint64_t different = 0;
  double sum = 0;  // of relative differences
  double largest = 0;

  void add(const std::vector<double>& grouped, const std::vector<double>& alone) {
    for (std::size_t i = 0; i < alone.size(); ++i) {
      if (std::bit_cast<std::uint64_t>(grouped[i]) == std::bit_cast<std::uint64_t>(alone[i])) continue;
      const double difference = std::fabs(grouped[i] - alone[i]) / std::fabs(alone[i]);
      ++different;
      sum += difference;
      largest = std::max(largest, difference);
    }
  }
};

using ByGrouping = std::array<Compared, std::size(sizes)>;

ByGrouping compared(int ranks, std::uint64_t length, Way way) {
  const std::uint64_t columns = std::min(most_columns, length);
  SimulatedJob alone = job_of(way, ranks, 1, columns);
  std::vector<SimulatedJob> in_groups;
  for (const int group : sizes) in_groups.push_back(job_of(way, ranks, group, columns));
  ByGrouping all;
  for (std::uint64_t first = 0; first < length; first += columns) {
    const std::vector<double> elements = vectors(ranks, first, columns);
    const std::vector<double> sums = alone.run(elements);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].add(in_groups[i].run(elements), sums);
  }
  return all;
}

Json row_of(int ranks, std::uint64_t length, const Way& way, int group, const Compared& found) {
  return {{"part", "differences"},
          {"ranks", ranks},
          {"doubles", length},
          {"method", way.name},
          {"schedule", way.schedule},
          {"collective", way.rooted ? "reduce" : "allreduce"},
          {"groups", fmt::format("x{}", group)},
          {"different", found.different},
          {"share", static_cast<double>(found.different) / static_cast<double>(length)},
          {"largest_difference", found.largest},
          {"mean_difference", found.sum / static_cast<double>(length)}};
}

}  // namespace

Findings differences(const Asked& asked) {
  Findings found;
  for (const auto& [ranks, longest] : jobs) {
    for (const std::uint64_t length : lengths) {
      if (length > std::min(longest, asked.largest)) continue;
      std::vector<std::future<ByGrouping>> all;
      for (const Way& way : ways) all.push_back(std::async(compared, ranks, length, way));
      for (std::size_t w = 0; w < all.size(); ++w) {
        const ByGrouping by_grouping = all[w].get();
        for (std::size_t i = 0; i < by_grouping.size(); ++i)
          found.rows.push_back(row_of(ranks, length, ways[w], sizes[i], by_grouping[i]));
      }
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::topology
