// Predicted times and speedups of all data sets on up to 1280 ranks, by [S0]'s scheme and by a rank tree.
// Source: [S0] figures 4.1 and 4.4, and its abstract (248 us for 21 410 970 elements on 256 ranks).
#include "order/distribution.hpp"
#include "thesis.hpp"

namespace steadfold::command::studies::thesis {
namespace {

constexpr int rank_counts[] = {1, 40, 80, 160, 256, 320, 640, 880, 1280};
constexpr const char* schedules[] = {"owner:buffer=4", "binomial"};

void add_rows(const DataSet& set, const std::string& schedule, const transport::LogGP& link, Json& rows) {
  double alone = 0;
  for (const int ranks : rank_counts) {
    const auto counts = order::counts(order::Distribution::upper, set.element_count, ranks);
    const double seconds = prediction_of(schedule, counts, link).seconds.value();
    if (ranks == 1) alone = seconds;
    const bool is_of_abstract = set.name == "dna_rokasD7" && ranks == 256 && schedule == schedules[0];
    rows.push_back({{"part", "scaling"},
                    {"data_set", set.name},
                    {"elements", set.element_count},
                    {"ranks", ranks},
                    {"distribution", "upper"},
                    {"schedule", schedule},
                    {"seconds", seconds},
                    {"published_seconds", is_of_abstract ? Json(248e-6) : Json()},
                    {"speedup", alone / seconds}});
  }
}

}  // namespace

Findings scaling(const Asked& asked) {
  Findings found;
  for (const DataSet& set : data_sets) {
    if (set.element_count > asked.largest) continue;
    for (const char* const schedule : schedules) add_rows(set, schedule, asked.link, found.rows);
  }
  return found;
}

}  // namespace steadfold::command::studies::thesis
