// Decides when a waiting rank yields its core, and when it sleeps. Cost: one comparison per test. Source: Lapillonne &
// Peltekov 2013, for testing in a loop before a yield.
#pragma once

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace steadfold::transport {

/// A waiting rank yields its core after many tests in a row that found nothing: if ranks share cores, the awaited rank
/// may not be running. The number of tests before a yield is learned. The number falls after a wait that ended after a
/// yield, and grows after a wait that ended before a yield. With MPICH, an exchange between three ranks on two cores
/// takes about 4 us. The exchange takes 2.6 ms without yielding, and 44 us with a fixed number of 4096 tests.
///
/// If every rank has a core, a rank yields much later: another program may keep the core for milliseconds. After a long
/// wait, another program probably occupies the core of the awaited rank. If three other programs are busy, a test with
/// two threads on two cores takes 3 s of processor time with this rule and 29 s without it.
///
/// A rank that waits only for memory may sleep after a long wait. No rank has to wake it: it sleeps at most a tenth of
/// the time that it has waited, and then tests again. A rank that drives MPI never sleeps, because other ranks may need
/// its progress.
class Backoff {
 public:
  enum class Sleeps : bool { never, after_long };
  explicit Backoff(bool shares_cores, Sleeps sleeps = Sleeps::never) noexcept
      : shares_cores_(shares_cores), sleeps_(sleeps) {}
  void found_something() noexcept {
    if (idle_tests_ == 0) return;
    patience_ = idle_tests_ > patience_ ? std::max(patience_ / 2, least) : std::min(patience_ * 2, most);
    idle_tests_ = 0;
  }
  void found_nothing() noexcept {
    if (++idle_tests_ <= patience_) return;
    if (sleeps_ == Sleeps::after_long && idle_tests_ > tests_before_sleep)
      sleep();
    else if ((shares_cores_ || idle_tests_ > tests_alone) && idle_tests_ % tests_per_yield == 0)
      sched_yield();
  }
  /// The number of tests in a row that found nothing.
  std::uint32_t idle_tests() const noexcept { return idle_tests_; }

 private:
  static constexpr std::uint32_t least = 64;
  static constexpr std::uint32_t most = 4096;  // tests before a yield, if ranks share cores; about 0.2 ms
  static constexpr std::uint32_t tests_per_yield = 16;
  // Tests before a yield, if every rank has a core; about 0.1 ms if each test reads memory.
  static constexpr std::uint32_t tests_alone = 1 << 14;
  // Tests before a rank sleeps; at least 1 ms, at some nanoseconds per test.
  static constexpr std::uint32_t tests_before_sleep = 1 << 18;

  void sleep() noexcept {
    constexpr timespec nap{.tv_sec = 0, .tv_nsec = 50000};
    nanosleep(&nap, nullptr);
    idle_tests_ -= 1;  // keeps the counter from wrapping around
  }

  bool shares_cores_;
  Sleeps sleeps_;
  std::uint32_t patience_ = most;
  std::uint32_t idle_tests_ = 0;
};

}  // namespace steadfold::transport
