#include "group/coordinator.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "group/telling.hpp"
#include "plan/profile.hpp"
#include "transport/forwarding.hpp"
#include "transport/hardware.hpp"

namespace steadfold::group {

using call::Failure;
using plan::Plan;

namespace {

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns where this rank is: its node, and the part of the node to which its threads are bound. Only for ranks on one
/// node. For two ranks the answer would not be used (see transport::parts_of), and hwloc takes milliseconds.
transport::Whereabouts own_whereabouts(const transport::Transport& transport) noexcept {
  const bool may_tell_parts = transport.rank_count() > 2 && transport.node_labels().empty();
  return may_tell_parts ? transport::own_whereabouts()
                        : transport::Whereabouts();  // an exception here would let the other ranks wait for ever
}

/// Returns the network profile of this rank. All ranks use the profile of rank 0. If all ranks share memory, no profile
/// is used: a profile describes MPI messages, and ranks with common memory send only long messages over MPI.
plan::FoundNetwork own_network(const transport::Transport& transport) {
  const std::string library = transport.rank() == 0 ? transport.library() : "";
  return library.empty() ? plan::FoundNetwork{} : plan::network_of(library);
}

std::shared_ptr<const order::Nodes> nodes_of(const transport::Transport& transport,
                                             std::span<const std::span<const std::byte>> told) {
  using order::Nodes;
  const std::span<const Rank> labels = transport.node_labels();
  if (!labels.empty()) {
    const bool are_processes = transport.nodes_are_far();
    return std::make_shared<const Nodes>(labels, are_processes ? Nodes::Between::processes : Nodes::Between::network);
  }
  std::vector<transport::Whereabouts> ranks(static_cast<std::size_t>(transport.rank_count()));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    std::memcpy(&ranks[rank], told[rank].data(), sizeof ranks[rank]);
  const std::vector<Rank> parts = transport::parts_of(ranks);
  return parts.empty() ? nullptr : std::make_shared<const Nodes>(parts, Nodes::Between::packages);
}

/// A transport whose endpoints add words in the order of the starts, whatever order the plan asks for.
class Preparing final : public transport::ForwardingTransport {
 public:
  Preparing(std::shared_ptr<transport::Transport> inner, transport::WordOrder order)
      : ForwardingTransport(std::move(inner)), order_(order) {}
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities,
                                               transport::Ticket tickets, transport::WordOrder /*order*/) override {
    return inner().prepare(tag, capacities, tickets, order_);
  }

 private:
  transport::WordOrder order_;
};

}  // namespace

Coordinator::Coordinator(std::shared_ptr<transport::Transport> transport, schedule::Algorithms algorithms)
    : transport_(std::move(transport)),
      in_turn_(std::make_shared<Preparing>(transport_, transport::WordOrder::in_turn)),
      apart_(std::make_shared<Preparing>(transport_, transport::WordOrder::apart)),
      means_{.algorithms = algorithms} {}

Task<std::uint32_t> Coordinator::new_tags(Flow& /*flow*/, std::uint32_t count) {
  std::optional<std::uint32_t> first = transport_->new_tags(count);
  while (!first) {
    co_await GiveWay{};
    first = transport_->new_tags(count);
  }
  co_return *first;
}

Task<> Coordinator::take_what_ranks_tell(Flow& flow) {
  const std::vector<std::byte> mine = told_by([this] {
    const transport::Whereabouts where = own_whereabouts(*transport_);
    std::string told(reinterpret_cast<const char*>(&where), sizeof where);
    if (transport_->rank() != 0) return told;
    const char* const asked = std::getenv("STEADFOLD_SCHEDULE");
    const auto [network, unused_profile] = own_network(*transport_);
    static_assert(std::is_trivially_copyable_v<plan::Network>);
    told.append(reinterpret_cast<const char*>(&network), sizeof network);
    return told.append(asked == nullptr ? "" : asked).append(1, '\0').append(unused_profile);
  });
  const auto gathered = co_await gather(flow, mine);
  const auto all = parts_of(gathered);
  const auto behind_where = all[0].subspan(sizeof(transport::Whereabouts));
  std::memcpy(&means_.network, behind_where.data(), sizeof means_.network);
  if (transport_->are_on_one_node()) means_.network = means_.network.of_one_node();
  const std::string texts = text_of(behind_where.subspan(sizeof means_.network));
  means_.forced_schedule = texts.substr(0, texts.find('\0'));
  means_.unused_profile = texts.substr(means_.forced_schedule.size() + 1);
  means_.nodes = nodes_of(*transport_, all);
}

Task<transport::Transport::Gathered> Coordinator::gather(Flow& /*flow*/, std::span<const std::byte> bytes) {
  transport_->gather(bytes);
  for (;;) {
    std::optional<transport::Transport::Gathered> all = transport_->gathered();
    if (all) co_return std::move(*all);
    co_await GiveWay{};
  }
}

Task<Status> Coordinator::agreed_status(Flow& /*flow*/, Status mine) {
  status_exchange_.take({.status = mine});
  status_meeting_->begin();
  while (!status_meeting_->advance()) co_await GiveWay{};
  co_return status_meeting_->status();
}

/// If no recorded sweep of proofs covers the schedule, rank 0 proves the schedule, and tells the other ranks if the
/// proof fails.
Task<> Coordinator::require_proof(Flow& flow, const Agreement& agreed) {
  if (!agreed.needs_proof) co_return;
  std::string fault;
  try {
    if (transport_->rank() == 0) fault = plan::fault_of_schedule(agreed);
  } catch (const std::exception& error) {
    fault = error.what();
  }
  const std::vector<std::byte> mine = told_by([&] { return std::string_view(fault); });
  const auto gathered = co_await gather(flow, mine);
  const std::string found = text_of(parts_of(gathered)[0]);
  if (found.empty()) co_return;
  throw Failure(Status::unsupported, "schedule '" + agreed.chosen.schedule + "' cannot be used (its check fails: " +
                                         found + "), choose another schedule and report this error");
}

Task<Coordinator::TransportInUse> Coordinator::transport_of(Flow& /*flow*/, const Agreement& agreed) {
  if (!agreed.schedule.algorithm->adds_words || !agreed.has_first_sweep()) co_return transport_;
  transport_->open_apart();
  while (!transport_->opened_apart()) co_await GiveWay{};
  co_return apart_;
}

Task<std::unique_ptr<Plan>> Coordinator::make_plan(Flow& flow, Agreement agreed, std::span<const Call> calls,
                                                   const TransportInUse& transport,
                                                   std::shared_ptr<CachedPlan>* cached) {
  co_await require_proof(flow, agreed);
  const std::uint32_t tag = co_await new_tags(flow, Plan::tags_of(agreed));
  std::unique_ptr<Plan> plan;
  std::string wrong;
  try {
    if (cached != nullptr) *cached = PlanCache::made_for(calls.front());
    plan = std::make_unique<Plan>(std::move(agreed), calls, transport, tag);
  } catch (const std::exception& error) {
    wrong = call::text_of(error);
  }
  co_await connect(flow, std::move(wrong));
  co_return plan;
}

void Coordinator::prepare_status_exchange(std::uint32_t tag) {
  status_meeting_.emplace(status_exchange_, *transport_, tag, means_.nodes.get());
}

Task<> Coordinator::connect(Flow& flow, std::string wrong) {
  transport_->connect(wrong.empty());
  transport::Connection state = transport_->connected();
  while (state == transport::Connection::pending) {
    co_await GiveWay{};
    state = transport_->connected();
  }
  if (state == transport::Connection::connected) co_return;
  const std::vector<std::byte> mine = told_by([&] { return std::string_view(wrong); });
  const auto gathered = co_await gather(flow, mine);
  const auto told = parts_of(gathered);
  for (std::size_t i = 0; i < told.size(); ++i)
    if (!told[i].empty()) throw Failure(Status::internal, "rank " + std::to_string(i) + ": " + text_of(told[i]));
}

Task<Agreement> Coordinator::agree(Flow& flow, Asked asked, std::span<const Call> calls, const Failure* mine) {
  const std::vector<std::byte> proposal = told_by([&] { return propose(calls, transport_->rank(), mine, asked); });
  const auto gathered = co_await gather(flow, proposal);
  co_return plan::conclude(parts_of(gathered), means_);
}

Task<Agreement> Coordinator::settle(Flow& flow, Asked asked, std::span<const Call> calls) {
  std::optional<Agreement> agreed;
  std::optional<Failure> failure;
  Status mine = Status::ok;
  try {
    transport::Transport::Gathered gathered;
    if (plan::need_to_tell(calls)) {
      const std::vector<std::byte> told = told_by([&] { return plan::tell(calls); });
      gathered = co_await gather(flow, told);
    }
    agreed = plan::settle(calls, parts_of(gathered), transport_->rank_count(), means_);
  } catch (...) {
    failure = call::caught_failure(mine);
  }
  const Status worst = co_await agreed_status(flow, mine);  // the same on all ranks, unless a rank ran out of memory
  if (failure) throw Failure(*failure);
  if (worst != Status::ok) throw Failure(worst, call::text_of(worst));
  if (!agreed) agreed = co_await agree(flow, asked, calls, nullptr);
  if (agreed->schedule.algorithm->adds_words && !transport_->adds_words())
    throw Failure(Status::unsupported, "schedule " + agreed->chosen.schedule +
                                           " cannot be used (the MPI library adds words of processes, but these ranks "
                                           "are threads), choose another schedule");
  co_return std::move(*agreed);
}

}  // namespace steadfold::group
