// Runs a plan of two ranks in one process; bench/instructions.py counts the instructions. The ranks' endpoints copy
// messages from one to the other, and the instructions of the endpoints are not counted.
//   counted_run tree|exact|binned ELEMENTS RUNS [MEMBERS]     ELEMENTS per rank; a bundle of MEMBERS sums
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <string_view>
#include <vector>

#include "plan/agreement.hpp"
#include "plan/plan.hpp"

namespace {

using namespace steadfold;
using order::Bytes;
using order::Rank;

/// The landing slots of both ranks, and the messages that have arrived in them.
struct Loop {
  struct Slot {
    std::vector<std::byte> bytes;
    Bytes arrived = 0;
    bool is_full = false;
  };
  std::vector<Slot> slots[2];
};

class LoopbackEndpoint final : public transport::Endpoint {
 public:
  LoopbackEndpoint(std::shared_ptr<Loop> loop, Rank rank, std::span<const Bytes> capacities, transport::Ticket tickets)
      : loop_(std::move(loop)), rank_(rank), sent_(tickets), receives_(tickets) {
    for (const Bytes capacity : capacities) mine().push_back({.bytes = std::vector<std::byte>(capacity)});
  }

  std::span<std::byte> landing(transport::SlotNumber slot) noexcept override { return mine()[slot].bytes; }
  void put(transport::Ticket ticket, Rank target, transport::SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>>) noexcept override {
    Loop::Slot& to = loop_->slots[target][slot];
    std::memcpy(to.bytes.data(), bytes.data(), bytes.size());
    to.arrived = bytes.size();
    to.is_full = true;
    sent_[sent_count_++] = ticket;
  }
  void release(transport::Ticket ticket, Rank, transport::SlotNumber slot,
               const std::optional<transport::SecondRoom>&) noexcept override {
    receives_[receive_count_++] = {ticket, &mine()[slot]};
  }
  void add_words(transport::Ticket, std::span<std::int64_t>) noexcept override {}
  std::size_t poll(std::span<transport::Completion> completions) noexcept override {
    std::size_t count = 0;
    while (sent_count_ > 0) completions[count++] = {.ticket = sent_[--sent_count_]};
    for (std::size_t i = receive_count_; i-- > 0;) {
      const auto [ticket, slot] = receives_[i];
      if (!slot->is_full) continue;
      slot->is_full = false;
      completions[count++] = {.ticket = ticket, .size = slot->arrived, .data = slot->bytes.data()};
      receives_[i] = receives_[--receive_count_];
    }
    return count;
  }
  transport::Traffic traffic() const noexcept override { return {}; }

 private:
  std::vector<Loop::Slot>& mine() { return loop_->slots[rank_]; }
  std::shared_ptr<Loop> loop_;
  Rank rank_;
  std::vector<transport::Ticket> sent_;  // tickets of messages that are sent and that poll() has not reported yet
  std::size_t sent_count_ = 0;
  std::vector<std::pair<transport::Ticket, Loop::Slot*>> receives_;  // tickets of open receives, with their slots
  std::size_t receive_count_ = 0;
};

class Loopback final : public transport::Transport {
 public:
  Loopback(std::shared_ptr<Loop> loop, Rank rank) : loop_(std::move(loop)), rank_(rank) {}
  Rank rank() const noexcept override { return rank_; }
  Rank rank_count() const noexcept override { return 2; }
  void connect(bool) override {}
  transport::Connection connected() override { return transport::Connection::connected; }
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t, std::span<const Bytes> capacities,
                                               transport::Ticket tickets, transport::WordOrder) override {
    return std::make_unique<LoopbackEndpoint>(loop_, rank_, capacities, tickets);
  }
  void gather(std::span<const std::byte>) override {}
  std::optional<Gathered> gathered() override { return Gathered{}; }

 private:
  std::shared_ptr<Loop> loop_;
  Rank rank_;
};

call::Method method_named(std::string_view name) {
  if (name == "tree") return call::Method::tree;
  return name == "exact" ? call::Method::exact : call::Method::binned;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    std::cerr << "wrong arguments (three or four are needed), give METHOD ELEMENTS RUNS [MEMBERS]\n";
    return 2;
  }
  const std::size_t count = std::strtoull(argv[2], nullptr, 10);
  const std::size_t members = argc == 5 ? std::strtoull(argv[4], nullptr, 10) : 1;
  const call::Call call{.method = method_named(argv[1]), .layout = call::LayoutKind::rank_order, .rows = count};
  const std::vector<call::Call> calls(members, call);
  const std::vector<std::byte> proposal[2] = {plan::propose(calls, 0, nullptr), plan::propose(calls, 1, nullptr)};
  const std::span<const std::byte> proposals[2] = {proposal[0], proposal[1]};
  const plan::Agreement agreed = plan::conclude(proposals, {.forced_schedule = "recursive_doubling"});

  const auto loop = std::make_shared<Loop>();
  plan::Plan plans[2] = {{agreed, calls, std::make_shared<Loopback>(loop, 0), 0},
                         {agreed, calls, std::make_shared<Loopback>(loop, 1), 0}};
  const std::vector<double> x(count, 0.1);
  std::vector<double> results[2] = {std::vector<double>(members), std::vector<double>(members)};
  std::vector<call::Data> data[2];
  for (const int rank : {0, 1})
    for (double& result : results[rank])
      data[rank].push_back(
          {.first = reinterpret_cast<const std::byte*>(x.data()), .result = reinterpret_cast<std::byte*>(&result)});
  for (std::size_t runs = std::strtoull(argv[3], nullptr, 10); runs > 0; --runs) {
    for (const int rank : {0, 1}) plans[rank].start(data[rank], true);
    for (const int rank : {0, 1}) plans[rank].wait();
  }
  std::cout << results[0].back() << "\n";
}
