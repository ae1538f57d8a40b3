// The units that take part in rounds of doubling. Their number is a power of two. The first units are pairs of ranks,
// the others single ranks.
// Rank order: units are in rank order. Cost: O(1). Source: Balaji & Kimpe, section III.B.
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

  /// Returns the ranks of the aligned block of 2^level units that contains `unit`.
  RankRange block(Rank unit, int level) const {
    const Rank begin = (unit >> level) << level;
    const Rank first = first_rank(begin);
    return {first, first_rank(begin + (Rank{1} << level)) - first};
  }
};

}  // namespace steadfold::schedule
