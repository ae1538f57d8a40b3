#include "plan/thread_pool.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace steadfold::plan {

void ThreadPool::resize(unsigned size) {
  if (size == this->size()) return;
  dismiss();
  try {
    helpers_.reserve(size - 1);  // avoids a reallocation, since threads refer to helpers
    while (this->size() < size) {
      const unsigned number = this->size();
      std::thread& thread = helpers_.emplace_back().thread;
      thread = std::thread([this, number] { serve(number); });
    }
  } catch (const std::exception&) {  // there is no memory for more threads; fewer threads give the same bits
    if (!helpers_.empty() && !helpers_.back().thread.joinable()) helpers_.pop_back();
  }
}

void ThreadPool::run(unsigned threads) {
  if (threads <= 1) return call_(work_, 0);
  threads_ = threads;
  callers_ = arithmetic::PromisedEnvironment::callers();
  begin_round();
  std::exception_ptr thrown;
  try {
    call_(work_, 0);
  } catch (...) {
    thrown = std::current_exception();
  }
  for (std::uint32_t left; (left = busy_.load(std::memory_order_acquire)) != 0;) busy_.wait(left);
  for (Helper& helper : helpers_) {
    arithmetic::raise_flags(std::exchange(helper.raised, 0));
    const std::exception_ptr its = std::exchange(helper.thrown, nullptr);
    if (!thrown) thrown = its;
  }
  if (thrown) std::rethrow_exception(thrown);
}

void ThreadPool::begin_round() {
  busy_.store(static_cast<std::uint32_t>(helpers_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

void ThreadPool::serve(unsigned number) {
  for (std::uint32_t seen = 0;; ++seen) {
    round_.wait(seen, std::memory_order_acquire);
    if (over_) return;
    if (number < threads_) do_part(number, helpers_[number - 1]);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

void ThreadPool::do_part(unsigned number, Helper& mine) noexcept {
  const arithmetic::PromisedEnvironment environment(callers_);
  arithmetic::clear_flags();
  try {
    call_(work_, number);
  } catch (...) {
    mine.thrown = std::current_exception();
  }
  mine.raised = arithmetic::raised_flags();
}

void ThreadPool::dismiss() noexcept {
  if (helpers_.empty()) return;
  over_ = true;
  begin_round();
  for (Helper& helper : helpers_) helper.thread.join();
  helpers_.clear();
  over_ = false;
  round_.store(0, std::memory_order_relaxed);
}

// Computes how many threads are worth their creation. Threads are created one after the other: n threads take n times
// as long to create as one thread, and each gets an n-th of the bytes.
unsigned threads_worth(unsigned asked, Bytes bytes) noexcept {
  if (asked <= 1) return 1;
  // Bytes that a core reads while one thread is created: lab/notes/sixteen_cores.md.
  constexpr double bytes_of_making = 512 << 10;
  const double least = std::sqrt(static_cast<double>(bytes) / bytes_of_making);
  return least < asked ? static_cast<unsigned>(std::max(least, 1.0)) : asked;
}

}  // namespace steadfold::plan
