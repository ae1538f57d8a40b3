// PE-intersecting nodes of the tree over elements in rank order, and the score that [S0] computes from them.
// Rank order: rank i's elements stand before those of rank i + 1. Cost: O(log N) per rank.
// Source: [S0] section 2.1, Algorithm 2 and eq. 3.7.
#pragma once

#include <span>

#include "order/index.hpp"

namespace steadfold::order {

/// How many nodes have their two children on different ranks: the messages of [S0]'s scheme without a buffer. Rank i's
/// elements begin at starts[i]; those of the last rank end at `element_count`. Throws std::invalid_argument, as
/// "problem (why), suggestion", where the starts are not monotone from 0 to the element count.
Count pe_intersecting_nodes(std::span<const Index> starts, Count element_count);

/// What [S0] measured on a shared-memory machine, section 3.1.2.
inline constexpr double score_message_seconds = 281e-9;
inline constexpr double score_addition_seconds = 4.15e-9;

/// [S0] eq. 3.7: one message per node, one after the other, and the additions of the rank with most elements.
constexpr double score_seconds(Count nodes, Count most_additions) noexcept {
  return score_message_seconds * static_cast<double>(nodes) +
         score_addition_seconds * static_cast<double>(most_additions);
}

}  // namespace steadfold::order
