// Measurements on their way from ranks to rows: ways to the same result, measured in turn, in several launches.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness.hpp"
#include "statistics.hpp"

namespace steadfold::bench {

using Json = nlohmann::ordered_json;

/// One way: its columns, its samples, launch after launch, and its rivals, by their places in the contest. The row's
/// ratio is that to the first of them.
struct Entrant {
  std::string name;
  Json labels;
  std::vector<Samples> launches;
  std::vector<std::size_t> rivals = {0};
  /// What it does at the same time, each also an entrant by itself: its row says which part of the communication the
  /// computation hides.
  struct Overlap {
    std::size_t communication;
    std::size_t computation;
  };
  std::optional<Overlap> overlap = std::nullopt;
};

/// Ways to the same result, measured in turn; all rows share `labels`. The first `rival_count` entrants are rivals.
struct Contest {
  Json labels;
  std::vector<Entrant> entrants;
  std::size_t rival_count = 1;
};

struct Measurement {
  Json environment;
  std::vector<Contest> contests;
};

Json to_json(const Measurement& measurement);
Measurement measurement_in(const Json& json);

/// Appends the launches of `other`, a measurement of the same contests.
void pool(Measurement& measurement, const Measurement& other);

/// Rows over ranks, one for every entrant that is not a rival; a row's `rivals` has one object for each of its rivals.
/// Here and below, `confidence` is that of all intervals.
Json rows_over_ranks(const Measurement& measurement, double confidence = usual_confidence);

/// Rows over ranks, one for every pair of an entrant and a rival of it, with their ratio.
Json rows_by_rival(const Measurement& measurement, double confidence = usual_confidence);

/// Rows over ranks of `bench auto`, one for every contest and method: what `auto` took, and the best schedule that
/// somebody could name. That is found by one half of the rounds, and both are judged by the other.
Json rows_of_choices(const Measurement& measurement, double confidence = usual_confidence);

/// Rows of one process. The fastest of the entrants called `read` makes one row, and is the limit for all others.
Json rows_of_local(const Measurement& measurement, double confidence = usual_confidence);

/// Writes one JSON object per line: the environment, then all samples.
void write_raw(const std::string& benchmark, const Measurement& measurement, std::ostream& out);

}  // namespace steadfold::bench
