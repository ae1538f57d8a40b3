// Ends waits for other callers that may never come: at a time limit, at an interrupt of the program, or if another
// caller gave up.
// Cost: nothing while the watch is off. If it is on: two atomic additions per call, and a reading of the clock every 64
// polls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace steadfold::group {

/// A Watch is shared by the callers in one process that may read each other's memory: the workers of a team, or the
/// only rank that a communicator has in this process. If one caller gives up, all calls of all callers fail. A failed
/// call returns only after every caller has stopped reading, so each caller may then free its memory. The calls throw
/// Failure(transport_failed).
class Watch {
 public:
  using Interrupt = int (*)();
  /// Sets a function that a waiting caller calls every 0.1 s to ask whether the program is to stop. Null stands for no
  /// function. The setting holds for the whole process, and for watches that are made afterwards.
  static void set_interrupt(Interrupt asked) noexcept { interrupt.store(asked); }

  /// The watch is on if an interrupt function is set. `what` names the group in error texts.
  Watch(std::size_t callers, const char* what);
  /// Sets the longest time of a wait; 0 means no limit. The function also turns the watch on, so no caller may be in a
  /// call.
  void set_limit(std::chrono::nanoseconds most) noexcept;
  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  bool has_ended() const noexcept { return ended_.load(); }

 private:
  friend class Watched;
  friend class Stay;
  friend class Wait;

  struct alignas(64) Caller {
    std::atomic<std::uint32_t> calls = 0;  // number of calls that the caller is in
    std::atomic<bool> has_left = false;    // whether the caller has given up
  };

  void enter(std::size_t caller);
  void leave(std::size_t caller) noexcept { callers_[caller].calls.fetch_sub(1, std::memory_order_release); }
  void look(class Wait& wait);
  [[noreturn]] void end(std::size_t caller, const std::string& why);
  [[noreturn]] void leave_for_good(std::size_t caller);
  std::string absent() const;

  static inline std::atomic<Interrupt> interrupt = nullptr;

  std::vector<Caller> callers_;  // the last entry is for the thread that advances calls for other callers
  const char* what_;
  std::chrono::nanoseconds limit_{0};  // longest time of a wait; 0: no limit
  std::atomic<bool> is_on_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> ended_ = false;
  std::string why_;  // the reason why the watch ended; valid if `ended_` is set
};

/// One caller's access to its Watch. If there is no Watch, or if the Watch is off, only the awaited event ends a wait.
class Watched {
 public:
  Watched() = default;
  Watched(std::shared_ptr<Watch> watch, std::size_t caller) : watch_(std::move(watch)), caller_(caller) {}

  bool is_on() const noexcept { return watch_ != nullptr && watch_->is_on(); }
  bool has_ended() const noexcept { return watch_ != nullptr && watch_->has_ended(); }
  /// Returns access to the same Watch for the thread that advances calls for other callers.
  Watched as_mover() const { return {watch_, watch_ == nullptr ? 0 : watch_->callers_.size() - 1}; }

 private:
  friend class Stay;
  friend class Wait;
  std::shared_ptr<Watch> watch_;
  std::size_t caller_ = 0;
};

/// Counts the caller as being in a call, as long as this object exists. Throws Failure if the Watch has ended.
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

/// One wait within a call.
class Wait {
 public:
  /// `is_for_good`: the wait has no deadline, so the time limit or the interrupt may end it.
  explicit Wait(const Watched& watched, bool is_for_good = true) noexcept
      : watch_(watched.is_on() ? watched.watch_.get() : nullptr), caller_(watched.caller_), is_for_good_(is_for_good) {}
  /// Checks whether the wait must end. Call this function after every poll that found nothing. Throws Failure if the
  /// Watch has ended.
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
  std::chrono::steady_clock::time_point since_{};  // time of the first call of `look`
  std::chrono::steady_clock::time_point asked_{};
};

}  // namespace steadfold::group
