// The rules of step.hpp, one case a kind of step.
// Rank order: not concerned. Cost: O(1) a step. Source: ours.
#include "schedule/form.hpp"

#include <array>
#include <string_view>

#include "schedule/program.hpp"

namespace steadfold::schedule {
namespace {

// Whether `to` may be given what `from` holds, as bytes: partials to partials, values to values.
bool may_hold_same(Slot to, Slot from) {
  return (holds_partial(to) && holds_partial(from)) || (holds_value(to) && holds_value(from));
}

bool kinds_allowed(const Step& step) {
  const bool no_right = step.right.kind == SlotKind::none;
  const bool no_operands = step.left.kind == SlotKind::none && no_right;
  const bool to_partial = step.target.kind == SlotKind::partial;
  switch (step.kind) {
    case StepKind::lift: return to_partial && no_operands;
    case StepKind::send: return is_landing(step.target) && may_hold_same(step.target, step.left) && no_right;
    case StepKind::receive: return is_landing(step.target) && no_operands;
    case StepKind::merge: return to_partial && holds_partial(step.left) && holds_partial(step.right);
    case StepKind::copy: return !is_landing(step.target) && may_hold_same(step.target, step.left) && no_right;
    case StepKind::finish: return step.target.kind == SlotKind::value && holds_partial(step.left) && no_right;
    case StepKind::add_words: return to_partial && holds_partial(step.left) && no_right;
  }
  return false;
}

bool one_segment(const Step& step, std::uint32_t segments) {
  const std::uint32_t segment = step.target.segment;
  return segment < segments && (step.left.kind == SlotKind::none || step.left.segment == segment) &&
         (step.right.kind == SlotKind::none || step.right.segment == segment);
}

}  // namespace

std::string fault_of_form(const Step& step, const Context& context) {
  if (!kinds_allowed(step)) return "slots of a kind that such a step may not have";
  if (!one_segment(step, context.segments)) return "slots of several segments, or of one that is not there";
  const bool has_peer = step.kind == StepKind::send || step.kind == StepKind::receive;
  if (has_peer && (step.peer < 0 || step.peer >= context.rank_count || step.peer == context.rank)) {
    return "no peer " + std::to_string(step.peer);
  }
  const RankRange covered = step.covers.ranks;
  if (covered.first < 0 || covered.first >= context.rank_count || covered.count < 0 ||
      covered.count > context.rank_count) {
    return "covers ranks that are not there";
  }
  return {};
}

std::string text_of(StepKind kind) {
  constexpr std::array<std::string_view, 7> names = {"lift", "send", "receive", "merge", "copy", "finish", "add_words"};
  return std::string(names[static_cast<std::size_t>(kind)]);
}

std::string text_of(Slot slot) {
  constexpr std::array<std::string_view, 5> kinds = {"none", "partial", "landing", "value", "landing_value"};
  return std::string(kinds[static_cast<std::size_t>(slot.kind)]) + "(" + std::to_string(slot.number) + ", segment " +
         std::to_string(slot.segment) + ")";
}

std::string text_of(RankRange range) {
  if (range.count == 1) return "rank " + std::to_string(range.first);
  return std::to_string(range.count) + " ranks from " + std::to_string(range.first);
}

}  // namespace steadfold::schedule
