// Two or more pinned threads that reduce with each other, by teams' plans, beside a bare exchange of cache lines, an
// OpenMP reduction, and atomics with a barrier, in the same run.
// Source: [S2] for the setting; the rivals are what programs without MPI do today.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "bench.hpp"
#include "contest.hpp"
#include "harness.hpp"
#include "pinned.hpp"
#include "program/job.hpp"
#include "program/methods.hpp"
#include "steadfold/team.hpp"
#include "thread_rivals.hpp"

namespace steadfold::bench {
namespace {

/// All ways to one sum of vectors, as one thread goes through them.
class ThreadsRace {
 public:
  ThreadsRace(unsigned thread, Team::Member member, std::size_t count, ThreadRivals& rivals)
      : member_(member), mine_(count), result_(count), due_(count) {
    for (std::size_t i = 0; i < count; ++i) mine_[i] = 1.0 + thread + static_cast<double>(i % 7);
    const unsigned threads = static_cast<unsigned>(member.size());
    for (std::size_t i = 0; i < count; ++i)
      due_[i] = threads * (1.0 + static_cast<double>(i % 7)) + threads * (threads - 1) / 2.0;
    for (Candidate& rival : rivals.of_thread(thread, mine_, result_)) {
      entrants_.push_back({rival.name, {{"method", "rival"}}, {}});
      candidates_.push_back(std::move(rival));
    }
    rival_count_ = candidates_.size();
  }

  void add(const std::string& method, const std::string& schedule) {
    const Options options{.method = command::method_named(method), .schedule = schedule == "auto" ? "" : schedule};
    if (schedule == "auto")
      add_way(method, schedule, "allreduce", calls_of([this, options] {
                std::copy(mine_.begin(), mine_.end(), result_.begin());
                sf::allreduce(result_, sf::plus, member_, options);
              }));
    auto plan =
        std::make_shared<VectorPlan<double>>(Plan<double>::of_vectors(sf::plus, mine_.size(), member_, options));
    add_way(method, schedule, "plan", calls_of([this, plan] { plan->run(mine_, result_); }));
  }

  /// Collective. Throws Failure if a result is wrong.
  void check(const Together& together) {
    for (std::size_t i = rival_count_; i < candidates_.size(); ++i) {
      together.barrier();
      std::fill(result_.begin(), result_.end(), 0.0);
      candidates_[i].run(1);
      if (result_ != due_) throw command::Failure("wrong result of " + candidates_[i].name);
    }
  }
  Contest measure(int rounds, const Together& together) {
    Contest contest{.labels = {}, .entrants = entrants_, .rival_count = rival_count_};
    auto samples = interleave(candidates_, rounds, together);
    for (std::size_t i = 0; i < samples.size(); ++i) contest.entrants[i].launches = {std::move(samples[i])};
    return contest;
  }

 private:
  void add_way(const std::string& method, const std::string& schedule, const std::string& call,
               std::function<void(std::size_t)> run) {
    std::vector<std::size_t> rivals(rival_count_);
    std::iota(rivals.begin(), rivals.end(), std::size_t{0});
    const std::string name = fmt::format("{} {} {}", method, schedule, call);
    entrants_.push_back({name,
                         {{"method", method},
                          {"schedule", schedule},
                          {"call", call},
                          {"passthrough", false},
                          {"same_on_all_ranks", true}},
                         {},
                         rivals});
    candidates_.push_back({.name = name, .run = std::move(run)});
  }

  Team::Member member_;
  std::vector<double> mine_;
  std::vector<double> result_;
  std::vector<double> due_;
  std::vector<Candidate> candidates_;
  std::vector<Entrant> entrants_;
  std::size_t rival_count_ = 0;
};

Contest contest_of(unsigned threads, std::size_t count, const SharedOptions& options) {
  ThreadRivals rivals(threads, count);
  Meeting meeting(threads);
  const Team team(static_cast<int>(threads));
  const Together together = meeting.together();
  Contest contest;
  on_pinned_threads(threads, [&](unsigned thread) {
    ThreadsRace race(thread, team[static_cast<int>(thread)], count, rivals);
    for (const std::string& method : options.methods)
      for (const std::string& schedule : options.schedules) race.add(method, schedule);
    race.check(together);
    Contest mine = race.measure(options.rounds, together);
    if (thread == 0) contest = std::move(mine);
    together.barrier();
  });
  contest.labels = {{"operator", "sum"}, {"type", "f64"},         {"count", count}, {"bytes", count * sizeof(double)},
                    {"library", "none"}, {"transport", "shared"}, {"ranks", 1},     {"threads", threads}};
  return contest;
}

}  // namespace

Measurement shared(const SharedOptions& options) {
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const unsigned threads : options.threads)
    for (const std::size_t count : options.counts) measurement.contests.push_back(contest_of(threads, count, options));
  return measurement;
}

}  // namespace steadfold::bench
