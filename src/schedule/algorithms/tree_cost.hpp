// Part of several: how many messages a schedule has in which partials climb a tree of ranks, and values come back.
// Cost: O(1). Source: textbook.
#pragma once

#include "schedule/step.hpp"

namespace steadfold::schedule {

/// For every segment one message per edge, and one back if all ranks get the value. In reduce_scatter one message
/// carries the values of all segments.
constexpr Count tree_messages(Context c) {
  return (c.ranks() - 1) * (c.scatters() ? 2 : c.segments * (c.rooted() ? 1 : 2));
}
constexpr Count tree_partials(Context c) { return (c.ranks() - 1) * c.segments; }

}  // namespace steadfold::schedule
