// Run times by data set size: [S0]'s own scheme (schedule `owner`) and the rank tree, beside plain sums. Ranks are
// started here, one launch per rank count asked for. The numbers are generated, since the time of an addition does not
// depend on them.
// Source: [S0] section 4.2: below 2 x ReproBLAS on 256 ranks, from which std::accumulate + MPI_Allreduce differs by
// less than 15 %; section 3.1.4: below half of std::accumulate on one.
#include <fmt/format.h>

#include <algorithm>

#include "bench/contest.hpp"
#include "thesis.hpp"
#include "tools/catalogue.hpp"
#include "tools/worker.hpp"

namespace steadfold::command::studies::thesis {
namespace {

constexpr const char* schedules[] = {"binomial", "owner:buffer=1", "owner:buffer=4"};

/// The schedules that exist, joined by commas; why another one does not is added to `left_out`.
std::string joined_schedules(std::vector<std::string>& left_out) {
  std::string joined;
  for (const std::string schedule : schedules) {
    try {
      const auto reason = refusal(schedule, "tree", true);
      if (reason) throw Failure(*reason);
      joined += (joined.empty() ? "" : ",") + schedule;
    } catch (const std::exception& why) {
      left_out.push_back(schedule + ": " + why.what());
    }
  }
  return joined;
}

/// What ReproBLAS took for as many elements as `row` has; null where it was not measured.
Json reproblas_seconds(const Json& rows, const Json& row) {
  for (const Json& each : rows)
    if (each["method"] == "reproblas" && each["count"] == row["count"]) return each["seconds"];
  return nullptr;
}

Json row_of(const Json& measured, const Json& reproblas) {
  const auto elements = measured["count"].get<std::uint64_t>();
  const auto* const set = std::ranges::find(data_sets, elements, &DataSet::element_count);
  const bool theirs = measured["method"] == "tree";
  return {{"part", "time"},
          {"data_set", set->name},
          {"elements", elements},
          {"ranks", measured["ranks"]},
          {"distribution", measured["distribution"]},
          {"method", measured["method"]},
          {"schedule", measured["schedule"]},
          {"call", measured["call"]},
          {"seconds", measured["seconds"]},
          {"rival", measured["rival"]},
          {"rival_seconds", measured["rival_seconds"]},
          {"ratio", measured["ratio"]},
          {"ratio_to_reproblas",
           reproblas.is_null() ? Json() : Json(measured["seconds"].get<double>() / reproblas.get<double>())},
          {"published_ratio",
           theirs ? Json(measured["ranks"] == 1 ? "< 0.5 x the loop" : "< 2 x ReproBLAS (256 ranks)") : Json()}};
}

}  // namespace

Findings time(const Asked& asked) {
  std::string counts;
  for (const DataSet& set : data_sets) {
    if (set.element_count <= asked.largest) counts += fmt::format("{}{}", counts.empty() ? "" : ",", set.element_count);
  }
  Findings found;
  const std::string joined = joined_schedules(found.left_out);
  if (counts.empty()) return found;
  std::vector<std::string> words = {"reduce", "--counts=" + counts, "--schedules=" + joined,
                                    "--distribution=" + asked.distribution, fmt::format("--rounds={}", asked.rounds)};
  if (asked.reproblas.empty())
    found.left_out.emplace_back("ReproBLAS: not measured (no installation is named), see --reproblas");
  else
    words.push_back("--reproblas=" + asked.reproblas);
  for (const int ranks : asked.ranks) {
    const Json answer = ask("bench-worker", words, ranks, Placement::on_cores, "try it with steadfold bench reduce");
    const Json measured = bench::rows_over_ranks(bench::measurement_in(answer.at("measurement")));
    for (const Json& row : measured) found.rows.push_back(row_of(row, reproblas_seconds(measured, row)));
  }
  return found;
}

}  // namespace steadfold::command::studies::thesis
