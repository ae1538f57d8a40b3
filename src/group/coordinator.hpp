// Work that the ranks of a group do together after a handshake: the ranks exchange facts, agree on calls, and make
// plans. Cost: one gather, one exchange of statuses or one connection per function; each function says which.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "call/failure.hpp"
#include "group/meeting.hpp"
#include "group/plan_cache.hpp"
#include "group/task.hpp"
#include "order/nodes.hpp"
#include "plan/agreement.hpp"
#include "plan/plan.hpp"

namespace steadfold::group {

using plan::Agreement;
using plan::Asked;

/// Work that all ranks of a group do together. Every function that returns a Task is collective: every rank calls these
/// functions in the same order, for one call at a time.
class Coordinator {
 public:
  using TransportInUse = std::shared_ptr<transport::Transport>;

  /// `algorithms` lists the schedules that callers can choose.
  Coordinator(TransportInUse transport, schedule::Algorithms algorithms);

  transport::Transport& transport() const noexcept { return *transport_; }
  /// Returns the transport for plans that run in the order of the calls.
  const TransportInUse& in_turn() const noexcept { return in_turn_; }
  const plan::Means& means() const noexcept { return means_; }
  void let_ranks_differ() noexcept { means_.may_differ = true; }

  /// Exchanges the nodes of all ranks, rank 0's network profile and rank 0's environment variables, in one gather.
  Task<> take_what_ranks_tell(Flow& flow);
  /// Reserves `count` consecutive tags that no rank uses, and returns the first one.
  Task<std::uint32_t> new_tags(Flow& flow, std::uint32_t count);
  /// Prepares the exchange of statuses. After the next `connect`, `agreed_status` may be called. Local.
  void prepare_status_exchange(std::uint32_t tag);
  /// Connects everything that all ranks have prepared. `wrong` is this rank's error; it is empty if there is no error.
  /// If a rank has an error, all ranks throw this error.
  Task<> connect(Flow& flow, std::string wrong);

  Task<transport::Transport::Gathered> gather(Flow& flow, std::span<const std::byte> bytes);
  /// Returns the worst status of all ranks.
  Task<Status> agreed_status(Flow& flow, Status mine);
  /// Agrees on calls that the ranks have not compared before, or finds out why the calls differ. Needs one gather.
  Task<Agreement> agree(Flow& flow, Asked asked, std::span<const Call> calls, const call::Failure* mine);
  /// Agrees on calls that the handshake has found equal on all ranks. The ranks exchange only the indices of their
  /// rows, or nothing. If the interval lists have gaps or overlaps, `agree` finds out where.
  Task<Agreement> settle(Flow& flow, Asked asked, std::span<const Call> calls);

  /// Returns the transport of a bound plan. Some plans let the transport add words after a first sweep; each rank
  /// starts this addition when it has finished the sweep. The ranks start these additions in different orders, so the
  /// plan gets a transport that allows any order.
  Task<TransportInUse> transport_of(Flow& flow, const Agreement& agreed);
  /// Makes the plan on all ranks, or on no rank if a rank runs out of memory. `cached` receives the cache entry that
  /// will keep the plan.
  Task<std::unique_ptr<plan::Plan>> make_plan(Flow& flow, Agreement agreed, std::span<const Call> calls,
                                              const TransportInUse& transport,
                                              std::shared_ptr<CachedPlan>* cached = nullptr);

 private:
  Task<> require_proof(Flow& flow, const Agreement& agreed);

  TransportInUse transport_;
  TransportInUse in_turn_;
  TransportInUse apart_;  // the transport for plans that add words after their first sweep
  plan::Means means_;     // the facts for choosing schedules; its `nodes` may be parts (packages) of one node
  plan::StatusExchange status_exchange_;
  std::optional<Meeting> status_meeting_;
};

}  // namespace steadfold::group
