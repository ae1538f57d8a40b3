// Part of several schedules: repeats steps made for one segment for all segments. Each message carries the slots of all
// segments. A message with several slots carries each of them for all segments.
// Cost: the messages and rounds of one segment, and the work of all segments.
#pragma once

#include "schedule/step.hpp"

namespace steadfold::schedule {

/// Repeats the steps that `one` yields, which were made for one segment, for all segments.
inline Steps for_all_segments(Steps one, std::uint32_t segments) {
  while (const Step* step = one.next()) {
    Step each = *step;
    const bool is_message = each.kind == StepKind::send || each.kind == StepKind::receive;
    for (std::uint32_t s = 0; s < segments; ++s) {
      for (Slot* const slot : {&each.target, &each.left, &each.right}) {
        if (slot->kind != SlotKind::none) slot->segment = s;
      }
      each.more = step->more || (is_message && s + 1 < segments);
      co_yield each;
    }
  }
}

}  // namespace steadfold::schedule
