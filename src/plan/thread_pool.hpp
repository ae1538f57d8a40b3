// Threads that work for one caller and sleep between its calls.
// Cost: about 20 us to create a thread, about 5 us to wake one. A round allocates nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "arithmetic/environment.hpp"
#include "order/index.hpp"

namespace steadfold::plan {

using order::Bytes;

/// The caller's thread and its helper threads. Use the object from one thread at a time.
class ThreadPool {
 public:
  ThreadPool() = default;
  ~ThreadPool() { dismiss(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Enlarges the pool to `size`, or as far as the system allows.
  void resize(unsigned size);
  unsigned size() const noexcept { return static_cast<unsigned>(helpers_.size()) + 1; }

  /// Calls work(0) in this thread, and work(1), ... work(threads - 1) in one helper each. `threads` must be at most
  /// size(). All calls run in the promised floating-point environment; user operators run in the caller's environment.
  /// Floating-point flags that a thread raises are raised in the caller. If calls throw, the exception of the call
  /// with the lowest number is rethrown when all calls are done.
  template <class Work>
  void run(unsigned threads, Work work) {
    work_ = &work;
    call_ = [](void* of, unsigned number) { (*static_cast<Work*>(of))(number); };
    run(threads);
  }

 private:
  struct Helper {
    std::thread thread;
    std::exception_ptr thrown;
    unsigned raised = 0;
  };

  void run(unsigned threads);
  void serve(unsigned number);
  void do_part(unsigned number, Helper& mine) noexcept;
  void begin_round();
  void dismiss() noexcept;

  std::vector<Helper> helpers_;  // helper number i + 1 is at index i
  // The function that a round calls. The pointer is written before the round begins; the helpers read it during the
  // round.
  void (*call_)(void*, unsigned) = nullptr;
  void* work_ = nullptr;
  unsigned threads_ = 0;
  bool over_ = false;
  arithmetic::Rounding callers_;

  std::atomic<std::uint32_t> round_ = 0;
  std::atomic<std::uint32_t> busy_ = 0;  // number of helpers that have not finished the round
};

/// Returns the number of threads, from 1 to `asked`, that are worth creating for one pass over `bytes` bytes.
unsigned threads_worth(unsigned asked, Bytes bytes) noexcept;

}  // namespace steadfold::plan
