// A rank's transport over the simulated network. If a rank waits, the other ranks continue.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fibers.hpp"
#include "transport/forwarding.hpp"
#include "transport/simulated/simulated.hpp"

namespace steadfold::soak {

/// The state that the ranks of one program share.
struct Meeting {
  Meeting(std::size_t ranks, transport::SimulatedOptions options) : network(static_cast<order::Rank>(ranks), options) {}

  transport::SimulatedNetwork network;
  Fibers* fibers = nullptr;
};

class FiberEndpoint final : public transport::ForwardingEndpoint {
 public:
  FiberEndpoint(std::shared_ptr<Meeting> meeting, std::unique_ptr<transport::Endpoint> inner)
      : ForwardingEndpoint(std::move(inner)), meeting_(std::move(meeting)) {}
  ~FiberEndpoint() override { end_inner(); }  // before the network is destroyed

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
  order::Rank rank_count() const noexcept override { return meeting_->network.rank(rank_).rank_count(); }
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t tag, std::span<const order::Bytes> capacities,
                                               transport::Ticket tickets, transport::WordOrder order) override {
    return std::make_unique<FiberEndpoint>(meeting_,
                                           meeting_->network.rank(rank_).prepare(tag, capacities, tickets, order));
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
  void gather(std::span<const std::byte> bytes) override { meeting_->network.rank(rank_).gather(bytes); }
  std::optional<Gathered> gathered() override {
    auto all = meeting_->network.rank(rank_).gathered();
    if (all)
      meeting_->fibers->progress();
    else
      meeting_->fibers->wait();
    return all;
  }

 private:
  std::shared_ptr<Meeting> meeting_;
  order::Rank rank_;
};

}  // namespace steadfold::soak
