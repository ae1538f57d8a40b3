// The language of schedules: the steps that one rank does, on slots that hold partials or values. docs/architecture.md
// explains the terms.
// Rank order: each algorithm states it in its `Algorithm`. Cost: a step is 64 bytes.
//
// Steps start in the given order. Sends and receives complete later, in any order. A step waits only for the
// communications that use one of its slots. Nothing else orders two steps, so an exchange is `send` then `receive`, and
// a pipeline alternates between two landing slots. Messages between two ranks arrive in the order in which they were
// sent.
//
// A message carries the slot of one step, or the slots of several consecutive steps, all but the last marked `more`. So
// several segments share one start-up cost. Sender and receiver name the same slots in the same order. The message
// starts with its last step. A landing slot always arrives with the same other slots, since they share its memory.
//
// Messages may be merged in the order of arrival. Consecutive receives marked `any_order` form a wave: the k-th message
// to arrive fills the slots that the k-th receive names, whoever sent it. The merges of a wave are consecutive too: one
// for each of its slots, in the same order, and all of a segment into the same partial. So the k-th merge waits for k
// messages and takes the last of them. `covers` describes the contents of slots for messages that arrive in the order
// of the steps; see Algorithm::merges_on_arrival.
#pragma once

#include <cstdint>
#include <span>

#include "order/layout.hpp"
#include "order/nodes.hpp"
#include "schedule/generator.hpp"

namespace steadfold::schedule {

using order::Bytes;
using order::Count;
using order::Index;
using order::Rank;
using order::RankRange;

/// The kinds of slots. Only `receive` writes landing slots, and it writes no other slots. So a transport may bind the
/// memory of landing slots once.
enum class SlotKind : std::uint8_t { none, partial, landing, value, landing_value };

/// Names a slot of a rank: kind, number, and the segment (range of columns) to which it belongs.
struct Slot {
  SlotKind kind = SlotKind::none;
  std::uint16_t number = 0;
  std::uint32_t segment = 0;

  friend constexpr bool operator==(const Slot&, const Slot&) = default;
};

constexpr Slot partial(int number = 0, std::uint32_t segment = 0) {
  return {SlotKind::partial, static_cast<std::uint16_t>(number), segment};
}
constexpr Slot landing(int number = 0, std::uint32_t segment = 0) {
  return {SlotKind::landing, static_cast<std::uint16_t>(number), segment};
}
constexpr Slot value(int number = 0, std::uint32_t segment = 0) {
  return {SlotKind::value, static_cast<std::uint16_t>(number), segment};
}
constexpr Slot landing_value(int number = 0, std::uint32_t segment = 0) {
  return {SlotKind::landing_value, static_cast<std::uint16_t>(number), segment};
}

/// The rows of a partial: all rows of consecutive ranks (one or two runs), or, if `part` is not empty, the rows of
/// `part`, whichever ranks hold them. After the last rank comes rank 0. If the context has nodes, ranks are identified
/// by their places.
struct Covers {
  RankRange ranks;
  RankRange apart;  // a second run of ranks; none of them is in `ranks`
  order::Interval part;

  constexpr Covers() = default;
  constexpr Covers(Rank first, Rank count) : ranks{first, count} {}
  constexpr Covers(RankRange run) : ranks(run) {}
  constexpr Covers(RankRange run, RankRange other) : ranks(run), apart(other) {}
  constexpr Covers(order::Interval rows) : part(rows) {}

  constexpr bool is_part() const noexcept { return !part.empty(); }
  order::IntervalSet rows(const order::Layout& layout) const {
    if (is_part()) return order::IntervalSet(part);
    order::IntervalSet rows = layout.rows(ranks);
    if (apart.count == 0) return rows;
    rows.add(layout.rows(apart));
    return rows;
  }
};

enum class StepKind : std::uint8_t {
  lift,     // target := partial of this rank's rows, or of the rows that `covers.part` names
  send,     // sends the contents of `left` to slot `target` of `peer`
  receive,  // target := the message from `peer`; `covers` says which rows a partial will cover
  merge,    // target := left merged with right; left is before right in rank order; target may be left or right
  copy,     // target := left; both are partials or both are values
  // Target (a value) := the values of left (a partial), over the ranks that `covers` names, or over all ranks if it is
  // empty.
  finish,
  add_words,  // target := the sum of left over all ranks; the transport adds 64-bit words
};

/// One step of one rank. Trivially copyable; unused fields keep their defaults.
struct Step {
  StepKind kind = StepKind::lift;
  // For send and receive: whether the next step, with the same peer, belongs to the same message.
  bool more = false;
  // For receive and merge: whether the step is part of a wave, whose messages are taken as they arrive.
  bool any_order = false;
  Slot target;
  Slot left;
  Slot right;
  Rank peer = -1;
  Covers covers;  // rows of the partial slot after lift, receive, merge, copy or add_words; see also finish
};

/// The result that a call asks for. The values are flags, so a schedule can list several. `reduce_scatter`: every rank
/// gets the columns of its own block. `scan`: every rank gets the reduction over the ranks up to itself. `exscan`:
/// every rank gets the reduction over the ranks below itself, and rank 0 gets nothing.
enum class Collective : std::uint8_t { reduce = 1, allreduce = 2, reduce_scatter = 4, scan = 8, exscan = 16 };

constexpr bool is_scan(Collective collective) noexcept {
  return collective == Collective::scan || collective == Collective::exscan;
}

struct Spec;

/// The input of an algorithm. The steps of every rank depend only on the context. The context is equal on all ranks
/// except for `rank`. The objects to which it points must outlive the steps.
struct Context {
  Rank rank = 0;
  Rank rank_count = 1;
  Rank root = 0;  // the rank that gets the result of a reduce
  Collective collective = Collective::allreduce;
  std::uint32_t segments = 1;
  /// For reduce_scatter: the first segment of each rank's block, and the number of segments. Empty: blocks as equal as
  /// possible.
  std::span<const std::uint32_t> blocks = {};
  // Rows of each rank; null: one row per rank. If there are nodes, ranks are in the order of places.
  const order::Layout* layout = nullptr;
  const Spec* spec = nullptr;  // the schedule as the caller named it, with its parameters; null: no parameters
  /// The nodes from which the schedule takes its groups. Null if its groups are not nodes. See `nodes_of`.
  const order::Nodes* nodes = nullptr;

  constexpr Count ranks() const noexcept { return static_cast<Count>(rank_count); }
  constexpr bool rooted() const noexcept { return collective == Collective::reduce; }
  constexpr bool scatters() const noexcept { return collective == Collective::reduce_scatter; }
  constexpr bool is_scan() const noexcept { return schedule::is_scan(collective); }
};

/// The steps of an algorithm for one rank, made one at a time. The result is in `value(0, segment)`.
using Steps = Generator<Step>;

}  // namespace steadfold::schedule
