#include "capi/progress_thread.hpp"

#include <sys/prctl.h>

#include <chrono>

#include "arithmetic/environment.hpp"
#include "capi/motion.hpp"

namespace steadfold::capi {

ProgressThread::~ProgressThread() {
  ends_ = true;
  wake_up();
  thread_.join();
}

void ProgressThread::run(const void* home) noexcept {
  constexpr std::chrono::microseconds between_polls(20);
  // Timer slack in nanoseconds; by default Linux adds 50 microseconds to every sleep.
  constexpr unsigned long punctual = 1000;
  prctl(PR_SET_TIMERSLACK, punctual);
  const arithmetic::PromisedEnvironment environment;
  while (!ends_) {
    if (move_one_of(home))
      std::this_thread::sleep_for(between_polls);
    else
      wait_for_one_of(home, ends_);
  }
}

}  // namespace steadfold::capi
