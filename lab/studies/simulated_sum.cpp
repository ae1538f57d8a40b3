#include "simulated_sum.hpp"

#include "call/failure.hpp"
#include "plan/plan.hpp"
#include "tools/command.hpp"
#include "transport/simulated/simulated.hpp"

namespace steadfold::command::studies {
namespace {

using call::Call;
using order::Rank;
using transport::SimulatedNetwork;

std::vector<Call> calls_for(const order::TwoShares& shares, const SimulatedSum& asked) {
  std::vector<Call> calls;
  for (Rank rank = 0; rank < shares.rank_count(); ++rank) {
    calls.push_back({.method = asked.method,
                     .columns = asked.columns,
                     .root = asked.rooted ? 0 : call::all_ranks,
                     .collective = asked.rooted ? schedule::Collective::reduce : schedule::Collective::allreduce,
                     .schedule = asked.schedule,
                     .layout = call::LayoutKind::rank_order,
                     .rows = shares.count(rank)});
  }
  return calls;
}

plan::Agreement agreed(const std::vector<Call>& calls) {
  std::vector<std::vector<std::byte>> proposals;
  for (const Call& call : calls) proposals.push_back(plan::propose(std::span(&call, 1), 0, nullptr));
  const std::vector<std::span<const std::byte>> all(proposals.begin(), proposals.end());
  return plan::conclude(all);
}

using Plans = std::vector<std::unique_ptr<plan::Plan>>;

/// Runs all plans to their end: a chain has few messages per rank, each there after a bounded number of tests.
void drive(const Plans& plans) {
  const std::size_t bound = 200 + 16 * SimulatedNetwork::max_polls * (plans.size() + 2);
  for (std::size_t sweep = 0; sweep < bound; ++sweep) {
    bool all_done = true;
    for (const auto& plan : plans) all_done &= plan->test();
    if (all_done) return;
  }
  throw Failure("the simulated ranks do not get done (a message is missing), report it with this command line",
                check_failed);
}

}  // namespace

struct SimulatedJob::Ranks {
  order::TwoShares shares;
  order::Count columns;
  std::vector<Call> calls;
  plan::Agreement agreement;
  std::shared_ptr<SimulatedNetwork> network;
  Plans plans = {};
};

SimulatedJob::SimulatedJob(const order::TwoShares& shares, const SimulatedSum& asked) {
  std::vector<Call> calls = calls_for(shares, asked);
  plan::Agreement agreement = agreed(calls);
  ranks_ = std::make_unique<Ranks>(Ranks{shares, asked.columns, std::move(calls), std::move(agreement),
                                         std::make_shared<SimulatedNetwork>(shares.rank_count(), asked.network)});
  for (Rank rank = 0; rank < shares.rank_count(); ++rank) {
    const std::shared_ptr<transport::Transport> own(ranks_->network, &ranks_->network->rank(rank));
    const Call& call = ranks_->calls[static_cast<std::size_t>(rank)];
    ranks_->plans.push_back(std::make_unique<plan::Plan>(ranks_->agreement, std::span(&call, 1), own, /*tag=*/2));
  }
  ranks_->network->connect();
}
SimulatedJob::SimulatedJob(SimulatedJob&&) noexcept = default;
SimulatedJob::~SimulatedJob() = default;

std::vector<double> SimulatedJob::run(std::span<const double> elements) {
  const order::Count columns = ranks_->columns;
  std::vector<double> values(ranks_->plans.size() * columns);
  for (Rank rank = 0; rank < ranks_->shares.rank_count(); ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const double* const first = elements.data() + ranks_->shares.start(rank) * columns;
    ranks_->plans[i]->start({.first = reinterpret_cast<const std::byte*>(first),
                             .result = reinterpret_cast<std::byte*>(values.data() + i * columns)});
  }
  drive(ranks_->plans);
  const Status status = ranks_->plans.front()->status();
  if (status != Status::ok)
    throw Failure("the simulated sum failed (" + call::text_of(status) + "), report it with this command line",
                  check_failed);
  values.resize(columns);
  return values;
}

double simulated_sum(std::span<const double> elements, const order::TwoShares& shares, const SimulatedSum& asked) {
  return SimulatedJob(shares, asked).run(elements).front();
}

}  // namespace steadfold::command::studies
