// Compares the schedule that `auto` chose with the best named schedule, from measurements of all schedules. The samples
// that find the best schedule are not used to judge it; otherwise noise would make this schedule look better than it
// is.
#include <algorithm>

#include "contest.hpp"

namespace steadfold::bench {
namespace {

/// Returns the seconds of every second round, beginning with the first round or with the second.
Launches half_of(const Entrant& entrant, std::size_t first) {
  Launches half;
  for (const Samples& launch : entrant.launches) {
    std::vector<double>& seconds = half.emplace_back();
    for (std::size_t round = first; round < launch.seconds.size(); round += 2) seconds.push_back(launch.seconds[round]);
  }
  return half;
}
Launches to_choose(const Entrant& entrant) { return half_of(entrant, 1); }
Launches to_judge(const Entrant& entrant) { return half_of(entrant, 0); }

double median_of(const Launches& launches) { return summary_of(launches).median; }

Json row_of(const Contest& contest, const Entrant& chosen, const Entrant& best, double confidence) {
  Json row = contest.labels;
  const double seconds = median_of(to_judge(chosen));
  const double of_best = median_of(to_judge(best));
  const Interval interval = interval_of_ratio(to_judge(chosen), to_judge(best), confidence);
  const Json predicted = chosen.labels.value("predicted_seconds", Json());
  row.update({{"method", chosen.labels["method"]},
              {"launches", chosen.launches.size()},
              {"schedule", "auto"},
              {"chosen", chosen.labels.value("together", false) ? Json("together") : chosen.labels["chosen"]},
              {"seconds", seconds},
              {"predicted_seconds", predicted},
              {"measured_to_predicted", predicted.is_null() ? Json() : Json(seconds / predicted.get<double>())},
              {"best", best.labels["schedule"]},
              {"best_seconds", of_best},
              {"ratio", seconds / of_best},
              {"ratio_interval", {interval.low, interval.high}}});
  return row;
}

}  // namespace

Json rows_of_choices(const Measurement& measurement, double confidence) {
  Json rows = Json::array();
  for (const Contest& contest : measurement.contests) {
    for (const Entrant& chosen : contest.entrants) {
      if (chosen.labels.value("schedule", "") != "auto") continue;
      const Entrant* best = nullptr;
      for (const Entrant& named : contest.entrants) {
        if (named.labels["method"] != chosen.labels["method"] || &named == &chosen) continue;
        if (best == nullptr || median_of(to_choose(named)) < median_of(to_choose(*best))) best = &named;
      }
      if (best != nullptr) rows.push_back(row_of(contest, chosen, *best, confidence));
    }
  }
  return rows;
}

}  // namespace steadfold::bench
