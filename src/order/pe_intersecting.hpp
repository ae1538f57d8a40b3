// PE-intersecting nodes of the tree over elements in rank order, and their score in Stelz 2022.
// Rank order: rank i's elements come before rank i + 1's. Cost: O(log N) per rank.
// Source: Stelz 2022, section 2.1, Algorithm 2 and eq. 3.7.
#pragma once

#include <span>

#include "order/index.hpp"

namespace steadfold::order {

/// Returns the number of nodes whose two children are on different ranks. This is also the number of messages that the
/// scheme of Stelz 2022 sends without a buffer. Rank i's elements begin at starts[i]; the last rank's elements end at
/// `element_count`. If the starts do not ascend from 0 to the element count, throws std::invalid_argument, as "problem
/// (why), suggestion".
Count pe_intersecting_nodes(std::span<const Index> starts, Count element_count);

/// Times that Stelz 2022, section 3.1.2, measured on a shared-memory machine.
inline constexpr double score_message_seconds = 281e-9;
inline constexpr double score_addition_seconds = 4.15e-9;

/// Returns the score, eq. 3.7 of Stelz 2022: the time of one message per node, one after the other, and of the
/// additions of the rank with most elements.
constexpr double score_seconds(Count nodes, Count most_additions) noexcept {
  return score_message_seconds * static_cast<double>(nodes) +
         score_addition_seconds * static_cast<double>(most_additions);
}

}  // namespace steadfold::order
