// All algorithms on ranks started here, one launch per rank count, beside MPI_Allreduce in the same run: floats by
// maximum; pipelines with the lemma's block and others. Source: [S1] figures 2, 3 and 5 to 7, measured on Hydra, as
// their text states them; section 1.1 for its statistics.
#include <fmt/format.h>

#include <cmath>

#include "bench/contest.hpp"
#include "pipelines.hpp"
#include "tools/worker.hpp"

namespace steadfold::command::studies::pipelines {
namespace {

constexpr order::Count lengths[] = {1, 100, 10'000, 1'000'000};

/// What [S1] says of the time as a ratio to MPI_Allreduce, on up to 1152 ranks.
const char* published(const Algorithm& algorithm) {
  const std::string_view schedule = algorithm.schedule;
  if (schedule == "reduce_broadcast") return "slightly above 1";
  if (schedule == "pipelined_linear") return "below 1 from 10^6 on";
  if (schedule == "pipelined_tree") return "above exercise 1";
  if (schedule == "doubly_pipelined_linear:roots=1") return "as exercise 2 or 10 times that";
  return schedule == "doubly_pipelined_tree:roots=1" ? "not below exercise 4" : nullptr;
}

constexpr order::Count tried_blocks[] = {100, 1000, 10000, 100000};

std::string block_name(const Algorithm& algorithm, order::Count block) {
  return fmt::format("{}:block={}", algorithm.schedule, block);
}

std::vector<std::string> arguments_for(const Asked& asked) {
  std::string joined;
  for (const order::Count count : lengths) {
    if (count <= asked.largest) joined += fmt::format("{}{}", joined.empty() ? "" : ",", count);
  }
  std::string schedules;
  for (const Algorithm& each : algorithms) {
    schedules += fmt::format("{}{}", schedules.empty() ? "" : ",", each.schedule);
    if (each.tried == BlockSizes::none) continue;
    for (const order::Count block : tried_blocks) schedules += "," + block_name(each, block);
  }
  std::vector<std::string> arguments = {"allreduce", "--types=f32", "--operators=max", "--methods=plain"};
  arguments.push_back(fmt::format("--schedules={}", schedules));
  arguments.push_back(fmt::format("--counts={}", joined));
  arguments.push_back(fmt::format("--rounds={}", asked.rounds));
  return arguments;
}

/// The row measured with a schedule for vectors of that length.
const Json& measured_by(const Json& rows, const std::string& schedule, const Json& count) {
  const auto found =
      std::ranges::find_if(rows, [&](const Json& row) { return row["schedule"] == schedule && row["count"] == count; });
  if (found == rows.end()) throw Failure(schedule + " was not measured (the ranks left it out), report it");
  return *found;
}

/// The statistics that [S1] prints: mean, standard deviation, and the interval of the mean with a z-value of table 1.
Json statistics_of(const bench::Entrant& entrant) {
  constexpr double z = 1.960;  // confidence 0.95
  std::vector<double> samples;
  for (const bench::Samples& of : entrant.launches) samples.insert(samples.end(), of.seconds.begin(), of.seconds.end());
  const auto count = static_cast<double>(samples.size());
  double mean = 0;
  for (const double each : samples) mean += each / count;
  double squares = 0;
  for (const double each : samples) squares += (each - mean) * (each - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  const double reach = z * deviation / std::sqrt(count);
  return {{"samples", samples.size()},
          {"mean_seconds", mean},
          {"deviation_seconds", deviation},
          {"mean_low", mean - reach},
          {"mean_high", mean + reach}};
}

/// The entrant of that name or schedule for vectors of that length.
const bench::Entrant& entrant_of(const bench::Measurement& measurement, const std::string& name, const Json& count) {
  for (const bench::Contest& contest : measurement.contests) {
    if (contest.labels["count"] != count) continue;
    for (const bench::Entrant& each : contest.entrants)
      if (each.name == name || (each.labels.is_object() && each.labels.value("schedule", "") == name)) return each;
  }
  throw Failure(name + " was not measured (the ranks left it out), report it");
}

Json row_of(const Algorithm& algorithm, const Json& rows, const Json& count) {
  const Json& measured = measured_by(rows, algorithm.schedule, count);
  const char* const theirs = published(algorithm);
  Json row = {{"part", "measured"},
              {"ranks", measured["ranks"]},
              {"floats", count},
              {"algorithm", algorithm.schedule},
              {"of", algorithm.of},
              {"seconds", measured["seconds"]},
              {"block", nullptr},
              {"best_block", nullptr},
              {"best_seconds", nullptr},
              {"rival", measured["rival"]},
              {"rival_seconds", measured["rival_seconds"]},
              {"ratio", measured["ratio"]},
              {"published_ratio", theirs != nullptr ? Json(theirs) : Json()}};
  if (algorithm.tried == BlockSizes::none) return row;
  const auto length = count.get<order::Count>();
  const Vectors vectors = floats(measured["ranks"], length);
  row["block"] = row["best_block"] = block_of(length, scenario_of(vectors, algorithm.schedule, {}).segments);
  row["best_seconds"] = row["seconds"];
  for (const order::Count block : tried_blocks) {
    const Json& seconds = measured_by(rows, block_name(algorithm, block), count)["seconds"];
    if (seconds >= row["best_seconds"]) continue;
    row["best_block"] = std::min(block, length);
    row["best_seconds"] = seconds;
  }
  return row;
}

/// What [S1] ran in exercise 1, the rival of our schedule of that form.
Json row_of_two_calls(Json row, const Json& rows, const Json& count) {
  const Json& two_calls = measured_by(rows, "reduce_broadcast", count)["rivals"].back();
  const double seconds = two_calls["seconds"];
  row.update({{"algorithm", "MPI_Reduce, MPI_Bcast"},
              {"seconds", seconds},
              {"ratio", seconds / row["rival_seconds"].get<double>()}});
  return row;
}

}  // namespace

Findings measured(const Asked& asked) {
  Findings found;
  for (const int ranks : asked.ranks) {
    if (ranks == 1) continue;
    const Json answer =
        ask("bench-worker", arguments_for(asked), ranks, Placement::on_cores, "try it with steadfold bench allreduce");
    const bench::Measurement measurement = bench::measurement_in(answer.at("measurement"));
    const Json rows = bench::rows_over_ranks(measurement);
    for (const order::Count count : lengths) {
      if (count > asked.largest) continue;
      for (const Algorithm& each : algorithms) {
        found.rows.push_back(row_of(each, rows, count));
        found.rows.back().update(statistics_of(entrant_of(measurement, each.schedule, count)));
        if (each.schedule != std::string_view("reduce_broadcast")) continue;
        found.rows.push_back(row_of_two_calls(found.rows.back(), rows, count));
        const std::string two_calls = measured_by(rows, each.schedule, count)["rivals"].back()["rival"];
        found.rows.back().update(statistics_of(entrant_of(measurement, two_calls, count)));
      }
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::pipelines
