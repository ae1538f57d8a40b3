// How the ranks of MPI_COMM_WORLD measure together.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "bench.hpp"
#include "contest.hpp"
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

/// Ways to the same sums; the first is the rival of all others.
class Ways {
 public:
  /// `passthrough`: it merely passes a call on to the MPI library.
  template <class Call>
  void add(const std::string& method, const std::string& schedule, const std::string& call, Call run,
           bool passthrough = false) {
    const std::string name = method + " " + schedule + " " + call;
    candidates_.push_back({name, calls_of(std::move(run))});
    entrants_.push_back({name,
                         {{"method", method},
                          {"schedule", schedule},
                          {"call", call},
                          {"operator", "sum"},
                          {"passthrough", passthrough}},
                         {}});
  }

  /// `rival` says what the first one calls.
  Contest measure(std::size_t count, int rounds, const std::string& rival) const {
    Contest contest{.labels = {{"count", count},
                               {"ranks", rank_count_of_world()},
                               {"threads", 1},
                               {"rival", std::string(sf_mpi_library()) + ": " + rival}},
                    .entrants = entrants_};
    auto samples = interleave(candidates_, rounds, all_ranks_together());
    for (std::size_t i = 0; i < samples.size(); ++i) contest.entrants[i].launches = {std::move(samples[i])};
    return contest;
  }

 private:
  std::vector<Candidate> candidates_;
  std::vector<Entrant> entrants_;
};

}  // namespace steadfold::bench
