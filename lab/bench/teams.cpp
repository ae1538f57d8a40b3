// Teams of the threads of all ranks, each thread pinned, beside what hybrid programs do: the threads of a rank meet,
// one of them adds up what they have and calls MPI_Allreduce for all, and they meet again. Source: [S2] for reductions
// inside a node; ours for the setting.
#include <barrier>
#include <thread>

#include "bench/ranks.hpp"
#include "lab_bench.hpp"
#include "pinned.hpp"
#include "steadfold/mpi.hpp"
#include "team_race.hpp"
#include "thread_rivals.hpp"

namespace steadfold::bench {
namespace {

/// The rival. Buffers are odd and even, since a fast thread begins the next call while a slow one still reads.
class BarriersAndMpi {
 public:
  BarriersAndMpi(unsigned threads, std::size_t count) : rows_(threads), barrier_(static_cast<std::ptrdiff_t>(threads)) {
    for (auto& sums : sums_) sums.resize(count);
  }

  Candidate of_thread(unsigned thread, std::span<const double> mine, std::span<double> result) {
    rows_[thread] = mine;
    return {.name = std::string(sf_mpi_library()) + ": barriers around an MPI_Allreduce(MPI_DOUBLE, MPI_SUM)",
            .run = [this, thread, result, call = std::size_t{0}](std::size_t calls) mutable {
              for (std::size_t i = 0; i < calls; ++i) run(thread, result, sums_[call++ % 2]);
            }};
  }

 private:
  void run(unsigned thread, std::span<double> result, std::vector<double>& sums) {
    barrier_.arrive_and_wait();
    if (thread == 0) {
      std::copy(rows_[0].begin(), rows_[0].end(), sums.begin());
      for (std::size_t other = 1; other < rows_.size(); ++other)
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += rows_[other][i];
      MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    barrier_.arrive_and_wait();
    std::copy(sums.begin(), sums.end(), result.begin());
    keep(*result.data());
  }

  std::vector<std::span<const double>> rows_;
  std::vector<double> sums_[2];
  std::barrier<> barrier_;
};

/// Where the threads of all ranks meet; thread 0 of each calls MPI.
class JobMeeting {
 public:
  explicit JobMeeting(unsigned threads)
      : inside_(threads, threads * static_cast<unsigned>(rank_count_of_world()) > std::thread::hardware_concurrency()) {
  }

  Together together(unsigned thread) {
    return {.barrier = [this, thread] { between(thread, [] { MPI_Barrier(MPI_COMM_WORLD); }); },
            .greatest =
                [this, thread](double mine) {
                  const double here = inside_.together().greatest(mine);
                  between(thread, [&] { greatest_ = all_ranks_together().greatest(here); });
                  return greatest_;
                }};
  }

 private:
  template <class Call>
  void between(unsigned thread, const Call& call) {
    inside_.wait();
    if (thread == 0) call();
    inside_.wait();
  }

  Meeting inside_;
  double greatest_ = 0;  // written and read between meetings
};

Contest contest_of(unsigned threads, std::size_t count, const SharedOptions& options) {
  BarriersAndMpi rival(threads, count);
  JobMeeting meeting(threads);
  const Team team(MPI_COMM_WORLD, static_cast<int>(threads));
  Contest contest;
  const auto first_core = static_cast<unsigned>(rank_in_world()) * threads;
  on_pinned_threads(threads, first_core, [&](unsigned thread) {
    const Together together = meeting.together(thread);
    TeamRace race(team[static_cast<int>(thread)], count);
    race.add_rival(rival.of_thread(thread, race.mine(), race.result()));
    for (const std::string& method : options.methods)
      for (const std::string& schedule : options.schedules) race.add(method, schedule);
    race.check(together);
    Contest mine =
        race.measure({{"library", command::mpi_library().name}, {"ranks", rank_count_of_world()}, {"threads", threads}},
                     options.rounds, together);
    if (thread == 0) contest = std::move(mine);
    together.barrier();
  });
  return contest;
}

}  // namespace

Measurement teams(const SharedOptions& options) {
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const unsigned threads : options.threads)
    for (const std::size_t count : options.counts) measurement.contests.push_back(contest_of(threads, count, options));
  return measurement;
}

}  // namespace steadfold::bench
