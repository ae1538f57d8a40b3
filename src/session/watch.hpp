// What ends a wait for others that may never come: a time limit, a program that is asked to stop, or a neighbour that
// gave up. Cost: nothing until it is on; then two atomic additions per call, and a look at the clock every 64 polls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace steadfold::session {

/// Shared by the callers of one process that may read each other's memory: a team's workers, or the one rank that a
/// communicator has here. Once one has given up, all calls of all of them fail, and none returns before every caller
/// has stopped reading: so whoever waits for good may give its memory back. Failures are Failure(transport_failed).
class Watch {
 public:
  using Interrupt = int (*)();
  /// Asked every tenth of a second by who waits, whether the program is to stop; null: nobody. For the whole process;
  /// what is made afterwards is watched.
  static void set_interrupt(Interrupt asked) noexcept { interrupt.store(asked); }

  /// It is on if there is an interrupt. `what` nobody can use any more once it has ended, for texts.
  Watch(std::size_t callers, const char* what);
  /// The longest wait; 0: any. It is on from now on, so nobody may be in a call.
  void set_limit(std::chrono::nanoseconds most) noexcept;
  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  bool has_ended() const noexcept { return ended_.load(); }

 private:
  friend class Watched;
  friend class Stay;
  friend class Wait;

  struct alignas(64) Caller {
    std::atomic<std::uint32_t> calls = 0;  // that it is in
    std::atomic<bool> has_left = false;    // for good
  };

  void enter(std::size_t caller);
  void leave(std::size_t caller) noexcept { callers_[caller].calls.fetch_sub(1, std::memory_order_release); }
  void look(class Wait& wait);
  [[noreturn]] void end(std::size_t caller, const std::string& why);
  [[noreturn]] void leave_for_good(std::size_t caller);
  std::string absent() const;

  static inline std::atomic<Interrupt> interrupt = nullptr;

  std::vector<Caller> callers_;  // and, last, whoever moves calls on for others
  const char* what_;
  std::chrono::nanoseconds limit_{0};  // none
  std::atomic<bool> is_on_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> ended_ = false;
  std::string why_;  // once it has ended
};

/// Which caller of a Watch one is. Without one that is on, waits end when what they wait for has come.
class Watched {
 public:
  Watched() = default;
  Watched(std::shared_ptr<Watch> watch, std::size_t caller) : watch_(std::move(watch)), caller_(caller) {}

  bool is_on() const noexcept { return watch_ != nullptr && watch_->is_on(); }
  bool has_ended() const noexcept { return watch_ != nullptr && watch_->has_ended(); }
  /// As who moves calls on for others.
  Watched as_mover() const { return {watch_, watch_ == nullptr ? 0 : watch_->callers_.size() - 1}; }

 private:
  friend class Stay;
  friend class Wait;
  std::shared_ptr<Watch> watch_;
  std::size_t caller_ = 0;
};

/// For the length of a call. Throws Failure if the Watch has ended.
class Stay {
 public:
  explicit Stay(const Watched& watched)
      : watch_(watched.is_on() ? watched.watch_.get() : nullptr), caller_(watched.caller_) {
    if (watch_ != nullptr) watch_->enter(caller_);
  }
  ~Stay() {
    if (watch_ != nullptr) watch_->leave(caller_);
  }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

 private:
  Watch* watch_;
  std::size_t caller_;
};

/// A wait within such a call.
class Wait {
 public:
  /// `is_for_good`: it has no deadline of its own, so limit and interrupt end it.
  explicit Wait(const Watched& watched, bool is_for_good = true) noexcept
      : watch_(watched.is_on() ? watched.watch_.get() : nullptr), caller_(watched.caller_), is_for_good_(is_for_good) {}
  /// To be called after every poll that did not end it. Throws Failure where the Watch ends.
  void look() {
    if (watch_ != nullptr && (++polls_ % polls_per_look == 0 || watch_->ended_.load(std::memory_order_relaxed)))
      watch_->look(*this);
  }

 private:
  friend class Watch;
  static constexpr std::uint32_t polls_per_look = 64;

  Watch* watch_;
  std::size_t caller_;
  bool is_for_good_;
  std::uint32_t polls_ = 0;
  std::chrono::steady_clock::time_point since_{};  // the first look
  std::chrono::steady_clock::time_point asked_{};
};

}  // namespace steadfold::session
