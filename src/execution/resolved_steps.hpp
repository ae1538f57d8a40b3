// Facts about the steps of a program that every run needs, computed once: the slots that they name, whether they may
// write the result directly, and prepared merges.
// Cost: O(steps) to make.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "execution/slots.hpp"

namespace steadfold::execution {

/// The work to do when a communication completes without failure.
enum class CompletionAction : std::uint8_t { nothing, lands_whole, other };

struct ResolvedStep {
  SlotMemory* target = nullptr;
  SlotMemory* left = nullptr;
  SlotMemory* right = nullptr;
  Bytes result_offset = 0;  // offset of the target's values in the result
  order::Count piece = 0;   // columns
  float work = 0;           // work of the step, in pieces
  arithmetic::PreparedMerge* merge = nullptr;
  transport::SlotNumber number = 0;  // number of the target, if it is a landing slot
  CompletionAction ending = CompletionAction::other;
  bool is_apart = false;   // the target's values are stored apart
  bool is_alone = false;   // a message of one slot
  bool to_result = false;  // the step writes only the values of the result, in runs in which it may
  bool finishes = false;   // the prepared merge also does the next step, a finish

  /// Where the step writes the result's values. Null if it writes more than values, or may not write them in this run.
  std::byte* way_to_result(const Slots& slots) const noexcept {
    return to_result && slots.result() != nullptr ? slots.result() + result_offset : nullptr;
  }
};

/// Program, payload and slots must outlive it.
class ResolvedSteps {
 public:
  ResolvedSteps(const schedule::Program& program, Payload& payload, Slots& slots);

  const ResolvedStep& of(const schedule::Step& step) const noexcept { return steps_[program_->index_of(step)]; }
  /// The step that represents a message (its last step) or an add_words.
  const ResolvedStep& of_communication(std::uint32_t ticket) const noexcept {
    return steps_[program_->index_of_communication(ticket)];
  }

 private:
  void resolve_messages();
  void find_ways_to_result(const Slots& slots, const ApartPayload& apart);
  void prepare_merges(Payload& payload);

  const schedule::Program* program_;
  std::vector<ResolvedStep> steps_;  // in the order of the program
  std::vector<std::unique_ptr<arithmetic::PreparedMerge>> prepared_;
};

}  // namespace steadfold::execution
