// Checks that steps obey the rules of step.hpp, and converts steps and slots to text for error messages.
// Cost: O(1) per step.
#pragma once

#include <span>
#include <string>

#include "schedule/step.hpp"

namespace steadfold::schedule {

class Program;

constexpr bool holds_partial(Slot slot) noexcept {
  return slot.kind == SlotKind::partial || slot.kind == SlotKind::landing;
}
constexpr bool holds_value(Slot slot) noexcept {
  return slot.kind == SlotKind::value || slot.kind == SlotKind::landing_value;
}

/// Describes the fault in the form of a step, independent of a run: slots of the wrong kind or of several segments, a
/// peer or covered ranks that do not exist. Returns an empty text if there is none.
std::string fault_of_form(const Step& step, const Context& context);

/// Describes the fault in the messages of one rank. Returns an empty text if there is none.
std::string fault_of_messages(const Program& program);

/// Describes the fault in the waves of one rank's steps. Returns an empty text if there is none. If there is no fault,
/// a run in the order of the steps stands for all orders: for any slot that a message fills, exactly one merge reads
/// the slot, and all merges have the same target.
std::string fault_of_waves(std::span<const Step> steps);

std::string text_of(StepKind kind);
std::string text_of(Slot slot);
std::string text_of(RankRange range);
/// Describes the context in the message of a failed proof.
std::string text_of(const Context& context);

}  // namespace steadfold::schedule
