// Runs a plan of many segments on four simulated ranks, each of which sees one communication complete at a time;
// bench/instructions.py counts the instructions. The network's instructions are not counted.
//   counted_chain SCHEDULE SEGMENTS RUNS
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

#include "plan/agreement.hpp"
#include "plan/plan.hpp"
#include "transport/forwarding.hpp"
#include "transport/simulated/simulated.hpp"

namespace {

using namespace steadfold;
using order::Bytes;
using order::Rank;

constexpr Rank ranks = 4;
std::size_t left = 0;  // number of completions that may still be seen

class FewAtATime final : public transport::ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  std::size_t poll(std::span<transport::Completion> completions) noexcept override {
    const std::size_t count = inner().poll(completions.first(std::min(completions.size(), left)));
    left -= count;
    return count;
  }
};

class TransportOfFew final : public transport::ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities,
                                               transport::Ticket tickets, transport::WordOrder order) override {
    return std::make_unique<FewAtATime>(inner().prepare(tag, capacities, tickets, order));
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "wrong arguments (three are needed), give SCHEDULE SEGMENTS RUNS\n";
    return 2;
  }
  const std::size_t segments = std::strtoull(argv[2], nullptr, 10);
  const call::Call call{
      .method = call::Method::plain, .columns = segments, .layout = call::LayoutKind::row_per_rank, .rows = 1};
  const std::vector<std::byte> proposal = plan::propose(std::span(&call, 1), 0, nullptr);
  const std::vector<std::span<const std::byte>> proposals(ranks, proposal);
  const plan::Agreement agreed = plan::conclude(proposals, {.forced_schedule = argv[1]});

  const auto network = std::make_shared<transport::SimulatedNetwork>(
      ranks, transport::SimulatedOptions{.delivery = transport::Delivery::prompt});
  std::vector<std::unique_ptr<plan::Plan>> plans;
  for (Rank rank = 0; rank < ranks; ++rank)
    plans.push_back(std::make_unique<plan::Plan>(
        agreed, std::span(&call, 1),
        std::make_shared<TransportOfFew>(std::shared_ptr<transport::Transport>(network, &network->rank(rank))), 0,
        static_cast<std::uint32_t>(segments)));
  network->connect();
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
