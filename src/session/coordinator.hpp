// Work that the ranks of a group do together after a handshake: they exchange facts, agree on calls, and make plans.
// Cost: a gather, an exchange of statuses or a connection, as each function says.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "agreement/agreement.hpp"
#include "agreement/failure.hpp"
#include "execution/meeting.hpp"
#include "execution/plan.hpp"
#include "order/nodes.hpp"
#include "session/plan_cache.hpp"
#include "session/task.hpp"

namespace steadfold::session {

using agreement::Agreement;
using agreement::Asked;

/// Every function that returns a Task is collective. Every rank calls them in the same order, for one call at a time.
class Coordinator {
 public:
  using TransportInUse = std::shared_ptr<transport::Transport>;

  /// `rows`: the schedules that callers can choose.
  Coordinator(TransportInUse transport, schedule::Rows rows);

  transport::Transport& transport() const noexcept { return *transport_; }
  /// The same transport, for plans that run in the order of the calls.
  const TransportInUse& in_turn() const noexcept { return in_turn_; }
  const agreement::Means& means() const noexcept { return means_; }
  void let_ranks_differ() noexcept { means_.may_differ = true; }

  /// Exchanges where the ranks are, and rank 0's network profile and environment. One gather.
  Task<> take_what_ranks_tell(Flow& flow);
  /// Reserves `count` consecutive tags that no rank uses, and returns the first one.
  Task<std::uint32_t> new_tags(Flow& flow, std::uint32_t count);
  /// Local. `agreed_status` can be called after the next `connect`.
  void prepare_status_exchange(std::uint32_t tag);
  /// Connects everything that all ranks have prepared. `wrong`: this rank's error, or empty. If a rank has an error,
  /// all ranks throw it.
  Task<> connect(Flow& flow, std::string wrong);

  Task<transport::Transport::Gathered> gather(Flow& flow, std::span<const std::byte> bytes);
  /// The worst status of all ranks.
  Task<Status> agreed_status(Flow& flow, Status mine);
  /// Agrees on calls about which the ranks know nothing of each other, or finds out why they disagree. One gather.
  Task<Agreement> agree(Flow& flow, Asked asked, std::span<const Call> calls, const agreement::Failure* mine);
  /// Agrees on calls that the handshake has found equal on all ranks. Ranks exchange only their rows, or nothing. If
  /// the interval lists have gaps or overlaps, `agree` finds out where.
  Task<Agreement> settle(Flow& flow, Asked asked, std::span<const Call> calls);

  /// The transport of a bound plan. If a plan adds words after a first sweep, it starts to add them when this rank has
  /// finished the sweep. Ranks have no common order of these starts, so this plan gets a transport that needs no order.
  Task<TransportInUse> transport_of(Flow& flow, const Agreement& agreed);
  /// Makes the plan on all ranks, or on none if memory runs out on a rank. `cached`: gets the entry that will keep the
  /// plan.
  Task<std::unique_ptr<execution::Plan>> make_plan(Flow& flow, Agreement agreed, std::span<const Call> calls,
                                                   const TransportInUse& transport,
                                                   std::shared_ptr<CachedPlan>* cached = nullptr);

 private:
  Task<> require_proof(Flow& flow, const Agreement& agreed);

  TransportInUse transport_;
  TransportInUse in_turn_;
  TransportInUse apart_;    // for plans that add words after their first sweep
  agreement::Means means_;  // `nodes` may be parts (packages) of one node
  execution::StatusExchange status_exchange_;
  std::optional<execution::Meeting> status_meeting_;
};

}  // namespace steadfold::session
