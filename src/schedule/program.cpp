// Compiles steps: assigns indices to slots and tickets to communications, and finds the completions for which each step
// must wait.
// Rank order: the order of the steps. Cost: O(steps).
#include "schedule/program.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "schedule/compiler.hpp"

namespace steadfold::schedule {

void Compiler::compile(Steps steps, std::uint32_t segments, Program& program) {
  start(segments, program);
  while (const Step* step = steps.next()) add(*step);
  program.slots_ = slots_;
  program.waits_.push_back(
      {.step = static_cast<std::uint32_t>(program.steps_.size()), .ticket = program.ticket_count()});
}

void Compiler::start(std::uint32_t segments, Program& program) {
  program_ = &program;
  program.steps_.clear();
  program.slot_indices_.clear();
  program.communications_.clear();
  program.waits_.clear();
  program.waves_.clear();
  program.segments_ = segments;
  program.landing_count_ = 0;
  table_.reset(slots_, segments);
  slots_.clear();
  traffic_.clear();
  reads_.clear();
  waited_for_.clear();
  in_message_ = false;
  first_ = 0;
}

void Compiler::add(const Step& step) {
  const bool receives = step.kind == StepKind::receive;
  if (receives) require_number(step.target);
  Program::SlotIndices indices;
  if (step.left.kind != SlotKind::none) indices.left = read(step.left);
  if (step.right.kind != SlotKind::none) indices.right = read(step.right);
  if (step.kind != StepKind::send && step.target.kind != SlotKind::none) indices.target = write(step.target);
  if (receives) {
    program_->landing_count_ = std::max(program_->landing_count_, landing_number(step.target, program_->segments_) + 1);
  }
  if (communicates(step.kind)) open(step, indices);
  program_->steps_.push_back(step);
  program_->slot_indices_.push_back(indices);
}

void Compiler::require_number(Slot slot) const {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const std::uint32_t segments = program_->segments_;
  if ((std::uint64_t{slot.number} + 1) * segments * 2 <= most) return;
  throw std::length_error("the schedule needs too many receive buffers (" + std::to_string(slot.number + 1) +
                          " for each of " + std::to_string(segments) +
                          " segments), use fewer segments or fewer levels of nested schedules");
}

std::uint32_t Compiler::read(Slot slot) {
  const std::uint32_t index = index_of(slot);
  wait_for(traffic_[index].writer);
  return index;
}

std::uint32_t Compiler::write(Slot slot) {
  const std::uint32_t index = index_of(slot);
  SlotUsers& traffic = traffic_[index];
  wait_for(traffic.writer);
  wait_for_readers(traffic.readers);
  traffic = {};
  return index;
}

void Compiler::open(const Step& step, const Program::SlotIndices& indices) {
  const std::uint32_t ticket = program_->ticket_count();
  const auto index = static_cast<std::uint32_t>(program_->steps_.size());
  if (!in_message_) first_ = index;
  if (!in_message_) waited_for_.push_back(0);
  in_message_ = step.more;
  if (indices.left != none) {
    reads_.push_back({.ticket = ticket, .before = traffic_[indices.left].readers});
    traffic_[indices.left].readers = static_cast<std::uint32_t>(reads_.size() - 1);
  }
  if (indices.target != none) traffic_[indices.target].writer = ticket;
  if (step.more) return;
  program_->communications_.push_back({first_, index});
  if (step.kind == StepKind::receive && step.any_order) add_to_wave(ticket);
}

// Adds a message to a wave. A wave continues if the last step of its last message is directly before the first step of
// this message.
void Compiler::add_to_wave(std::uint32_t ticket) {
  std::vector<Program::Wave>& waves = program_->waves_;
  const bool goes_on = !waves.empty() && waves.back().first + waves.back().count == ticket &&
                       program_->communications_[ticket - 1].last + 1 == first_;
  if (!goes_on) waves.push_back({.first = ticket, .count = 0});
  ++waves.back().count;
}

// Adds waits for the communications that read a slot, in the order in which they were started.
void Compiler::wait_for_readers(std::uint32_t last) {
  const std::size_t begin = program_->waits_.size();
  for (std::uint32_t each = last; each != none; each = reads_[each].before) wait_for(reads_[each].ticket);
  std::reverse(program_->waits_.begin() + static_cast<std::ptrdiff_t>(begin), program_->waits_.end());
}

// Adds a wait, unless an earlier step has waited for the ticket. Steps start in order, so the ticket is then complete
// for all later steps.
void Compiler::wait_for(std::uint32_t ticket) {
  if (ticket == none || waited_for_[ticket] != 0) return;
  waited_for_[ticket] = 1;
  program_->waits_.push_back({.step = static_cast<std::uint32_t>(program_->steps_.size()), .ticket = ticket});
}

std::uint32_t Compiler::index_of(Slot slot) {
  const std::uint32_t index = table_.index_of(slot);
  if (index == traffic_.size()) {
    slots_.push_back(slot);
    traffic_.emplace_back();
  }
  return index;
}

Program::Program(Steps steps, std::uint32_t segments) { Compiler().compile(std::move(steps), segments, *this); }

}  // namespace steadfold::schedule
