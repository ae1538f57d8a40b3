// A rank's transport over the simulated network: what waits lets other ranks go on.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fibers.hpp"
#include "transport/forwarding.hpp"
#include "transport/simulated.hpp"

namespace steadfold::soak {

/// What the ranks of one program share.
struct Meeting {
  Meeting(std::size_t ranks, transport::SimulatedOptions options)
      : network(static_cast<order::Rank>(ranks), options), brought(ranks) {}

  transport::SimulatedNetwork network;
  Fibers* fibers = nullptr;
  std::vector<std::vector<std::byte>> brought;
  transport::Transport::Gathered gathered;
  std::size_t present = 0;
  std::uint64_t gathers = 0;
};

class FiberEndpoint final : public transport::ForwardingEndpoint {
 public:
  FiberEndpoint(std::shared_ptr<Meeting> meeting, std::unique_ptr<transport::Endpoint> inner)
      : ForwardingEndpoint(std::move(inner)), meeting_(std::move(meeting)) {}
  ~FiberEndpoint() override { end_inner(); }  // before the network goes

  std::size_t poll(std::span<transport::Completion> completions) noexcept override {
    const std::size_t count = inner().poll(completions);
    if (count == 0)
      meeting_->fibers->wait();
    else
      meeting_->fibers->progress();
    return count;
  }

 private:
  std::shared_ptr<Meeting> meeting_;
};

class FiberTransport final : public transport::Transport {
 public:
  FiberTransport(std::shared_ptr<Meeting> meeting, std::size_t rank)
      : meeting_(std::move(meeting)), rank_(static_cast<order::Rank>(rank)) {}

  order::Rank rank() const noexcept override { return rank_; }
  order::Rank rank_count() const noexcept override { return static_cast<order::Rank>(meeting_->brought.size()); }
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t tag, std::span<const order::Bytes> capacities,
                                               transport::Ticket tickets) override {
    return std::make_unique<FiberEndpoint>(meeting_, meeting_->network.rank(rank_).prepare(tag, capacities, tickets));
  }
  void connect(bool is_prepared) override { meeting_->network.rank(rank_).connect(is_prepared); }
  transport::Connection connected() override {
    const transport::Connection state = meeting_->network.rank(rank_).connected();
    if (state == transport::Connection::pending)
      meeting_->fibers->wait();
    else
      meeting_->fibers->progress();
    return state;
  }
  Gathered gather_all(std::span<const std::byte> bytes) override {
    Meeting& all = *meeting_;
    all.brought[static_cast<std::size_t>(rank_)].assign(bytes.begin(), bytes.end());
    const std::uint64_t mine = all.gathers;
    if (++all.present == all.brought.size())
      join();
    else
      while (all.gathers == mine) all.fibers->wait();
    return all.gathered;
  }

 private:
  void join() {
    Meeting& all = *meeting_;
    all.gathered = {.bytes = {}, .first = {0}};
    for (const auto& bytes : all.brought) {
      all.gathered.bytes.insert(all.gathered.bytes.end(), bytes.begin(), bytes.end());
      all.gathered.first.push_back(all.gathered.bytes.size());
    }
    all.present = 0;
    ++all.gathers;
    all.fibers->progress();
  }

  std::shared_ptr<Meeting> meeting_;
  order::Rank rank_;
};

}  // namespace steadfold::soak
