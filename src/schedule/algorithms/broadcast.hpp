// Part of several schedules: a broadcast of values along a binomial tree over consecutive ranks (a run), from the first
// rank of the run.
// Cost: ceil(log2 p)(alpha + n beta) for a run of p ranks. S segments take S times as many rounds.
// Source: Balaji & Kimpe, section III.A.
#pragma once

#include <algorithm>

#include "schedule/make_step.hpp"

namespace steadfold::schedule {

inline Count broadcast_rounds(Rank ranks, std::uint32_t segments) {
  return static_cast<Count>(order::ceil_log2(static_cast<Count>(ranks))) * segments;
}

/// Makes the steps that send `value(0, s)` from the run's first rank to all other ranks of the run. Segments go in
/// descending order: when the last segment is computed, all other segments are computed too, so no step of this tree
/// waits for earlier steps.
inline Steps broadcast(Rank rank, RankRange run, std::uint32_t segments) {
  const Rank position = rank - run.first;
  const auto index = static_cast<Count>(position);
  const bool is_root = position == 0;
  const int children = std::min(order::max_level(index), order::ceil_log2(static_cast<Count>(run.count) - index));
  const Rank parent = run.first + static_cast<Rank>(is_root ? 0 : order::parent(index));
  for (std::uint32_t s = segments; s-- > 0 && !is_root;) co_yield make::receive(parent, landing_value(0, s));
  for (int level = children - 1; level >= 0; --level) {
    for (std::uint32_t s = segments; s-- > 0;)
      co_yield make::send(rank + (Rank{1} << level), is_root ? value(0, s) : landing_value(0, s), landing_value(0, s));
  }
  for (std::uint32_t s = segments; s-- > 0 && !is_root;) co_yield make::copy(value(0, s), landing_value(0, s));
}

/// Makes the steps of a reduce to rank 0, then the steps that send its values to all ranks.
inline Steps reduce_then_broadcast(Steps reduce, Context c) {
  while (const Step* step = reduce.next()) co_yield *step;
  for (Steps steps = broadcast(c.rank, {0, c.rank_count}, c.segments); const Step* step = steps.next();) co_yield *step;
}

}  // namespace steadfold::schedule
