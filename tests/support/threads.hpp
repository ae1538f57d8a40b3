// Runs ranks as threads of one process, for code that blocks on every rank: a simulated network with one lock. If a job
// hangs, the program ends with a message.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "transport/forwarding.hpp"
#include "transport/simulated/simulated.hpp"

namespace steadfold::test {

/// The state that the threads share.
class Meeting {
 public:
  Meeting(order::Rank rank_count, std::uint64_t seed) : network(rank_count, {.seed = seed}) {}

  /// Notifies the other threads of an event. The caller must hold the lock.
  void tell() noexcept {
    ++news_;
    news_came_.notify_all();
  }
  std::uint64_t news() const noexcept { return news_; }
  /// Waits for the next event, or at most 2 ms, because a rank's wait may have its own timeout.
  void wait_for_news(std::unique_lock<std::mutex>& lock) {
    news_came_.wait_for(lock, std::chrono::milliseconds(2), [&, known = news_] { return news_ != known; });
  }

  std::mutex mutex;
  transport::SimulatedNetwork network;

 private:
  std::condition_variable news_came_;
  std::uint64_t news_ = 0;
};

/// Sleeps if nothing can happen before another rank acts. Threads that polled or yielded would wait for a core at every
/// poll, whenever other tests run at the same time.
class Idling {
 public:
  /// To be called if a poll found nothing. A message that can complete does so within a few polls.
  void found_nothing(Meeting& meeting, std::unique_lock<std::mutex>& lock) {
    if (known_ != meeting.news()) questions_ = 0;
    known_ = meeting.news();
    if (++questions_ > transport::SimulatedNetwork::max_polls) meeting.wait_for_news(lock);
  }
  void found_something() noexcept { questions_ = 0; }

 private:
  std::uint64_t known_ = 0;
  int questions_ = 0;
};

class LockedEndpoint final : public transport::ForwardingEndpoint {
 public:
  LockedEndpoint(std::shared_ptr<Meeting> meeting, std::unique_ptr<transport::Endpoint> inner)
      : ForwardingEndpoint(std::move(inner)), meeting_(std::move(meeting)) {}
  ~LockedEndpoint() override {
    const std::lock_guard lock(meeting_->mutex);
    end_inner();
  }

  void put(transport::Ticket ticket, order::Rank target, transport::SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    const std::lock_guard lock(meeting_->mutex);
    inner().put(ticket, target, slot, bytes, second);
    meeting_->tell();
  }
  void release(transport::Ticket ticket, order::Rank source, transport::SlotNumber slot,
               const std::optional<transport::SecondRoom>& second) noexcept override {
    const std::lock_guard lock(meeting_->mutex);
    inner().release(ticket, source, slot, second);
    meeting_->tell();
  }
  void add_words(transport::Ticket ticket, std::span<std::int64_t> words) noexcept override {
    const std::lock_guard lock(meeting_->mutex);
    inner().add_words(ticket, words);
    meeting_->tell();
  }
  std::size_t poll(std::span<transport::Completion> completions) noexcept override {
    std::unique_lock lock(meeting_->mutex);
    const std::size_t count = inner().poll(completions);
    if (count == 0) {
      idling_.found_nothing(*meeting_, lock);
    } else {
      idling_.found_something();
    }
    return count;
  }

 private:
  std::shared_ptr<Meeting> meeting_;
  Idling idling_;
};

class ThreadTransport final : public transport::Transport {
 public:
  ThreadTransport(std::shared_ptr<Meeting> meeting, order::Rank rank) : meeting_(std::move(meeting)), rank_(rank) {}

  order::Rank rank() const noexcept override { return rank_; }
  order::Rank rank_count() const noexcept override { return meeting_->network.rank(rank_).rank_count(); }
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t tag, std::span<const order::Bytes> capacities,
                                               transport::Ticket tickets, transport::WordOrder order) override {
    const std::lock_guard lock(meeting_->mutex);
    return std::make_unique<LockedEndpoint>(meeting_,
                                            meeting_->network.rank(rank_).prepare(tag, capacities, tickets, order));
  }
  void connect(bool is_prepared) override {
    const std::lock_guard lock(meeting_->mutex);
    meeting_->network.rank(rank_).connect(is_prepared);
    meeting_->tell();
  }
  transport::Connection connected() override {
    std::unique_lock lock(meeting_->mutex);
    const transport::Connection state = meeting_->network.rank(rank_).connected();
    if (state == transport::Connection::pending) idling_.found_nothing(*meeting_, lock);
    return state;
  }
  /// Makes the preparation of an endpoint of this rank fail, after `after` more endpoints.
  void refuse(std::uint32_t after) {
    const std::lock_guard lock(meeting_->mutex);
    meeting_->network.refuse(rank_, after);
  }
  void gather(std::span<const std::byte> bytes) override {
    const std::lock_guard lock(meeting_->mutex);
    meeting_->network.rank(rank_).gather(bytes);
    meeting_->tell();
  }
  std::optional<Gathered> gathered() override {
    std::unique_lock lock(meeting_->mutex);
    auto all = meeting_->network.rank(rank_).gathered();
    if (!all) idling_.found_nothing(*meeting_, lock);
    return all;
  }

 private:
  std::shared_ptr<Meeting> meeting_;
  order::Rank rank_;
  Idling idling_;
};

/// Runs body(transport) on every rank at once. No template, so that std::async is compiled once.
inline void on_threads(order::Rank rank_count, std::uint64_t seed,
                       const std::function<void(std::unique_ptr<transport::Transport> transport)>& body) {
  const auto meeting = std::make_shared<Meeting>(rank_count, seed);
  std::vector<std::future<void>> ranks;
  for (order::Rank rank = 0; rank < rank_count; ++rank) {
    ranks.push_back(std::async(std::launch::async, [meeting, rank, &body] {
      body(std::unique_ptr<transport::Transport>(std::make_unique<ThreadTransport>(meeting, rank)));
    }));
  }
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].wait_until(latest) == std::future_status::ready) continue;
    std::fprintf(stderr, "rank %zu of %d hangs, seed %llu\n", rank, rank_count, static_cast<unsigned long long>(seed));
    std::_Exit(1);  // threads that wait for each other cannot be ended
  }
  for (auto& rank : ranks) rank.get();
}

}  // namespace steadfold::test
