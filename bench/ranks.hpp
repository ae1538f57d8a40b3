// How the ranks of MPI_COMM_WORLD measure together, and the rows that come of it.
#pragma once

#include <mpi.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench.hpp"
#include "steadfold/mpi.hpp"

namespace steadfold::bench {

inline Together all_ranks_together() {
  return {.barrier = [] { MPI_Barrier(MPI_COMM_WORLD); },
          .slowest =
              [](double seconds) {
                MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
                return seconds;
              }};
}

inline int rank_count_of_world() {
  int rank_count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  return rank_count;
}

/// Ways to the same sums, measured together; the first is the rival of all others.
class Contest {
 public:
  /// `passthrough`: it merely passes a call on to the MPI library.
  void add(const std::string& method, const std::string& schedule, const std::string& call, std::function<void()> run,
           bool passthrough = false) {
    candidates_.push_back({method + " " + schedule, std::move(run)});
    rows_.push_back({{"method", method},
                     {"schedule", schedule},
                     {"call", call},
                     {"operator", "sum"},
                     {"passthrough", passthrough}});
  }

  /// Appends a row for every way but the rival; `rival` says what that calls.
  void measure(std::size_t count, int rounds, const std::string& rival, Json& rows) const {
    const auto timings = interleave(candidates_, rounds, all_ranks_together());
    for (std::size_t i = 1; i < timings.size(); ++i) {
      Json row = rows_[i];
      row.update({{"count", count},
                  {"ranks", rank_count_of_world()},
                  {"threads", 1},
                  {"seconds", timings[i].median},
                  {"rival", std::string(sf_mpi_library()) + ": " + rival},
                  {"rival_seconds", timings[0].median},
                  {"ratio", timings[i].median / timings[0].median}});
      rows.push_back(std::move(row));
    }
  }

 private:
  std::vector<Candidate> candidates_;
  std::vector<Json> rows_;
};

}  // namespace steadfold::bench
