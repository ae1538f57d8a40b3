#include "capi/motion.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

namespace steadfold::capi {
namespace {

struct Entry {
  InMotion* what;
  std::thread::id thread;
};

std::mutex entries_mutex;
std::vector<Entry> entries;
std::size_t next_entry = 0;
std::atomic<std::size_t> entry_count = 0;
thread_local const InMotion* moved_now = nullptr;

}  // namespace

bool InMotion::take_turn() noexcept {
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
  const std::lock_guard lock(entries_mutex);
  entries.push_back({this, std::this_thread::get_id()});
  entry_count.store(entries.size(), std::memory_order_relaxed);
  is_in_motion_ = true;
}

void InMotion::leave_motion() noexcept {
  if (!is_in_motion_) return;
  const std::lock_guard lock(entries_mutex);
  std::erase_if(entries, [this](const Entry& entry) { return entry.what == this; });
  entry_count.store(entries.size(), std::memory_order_relaxed);
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
  const Clock::time_point now = Clock::now();
  const auto left = static_cast<std::uint64_t>((Clock::time_point::max() - now).count());
  return nanoseconds >= left ? Clock::time_point::max() : now + std::chrono::nanoseconds(nanoseconds);
}

bool is_any_in_motion() noexcept { return entry_count.load(std::memory_order_relaxed) != 0; }

bool others_use(const agreement::Footprint& memory) noexcept {
  const std::lock_guard lock(entries_mutex);
  const std::thread::id self = std::this_thread::get_id();
  for (const Entry& entry : entries) {
    if (entry.thread != self || !entry.what->try_to_move()) continue;
    const bool uses = entry.what->uses(memory);
    entry.what->end_turn();
    if (uses) return true;
  }
  return false;
}

void move_others() noexcept {
  if (moved_now != nullptr) return;
  InMotion* chosen = nullptr;
  {
    const std::lock_guard lock(entries_mutex);
    const std::thread::id self = std::this_thread::get_id();
    for (std::size_t i = 0; i < entries.size() && chosen == nullptr; ++i) {
      next_entry = (next_entry + 1) % entries.size();
      const Entry& entry = entries[next_entry];
      if (entry.thread == self && entry.what->try_to_move()) chosen = entry.what;
    }
  }
  if (chosen == nullptr) return;
  moved_now = chosen;
  chosen->move();
  moved_now = nullptr;
  chosen->end_turn();
}

}  // namespace steadfold::capi
