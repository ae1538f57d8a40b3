// Makes this rank's part of a reduction's handshake, and finishes the merged partial. Rank order: kept. Cost: if the
// partial fits the handshake, building the partial of the call's rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "call/failure.hpp"
#include "call/held_arguments.hpp"
#include "call/initial_value.hpp"
#include "call/validation.hpp"
#include "group/handshake.hpp"
#include "group/known_shapes.hpp"
#include "group/meeting.hpp"
#include "group/plan_cache.hpp"
#include "plan/agreement.hpp"

namespace steadfold::group {

/// The state of one handshake; one call at a time uses it.
struct HandshakeState {
  static constexpr std::size_t ring = 8;  // number of handshakes per group
  // When two ranks offer cached plans for the same call, one rank may be ahead of the other by this many plans.
  static_assert(PlanCache::most + ring <= most_cached_plans);

  HandshakeState(transport::Transport& transport, std::uint32_t tag, const order::Nodes* nodes)
      : meeting(handshake, transport, tag, nodes) {}

  Handshake handshake;
  Meeting meeting;
  std::vector<std::byte> values;  // the finished values, then the same number of bytes of scratch memory for `finish`
  arithmetic::Pieces finish;      // the progress of `finish`; `more` is set if the operator postponed its work
  std::uint64_t next = 0;         // the number of the call that uses the state, or may take it next
};

/// Holds a HandshakeState for one call. Its destructor passes the state to the call whose number is greater by `ring`.
class HandshakeInUse {
 public:
  explicit HandshakeInUse(HandshakeState& state) noexcept : state_(state) {}
  ~HandshakeInUse() { state_.next += HandshakeState::ring; }
  HandshakeInUse(const HandshakeInUse&) = delete;
  HandshakeInUse& operator=(const HandshakeInUse&) = delete;

 private:
  HandshakeState& state_;
};

struct Contribution {
  Call& call;                                   // without its initial value
  std::unique_ptr<call::InitialValue> initial;  // null if the call has none
  ShapeInUse shape;
  Header header;
  Ways ways = no_way;
  Bytes partial_bytes = 0;
  std::optional<call::Failure> failure;
};

/// Makes the contributions of one rank to the handshakes of its calls, one call after the other. A Contributor keeps
/// objects that later calls can use.
class Contributor {
 public:
  using OfferedPlans = std::vector<std::shared_ptr<CachedPlan>>;

  /// `means` must outlive this object, and must not be moved.
  Contributor(Rank rank, Rank rank_count, const plan::Means& means) noexcept
      : rank_(rank), rank_count_(rank_count), means_(means) {}

  /// Fills in the defaults of the call, checks the call, and finds ways in which it can continue: with cached plans,
  /// which are appended to `offered`, or with the partial in the handshake itself. Removes the call's initial value.
  /// The function does not throw. `failure` is an earlier failure of this call.
  Contribution contribution_of(Call& call, call::HeldArguments& arguments, const Data& data,
                               const std::optional<call::Failure>& failure, OfferedPlans& offered,
                               HandshakeState& state);
  /// Finishes the merged partial. Every rank does so, and all ranks get the same status. If `state.finish.more` is set,
  /// the work is not done and the status is not valid.
  static Status finish_here(const Contribution& own, HandshakeState& state, std::span<const std::byte> partial);
  /// Copies the finished values from `state` to the result of the call: the values of all columns, or of the columns
  /// that this rank receives.
  void deliver(const Contribution& own, const HandshakeState& state, const Data& data) const;
  /// Combines the call's initial value, if it has one, with this rank's results. `is_none` says that there are no rows.
  /// Throws Failure if the operator failed.
  void take_initial(Contribution& own, const Data& data, bool is_none) const;

  /// The cached plans of one-shot calls.
  PlanCache& plans() noexcept { return plans_; }

 private:
  void require_data(const Call& call, const Description& description, const Data& data) const;
  void describe_call(Contribution& own, Description& description);
  void prepare(Contribution& own, const Data& data, OfferedPlans& offered, HandshakeState& state);
  bool may_use_handshake(const Contribution& own) const;
  void build(Contribution& own, const Data& data, HandshakeState& state);
  order::Interval own_columns(const Call& call) const;

  Rank rank_;
  Rank rank_count_;
  const plan::Means& means_;
  KnownShapes shapes_;
  PlanCache plans_;
  plan::ThreadPool pool_;  // for partials in the handshake; every plan has a thread pool besides this pool
};

}  // namespace steadfold::group
