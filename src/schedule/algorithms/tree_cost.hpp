// Part of several schedules: the number of messages if partials go up a tree of ranks and values come back.
// Cost: O(1). Source: textbook.
#pragma once

#include "schedule/step.hpp"

namespace steadfold::schedule {

/// Returns the number of messages: one per edge and segment, and one back if all ranks get the value. In reduce_scatter
/// one message carries all segments.
constexpr Count tree_messages(Context c) {
  return (c.ranks() - 1) * (c.scatters() ? 2 : c.segments * (c.rooted() ? 1 : 2));
}
constexpr Count tree_partials(Context c) { return (c.ranks() - 1) * c.segments; }

}  // namespace steadfold::schedule
