// Walks a program's steps and waits with two cursors; see interpreter.hpp.
// Rank order: that of the steps. Cost: O(1) per step and per completion. Source: ours.
#include "schedule/interpreter.hpp"

namespace steadfold::schedule {

bool Interpreter::advance(Machine& machine) {
  while (true) {
    while (stop_ > next_step_) carry_out(machine);
    const bool has_ended = next_step_ == program_->steps().size();
    if (!tickets_.all_complete()) machine.poll(tickets_);
    if (has_ended) return tickets_.all_complete();
    find_stop();
    if (stop_ == next_step_) return false;
  }
}

/// The steps up to the next that has to wait.
void Interpreter::carry_out(Machine& machine) {
  const Step* step = program_->steps().data() + next_step_;
  for (const Step* const end = program_->steps().data() + stop_; step != end; ++step) {
    if (!communicates(step->kind))
      machine.compute(*step);
    else if (!step->more)
      machine.start(*step, tickets_.start());
  }
  next_step_ = stop_;
  find_stop();
}

}  // namespace steadfold::schedule
