// The language of schedules: what one rank does, step by step, with slots that hold partials or values.
// Rank order: each algorithm states it in its registry row. Cost: a step is 64 bytes. See
// docs/architecture.md.
//
// Steps start in the order given. Sends and receives complete later, in any order; a step waits only for those that
// touch a slot it names. Nothing else orders two steps, so an exchange is `send` then `receive`, and a pipeline names
// two landing slots in turn. Messages between two ranks arrive in the order sent.
//
// A message carries the slot of one step, or those of several steps in a row, all but the last marked `more`: so many
// segments share one start-up. Sender and receiver name the same slots in the same order. The message starts with its
// last step. A landing slot always comes with the same other slots, since they share its memory.
//
// Messages may be merged in the order in which they come. Receives in a row that are marked `any_order` are a wave: the
// k-th of its messages to come fills the slots that the k-th of its receives names, whoever sent it. The merges of a
// wave stand in a row too, one for each of its slots and in their order, all of a segment into the same partial. So the
// k-th merge waits for k messages, and takes the last of them. `covers` says what the steps hold if messages come in
// the order of the steps; see Row::merges_on_arrival.
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

/// What a slot holds. Landing slots are written by `receive` only, other slots never by it: a transport may bind their
/// memory once.
enum class SlotKind : std::uint8_t { none, partial, landing, value, landing_value };

/// Names a slot of a rank: kind, number, and the segment (range of columns) it belongs to.
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

/// Which rows a partial stands for: all rows of a cyclic run of ranks, or of two runs, or, if `part` is not empty, that
/// part of the job's rows, whoever holds them. If the context has nodes, ranks are named by their places.
struct Covers {
  RankRange ranks;
  RankRange apart;  // more ranks, none of which is in `ranks`
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
  lift,       // target := partial of this rank's own rows, or of the part that `covers` names
  send,       // the bytes of `left` to slot `target` of `peer`
  receive,    // target := what `peer` sends there; `covers` says which rows it will hold (partials)
  merge,      // target := left merged with right, left before right in rank order; target may be left or right
  copy,       // target := left (a partial to a partial, or a value to a value)
  finish,     // target (value) := the values of left (partial), over the ranks that `covers` names, or all if none
  add_words,  // target := left with the transport adding the 64-bit words of all ranks' partials
};

/// One step of one rank. Trivially copyable; unused fields keep their defaults.
struct Step {
  StepKind kind = StepKind::lift;
  bool more = false;       // for send and receive: the next step, with the same peer, belongs to the same message
  bool any_order = false;  // for receive and merge: of a wave, whose messages are taken as they come
  Slot target;
  Slot left;
  Slot right;
  Rank peer = -1;
  Covers covers;  // which rows a partial slot holds after lift, receive, merge, copy or add_words; see finish
};

/// What a call asks for. The values are flags, so that a row can list several. `reduce_scatter`: every rank gets the
/// columns of its own block. `scan`: every rank gets the reduction over the ranks up to its own; `exscan`: over those
/// below its own, rank 0 nothing.
enum class Collective : std::uint8_t { reduce = 1, allreduce = 2, reduce_scatter = 4, scan = 8, exscan = 16 };

constexpr bool is_scan(Collective collective) noexcept {
  return collective == Collective::scan || collective == Collective::exscan;
}

struct Spec;

/// What an algorithm may look at: a pure function of this gives every rank's steps. Equal on all ranks except for
/// `rank`. What it points to must outlive the steps.
struct Context {
  Rank rank = 0;
  Rank rank_count = 1;
  Rank root = 0;  // for reduce
  Collective collective = Collective::allreduce;
  std::uint32_t segments = 1;
  /// For reduce_scatter: where each rank's segments begin, and the end. Empty: shares as equal as can be.
  std::span<const std::uint32_t> blocks = {};
  const order::Layout* layout = nullptr;  // null: one row per rank; if there are nodes, by place
  const Spec* spec = nullptr;             // the schedule as asked for, with its parameters; null: without any
  /// The nodes that the schedule takes its groups from; null: it does not, or they are ranks in a row. See `nodes_of`.
  const order::Nodes* nodes = nullptr;

  constexpr Count ranks() const noexcept { return static_cast<Count>(rank_count); }
  constexpr bool rooted() const noexcept { return collective == Collective::reduce; }
  constexpr bool scatters() const noexcept { return collective == Collective::reduce_scatter; }
  constexpr bool is_scan() const noexcept { return schedule::is_scan(collective); }
};

/// An algorithm's steps for one rank, made one at a time. The final result stands in `value(0, segment)`.
using Steps = Generator<Step>;

}  // namespace steadfold::schedule
