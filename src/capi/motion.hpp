// What was started and goes on while the caller computes: whoever waits for anything moves all of it on, so that calls
// may be ended in any order on any rank.
// Cost: nothing if nothing else is under way; else a lock and one poll. Source: MPI's rule of progress.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "agreement/failure.hpp"
#include "agreement/footprint.hpp"
#include "session/watch.hpp"

namespace steadfold::capi {

/// A plan or a group: one caller at a time, and it can be moved on between calls.
class InMotion {
 public:
  /// `home`: the group that it belongs to, whose progress thread moves it on; never looked into.
  explicit InMotion(const void* home) noexcept : home_(home) {}
  InMotion(const InMotion&) = delete;
  InMotion& operator=(const InMotion&) = delete;
  virtual ~InMotion() = default;

  /// Moves on a little what is under way; nothing if nothing is. Never waits, never throws.
  virtual void move() noexcept = 0;
  /// Whether what is under way uses memory that a call is about to use.
  virtual bool uses(const agreement::Footprint& memory) const noexcept = 0;

  bool belongs_to(const void* home) const noexcept { return home_ == home; }
  /// From now on, whatever this thread waits for moves it on; within a turn, as the end of it.
  void enter_motion() noexcept;
  void leave_motion() noexcept;

  /// Takes it for ever, if nobody uses it: before it is deleted.
  bool retire() noexcept {
    if (!take_turn()) return false;
    leave_motion();
    return true;
  }

 private:
  friend class Turn;
  friend void move_others() noexcept;
  friend bool move_one_of(const void* home) noexcept;
  friend bool others_use(const agreement::Footprint& memory) noexcept;
  friend void keep_for_ever(InMotion* kept) noexcept;
  enum class Use : std::uint8_t { free, by_a_caller, by_a_mover };

  /// Whether nobody else uses it. A mover is soon done, so a caller waits for it, unless it is the mover: within an
  /// operator.
  bool take_turn() noexcept {
    Use found = Use::free;
    return use_.compare_exchange_strong(found, Use::by_a_caller, std::memory_order_acquire) || wait_for_turn();
  }
  bool wait_for_turn() noexcept;
  bool try_to_move() noexcept;
  void move_in_turn() noexcept;
  void end_turn() noexcept { use_.store(Use::free, std::memory_order_release); }

  const void* home_;
  std::atomic<Use> use_ = Use::free;
  bool is_in_motion_ = false;
  InMotion* kept_before_ = nullptr;
};

/// Whether anything is under way in this process.
bool is_any_in_motion() noexcept;

/// Moves on one of those that this thread started, in turn, unless somebody uses it. Never waits.
void move_others() noexcept;

/// Moves on one of those of a group, whoever started them. Whether there are any.
bool move_one_of(const void* home) noexcept;
/// Waits until there may be one, or until `wake_up`.
void wait_for_one_of(const void* home, const std::atomic<bool>& ends) noexcept;
void wake_up() noexcept;

/// Whether one of those that this thread started uses memory that a call is about to use.
bool others_use(const agreement::Footprint& memory) noexcept;

/// Keeps something for as long as the program runs, where tools that look for leaks find it.
void keep_for_ever(InMotion* kept) noexcept;

/// The deadline of a wait that looks once, for which no clock is read.
inline constexpr std::chrono::steady_clock::time_point at_once{};

/// When a wait of so many nanoseconds ends: `at_once` for none, and the last time that the clock has if that comes
/// first.
std::chrono::steady_clock::time_point deadline_after(std::uint64_t nanoseconds) noexcept;

/// Tests until it is done or the time is over, and moves others on meanwhile; at least once. Whether it is done.
template <class Test>
bool wait_until(const session::Watched& watched, std::chrono::steady_clock::time_point deadline, Test test) {
  const bool is_for_good = deadline == std::chrono::steady_clock::time_point::max();
  session::Wait wait(watched, is_for_good);
  while (!test()) {
    if (is_any_in_motion()) move_others();
    if (deadline == at_once || (!is_for_good && std::chrono::steady_clock::now() >= deadline)) return false;
    wait.look();
  }
  return true;
}
template <class Test>
void wait_for(const session::Watched& watched, Test test) {
  wait_until(watched, std::chrono::steady_clock::time_point::max(), test);
}

/// A plan or group for the length of a call; a second call meanwhile is refused.
class Turn {
 public:
  Turn(InMotion& what, const char* name, const char* suggestion) : what_(what) {
    if (!what.take_turn())
      throw agreement::Failure(
          Status::invalid_argument,
          std::string(name) + " is in use by another thread (or by an operator that calls back), " + suggestion);
  }
  ~Turn() { what_.end_turn(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  InMotion& what_;
};

}  // namespace steadfold::capi
