// What every run of a program needs to know of its steps, worked out once: the slots that they name, what they may
// write to the result at once, merges that can be prepared.
// Cost: O(steps) to make.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "execution/slots.hpp"

namespace steadfold::execution {

/// What the end of a communication asks for, if it did not fail.
enum class CompletionAction : std::uint8_t { nothing, lands_whole, other };

struct ResolvedStep {
  SlotMemory* target = nullptr;
  SlotMemory* left = nullptr;
  SlotMemory* right = nullptr;
  Bytes result_offset = 0;  // of the target's values in the result
  order::Count piece = 0;   // columns
  float work = 0;           // in pieces
  arithmetic::PreparedMerge* merge = nullptr;
  transport::SlotNumber number = 0;  // of the target, a landing slot
  CompletionAction ending = CompletionAction::other;
  bool is_apart = false;   // the values of the target stand apart
  bool is_alone = false;   // a message of one slot
  bool to_result = false;  // the step writes the result's values and no more, in a run in which that may be
  bool finishes = false;   // the prepared merge carries out the next step, its finish, too

  /// Where the step writes the result's values; null if it writes something else too, or may not do so yet.
  std::byte* way_to_result(const Slots& slots) const noexcept {
    return to_result && slots.result() != nullptr ? slots.result() + result_offset : nullptr;
  }
};

/// Program, payload and slots must outlive it.
class ResolvedSteps {
 public:
  ResolvedSteps(const schedule::Program& program, Payload& payload, Slots& slots);

  const ResolvedStep& of(const schedule::Step& step) const noexcept { return steps_[program_->index_of(step)]; }
  /// The same of a message, for which its last step stands, or of an add_words.
  const ResolvedStep& of_communication(std::uint32_t ticket) const noexcept {
    return steps_[program_->index_of_communication(ticket)];
  }

 private:
  void resolve_messages();
  void find_ways_to_result(const Slots& slots, const ApartPayload& apart);
  void prepare_merges(Payload& payload);

  const schedule::Program* program_;
  std::vector<ResolvedStep> steps_;  // in the program's order
  std::vector<std::unique_ptr<arithmetic::PreparedMerge>> prepared_;
};

}  // namespace steadfold::execution
