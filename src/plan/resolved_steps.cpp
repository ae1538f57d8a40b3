#include "plan/resolved_steps.hpp"

namespace steadfold::plan {

using schedule::Program;
using schedule::Step;
using schedule::StepKind;

namespace {

/// Returns, by step, whether the next step that uses the left slot of this step writes the slot and does not read it,
/// or no step uses it.
std::vector<bool> find_last_reads(const Program& program) {
  const auto steps = program.steps();
  std::vector<bool> is_last(steps.size(), true);
  std::vector<const Step*> next(program.slots().size(), nullptr);  // by index: the next step that uses the slot
  for (std::size_t i = steps.size(); i-- > 0;) {
    const Program::SlotIndices& indices = program.slot_indices(steps[i]);
    if (indices.left != Program::no_slot) {
      const Step* const later = next[indices.left];
      is_last[i] = later == nullptr || (later->left != steps[i].left && later->right != steps[i].left);
    }
    for (const std::uint32_t index : {indices.target, indices.left, indices.right})
      if (index != Program::no_slot) next[index] = &steps[i];
  }
  return is_last;
}

/// Returns, by step, whether the step is a finish of the partial that the step before merged, waits for nothing, and is
/// the partial's last reader.
std::vector<bool> find_finishes_of_merges(const Program& program) {
  const auto steps = program.steps();
  std::vector<bool> found = find_last_reads(program);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool follows = i > 0 && steps[i - 1].kind == StepKind::merge && steps[i - 1].target == steps[i].left;
    found[i] = found[i] && follows && steps[i].kind == StepKind::finish;
  }
  for (const Program::TicketWait& wait : program.waits())
    if (wait.step < found.size()) found[wait.step] = false;
  return found;
}

}  // namespace

ResolvedSteps::ResolvedSteps(const Program& program, Payload& payload, Slots& slots) : program_(&program) {
  for (const Step& step : program.steps()) {
    const Program::SlotIndices& indices = program.slot_indices(step);
    ResolvedStep& at = steps_.emplace_back();
    at.target = slots.at(indices.target);
    at.left = slots.at(indices.left);
    at.right = slots.at(indices.right);
    at.number = schedule::landing_number(step.target, program.segments());
    at.is_apart = slots.is_apart(step.target);
    if (schedule::communicates(step.kind)) continue;
    at.piece = payload.piece_columns(step.target.segment);
    const auto columns = static_cast<float>(payload.columns(step.target.segment));
    if (at.piece > 0) at.work = columns / static_cast<float>(at.piece);
  }
  resolve_messages();
  if (const ApartPayload* const apart = payload.apart(); apart != nullptr) find_ways_to_result(slots, *apart);
  prepare_merges(payload);
}

void ResolvedSteps::resolve_messages() {
  for (std::uint32_t ticket = 0; ticket < program_->ticket_count(); ++ticket) {
    const Step& last = program_->communication(ticket);
    ResolvedStep& at = steps_[program_->index_of(last)];
    at.is_alone = program_->message(ticket).size() == 1;
    if (last.kind == StepKind::send) at.ending = CompletionAction::nothing;
    if (last.kind == StepKind::receive && at.is_alone && !at.is_apart && !last.any_order)
      at.ending = CompletionAction::lands_whole;
  }
}

/// Visits the steps from last to first. These steps may write the result directly:
/// - a finish, if its values are stored apart or no step reads its slot afterwards;
/// - a merge whose partial is read only by this finish;
/// - a receive whose value is copied to the result's slot before another message arrives; and this copy. The steps may
///   do so only after all rows of the segment have been read, because the result may overlap the rows.
void ResolvedSteps::find_ways_to_result(const Slots& slots, const ApartPayload& apart) {
  const auto steps = program_->steps();
  const std::size_t slot_count = program_->slots().size();
  const std::vector<bool> reads_last = find_last_reads(*program_);
  std::vector<bool> lifts_first(program_->segments(), true);
  std::vector<bool> is_lifted(program_->segments(), false);
  std::vector<const Step*> next(slot_count, nullptr);  // by index: the next step that uses the slot
  // For each slot, by its index: whether its last reader is a finish that writes to the result.
  std::vector<bool> is_finished(slot_count, false);
  std::vector<bool> is_copied(slot_count, false);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const Step& step = steps[i];
    const Program::SlotIndices& indices = program_->slot_indices(step);
    const bool gives_result = step.target == schedule::value(0, step.target.segment);
    bool& to_result = steps_[i].to_result;
    if (step.kind == StepKind::finish)
      to_result = gives_result && (slots.is_apart(step.target) || next[indices.target] == nullptr);
    if (step.kind == StepKind::copy) to_result = gives_result && slots.is_apart(step.target);
    if (step.kind == StepKind::merge) to_result = is_finished[indices.target];
    if (step.kind == StepKind::receive) to_result = is_copied[indices.target];
    const bool ends = step.kind == StepKind::finish && to_result && reads_last[i];
    for (const std::uint32_t index : {indices.target, indices.left, indices.right}) {
      if (index == Program::no_slot) continue;
      next[index] = &step;
      is_finished[index] = index == indices.left && ends;
      if (step.kind == StepKind::receive) is_copied[index] = false;
    }
    if (step.kind == StepKind::copy && gives_result) is_copied[indices.left] = true;
    if (step.kind == StepKind::lift) is_lifted[step.target.segment] = true;
    if (to_result || gives_result) lifts_first[step.target.segment] = !is_lifted[step.target.segment];
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint32_t segment = steps[i].target.segment;
    const auto offset = apart.result_offset(segment);
    steps_[i].to_result = steps_[i].to_result && lifts_first[segment] && offset;
    steps_[i].result_offset = offset.value_or(0);
  }
}

/// Prepares the merges of the program. A merge can be prepared if its partials are contiguous and the steps say which
/// rows the partials cover. Merges in waves do not say so.
void ResolvedSteps::prepare_merges(Payload& payload) {
  const auto steps = program_->steps();
  const std::vector<bool> finishes = find_finishes_of_merges(*program_);
  // For each slot, by its index: the rows that its contents cover.
  std::vector<const Covers*> covers(program_->slots().size(), nullptr);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    ResolvedStep& at = steps_[i];
    const Program::SlotIndices& indices = program_->slot_indices(step);
    if (step.kind == StepKind::merge && !step.any_order && !at.is_apart) {
      const bool is_finished = i + 1 < steps.size() && finishes[i + 1];
      Preparation made = payload.prepare_merge(step.target.segment, *covers[indices.left], *covers[indices.right],
                                               is_finished ? &steps[i + 1].covers : nullptr);
      at.merge = made.merge.get();
      at.finishes = made.finishes;
      if (made.merge != nullptr) prepared_.push_back(std::move(made.merge));
    }
    if (indices.target != Program::no_slot) covers[indices.target] = &step.covers;
  }
}

}  // namespace steadfold::plan
