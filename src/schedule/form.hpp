// What a step may look like, by the rules of step.hpp, and steps and slots in words for error messages.
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

/// What is wrong with the form of a step, whatever the run: slots of the wrong kind or of several segments, a peer or
/// covered ranks that do not exist. Empty if nothing is.
std::string fault_of_form(const Step& step, const Context& context);

/// What is wrong with the messages of one rank; empty if nothing is.
std::string fault_of_messages(const Program& program);

/// What is wrong with the waves of one rank's steps; empty if nothing is. Then a run in the order of the steps stands
/// for all others: whichever slot a message fills, one merge takes it, into the same partial.
std::string fault_of_waves(std::span<const Step> steps);

std::string text_of(StepKind kind);
std::string text_of(Slot slot);
std::string text_of(RankRange range);
/// The context as a failed proof names it.
std::string text_of(const Context& context);

}  // namespace steadfold::schedule
