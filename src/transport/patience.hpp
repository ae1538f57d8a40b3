// When a waiting rank yields its core.
// Cost: one comparison per test. Source: ours.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdint>

namespace steadfold::transport {

/// Yields the core after many tests in a row that found nothing: if ranks share cores, the rank waited for may not be
/// running. How many is learned: fewer after a wait that ended after a yield, more after one that ended before. Three
/// ranks on two cores exchange in some 4 us with MPICH, against 2.6 ms without yielding and 44 us with a fixed 4096. If
/// every rank has a core, it never yields: other programs would keep the core for milliseconds.
class Patience {
 public:
  explicit Patience(bool shares_cores) noexcept : shares_cores_(shares_cores) {}
  void found_something() noexcept {
    if (idle_tests_ == 0) return;
    patience_ = idle_tests_ > patience_ ? std::max(patience_ / 2, least) : std::min(patience_ * 2, most);
    idle_tests_ = 0;
  }
  void found_nothing() noexcept {
    if (shares_cores_ && ++idle_tests_ > patience_ && idle_tests_ % tests_per_yield == 0) sched_yield();
  }

 private:
  static constexpr std::uint32_t least = 64;
  static constexpr std::uint32_t most = 4096;  // some 0.2 ms
  static constexpr std::uint32_t tests_per_yield = 16;
  bool shares_cores_;
  std::uint32_t patience_ = most;
  std::uint32_t idle_tests_ = 0;
};

}  // namespace steadfold::transport
