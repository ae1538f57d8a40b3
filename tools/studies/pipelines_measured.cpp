// All algorithms on ranks that are started here, one launch for each count of them, beside MPI_Allreduce of the same
// run; with as many segments as the lemma says. Source: [S1] figures 2, 3 and 5 to 7; on Hydra, by their text.
#include <fmt/format.h>

#include "../../bench/contest.hpp"
#include "../worker.hpp"
#include "pipelines.hpp"

namespace steadfold::command::studies::pipelines {
namespace {

constexpr order::Count most_measured = 1'000'000;  // a rank

/// Of MPI_Allreduce, on up to 1152 ranks.
const char* published(const Algorithm& algorithm) {
  const std::string_view schedule = algorithm.schedule;
  if (schedule == "reduce_broadcast") return "slightly above 1";
  if (schedule == "pipelined_linear") return "below 1 from 10^6 on";
  if (schedule == "pipelined_tree") return "above exercise 1";
  if (schedule == "doubly_pipelined_linear") return "as exercise 2 or 10 times that";
  return schedule == "doubly_pipelined_tree" ? "not below exercise 4" : nullptr;
}

Json row_of(const Algorithm& algorithm, const Json& measured) {
  const char* const theirs = published(algorithm);
  return {{"part", "measured"},           {"ranks", measured["ranks"]},
          {"doubles", measured["count"]}, {"algorithm", algorithm.schedule},
          {"of", algorithm.of},           {"seconds", measured["seconds"]},
          {"rival", measured["rival"]},   {"rival_seconds", measured["rival_seconds"]},
          {"ratio", measured["ratio"]},   {"published_ratio", theirs != nullptr ? Json(theirs) : Json()}};
}

}  // namespace

Findings measured(const Asked& asked) {
  std::string joined;
  for (const order::Count count : counts) {
    if (count <= std::min(asked.largest, most_measured))
      joined += fmt::format("{}{}", joined.empty() ? "" : ",", count);
  }
  Findings found;
  for (const int ranks : asked.ranks) {
    if (ranks == 1) continue;
    std::vector<std::string> arguments = {"allreduce", "--methods=plain"};
    arguments.push_back(fmt::format("--counts={}", joined));
    arguments.push_back(fmt::format("--rounds={}", asked.rounds));
    const Json answer = ask("bench-worker", arguments, ranks, "try it with steadfold bench allreduce");
    const Json rows = bench::rows_over_ranks(bench::measurement_in(answer.at("measurement")));
    for (const Json& row : rows) {
      const auto* const algorithm =
          std::ranges::find_if(algorithms, [&](const Algorithm& each) { return row["schedule"] == each.schedule; });
      if (algorithm != std::end(algorithms)) found.rows.push_back(row_of(*algorithm, row));
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::pipelines
