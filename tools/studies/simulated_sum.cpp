#include "simulated_sum.hpp"

#include <memory>
#include <vector>

#include "../command.hpp"
#include "collective/failure.hpp"
#include "collective/plan.hpp"
#include "transport/simulated.hpp"

namespace steadfold::command::studies {
namespace {

using collective::Call;
using order::Rank;
using transport::SimulatedNetwork;

std::vector<Call> calls_for(const order::TwoShares& shares, const SimulatedSum& asked) {
  std::vector<Call> calls;
  for (Rank rank = 0; rank < shares.rank_count(); ++rank) {
    calls.push_back({.method = asked.method,
                     .root = asked.rooted ? 0 : collective::all_ranks,
                     .schedule = asked.schedule,
                     .layout = collective::LayoutKind::rank_order,
                     .rows = shares.count(rank)});
  }
  return calls;
}

collective::Agreement agreed(const std::vector<Call>& calls) {
  std::vector<std::vector<std::byte>> proposals;
  for (const Call& call : calls) proposals.push_back(collective::propose(std::span(&call, 1), 0, nullptr));
  const std::vector<std::span<const std::byte>> all(proposals.begin(), proposals.end());
  return collective::conclude(all, "");
}

using Plans = std::vector<std::unique_ptr<collective::Plan>>;

/// No chain of messages is longer than a few a rank, and each is there after a bounded number of tests.
void drive(const Plans& plans) {
  const std::size_t bound = 200 + 16 * SimulatedNetwork::max_tests * (plans.size() + 2);
  for (std::size_t sweep = 0; sweep < bound; ++sweep) {
    bool all_done = true;
    for (const auto& plan : plans) all_done &= plan->test();
    if (all_done) return;
  }
  throw Failure("the simulated ranks do not get done (a message is missing), report it with this command line",
                check_failed);
}

}  // namespace

double simulated_sum(std::span<const double> elements, const order::TwoShares& shares, const SimulatedSum& asked) {
  const std::vector<Call> calls = calls_for(shares, asked);
  const collective::Agreement agreement = agreed(calls);
  const auto network = std::make_shared<SimulatedNetwork>(
      shares.rank_count(), transport::SimulatedOptions{.delivery = transport::Delivery::prompt});
  std::vector<double> values(calls.size());
  Plans plans;
  for (Rank rank = 0; rank < shares.rank_count(); ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    plans.push_back(std::make_unique<collective::Plan>(
        agreement, std::span(&calls[i], 1), std::shared_ptr<transport::Transport>(network, &network->rank(rank)), 2));
    plans.back()->start({.first = reinterpret_cast<const std::byte*>(elements.data() + shares.start(rank)),
                         .result = reinterpret_cast<std::byte*>(&values[i])});
  }
  drive(plans);
  if (plans.front()->status() != Status::ok)
    throw Failure("the simulated sum failed (" + collective::text_of(plans.front()->status()) +
                      "), report it with this command line",
                  check_failed);
  return values.front();
}

}  // namespace steadfold::command::studies
