// Threads that work for one caller, asleep between its calls.
// Cost: making a thread some 20 us, waking one some 5 us; a round allocates nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "arithmetic/environment.hpp"
#include "order/index.hpp"

namespace steadfold::execution {

using order::Bytes;

/// A team whose first member is the caller. One caller at a time.
class ThreadTeam {
 public:
  ThreadTeam() = default;
  ~ThreadTeam() { dismiss(); }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Makes the team that large, or as large as the system allows.
  void resize(unsigned size);
  unsigned size() const noexcept { return static_cast<unsigned>(helpers_.size()) + 1; }

  /// Calls work(0) here, and work(1), ... work(members - 1) in a thread each, for members <= size(), all in the
  /// promised environment, with user operators in that of the caller, who gets the flags that were raised. What the
  /// lowest member threw is rethrown when all are done.
  template <class Work>
  void run(unsigned members, Work work) {
    work_ = &work;
    call_ = [](void* of, unsigned member) { (*static_cast<Work*>(of))(member); };
    run(members);
  }

 private:
  struct Helper {
    std::thread thread;
    std::exception_ptr thrown;
    unsigned raised = 0;
  };

  void run(unsigned members);
  void serve(unsigned member);
  void do_part(unsigned member, Helper& mine) noexcept;
  void begin_round();
  void dismiss() noexcept;

  std::vector<Helper> helpers_;  // member i + 1 is number i
  // What a round is about: written before it begins, read by helpers during it.
  void (*call_)(void*, unsigned) = nullptr;
  void* work_ = nullptr;
  unsigned members_ = 0;
  bool over_ = false;
  arithmetic::Rounding callers_;

  std::atomic<std::uint32_t> round_ = 0;
  std::atomic<std::uint32_t> busy_ = 0;  // helpers that have not ended the round
};

/// How many of the threads asked for are worth being made to go through so many bytes once: at least 1.
unsigned threads_worth(unsigned asked, Bytes bytes) noexcept;

}  // namespace steadfold::execution
