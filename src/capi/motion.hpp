// Progress of started work: a thread that waits also advances all other work that it has started. So calls may be ended
// in any order on any rank.
// Cost: nothing if nothing else is under way; otherwise a lock and one poll. Source: MPI's progress rule.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "call/failure.hpp"
#include "call/footprint.hpp"
#include "group/watch.hpp"

namespace steadfold::capi {

/// A plan or a group with work that can be advanced. One thread uses it at a time. Between calls other threads can
/// advance it.
class InMotion {
 public:
  /// `home` is the group to which the object belongs. The group's progress thread advances the object. The address is
  /// used only for comparisons.
  explicit InMotion(const void* home) noexcept : home_(home) {}
  InMotion(const InMotion&) = delete;
  InMotion& operator=(const InMotion&) = delete;
  virtual ~InMotion() = default;

  /// Advances the object's work under way a little, if there is any. The function must not wait or throw.
  virtual void move() noexcept = 0;
  /// Whether work under way uses memory that a call is about to use.
  virtual bool uses(const call::Footprint& memory) const noexcept = 0;

  bool belongs_to(const void* home) const noexcept { return home_ == home; }
  /// Adds the object to the list of objects that this thread advances whenever it waits. Call this function while
  /// holding the turn, at the end of a call.
  void enter_motion() noexcept;
  void leave_motion() noexcept;

  /// Takes the turn (the right to use the object) for ever, if no thread has it. Call this function before deletion.
  bool retire() noexcept {
    if (!take_turn()) return false;
    leave_motion();
    return true;
  }

 private:
  friend class Turn;
  friend void move_others() noexcept;
  friend bool move_one_of(const void* home) noexcept;
  friend bool others_use(const call::Footprint& memory) noexcept;
  friend void keep_for_ever(InMotion* kept) noexcept;
  enum class Use : std::uint8_t { free, by_a_caller, by_a_mover };

  /// Takes the turn (the right to use the object), unless another caller has it. If another thread is advancing the
  /// work, waits for it, which does not take long. Does not wait if this thread itself is advancing the work (a call
  /// from within an operator).
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

/// Whether any work is under way in this process.
bool is_any_in_motion() noexcept;

/// Advances one object that this thread started, round-robin, unless another thread uses it. Never waits.
void move_others() noexcept;

/// Advances one object of a group, whichever thread started it. Returns whether the group has objects with work under
/// way.
bool move_one_of(const void* home) noexcept;
/// Waits until the group has an object with work under way, or until `ends` is set and `wake_up` is called.
void wait_for_one_of(const void* home, const std::atomic<bool>& ends) noexcept;
void wake_up() noexcept;

/// Whether work that this thread started uses memory that a call is about to use.
bool others_use(const call::Footprint& memory) noexcept;

/// Keeps an object until the program ends. The object stays reachable, so that leak checkers do not report it.
void keep_for_ever(InMotion* kept) noexcept;

/// The deadline of a wait that only polls once. The clock is not read for this deadline.
inline constexpr std::chrono::steady_clock::time_point at_once{};

/// Returns the deadline of a wait of `nanoseconds`: `at_once` for 0, and at most the last time of the clock.
std::chrono::steady_clock::time_point deadline_after(std::uint64_t nanoseconds) noexcept;

/// Calls `test` until it returns true or the deadline has passed, at least once, and advances other work meanwhile.
/// Returns the last result of `test`.
template <class Test>
bool wait_until(const group::Watched& watched, std::chrono::steady_clock::time_point deadline, Test test) {
  const bool is_for_good = deadline == std::chrono::steady_clock::time_point::max();
  group::Wait wait(watched, is_for_good);
  while (!test()) {
    if (is_any_in_motion()) move_others();
    if (deadline == at_once || (!is_for_good && std::chrono::steady_clock::now() >= deadline)) return false;
    wait.look();
  }
  return true;
}
template <class Test>
void wait_for(const group::Watched& watched, Test test) {
  wait_until(watched, std::chrono::steady_clock::time_point::max(), test);
}

/// Holds the turn of a plan or group during a call. If another caller has the turn, the call is refused.
class Turn {
 public:
  Turn(InMotion& what, const char* name, const char* suggestion) : what_(what) {
    if (!what.take_turn())
      throw call::Failure(
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
