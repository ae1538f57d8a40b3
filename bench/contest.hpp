// Contests: candidates for the same result (Steadfold's and rivals), measured in turn, in several launches. Makes the
// rows of a table from the samples of contests.
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

/// One candidate: its columns, its samples of each launch, and the indices of its rivals in the contest. The ratio in
/// the row is relative to the first rival.
struct Entrant {
  std::string name;
  Json labels;
  std::vector<Samples> launches;
  std::vector<std::size_t> rivals = {0};
  /// The indices of two entrants that this entrant runs at the same time: a communication and a computation. Its row
  /// has the part of the communication that the computation hides.
  struct Overlap {
    std::size_t communication;
    std::size_t computation;
  };
  std::optional<Overlap> overlap = std::nullopt;
};

/// Candidates for the same result, measured in turn. All rows share `labels`. The first `rival_count` entrants are
/// rivals.
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

/// Appends the launches of `other`, a measurement of the same contests, to `measurement`.
void pool(Measurement& measurement, const Measurement& other);

/// Returns one row for every entrant that is not a rival; a row's `rivals` has one object for each of its rivals.
/// `confidence` is the confidence level of all intervals.
Json rows_over_ranks(const Measurement& measurement, double confidence = usual_confidence);

/// Returns a row for each entrant and each rival of this entrant, with the ratio of the entrant's time to the rival's.
Json rows_by_rival(const Measurement& measurement, double confidence = usual_confidence);

/// Returns the rows of `bench auto`, one for every contest and method: the schedule that `auto` chose, and the best
/// named schedule. One half of the rounds finds the best schedule, and the other half compares the two.
Json rows_of_choices(const Measurement& measurement, double confidence = usual_confidence);

/// Returns the rows of a benchmark in one process. Only the fastest of the entrants called `read` gets a row. The time
/// of `read` is the limit for all other entrants.
Json rows_of_local(const Measurement& measurement, double confidence = usual_confidence);

/// Writes one JSON object per line: the environment, then all samples.
void write_raw(const std::string& benchmark, const Measurement& measurement, std::ostream& out);

}  // namespace steadfold::bench
