// The contents of a schedule's messages, and the rounds in which they are sent and received. Runs the steps that the
// checker proves, with rows in place of bytes.
// Cost: O(steps of all ranks).
#pragma once

#include <optional>
#include <vector>

#include "schedule/registry.hpp"

namespace steadfold::command::pictures {

using order::Count;
using order::Rank;

/// The content of one slot, in a message or at the end.
struct Part {
  std::uint32_t segment = 0;
  bool is_value = false;
  schedule::Covers covers;                      // empty for a value: a value covers all ranks
  std::optional<schedule::Covers> merged = {};  // content of the receiver's slot after its merge; none without a merge
};

struct Message {
  Rank source = 0;
  Rank target = 0;
  Count sent = 0;      // the round in which it is sent, from 1
  Count received = 0;  // the round at whose end it has arrived
  std::vector<Part> parts;
};

struct Timeline {
  std::vector<Message> messages;           // in the order in which they are sent
  std::vector<std::vector<Part>> results;  // by rank: the values in the end
  Count rounds = 0;
};

/// Counts rounds as the checker does. The case must be one that the checker has proved; the context's rank does not
/// count.
Timeline timeline_of(const schedule::Row& row, schedule::Context context);

}  // namespace steadfold::command::pictures
