// What a rank brings to the handshake of a reduction, and what it makes of the outcome.
// Rank order: kept. Cost: the lifting of the call's rows where their partial fits the handshake.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "agreement/agreement.hpp"
#include "agreement/failure.hpp"
#include "agreement/validation.hpp"
#include "execution/handshake.hpp"
#include "execution/meeting.hpp"
#include "session/known_shapes.hpp"
#include "session/plan_cache.hpp"

namespace steadfold::session {

/// What a call points to where it leaves it to the library.
struct DefaultArguments {
  std::vector<Count> equal_blocks;
  std::vector<order::Interval> mine;  // the rows of a call that lists no intervals
  order::Grid grid;                   // with its ranks
};

/// The call with everything spelt out: MPI's shape, the rows of a grid, one interval if no index matters, equal blocks
/// if none are given.
Call placed(const Call& given, DefaultArguments& defaults, Rank rank, Rank rank_count);

/// Where one call at a time has its handshake.
struct HandshakePlace {
  static constexpr std::size_t ring = 8;  // how many of them a group has
  // One rank may have made so many plans more than another when both offer theirs.
  static_assert(PlanCache::most + ring <= execution::most_cached_plans);

  HandshakePlace(transport::Transport& transport, std::uint32_t tag, const order::Nodes* nodes)
      : meeting(handshake, transport, tag, nodes) {}

  execution::Handshake handshake;
  execution::Meeting meeting;
  std::vector<std::byte> values;  // a result, and as much again to finish in
  arithmetic::Pieces finish;      // has more if its operator wants to be called later
  DefaultArguments defaults;
  std::uint64_t next = 0;  // the number of the call that has it, or may take it next
};

/// A place for the length of a call.
class PlaceInUse {
 public:
  explicit PlaceInUse(HandshakePlace& place) noexcept : place_(place) {}
  ~PlaceInUse() { place_.next += HandshakePlace::ring; }
  PlaceInUse(const PlaceInUse&) = delete;
  PlaceInUse& operator=(const PlaceInUse&) = delete;

 private:
  HandshakePlace& place_;
};

struct Contribution {
  Call call;
  Description description;
  ShapeInUse shape;
  Header header;
  Ways ways = execution::no_way;
  Bytes partial_bytes = 0;
  std::optional<agreement::Failure> failure;
};

/// Makes the contributions of one rank, for one call after the other; keeps what later calls can use again.
class Contributor {
 public:
  using OfferedPlans = std::vector<std::shared_ptr<CachedPlan>>;

  /// `means`: as the ranks agree on them; they stay where they are.
  Contributor(Rank rank, Rank rank_count, const agreement::Means& means) noexcept
      : rank_(rank), rank_count_(rank_count), means_(means) {}

  /// Checks the call, and finds ways in which it can go on: cached plans, which are added to `offered`, or the partial
  /// in the handshake itself. Never throws; `failure`: that there was before.
  Contribution contribution_of(const Call& given, const Data& data, const std::optional<agreement::Failure>& failure,
                               OfferedPlans& offered, HandshakePlace& place);
  /// Finishes the handshake's partial on every rank, so that all ranks come to the same status; says nothing while
  /// `place.finish` has more.
  static Status finish_here(const Contribution& own, HandshakePlace& place, std::span<const std::byte> partial);
  /// Copies what was finished here to the result: all of it, or this rank's columns.
  void deliver(const Contribution& own, const HandshakePlace& place, const Data& data) const;

  /// Those of one-shot calls.
  PlanCache& plans() noexcept { return plans_; }

 private:
  void require_data(const Contribution& own, const Data& data) const;
  void prepare(Contribution& own, const Data& data, OfferedPlans& offered, HandshakePlace& place);
  bool may_use_handshake(const Contribution& own) const;
  void build(Contribution& own, const Data& data, HandshakePlace& place);

  Rank rank_;
  Rank rank_count_;
  const agreement::Means& means_;
  KnownShapes shapes_;
  PlanCache plans_;
  execution::ThreadTeam team_;  // for partials in the handshake; plans have their own
};

}  // namespace steadfold::session
