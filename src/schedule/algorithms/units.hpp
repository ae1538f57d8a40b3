// The units that take part in rounds of doubling: a power of two of them, the first of which are pairs of ranks.
// Rank order: units stand in rank order. Cost: O(1). Source: [S3] section III.B.
#pragma once

#include "schedule/step.hpp"

namespace steadfold::schedule {

struct Units {
  int rounds;
  Rank pairs;

  explicit Units(Rank rank_count)
      : rounds(order::floor_log2(static_cast<Count>(rank_count))), pairs(rank_count - (Rank{1} << rounds)) {}

  bool in_pair(Rank rank) const { return rank < 2 * pairs; }
  bool is_second_of_pair(Rank rank) const { return in_pair(rank) && rank % 2 == 1; }
  Rank other_of_pair(Rank rank) const { return rank ^ 1; }
  Rank unit_of(Rank rank) const { return in_pair(rank) ? rank / 2 : rank - pairs; }
  Rank first_rank(Rank unit) const { return unit < pairs ? 2 * unit : unit + pairs; }

  /// The ranks of the aligned block of 2^level units that `unit` is in.
  RankRange block(Rank unit, int level) const {
    const Rank begin = (unit >> level) << level;
    const Rank first = first_rank(begin);
    return {first, first_rank(begin + (Rank{1} << level)) - first};
  }
};

}  // namespace steadfold::schedule
