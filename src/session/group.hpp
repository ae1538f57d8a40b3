// What the library keeps for a group of ranks: the handshake, shapes of calls made before, cached plans.
// Cost: a one-shot call is one handshake, and a plan's run too if it does not fit in there. Source: ours.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agreement/failure.hpp"
#include "execution/handshake.hpp"
#include "execution/plan.hpp"
#include "session/shape.hpp"

namespace steadfold::session {

using agreement::Agreement;
using agreement::Failure;
using execution::Handshake;
using execution::Plan;
using execution::Stage;
using execution::StatusExchange;
using execution::ThreadTeam;
using execution::Ways;
using order::Bytes;
using order::Count;
using order::Rank;

/// One thread at a time; calls in the same order on every rank. Failures are thrown as Failure, the same on every rank,
/// except that an operator may fail on the root of a rooted call alone.
class Group {
 public:
  /// Collective: rank 0's environment variables count for all. `rows`: the schedules that can be asked for.
  explicit Group(std::shared_ptr<transport::Transport> transport, schedule::Rows rows = schedule::registry());

  Rank rank() const noexcept { return transport_->rank(); }
  Rank rank_count() const noexcept { return transport_->rank_count(); }

  /// One-shot. `result` is written where the call wants it. A call of a shape made before allocates nothing. `failure`
  /// is what this rank knows to be wrong already: it takes part all the same, so that the others do not wait.
  void reduce(const Call& call, const Data& data, std::optional<Failure> failure = std::nullopt);

  /// Agrees on a plan; several calls make a bundle. The plan may outlive the group.
  std::unique_ptr<Plan> bind(std::span<const Call> calls, std::optional<Failure> failure = std::nullopt);

  /// Where this rank's rows begin when all stand in rank order, and the total.
  struct RankOrder {
    order::Interval mine;
    Count element_count;
  };
  RankOrder rank_order(Count rows);

 private:
  /// A shape that one-shot calls had.
  struct KnownShape : Shape {
    KnownShape(const Description& given, const Call& call);

    std::uint64_t digest;
    Bytes bytes_of_none;            // a partial of no rows, and
    Bytes bytes_of_a_node;          // what every node may add: says whether the handshake can hold a partial
    std::vector<std::byte> values;  // a result, and as much again to finish in
  };
  /// A plan that one-shot calls of the same shape and layout share.
  struct CachedPlan {
    Count rows;
    std::vector<order::Interval> intervals;
    std::unique_ptr<Plan> plan;
  };

  Call placed(const Call& call, order::Interval& mine);
  void require_data(const Call& call, const Description& description, const Data& data) const;
  void require_usable(std::span<const Call> calls) const;
  KnownShape& shape_of(const Call& call, const Description& description);
  bool fits_handshake(const KnownShape& shape, const Call& call) const;
  Ways cached_plans(const KnownShape& shape, const Call& call) const noexcept;
  Bytes build(KnownShape& shape, const Call& call, const Data& data);
  std::span<const std::byte> open(const Header& mine, Ways ways, const Call& call, const KnownShape* shape,
                                  Bytes partial_bytes);
  Status finish_here(KnownShape& shape, const Call& call, std::span<const std::byte> partial);
  void deliver(const KnownShape& shape, const Call& call, const Data& data) const;
  Status agreed_status(Status mine);
  void run_plan(const Call& call, Ways ways, const Data& data);
  Plan& new_cached_plan(const Call& call);
  [[noreturn]] void diagnose(const Call& call, Status status, const std::optional<Failure>& mine);
  Agreement agree(std::span<const Call> calls, const Failure* mine);
  void require_proof(const Agreement& agreed);
  void connect(const std::string& wrong);
  std::unique_ptr<Plan> make_plan(Agreement agreed, std::span<const Call> calls);

  std::shared_ptr<transport::Transport> transport_;
  schedule::Rows rows_;
  std::string forced_schedule_;
  Handshake handshake_;
  std::optional<Stage> handshake_stage_;
  StatusExchange status_exchange_;
  std::optional<Stage> status_stage_;
  std::vector<std::unique_ptr<KnownShape>> shapes_;  // the last used first
  std::deque<CachedPlan> plans_;
  std::vector<Count> equal_blocks_;  // the last that were asked for
  ThreadTeam team_;                  // for partials in the handshake; plans have their own
};

}  // namespace steadfold::session
