// What it costs to ignore the nodes: MPICH's schedules with groups that reduce among themselves first, as ratios to
// those without, on a network of nodes of eight ranks that share one link.
// Source: [S3] section VI.B and figures 2 to 4, of which only the text is available; MPICH on 320 nodes with one
// InfiniBand port each. Its ranks fill one node after the other; `round_robin` is what a launcher may do instead.
#include "predicted.hpp"
#include "tools/placement.hpp"
#include "topology.hpp"

namespace steadfold::command::studies::topology {
namespace {

using order::Count;
using order::Rank;

constexpr Rank node = 8;
constexpr const char* network = "two_level:size=8:links=1";
constexpr Rank rank_counts[] = {8, 16, 64, 256, 1024, 2048};
constexpr Count lengths[] = {1, 512, 32768, 1048576};

/// How groups reduce: as [S3] section III says, in which a reduce has the root's group last; or all groups at once.
enum class Grouping : std::uint8_t { of_source, two_level };

/// MPICH's schedule on both levels.
std::string schedule_for(Vectors vectors, Rank size, Grouping grouping) {
  if (size == 1) return mpich_schedule(vectors);
  const bool root_group_last = vectors.rooted && grouping == Grouping::of_source;
  const Rank ranks = vectors.ranks;
  vectors.ranks = ranks / size;
  const std::string outer = mpich_schedule(vectors);
  vectors.ranks = size;
  vectors.rooted = true;
  return fmt::format("{}:size={}:inner=[{}]:outer=[{}]", root_group_last ? "root_group_last" : "two_level", size,
                     mpich_schedule(vectors), outer);
}

double seconds_of(const Vectors& vectors, const std::string& schedule, const Asked& asked,
                  const std::string& placement = "block") {
  const auto topology = placed(transport::make_topology(network, asked.link, vectors.ranks), placement, vectors.ranks);
  return predicted_seconds(scenario_of(vectors, schedule, asked), *topology);
}

/// The ratios of figures 2 to 4, as the text tells them.
const char* published(const Vectors& vectors) {
  if (vectors.ranks == node) return "little difference";
  if (!vectors.rooted) return "some 0.5";
  if (vectors.columns >= 524288) {
    if (vectors.ranks == 2048) return "0.25 at best";
    return vectors.ranks == 16 ? "0.65" : vectors.ranks == 1024 ? "0.35" : "0.35 to 0.65";
  }
  if (vectors.columns == 32768) return "0.2 to 0.4";
  return vectors.columns == 512 ? "below 1" : "little difference";
}

Json row_of(const Vectors& vectors, const Asked& asked) {
  const std::string schedule = mpich_schedule(vectors);
  const double alone = seconds_of(vectors, schedule, asked);
  const double in_turn = seconds_of(vectors, schedule, asked, "round_robin");
  const auto grouped_seconds = [&](Rank size, Grouping grouping) {
    return seconds_of(vectors, schedule_for(vectors, size, grouping), asked);
  };
  Json row = {
      {"part", "cost"},         {"network", network},         {"collective", vectors.rooted ? "reduce" : "allreduce"},
      {"ranks", vectors.ranks}, {"doubles", vectors.columns}, {"schedule", schedule},
      {"seconds", alone}};
  for (const int size : groupings) row[fmt::format("x{}", size)] = grouped_seconds(size, Grouping::of_source) / alone;
  row["published"] = published(vectors);
  row["x8_two_level"] = vectors.rooted ? Json(grouped_seconds(node, Grouping::two_level) / alone) : Json();
  row["round_robin_seconds"] = in_turn;
  row["x8_to_round_robin"] = row["x8"].get<double>() * alone / in_turn;
  return row;
}

}  // namespace

Findings cost(const Asked& asked) {
  Findings found;
  for (const bool rooted : {true, false}) {
    for (const Rank ranks : rank_counts) {
      for (const Count length : lengths) {
        if (length <= asked.largest)
          found.rows.push_back(row_of({.ranks = ranks, .columns = length, .rooted = rooted}, asked));
      }
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::topology
