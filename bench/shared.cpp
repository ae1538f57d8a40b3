// Two or more pinned threads that reduce with each other, by teams' plans, beside a bare exchange of cache lines, an
// OpenMP reduction, and atomics with a barrier, in the same run.
// Source: [S2] for the setting; the rivals are what programs without MPI do today.
#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <memory>
#include <numeric>
#include <thread>

#include "bench.hpp"
#include "contest.hpp"
#include "harness.hpp"
#include "pinned.hpp"
#include "program/job.hpp"
#include "program/methods.hpp"
#include "steadfold/team.hpp"

namespace steadfold::bench {
namespace {

/// What the rivals share. Every thread brings one vector, and all get the sum.
class Rivals {
 public:
  Rivals(unsigned threads, std::size_t count)
      : count_(count), places_(threads), sums_(count), barrier_(static_cast<std::ptrdiff_t>(threads)) {
    for (Place& place : places_)
      for (Line& line : place.lines) line.data.resize(count);
  }

  /// Every thread shows its vector and copies those of the others: the same bytes, odd and even in turn, and no sum.
  void exchange(std::size_t thread, const std::vector<double>& mine, std::vector<double>& result) {
    Place& own = places_[thread];
    const std::uint64_t round = ++own.round;
    Line& line = own.lines[round % 2];
    double* const shown = count_ == 1 ? &line.lone : line.data.data();
    std::copy(mine.begin(), mine.end(), shown);
    line.round.store(round, std::memory_order_release);
    for (std::size_t other = 0; other < places_.size(); ++other) {
      if (other == thread) continue;
      const Line& theirs = places_[other].lines[round % 2];
      while (theirs.round.load(std::memory_order_acquire) != round)
        if (shares_cores_) sched_yield();
      const double* const from = count_ == 1 ? &theirs.lone : theirs.data.data();
      std::copy_n(from, count_, result.data());
    }
    keep(result);
  }

  /// std::atomic's additions, and a std::barrier before and after.
  void atomics(std::size_t thread, const std::vector<double>& mine, std::vector<double>& result) {
    for (std::size_t i = 0; i < count_; ++i) sums_[i].fetch_add(mine[i], std::memory_order_relaxed);
    barrier_.arrive_and_wait();
    for (std::size_t i = 0; i < count_; ++i) result[i] = sums_[i].load(std::memory_order_relaxed);
    barrier_.arrive_and_wait();
    if (thread == 0)
      for (auto& sum : sums_) sum.store(0, std::memory_order_relaxed);
    barrier_.arrive_and_wait();
  }

 private:
  struct alignas(64) Line {
    std::atomic<std::uint64_t> round = 0;
    double lone = 0;  // on the flag's line
    std::vector<double> data;
  };
  struct Place {
    Line lines[2];
    std::uint64_t round = 0;
  };

  std::size_t count_;
  std::vector<Place> places_;
  std::vector<std::atomic<double>> sums_;
  std::barrier<> barrier_;
  bool shares_cores_ = places_.size() > std::thread::hardware_concurrency();
};

#ifdef _OPENMP
// Sums of even and odd calls, since a fast thread begins the next call while a slow one still reads this one's. They
// are never cleared, which would take another barrier: a call's sum is what they grew by.
double* even_sums;
double* odd_sums;

/// An OpenMP reduction among the threads of the parallel region that this is called in.
class OpenMp {
 public:
  static constexpr std::size_t most = 10000;  // elements: every thread has its copy on the stack

  explicit OpenMp(std::size_t count) : even_(count), odd_(count) {}
  /// Before each sample, on one thread.
  void show() noexcept {
    even_sums = even_.data();
    odd_sums = odd_.data();
  }
  static void reduce(std::size_t call, const std::vector<double>& mine, std::vector<double>& result) {
    const std::size_t count = mine.size();
    const int threads = omp_get_num_threads();
    if (call % 2 == 0) {
#pragma omp for schedule(static, 1) reduction(+ : even_sums[ : count])
      for (int thread = 0; thread < threads; ++thread)
        for (std::size_t i = 0; i < count; ++i) even_sums[i] += mine[i];
      std::copy_n(even_sums, count, result.data());
    } else {
#pragma omp for schedule(static, 1) reduction(+ : odd_sums[ : count])
      for (int thread = 0; thread < threads; ++thread)
        for (std::size_t i = 0; i < count; ++i) odd_sums[i] += mine[i];
      std::copy_n(odd_sums, count, result.data());
    }
    keep(result);
  }

 private:
  std::vector<double> even_;
  std::vector<double> odd_;
};
#endif

/// Runs `body(thread)` on so many threads, each pinned to a core: those of OpenMP if there are any, so that its
/// reduction is one among them.
template <class Body>
void on_pinned_threads(unsigned threads, const Body& body) {
  const unsigned cores = std::thread::hardware_concurrency();
#ifdef _OPENMP
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
#pragma omp parallel num_threads(static_cast<int>(threads))
  {
    const auto thread = static_cast<unsigned>(omp_get_thread_num());
    pin_to_core(thread % cores);
    body(thread);
  }
  sched_setaffinity(0, sizeof before, &before);
#else
  std::vector<std::jthread> all;
  for (unsigned thread = 0; thread < threads; ++thread)
    all.emplace_back([&body, thread, cores] {
      pin_to_core(thread % cores);
      body(thread);
    });
#endif
}

/// All ways to one sum of vectors, as one thread goes through them.
class ThreadsRace {
 public:
  ThreadsRace(unsigned thread, Team::Member member, std::size_t count, Rivals& rivals)
      : thread_(thread), member_(member), mine_(count), result_(count), due_(count), rivals_(&rivals) {
    for (std::size_t i = 0; i < count; ++i) mine_[i] = 1.0 + thread + static_cast<double>(i % 7);
    const unsigned threads = static_cast<unsigned>(member.size());
    for (std::size_t i = 0; i < count; ++i)
      due_[i] = threads * (1.0 + static_cast<double>(i % 7)) + threads * (threads - 1) / 2.0;
  }

  void add_rivals([[maybe_unused]] void* openmp) {
    add_rival("bare exchange", calls_of([this] { rivals_->exchange(thread_, mine_, result_); }));
#ifdef _OPENMP
    if (openmp != nullptr) {
      add_rival("openmp", [this](std::size_t calls) {
        for (std::size_t call = 0; call < calls; ++call) OpenMp::reduce(openmp_calls_++, mine_, result_);
      });
      candidates_.back().prepare = [openmp] { static_cast<OpenMp*>(openmp)->show(); };
    }
#endif
    if (mine_.size() <= 10000) add_rival("atomics", calls_of([this] { rivals_->atomics(thread_, mine_, result_); }));
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
  void add_rival(const std::string& name, std::function<void(std::size_t)> run) {
    entrants_.push_back({name, {{"method", "rival"}}, {}});
    candidates_.push_back({.name = name, .run = std::move(run)});
    rival_count_ += 1;
  }
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

  unsigned thread_;
  Team::Member member_;
  std::vector<double> mine_;
  std::vector<double> result_;
  std::vector<double> due_;
  Rivals* rivals_;
  std::size_t openmp_calls_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<Entrant> entrants_;
  std::size_t rival_count_ = 0;
};

Contest contest_of(unsigned threads, std::size_t count, const SharedOptions& options) {
  Rivals rivals(threads, count);
  Meeting meeting(threads);
  const Team team(static_cast<int>(threads));
  const Together together = meeting.together();
  void* openmp = nullptr;
#ifdef _OPENMP
  OpenMp shown(count);
  if (count <= OpenMp::most) openmp = &shown;
#endif
  Contest contest;
  on_pinned_threads(threads, [&](unsigned thread) {
    ThreadsRace race(thread, team[static_cast<int>(thread)], count, rivals);
    race.add_rivals(openmp);
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
