// Walks a program's steps and dependencies with three cursors; see interpreter.hpp.
// Rank order: that of the steps. Cost: O(1) per step, O(open communications) per poll. Source: ours.
#include "schedule/interpreter.hpp"

namespace steadfold::schedule {

constexpr std::uint32_t none = ~std::uint32_t{0};

Interpreter::Interpreter(const Program& program) : program_(&program), completed_in_(program.ticket_count(), 0) {}

void Interpreter::reset() noexcept {
  ++run_;
  next_step_ = next_dependency_ = next_ticket_ = first_open_ = 0;
}

bool Interpreter::advance(Machine& machine) {
  const std::span<const Step> steps = program_->steps();
  const std::uint32_t* const dependencies_end = program_->dependencies_ends().data();
  std::uint32_t index = next_step_;
  std::uint32_t asked = none;
  for (; index < steps.size(); ++index) {
    if (next_dependency_ < dependencies_end[index] && !may_start(machine, dependencies_end[index])) {
      asked = program_->all_dependencies()[next_dependency_];
      break;
    }
    const Step& step = steps[index];
    if (!communicates(step.kind))
      machine.compute(step);
    else if (!step.more)
      machine.start(step, next_ticket_++);
  }
  next_step_ = index;
  return poll(machine, asked) && index == steps.size();
}

bool Interpreter::may_start(Machine& machine, std::uint32_t dependencies_end) {
  const std::uint32_t* const dependencies = program_->all_dependencies().data();
  for (std::uint32_t i = next_dependency_; i < dependencies_end; ++i) {
    next_dependency_ = i;
    if (!is_complete(machine, dependencies[i])) return false;
  }
  next_dependency_ = dependencies_end;
  return true;
}

inline bool Interpreter::is_complete(Machine& machine, std::uint32_t ticket) {
  if (completed_in_[ticket] == run_) return true;
  if (!machine.completed(program_->communication(ticket), ticket)) return false;
  completed_in_[ticket] = run_;
  return true;
}

// Asks all open communications but `asked`, which is not complete: some transports move messages only when asked.
bool Interpreter::poll(Machine& machine, std::uint32_t asked) {
  bool all_complete = true;
  for (std::uint32_t ticket = first_open_; ticket < next_ticket_; ++ticket) {
    if (ticket == asked || !is_complete(machine, ticket)) all_complete = false;
    if (all_complete) first_open_ = ticket + 1;
  }
  return all_complete;
}

}  // namespace steadfold::schedule
