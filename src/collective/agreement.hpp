// What all ranks agree on before a plan exists: the same call, a layout without faults, one schedule.
// Rank order: not concerned. Cost: one exchange of about 200 bytes and 16 an interval, a rank. Source: ours.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/call.hpp"
#include "schedule/registry.hpp"

namespace steadfold::collective {

/// The same on all ranks.
struct Agreement {
  Description description;
  std::uint64_t digest = 0;
  order::Layout layout;
  Count element_count = 0;  // unknown_count where only the partials know
  schedule::Spec schedule;
  std::string schedule_text;
};

/// A rank's side: its call as bytes, with what is wrong with it, if anything (null: nothing).
class Failure;
std::vector<std::byte> propose(const Call& call, const Failure* failure);

/// All ranks' proposals, by rank, to one agreement; `forced_schedule` (rank 0's environment) is empty where there is
/// none. Throws the same Failure on every rank: the first rank's that has one, else what the ranks disagree about, else
/// what is wrong with the layout or the schedule.
Agreement conclude(std::span<const std::span<const std::byte>> proposals, const std::string& forced_schedule);

}  // namespace steadfold::collective
