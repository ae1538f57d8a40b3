// What was measured, on its way from ranks to rows: ways to the same result, beside each other, from several launches.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness.hpp"

namespace steadfold::bench {

using Json = nlohmann::ordered_json;

/// One way: what its row says of it, its samples, launch after launch, and who its rivals are, by their places in the
/// contest. The first of them gives the row its ratio.
struct Entrant {
  std::string name;
  Json labels;
  std::vector<Samples> launches;
  std::vector<std::size_t> rivals = {0};
};

/// Ways to the same result, measured in turn; `labels` are those of all rows. The first `rival_count` are rivals.
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

/// Rows over ranks, one for every entrant that is no rival; `rivals` of a row has an object for each of its own.
Json rows_over_ranks(const Measurement& measurement);

/// Rows of one process: the entrants called `read` are one row, the fastest of them, and the limit of all others.
Json rows_of_local(const Measurement& measurement);

/// One JSON object a line: the environment, then all samples.
void write_raw(const std::string& benchmark, const Measurement& measurement, std::ostream& out);

}  // namespace steadfold::bench
