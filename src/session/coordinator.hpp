// What the ranks of a group find out together and make together, once a handshake has said that they have to.
// Rank order: none. Cost: a gather, an exchange of statuses or a connection, as each function says.
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

/// Every function that gives a task is collective, and called in the same order on every rank, by one call at a time.
class Coordinator {
 public:
  using TransportInUse = std::shared_ptr<transport::Transport>;

  /// `rows`: the schedules that can be asked for.
  Coordinator(TransportInUse transport, schedule::Rows rows);

  transport::Transport& transport() const noexcept { return *transport_; }
  /// The same, for plans that run in the order of the calls.
  const TransportInUse& in_turn() const noexcept { return in_turn_; }
  const agreement::Means& means() const noexcept { return means_; }
  void let_ranks_differ() noexcept { means_.may_differ = true; }

  /// Where the ranks are, and what rank 0's environment asks for. One gather.
  Task<> take_what_ranks_tell(Flow& flow);
  /// So many tags that nobody has on any rank, one after the other; the first of them.
  Task<std::uint32_t> new_tags(Flow& flow, std::uint32_t count);
  /// Local; `agreed_status` can be asked for once this is connected.
  void prepare_status_exchange(std::uint32_t tag);
  /// Connects what all ranks have prepared. Throws on all of them where one could not, with what was wrong there.
  Task<> connect(Flow& flow, std::string wrong);

  Task<transport::Transport::Gathered> gather(Flow& flow, std::span<const std::byte> bytes);
  /// The worst status of all ranks.
  Task<Status> agreed_status(Flow& flow, Status mine);
  /// Agrees on calls of which nothing is known, or finds out why there can be no agreement. One gather.
  Task<Agreement> agree(Flow& flow, Asked asked, std::span<const Call> calls, const agreement::Failure* mine);
  /// Agrees on calls that the handshake has found equal on all ranks. Ranks exchange only their rows, or nothing; if
  /// interval lists are not whole, `agree` finds out why.
  Task<Agreement> settle(Flow& flow, Asked asked, std::span<const Call> calls);

  /// What a bound plan runs over. Words that are added after a first sweep come when that is done on this rank, in no
  /// order that all ranks have in common.
  Task<TransportInUse> transport_of(Flow& flow, const Agreement& agreed);
  /// Makes the plan on all ranks or on none: memory may run out on one of them. `cached`: what it will be kept in.
  Task<std::unique_ptr<execution::Plan>> make_plan(Flow& flow, Agreement agreed, std::span<const Call> calls,
                                                   const TransportInUse& transport,
                                                   std::shared_ptr<CachedPlan>* cached = nullptr);

 private:
  Task<> require_proof(Flow& flow, const Agreement& agreed);

  TransportInUse transport_;
  TransportInUse in_turn_;
  TransportInUse apart_;    // for plans that add words when their first sweep is done
  agreement::Means means_;  // nodes may be parts of one
  execution::StatusExchange status_exchange_;
  std::optional<execution::Meeting> status_meeting_;
};

}  // namespace steadfold::session
