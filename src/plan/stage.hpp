// One schedule on one endpoint: its program, its slots and the state of its run. Rank order and cost: those of the
// schedule.
#pragma once

#include "plan/executor.hpp"
#include "schedule/interpreter.hpp"
#include "schedule/registry.hpp"

namespace steadfold::plan {

/// An executor with its program. Payload and transport must outlive the stage. A stage cannot be moved, because its
/// parts point at each other.
class Stage {
 public:
  Stage(const schedule::Algorithm& algorithm, const schedule::Context& context, Payload& payload,
        transport::Transport& transport, std::uint32_t tag)
      : program_(algorithm.steps(context), context.segments),
        executor_(program_, payload, transport, tag, algorithm.port_count(context)),
        interpreter_(program_) {}
  /// Makes a stage for information that all ranks exchange outside reductions: an allreduce of one segment. `nodes` are
  /// the nodes of the machine and must outlive this object. Null: there is one node, or the nodes are unknown.
  Stage(Payload& payload, transport::Transport& transport, std::uint32_t tag, const order::Nodes* nodes)
      : Stage(schedule::algorithm_for_questions(nodes),
              {.rank = transport.rank(), .rank_count = transport.rank_count(), .nodes = nodes}, payload, transport,
              tag) {}
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void begin() {
    executor_.begin();
    interpreter_.reset();
  }
  bool advance(bool bounded = false) { return executor_.advance(interpreter_, bounded); }
  void run() {
    begin();
    while (!advance()) {
    }
  }
  Executor& executor() noexcept { return executor_; }
  const Executor& executor() const noexcept { return executor_; }

 private:
  schedule::Program program_;
  Executor executor_;
  schedule::Interpreter interpreter_;
};

}  // namespace steadfold::plan
