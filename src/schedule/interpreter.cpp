// Walks a program's steps and waits with two cursors; see interpreter.hpp.
// Rank order: that of the steps. Cost: O(1) per step and per completion. Source: ours.
#include "schedule/interpreter.hpp"

namespace steadfold::schedule {

bool Interpreter::advance(Machine& machine) {
  const Step* const steps = program_->steps().data();
  while (true) {
    for (; stop_ > next_step_; find_stop()) {
      const Step* const end = steps + stop_;
      for (const Step* step = steps + next_step_; step != end; ++step) {
        if (!communicates(step->kind))
          machine.compute(*step);
        else if (!step->more)
          machine.start(*step, tickets_.start());
      }
      next_step_ = stop_;
    }
    const bool has_ended = next_step_ == program_->steps().size();
    if (!tickets_.all_complete()) machine.poll(tickets_);
    if (has_ended) return tickets_.all_complete();
    find_stop();
    if (stop_ == next_step_) return false;
  }
}

}  // namespace steadfold::schedule
