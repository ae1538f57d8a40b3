// Part of several schedules: a reduce to rank 0, after which every rank's block of values goes to the rank down a
// binomial tree.
// Rank order: the order of the reduce at root 0.
// Cost: the reduce's cost, and then ceil(log2 p) alpha + (p-1)/p n beta.
// Source: Balaji & Kimpe, section III: the naive reduce-scatter with which other schedules are compared.
#pragma once

#include <algorithm>

#include "schedule/algorithms/all_segments.hpp"
#include "schedule/algorithms/blocks.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule {

/// Returns the context of the reduce, with one segment.
constexpr Context reduce_before_scatter(Context c) {
  c.collective = Collective::reduce;
  c.root = 0;
  c.segments = 1;
  c.blocks = {};
  return c;
}

inline Count scatter_rounds(const Context& c) { return static_cast<Count>(order::ceil_log2(c.ranks())); }

/// Makes the steps that send every rank its block as `value(0, s)`. Rank 0 must have its block in `value(0, s)` and the
/// other blocks in `value(1, s)`.
inline Steps scatter_values(Context c) {
  const Blocks blocks(c);
  const auto index = static_cast<Count>(c.rank);
  const auto ranks = c.ranks();
  const bool is_root = c.rank == 0;
  const auto end_of = [&](Count first, int level) {  // end of a subtree's segments
    return blocks.end(static_cast<Rank>(std::min(first + (Count{1} << level), ranks) - 1));
  };
  const int children = std::min(order::max_level(index), order::ceil_log2(ranks - index));
  const std::uint32_t end = is_root ? c.segments : end_of(index, order::max_level(index));
  for (std::uint32_t s = blocks.begin(c.rank); s < end && !is_root; ++s)
    co_yield make::with_next(make::receive(static_cast<Rank>(order::parent(index)), landing_value(0, s)), s + 1 < end);
  for (int level = children - 1; level >= 0; --level) {
    const Rank child = c.rank + (Rank{1} << level);
    const std::uint32_t childs_end = end_of(static_cast<Count>(child), level);
    for (std::uint32_t s = blocks.begin(child); s < childs_end; ++s)
      co_yield make::with_next(make::send(child, is_root ? value(1, s) : landing_value(0, s), landing_value(0, s)),
                               s + 1 < childs_end);
  }
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank) && !is_root; ++s)
    co_yield make::copy(value(0, s), landing_value(0, s));
}

/// Makes the steps of a reduce and the scatter after it. `reduce` makes the steps of the reduce; its only value must be
/// its result.
inline Steps reduce_then_scatter(Context c, Steps (*reduce)(Context)) {
  const Blocks blocks(c);
  for (Steps steps = for_all_segments(reduce(reduce_before_scatter(c)), c.segments); const Step* step = steps.next();) {
    const bool is_others = step->kind == StepKind::finish && step->target.segment >= blocks.end(0);
    co_yield is_others ? make::finish(value(1, step->target.segment), step->left) : *step;
  }
  for (Steps steps = scatter_values(c); const Step* step = steps.next();) co_yield *step;
}

}  // namespace steadfold::schedule
