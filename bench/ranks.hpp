// Measures comparisons with rivals (contests) over the ranks of MPI_COMM_WORLD.
#pragma once

#include <mpi.h>

#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "contest.hpp"
#include "program/mpi_library.hpp"
#include "steadfold/mpi.hpp"

namespace steadfold::bench {

inline Together all_ranks_together() {
  return {.barrier = [] { MPI_Barrier(MPI_COMM_WORLD); },
          .greatest =
              [](double mine) {
                MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
                return mine;
              }};
}

/// Returns the way in which all ranks measure together. If `interface` is the name of a network interface, also counts
/// the bytes that each rank sends through this interface. For this, every rank needs a separate machine or network
/// namespace.
inline Together all_ranks_together(const std::string& interface) {
  Together together = all_ranks_together();
  if (interface.empty()) return together;
  const std::string counter = "/sys/class/net/" + interface + "/statistics/tx_bytes";
  together.bytes_sent = [counter] {
    double bytes = 0;
    std::ifstream(counter) >> bytes;
    return bytes;
  };
  return together;
}

inline int rank_count_of_world() {
  int rank_count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  return rank_count;
}

inline int rank_in_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Returns the name of the transport between all ranks.
inline std::string transport_in_use() {
  sf_group* group = nullptr;
  detail::check(sf_group_of(MPI_COMM_WORLD, &group));
  return sf_group_transport(group);
}

/// The labels of one candidate in its row.
struct Way {
  std::string method;
  std::string schedule;
  std::string call;
  bool passthrough = false;  // whether the call is only passed on to the MPI library
  std::vector<std::size_t> rivals = {0};
  std::optional<bool> same_on_all_ranks = std::nullopt;  // whether all ranks get the same bits; empty: not given
  // Name of the chosen schedule, if `schedule` is a rule such as auto.
  std::optional<std::string> chosen = std::nullopt;
  std::optional<double> predicted = std::nullopt;  // predicted seconds, for which the schedule was chosen
  bool is_together = false;                        // whether ranks read each other's rows, without a schedule
};

/// Candidates for the same result: rivals first, then the entrants that are compared with rivals.
class Ways {
 public:
  /// Adds a call of the MPI library under the name `call`. Returns its index, with which other entrants name it as a
  /// rival.
  std::size_t add_rival(const std::string& call, Candidate candidate) {
    candidate.name = std::string(sf_mpi_library()) + ": " + call;
    entrants_.push_back({candidate.name, {{"method", "mpi"}}, {}});
    candidates_.push_back(std::move(candidate));
    return rival_count_++;
  }

  /// Adds an entrant that is compared with rivals. Returns its index.
  std::size_t add(const Way& way, Candidate candidate) {
    candidate.name = way.method + " " + way.schedule + " " + way.call;
    entrants_.push_back(
        {candidate.name,
         {{"method", way.method}, {"schedule", way.schedule}, {"call", way.call}, {"passthrough", way.passthrough}},
         {},
         way.rivals});
    if (way.chosen) entrants_.back().labels["chosen"] = *way.chosen;
    if (way.predicted) entrants_.back().labels["predicted_seconds"] = *way.predicted;
    if (way.is_together) entrants_.back().labels["together"] = true;
    if (way.same_on_all_ranks) entrants_.back().labels["same_on_all_ranks"] = *way.same_on_all_ranks;
    candidates_.push_back(std::move(candidate));
    return entrants_.size() - 1;
  }

  /// Names the communication and the computation that the entrant with this index runs at the same time.
  void overlaps(std::size_t place, const Entrant::Overlap& parts) { entrants_[place].overlap = parts; }

  /// Measures all candidates. All rows share `labels`, to which library, transport, ranks and threads are added.
  Contest measure(Json labels, int rounds, const std::string& interface = {}) const {
    labels.update({{"library", command::mpi_library().name},
                   {"transport", transport_in_use()},
                   {"ranks", rank_count_of_world()},
                   {"threads", 1}});
    Contest contest{.labels = std::move(labels), .entrants = entrants_, .rival_count = rival_count_};
    auto samples = interleave(candidates_, rounds, all_ranks_together(interface));
    for (std::size_t i = 0; i < samples.size(); ++i) contest.entrants[i].launches = {std::move(samples[i])};
    return contest;
  }

 private:
  std::vector<Candidate> candidates_;
  std::vector<Entrant> entrants_;
  std::size_t rival_count_ = 0;
};

/// Makes a candidate without a name that repeats `call`.
template <class Call>
Candidate candidate_of(Call call) {
  return {.name = {}, .run = calls_of(std::move(call))};
}

}  // namespace steadfold::bench
