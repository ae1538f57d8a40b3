// Runs a plan of many segments on four simulated ranks, each of which sees one communication complete at a time;
// bench/instructions.py counts the instructions. Those of the network are not counted.
//   counted_chain SCHEDULE SEGMENTS RUNS
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

#include "agreement/agreement.hpp"
#include "execution/plan.hpp"
#include "transport/simulated.hpp"

namespace {

using namespace steadfold;
using order::Bytes;
using order::Rank;

constexpr Rank ranks = 4;
std::size_t left = 0;  // completions that may still be seen

class CountedEndpoint final : public transport::Endpoint {
 public:
  explicit CountedEndpoint(std::unique_ptr<transport::Endpoint> inner) : inner_(std::move(inner)) {}
  std::span<std::byte> landing(transport::SlotNumber slot) noexcept override { return inner_->landing(slot); }
  void put(transport::Ticket ticket, Rank target, transport::SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    inner_->put(ticket, target, slot, bytes, second);
  }
  void release(transport::Ticket ticket, Rank source, transport::SlotNumber slot,
               const std::optional<transport::SecondRoom>& second) noexcept override {
    inner_->release(ticket, source, slot, second);
  }
  void add_words(transport::Ticket, std::span<std::int64_t>) noexcept override {}
  std::size_t poll(std::span<transport::Completion> completions) noexcept override {
    const std::size_t count = inner_->poll(completions.first(std::min(completions.size(), left)));
    left -= count;
    return count;
  }
  transport::Traffic traffic() const noexcept override { return inner_->traffic(); }

 private:
  std::unique_ptr<transport::Endpoint> inner_;
};

class CountedTransport final : public transport::Transport {
 public:
  explicit CountedTransport(transport::Transport& inner) : inner_(inner) {}
  Rank rank() const noexcept override { return inner_.rank(); }
  Rank rank_count() const noexcept override { return inner_.rank_count(); }
  void connect(bool is_prepared) override { inner_.connect(is_prepared); }
  transport::Connection connected() override { return inner_.connected(); }
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities,
                                               transport::Ticket tickets) override {
    return std::make_unique<CountedEndpoint>(inner_.prepare(tag, capacities, tickets));
  }
  Gathered gather_all(std::span<const std::byte>) override { return {}; }

 private:
  transport::Transport& inner_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "wrong arguments (three are needed), give SCHEDULE SEGMENTS RUNS\n";
    return 2;
  }
  const std::size_t segments = std::strtoull(argv[2], nullptr, 10);
  const agreement::Call call{.method = agreement::Method::plain,
                             .columns = segments,
                             .layout = agreement::LayoutKind::row_per_rank,
                             .rows = 1};
  const std::vector<std::byte> proposal = agreement::propose(std::span(&call, 1), 0, nullptr);
  const std::vector<std::span<const std::byte>> proposals(ranks, proposal);
  const agreement::Agreement agreed = agreement::conclude(proposals, argv[1]);

  transport::SimulatedNetwork network(ranks, {.delivery = transport::Delivery::prompt});
  std::vector<std::unique_ptr<execution::Plan>> plans;
  for (Rank rank = 0; rank < ranks; ++rank)
    plans.push_back(std::make_unique<execution::Plan>(agreed, std::span(&call, 1),
                                                      std::make_shared<CountedTransport>(network.rank(rank)), 0,
                                                      static_cast<std::uint32_t>(segments)));
  network.connect();
  const std::vector<double> x(segments, 0.1);
  std::vector<std::vector<double>> results(ranks, std::vector<double>(segments));
  for (std::size_t runs = std::strtoull(argv[3], nullptr, 10); runs > 0; --runs) {
    for (std::size_t rank = 0; rank < plans.size(); ++rank)
      plans[rank]->start({.first = reinterpret_cast<const std::byte*>(x.data()),
                          .result = reinterpret_cast<std::byte*>(results[rank].data())});
    for (bool all_done = false; !all_done;) {
      all_done = true;
      for (const auto& plan : plans) {
        left = 1;
        all_done &= plan->test();
      }
    }
  }
  std::cout << results[0].back() << "\n";
}
