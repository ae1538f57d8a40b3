// Checks the rules of step.hpp, with one case per kind of step. Cost: O(1) per step.
#include "schedule/form.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/checker/row_set.hpp"
#include "schedule/program.hpp"
#include "schedule/registry.hpp"

namespace steadfold::schedule {
namespace {

// Whether the contents of slot `from` may be copied to slot `to`: partials to partials, values to values.
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

// A slot as a number.
using Key = std::uint64_t;

constexpr Key key_of(Slot slot) noexcept {
  return Key{slot.number} << 40 | Key{static_cast<std::uint8_t>(slot.kind)} << 32 | slot.segment;
}

constexpr bool is_before(const Step& a, const Step& b) noexcept { return key_of(a.target) < key_of(b.target); }

// Returns the first step whose target is also the target of an earlier step, or null.
const Step* named_twice(std::span<const Step> message) {
  if (std::ranges::adjacent_find(message, std::not_fn(is_before)) == message.end()) return nullptr;  // the usual case
  std::vector<const Step*> sorted;
  for (const Step& step : message) sorted.push_back(&step);
  std::ranges::stable_sort(sorted, {}, [](const Step* step) { return key_of(step->target); });
  const Step* found = nullptr;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i]->target == sorted[i - 1]->target && (found == nullptr || sorted[i] < found)) found = sorted[i];
  return found;
}

std::string fault_of_message(std::span<const Step> message) {
  if (message.size() == 1) return {};
  const Step& last = message.back();
  for (const Step& step : message) {
    const bool alike = step.kind == last.kind && step.peer == last.peer;
    if (!alike || (step.kind != StepKind::send && step.kind != StepKind::receive))
      return "the steps of one message are of several kinds, or have several peers";
  }
  const Step* const again = named_twice(message);
  return again == nullptr ? "" : "a message names " + text_of(again->target) + " twice";
}

// The slots with which a slot arrives in a message: the index of the message's last slot, and its number of slots.
struct Company {
  std::uint32_t last = Program::no_slot;
  std::size_t count = 0;

  friend bool operator==(const Company&, const Company&) = default;
};

// Checks that each slot of a received message arrives with the same other slots as before. `companies` has these other
// slots, by index.
std::string fault_of_company(const Program& program, std::span<const Step> message, std::vector<Company>& companies) {
  const Company own{program.slot_indices(message.back()).target, message.size()};
  for (const Step& step : message) {
    const std::uint32_t index = program.slot_indices(step).target;
    if (index == Program::no_slot) return {};  // fault_of_form reports this fault
    Company& known = companies[index];
    if (known.count == 0) known = own;
    if (known != own)
      return text_of(step.target) +
             " arrives together with different slots in different messages (the slots of a message share memory)";
  }
  return {};
}

constexpr bool is_in_wave(const Step& step, StepKind kind) { return step.any_order && step.kind == kind; }

// Describes the fault in the merges of a wave, or returns an empty text. `merges` are all consecutive merges after the
// wave.
std::string fault_of_merges(std::span<const Step> receives, std::span<const Step> merges) {
  if (merges.size() != receives.size())
    return "a wave (receives in any order) with " + std::to_string(receives.size()) + " slots and " +
           std::to_string(merges.size()) + " merges (each slot needs one merge)";
  std::map<std::uint32_t, Slot> sums;  // target of the merges, by segment
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const Step& merge = merges[i];
    if (merge.right != receives[i].target)
      return "the slots of a wave (receives in any order) are merged in another order, or not at all";
    const Slot sum = sums.try_emplace(merge.target.segment, merge.target).first->second;
    if (merge.left != merge.target || merge.target != sum)
      return "a wave (receives in any order) is merged into several partial results of one segment";
  }
  return {};
}

// Checks the receives of a wave. Its messages may take each other's slots, so their slots must be of the same kinds.
std::string fault_of_receives(std::span<const Step> receives) {
  const auto last = std::ranges::find(receives, false, &Step::more);
  const auto slots = static_cast<std::size_t>(last - receives.begin()) + 1;  // number of slots of the first message
  if (last == receives.end() || receives.size() % slots != 0)
    return "the messages of a wave (receives in any order) differ in their slots or segments";
  for (std::size_t i = 0; i < receives.size(); ++i) {
    const Step& alike = receives[i % slots];
    const Slot slot = receives[i].target;
    if (slot.kind != SlotKind::landing || slot.segment != alike.target.segment || receives[i].more != alike.more)
      return "the messages of a wave (receives in any order) differ in their slots or segments";
  }
  return {};
}

void insert(std::vector<Key>& slots, Key slot) {
  const auto found = std::ranges::lower_bound(slots, slot);
  if (found == slots.end() || *found != slot) slots.insert(found, slot);
}
void erase(std::vector<Key>& slots, Key slot) {
  const auto found = std::ranges::lower_bound(slots, slot);
  if (found != slots.end() && *found == slot) slots.erase(found);
}
bool holds(const std::vector<Key>& slots, Slot slot) { return std::ranges::binary_search(slots, key_of(slot)); }

bool one_segment(const Step& step, std::uint32_t segments) {
  const std::uint32_t segment = step.target.segment;
  return segment < segments && (step.left.kind == SlotKind::none || step.left.segment == segment) &&
         (step.right.kind == SlotKind::none || step.right.segment == segment);
}

}  // namespace

std::string fault_of_form(const Step& step, const Context& context) {
  if (!kinds_allowed(step)) return "the step names a slot of a kind that it may not use";
  if (!one_segment(step, context.segments))
    return "the step names slots of several segments, or a segment that does not exist";
  const bool has_peer = step.kind == StepKind::send || step.kind == StepKind::receive;
  if (has_peer && (step.peer < 0 || step.peer >= context.rank_count || step.peer == context.rank)) {
    return "the peer does not exist: rank " + std::to_string(step.peer);
  }
  for (const RankRange covered : {step.covers.ranks, step.covers.apart}) {
    if (covered.first < 0 || covered.first >= context.rank_count || covered.count < 0 ||
        covered.count > context.rank_count)
      return "covers ranks that do not exist";
  }
  const auto run_of = [](RankRange ranks) -> RowSet {
    return RowRun{static_cast<Index>(ranks.first), static_cast<Count>(ranks.count)};
  };
  if (step.covers.apart.count > 0 &&
      Circle(context.ranks()).overlap(run_of(step.covers.ranks), run_of(step.covers.apart)))
    return "the step names a rank twice";
  return {};
}

std::string fault_of_messages(const Program& program) {
  std::span<const Step> steps = program.steps();
  if (std::ranges::none_of(steps, &Step::more)) return {};
  std::vector<Company> companies(program.slots().size());
  while (!steps.empty()) {
    const auto last = std::ranges::find(steps, false, &Step::more);
    if (last == steps.end()) return "the last step of a message is missing";
    const auto message = steps.first(static_cast<std::size_t>(last - steps.begin()) + 1);
    std::string fault = fault_of_message(message);
    if (fault.empty() && message.back().kind == StepKind::receive)
      fault = fault_of_company(program, message, companies);
    if (!fault.empty()) return fault;
    steps = steps.subspan(message.size());
  }
  return {};
}

std::string fault_of_waves(std::span<const Step> steps) {
  const auto end_of = [&](auto begin, StepKind kind) {
    return std::find_if_not(begin, steps.end(), [&](const Step& step) { return is_in_wave(step, kind); });
  };
  if (std::ranges::none_of(steps, &Step::any_order)) return {};
  std::span<const Step> receives;  // receives of the wave whose messages have not been merged
  std::vector<Key> slots;          // slots that waves use, sorted
  for (auto at = steps.begin(); at != steps.end();) {
    const auto end = std::max(at + 1, end_of(at, at->kind));
    const std::span<const Step> row(at, end);
    std::string fault;
    if (is_in_wave(*at, StepKind::receive)) {
      fault = receives.empty() ? fault_of_receives(row)
                               : "a wave (receives in any order) begins before the previous wave is merged";
      for (const Step& step : receives = row) insert(slots, key_of(step.target));
    } else if (is_in_wave(*at, StepKind::merge)) {
      fault = fault_of_merges(std::exchange(receives, {}), row);
    } else if (at->any_order) {
      fault = "a " + text_of(at->kind) + " is marked any_order (only receives and merges can be)";
    } else if (holds(slots, at->left) || holds(slots, at->right)) {
      fault = "a " + text_of(at->kind) + " reads a slot of a wave before the wave is merged";
    } else if (at->kind == StepKind::receive) {
      erase(slots, key_of(at->target));
    }
    if (!fault.empty()) return fault;
    at = end;
  }
  return receives.empty() ? "" : "the slots of the last wave (receives in any order) are not merged";
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

std::string text_of(const Context& context) {
  std::string text = " " + std::string(name_of(context.collective));
  text += " ranks=" + std::to_string(context.rank_count) + " root=" + std::to_string(context.root) +
          " segments=" + std::to_string(context.segments);
  if (!context.blocks.empty()) text += " blocks=";
  for (const std::uint32_t first : context.blocks.first(std::min<std::size_t>(context.blocks.size(), 17)))
    text += std::to_string(first) + ",";
  if (context.nodes) text += " nodes=";
  for (Rank rank = 0; context.nodes && rank < std::min(context.rank_count, 64); ++rank)
    text += std::to_string(context.nodes->node_of(rank)) + ",";
  if (!context.layout) return text;
  text += " starts=";
  for (Rank rank = 0; rank < std::min(context.rank_count, 16); ++rank)
    text += std::to_string(context.layout->start(rank)) + ",";
  return text + (context.rank_count > 16 ? "..." : std::to_string(context.layout->element_count()));
}

}  // namespace steadfold::schedule
