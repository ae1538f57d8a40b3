#include "thread_rivals.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <thread>

#include "pinned.hpp"

namespace steadfold::bench {

/// Every thread shows its vector and copies those of the others: the same bytes, odd and even in turn, and no sum.
class ThreadRivals::Exchange {
 public:
  Exchange(unsigned threads, std::size_t count) : count_(count), places_(threads) {
    for (Place& place : places_)
      for (Line& line : place.lines) line.data.resize(count);
  }

  void run(std::size_t thread, std::span<const double> mine, std::span<double> result) {
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
    keep(*result.data());
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
  bool shares_cores_ = places_.size() > std::thread::hardware_concurrency();
};

/// std::atomic's additions, and a std::barrier before and after.
class ThreadRivals::Atomics {
 public:
  Atomics(unsigned threads, std::size_t count) : sums_(count), barrier_(static_cast<std::ptrdiff_t>(threads)) {}

  void run(std::size_t thread, std::span<const double> mine, std::span<double> result) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i].fetch_add(mine[i], std::memory_order_relaxed);
    barrier_.arrive_and_wait();
    for (std::size_t i = 0; i < sums_.size(); ++i) result[i] = sums_[i].load(std::memory_order_relaxed);
    barrier_.arrive_and_wait();
    if (thread == 0)
      for (auto& sum : sums_) sum.store(0, std::memory_order_relaxed);
    barrier_.arrive_and_wait();
  }

 private:
  std::vector<std::atomic<double>> sums_;
  std::barrier<> barrier_;
};

#ifdef _OPENMP
namespace {
// Sums of even and odd calls, since a fast thread begins the next call while a slow one still reads this one's. They
// are never cleared, which would take another barrier: a call's sum is what they grew by.
double* even_sums;
double* odd_sums;
}  // namespace

/// An OpenMP reduction among the threads of the parallel region that this is called in.
class ThreadRivals::OpenMp {
 public:
  explicit OpenMp(std::size_t count) : even_(count), odd_(count) {}
  /// Before each sample, on one thread.
  void show() noexcept {
    even_sums = even_.data();
    odd_sums = odd_.data();
  }
  static void run(std::size_t call, std::span<const double> mine, std::span<double> result) {
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
    keep(*result.data());
  }

 private:
  std::vector<double> even_;
  std::vector<double> odd_;
};
#else
class ThreadRivals::OpenMp {};
#endif

ThreadRivals::ThreadRivals(unsigned threads, std::size_t count)
    : count_(count), exchange_(std::make_unique<Exchange>(threads, count)) {
  if (count > most_copied) return;
  atomics_ = std::make_unique<Atomics>(threads, count);
#ifdef _OPENMP
  openmp_ = std::make_unique<OpenMp>(count);
#endif
}

ThreadRivals::~ThreadRivals() = default;

std::vector<Candidate> ThreadRivals::of_thread(unsigned thread, std::span<const double> mine,
                                               std::span<double> result) {
  std::vector<Candidate> candidates;
  candidates.push_back({.name = "bare exchange",
                        .run = calls_of([this, thread, mine, result] { exchange_->run(thread, mine, result); })});
#ifdef _OPENMP
  if (openmp_)
    candidates.push_back({.name = "openmp",
                          .run =
                              [mine, result, next = std::size_t{0}](std::size_t calls) mutable {
                                for (std::size_t call = 0; call < calls; ++call) OpenMp::run(next++, mine, result);
                              },
                          .prepare =
                              [this, thread] {
                                if (thread == 0) openmp_->show();
                              }});
#endif
  if (atomics_)
    candidates.push_back(
        {.name = "atomics", .run = calls_of([this, thread, mine, result] { atomics_->run(thread, mine, result); })});
  return candidates;
}

std::optional<double> openmp_sum([[maybe_unused]] int threads, [[maybe_unused]] std::span<const double> numbers) {
#ifdef _OPENMP
  double sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
  for (std::size_t i = 0; i < numbers.size(); ++i) sum += numbers[i];
  return sum;
#else
  return std::nullopt;
#endif
}

namespace {

/// A thread that cannot be pinned runs wherever the system lets it.
void pin_to(const cpu_set_t& processors) { sched_setaffinity(0, sizeof processors, &processors); }

}  // namespace

const transport::Core& core_of_thread(unsigned number) {
  const auto cores = transport::Hardware::own().cores();
  return cores[number % cores.size()];
}

void on_pinned_threads(unsigned threads, unsigned first_core, const std::function<void(unsigned)>& body) {
  const cpu_set_t before = transport::usable_processors();
#ifdef _OPENMP
#pragma omp parallel num_threads(static_cast<int>(threads))
  {
    const auto thread = static_cast<unsigned>(omp_get_thread_num());
    pin_to(core_of_thread(first_core + thread).processors);
    body(thread);
  }
#else
  std::vector<std::jthread> all;
  const auto pinned = [&body, first_core](unsigned thread) {
    pin_to(core_of_thread(first_core + thread).processors);
    body(thread);
  };
  for (unsigned thread = 1; thread < threads; ++thread) all.emplace_back(pinned, thread);
  pinned(0);
  all.clear();
#endif
  pin_to(before);
}

}  // namespace steadfold::bench
