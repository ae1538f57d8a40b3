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
  const Program& program = *program_;
  const std::span<const Step> steps = program.steps();
  std::size_t index = next_step_;
  std::uint32_t asked = none;
  for (; index < steps.size(); ++index) {
    const std::uint32_t dependencies_end = program.dependencies_end(static_cast<std::uint32_t>(index));
    if (next_dependency_ < dependencies_end && !may_start(machine, dependencies_end)) {
      asked = program.all_dependencies()[next_dependency_];
      break;
    }
    const Step& step = steps[index];
    if (communicates(step.kind)) {
      if (step.more) continue;
      machine.start(step, next_ticket_);
      ++next_ticket_;
    } else {
      machine.compute(step);
    }
  }
  next_step_ = static_cast<std::uint32_t>(index);
  const bool all_complete = poll(machine, asked);
  return all_complete && index == steps.size();
}

bool Interpreter::may_start(Machine& machine, std::uint32_t dependencies_end) {
  const std::span<const std::uint32_t> dependencies = program_->all_dependencies();
  for (; next_dependency_ < dependencies_end; ++next_dependency_) {
    if (!is_complete(machine, dependencies[next_dependency_])) return false;
  }
  return true;
}

bool Interpreter::is_complete(Machine& machine, std::uint32_t ticket) {
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
