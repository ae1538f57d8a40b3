// A thread that advances a group's started work while its owner computes.
// Cost: one poll every 20 microseconds while work is under way, else none.
#pragma once

#include <atomic>
#include <thread>

namespace steadfold::capi {

class ProgressThread {
 public:
  /// Starts the thread for the group `home`. Throws std::system_error if the system refuses to create a thread.
  explicit ProgressThread(const void* home) : thread_([this, home] { run(home); }) {}
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

 private:
  void run(const void* home) noexcept;

  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace steadfold::capi
