// Facts about the steps of a program that every run needs, computed once: the slots that they name, whether they may
// write the result directly, and prepared merges.
// Cost: O(steps) to make.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plan/slots.hpp"

namespace steadfold::plan {

/// The work to do when a communication completes without an error.
enum class CompletionAction : std::uint8_t { nothing, lands_whole, other };

struct ResolvedStep {
  SlotMemory* target = nullptr;
  SlotMemory* left = nullptr;
  SlotMemory* right = nullptr;
  Bytes result_offset = 0;  // offset of the target's values in the result, in bytes
  order::Count piece = 0;   // columns that one piece of the step's work has
  float work = 0;           // work of the whole step, in pieces
  arithmetic::PreparedMerge* merge = nullptr;
  transport::SlotNumber number = 0;  // number of the landing slot, if the target is one
  CompletionAction ending = CompletionAction::other;
  bool is_apart = false;   // whether the target's values are stored apart from its head
  bool is_alone = false;   // whether the message has only one slot
  bool to_result = false;  // whether the step writes only the values of the result, in runs in which it may do so
  bool finishes = false;   // whether the prepared merge also does the finish that follows

  /// Returns the address where the step writes the values of the result. The address is null if the step writes more
  /// than values, or may not write them in this run.
  std::byte* way_to_result(const Slots& slots) const noexcept {
    return to_result && slots.result() != nullptr ? slots.result() + result_offset : nullptr;
  }
};

/// The resolved steps of a program. Program, payload and slots must outlive them.
class ResolvedSteps {
 public:
  ResolvedSteps(const schedule::Program& program, Payload& payload, Slots& slots);

  const ResolvedStep& of(const schedule::Step& step) const noexcept { return steps_[program_->index_of(step)]; }
  /// Returns the step that stands for a communication: the last step of a message, or an add_words step.
  const ResolvedStep& of_communication(std::uint32_t ticket) const noexcept {
    return steps_[program_->index_of_communication(ticket)];
  }

 private:
  void resolve_messages();
  void find_ways_to_result(const Slots& slots, const ApartPayload& apart);
  void prepare_merges(Payload& payload);

  const schedule::Program* program_;
  std::vector<ResolvedStep> steps_;  // the steps in the order of the program
  std::vector<std::unique_ptr<arithmetic::PreparedMerge>> prepared_;
};

}  // namespace steadfold::plan
