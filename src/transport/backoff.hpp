// When a waiting rank yields its core, and when it sleeps.
// Cost: one comparison per test. Source: [S2] for spinning first.
#pragma once

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace steadfold::transport {

/// Yields the core after many tests in a row that found nothing: if ranks share cores, the rank waited for may not be
/// running. How many is learned: fewer after a wait that ended after a yield, more after one that ended before. Three
/// ranks on two cores exchange in some 4 us with MPICH, against 2.6 ms without yielding and 44 us with a fixed 4096. If
/// every rank has a core, it yields much later, since other programs would keep the core for milliseconds: by then they
/// probably have that of the rank waited for. Beside three busy programs a test with two threads on two cores takes 3 s
/// of processors so, and 29 without.
///
/// Who waits for memory alone may sleep after a long time, and wakes up by itself, so nobody has to wake it: at most a
/// tenth of a wait is slept too long. Who drives MPI never sleeps: others may need its progress.
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
  /// Tests in a row that found nothing.
  std::uint32_t idle_tests() const noexcept { return idle_tests_; }

 private:
  static constexpr std::uint32_t least = 64;
  static constexpr std::uint32_t most = 4096;  // some 0.2 ms
  static constexpr std::uint32_t tests_per_yield = 16;
  static constexpr std::uint32_t tests_alone = 1 << 14;         // of memory some 0.1 ms
  static constexpr std::uint32_t tests_before_sleep = 1 << 18;  // of some nanoseconds each: a millisecond and more

  void sleep() noexcept {
    constexpr timespec nap{.tv_sec = 0, .tv_nsec = 50000};
    nanosleep(&nap, nullptr);
    idle_tests_ -= 1;  // does not wrap around, however long it takes
  }

  bool shares_cores_;
  Sleeps sleeps_;
  std::uint32_t patience_ = most;
  std::uint32_t idle_tests_ = 0;
};

}  // namespace steadfold::transport
