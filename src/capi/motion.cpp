#include "capi/motion.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace steadfold::capi {
namespace {

struct Entry {
  InMotion* what;
  std::thread::id thread;
};

/// All plans and groups with work under way in this process. The list is never destroyed, because calls may be made
/// while a program's objects are destroyed, and progress threads may still wait.
struct Entries {
  std::mutex mutex;
  std::condition_variable something_new;
  std::vector<Entry> all;
  std::size_t next = 0;
};
Entries& entries() noexcept {
  alignas(Entries) static std::byte place[sizeof(Entries)];
  static Entries& only = *new (place) Entries;
  return only;
}
std::atomic<std::size_t> entry_count = 0;
thread_local const InMotion* moved_now = nullptr;

}  // namespace

bool InMotion::wait_for_turn() noexcept {
  Use found = Use::free;
  while (!use_.compare_exchange_weak(found, Use::by_a_caller, std::memory_order_acquire)) {
    if (found == Use::by_a_caller || moved_now == this) return false;
    if (found == Use::by_a_mover) std::this_thread::yield();
    found = Use::free;
  }
  return true;
}

bool InMotion::try_to_move() noexcept {
  Use found = Use::free;
  return use_.compare_exchange_strong(found, Use::by_a_mover, std::memory_order_acquire);
}

void InMotion::enter_motion() noexcept {
  if (is_in_motion_) return;
  const std::lock_guard lock(entries().mutex);
  try {
    entries().all.push_back({this, std::this_thread::get_id()});
  } catch (const std::bad_alloc&) {
    return;  // only the object's own tests and waits advance it then
  }
  entry_count.store(entries().all.size(), std::memory_order_relaxed);
  is_in_motion_ = true;
  entries().something_new.notify_all();
}

void InMotion::leave_motion() noexcept {
  if (!is_in_motion_) return;
  const std::lock_guard lock(entries().mutex);
  std::erase_if(entries().all, [this](const Entry& entry) { return entry.what == this; });
  entry_count.store(entries().all.size(), std::memory_order_relaxed);
  is_in_motion_ = false;
}

void keep_for_ever(InMotion* kept) noexcept {
  static std::atomic<InMotion*> last = nullptr;
  kept->kept_before_ = last.load(std::memory_order_relaxed);
  while (!last.compare_exchange_weak(kept->kept_before_, kept, std::memory_order_relaxed)) {
  }
}

std::chrono::steady_clock::time_point deadline_after(std::uint64_t nanoseconds) noexcept {
  using Clock = std::chrono::steady_clock;
  if (nanoseconds == 0) return at_once;
  const Clock::time_point now = Clock::now();
  const auto left = static_cast<std::uint64_t>((Clock::time_point::max() - now).count());
  return nanoseconds >= left ? Clock::time_point::max() : now + std::chrono::nanoseconds(nanoseconds);
}

bool is_any_in_motion() noexcept { return entry_count.load(std::memory_order_relaxed) != 0; }

bool others_use(const call::Footprint& memory) noexcept {
  const std::lock_guard lock(entries().mutex);
  const std::thread::id self = std::this_thread::get_id();
  for (const Entry& entry : entries().all) {
    if (entry.thread != self || !entry.what->try_to_move()) continue;
    const bool uses = entry.what->uses(memory);
    entry.what->end_turn();
    if (uses) return true;
  }
  return false;
}

namespace {

/// Returns the next object that `wanted` accepts, round-robin. The caller must hold the lock.
template <class Wanted>
InMotion* next_of(Wanted wanted) noexcept {
  auto& [mutex, something_new, all, next] = entries();
  for (std::size_t i = 0; i < all.size(); ++i) {
    next = (next + 1) % all.size();
    if (wanted(all[next])) return all[next].what;
  }
  return nullptr;
}

}  // namespace

void InMotion::move_in_turn() noexcept {
  moved_now = this;
  move();
  moved_now = nullptr;
  end_turn();
}

void move_others() noexcept {
  if (moved_now != nullptr) return;
  std::unique_lock lock(entries().mutex);
  InMotion* const chosen = next_of([self = std::this_thread::get_id()](const Entry& entry) {
    return entry.thread == self && entry.what->try_to_move();
  });
  lock.unlock();
  if (chosen != nullptr) chosen->move_in_turn();
}

bool move_one_of(const void* home) noexcept {
  std::unique_lock lock(entries().mutex);
  const bool is_any =
      std::ranges::any_of(entries().all, [&](const Entry& entry) { return entry.what->belongs_to(home); });
  InMotion* const chosen =
      next_of([&](const Entry& entry) { return entry.what->belongs_to(home) && entry.what->try_to_move(); });
  lock.unlock();
  if (chosen != nullptr) chosen->move_in_turn();
  return is_any;
}

void wait_for_one_of(const void* home, const std::atomic<bool>& ends) noexcept {
  std::unique_lock lock(entries().mutex);
  entries().something_new.wait(lock, [&] {
    return ends || std::ranges::any_of(entries().all, [&](const Entry& entry) { return entry.what->belongs_to(home); });
  });
}

void wake_up() noexcept {
  const std::lock_guard lock(entries().mutex);
  entries().something_new.notify_all();
}

}  // namespace steadfold::capi
