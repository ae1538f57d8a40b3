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

/// The content of one slot, in a message or at the end of the run.
struct Part {
  std::uint32_t segment = 0;
  bool is_value = false;
  schedule::Covers covers;  // the rows of a partial; empty for a value, which covers all ranks
  // The rows in the receiver's slot after its merge; empty if there is no merge.
  std::optional<schedule::Covers> merged = {};
};

struct Message {
  Rank source = 0;
  Rank target = 0;
  Count sent = 0;      // number of the round in which the message is sent, from 1
  Count received = 0;  // number of the round at whose end the message has arrived
  std::vector<Part> parts;
};

struct Timeline {
  std::vector<Message> messages;           // the messages, in the order in which they are sent
  std::vector<std::vector<Part>> results;  // by rank: the values that the rank has at the end
  Count rounds = 0;
};

/// Runs a schedule, and counts rounds as the checker does. The checker must have proved the case. The context's rank is
/// ignored.
Timeline timeline_of(const schedule::Algorithm& algorithm, schedule::Context context);

}  // namespace steadfold::command::pictures
