// Named functions that make steps, so that an algorithm reads like its textbook: `co_yield make::send(peer, partial(),
// landing())`.
#pragma once

#include "schedule/step.hpp"

namespace steadfold::schedule::make {

/// Makes a step: target := partial of the rank's own rows.
constexpr Step lift(Slot target, Rank own) {
  return {.kind = StepKind::lift, .target = target, .left = {}, .right = {}, .peer = -1, .covers = {own, 1}};
}

/// Makes a step: target := partial of the rows `part`, which must be rows of this rank.
constexpr Step lift(Slot target, order::Interval part) {
  return {.kind = StepKind::lift, .target = target, .left = {}, .right = {}, .peer = -1, .covers = part};
}

/// Makes a step that sends the contents of slot `from` to the peer's landing slot `to`.
constexpr Step send(Rank peer, Slot from, Slot to) {
  return {.kind = StepKind::send, .target = to, .left = from, .right = {}, .peer = peer, .covers = {}};
}

/// Makes a step: landing slot `target` := the message from `peer`. `covers` stays empty for values.
constexpr Step receive(Rank peer, Slot target, Covers covers = {}) {
  return {.kind = StepKind::receive, .target = target, .left = {}, .right = {}, .peer = peer, .covers = covers};
}

/// Makes a step: target := left merged with right.
constexpr Step merge(Slot target, Slot left, Slot right, Covers covers) {
  return {.kind = StepKind::merge, .target = target, .left = left, .right = right, .peer = -1, .covers = covers};
}

/// Makes a step: target := from. `covers` stays empty for values.
constexpr Step copy(Slot target, Slot from, Covers covers = {}) {
  return {.kind = StepKind::copy, .target = target, .left = from, .right = {}, .peer = -1, .covers = covers};
}

/// Makes a step: value `target` := the values of partial `from`, over the ranks that `covers` names, or over all ranks
/// if it is empty.
constexpr Step finish(Slot target, Slot from, Covers covers = {}) {
  return {.kind = StepKind::finish, .target = target, .left = from, .right = {}, .peer = -1, .covers = covers};
}

/// Makes a step: target := the word-wise sum of `from` over all ranks.
constexpr Step add_words(Slot target, Slot from, Rank rank_count) {
  return {
      .kind = StepKind::add_words, .target = target, .left = from, .right = {}, .peer = -1, .covers = {0, rank_count}};
}

/// Marks the receive or merge as part of a wave (see step.hpp).
constexpr Step in_any_order(Step step, bool any_order = true) {
  step.any_order = any_order;
  return step;
}

/// Sets whether the next step belongs to the same message.
constexpr Step with_next(Step step, bool has_next = true) {
  step.more = has_next;
  return step;
}

}  // namespace steadfold::schedule::make
