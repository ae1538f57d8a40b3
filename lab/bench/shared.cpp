// Two or more pinned threads that reduce with each other, by teams' plans, beside a bare exchange of cache lines, an
// OpenMP reduction, and atomics with a barrier, in the same run.
// Source: [S2] for the setting; the rivals are what programs without MPI do today.
#include "lab_bench.hpp"
#include "pinned.hpp"
#include "team_race.hpp"
#include "thread_rivals.hpp"

namespace steadfold::bench {
namespace {

Contest contest_of(unsigned threads, std::size_t count, const SharedOptions& options) {
  ThreadRivals rivals(threads, count);
  Meeting meeting(threads);
  const Team team(static_cast<int>(threads));
  const Together together = meeting.together();
  Contest contest;
  on_pinned_threads(threads, 0, [&](unsigned thread) {
    TeamRace race(team[static_cast<int>(thread)], count);
    for (Candidate& rival : rivals.of_thread(thread, race.mine(), race.result())) race.add_rival(std::move(rival));
    for (const std::string& method : options.methods)
      for (const std::string& schedule : options.schedules) race.add(method, schedule);
    race.check(together);
    Contest mine = race.measure({{"library", "none"}, {"ranks", 1}, {"threads", threads}}, options.rounds, together);
    if (thread == 0) contest = std::move(mine);
    together.barrier();
  });
  return contest;
}

}  // namespace

Measurement shared(const SharedOptions& options, const Told& told) {
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const unsigned threads : options.threads) {
    for (const std::size_t count : options.counts) {
      measurement.contests.push_back(contest_of(threads, count, options));
      told(measurement, options.threads.size() * options.counts.size());
    }
  }
  return measurement;
}

}  // namespace steadfold::bench
