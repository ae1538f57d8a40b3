// Walks a program's steps and waits with two cursors; see interpreter.hpp.
// Rank order: that of the steps. Cost: O(1) per step and per completion. Source: ours.
#include "schedule/interpreter.hpp"

namespace steadfold::schedule {

bool Interpreter::advance(Machine& machine) {
  const auto step_count = static_cast<std::uint32_t>(program_->steps().size());
  while (true) {
    for (std::uint32_t stop = next_stop(); stop > next_step_; stop = next_stop()) carry_out(machine, stop);
    if (!tickets_.all_complete()) machine.poll(tickets_);
    if (next_step_ == step_count) return tickets_.all_complete();
    if (next_stop() == next_step_) return false;
  }
}

/// The first step that has to wait, or the number of steps.
std::uint32_t Interpreter::next_stop() noexcept {
  const std::span<const Program::Wait> waits = program_->waits();
  for (; next_wait_ < waits.size(); ++next_wait_)
    if (!tickets_.is_complete(waits[next_wait_].ticket)) return waits[next_wait_].step;
  return static_cast<std::uint32_t>(program_->steps().size());
}

void Interpreter::carry_out(Machine& machine, std::uint32_t stop) {
  for (const Step& step : program_->steps().subspan(next_step_, stop - next_step_)) {
    if (!communicates(step.kind))
      machine.compute(step);
    else if (!step.more)
      machine.start(step, tickets_.start());
  }
  next_step_ = stop;
}

}  // namespace steadfold::schedule
