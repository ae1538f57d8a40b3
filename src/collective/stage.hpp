// One schedule over one endpoint: program, slots and the state of its run.
// Rank order: that of the schedule. Cost: that of the schedule. Source: ours.
#pragma once

#include "collective/machine.hpp"
#include "schedule/interpreter.hpp"
#include "schedule/registry.hpp"

namespace steadfold::collective {

/// A machine with its program; content and transport must outlive it. Not movable: its parts point at each other.
class Stage {
 public:
  Stage(const schedule::Row& row, const schedule::Context& context, Content& content, transport::Transport& transport,
        std::uint32_t tag)
      : program_(row.steps(context), context.segments),
        machine_(program_, content, transport, tag, row.port_count(context)),
        interpreter_(program_) {}
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void begin() {
    machine_.begin();
    interpreter_.reset();
  }
  bool advance() { return interpreter_.advance(machine_); }
  void run() {
    begin();
    while (!advance()) {
    }
  }
  SlotMachine& machine() noexcept { return machine_; }
  const SlotMachine& machine() const noexcept { return machine_; }

 private:
  schedule::Program program_;
  SlotMachine machine_;
  schedule::Interpreter interpreter_;
};

}  // namespace steadfold::collective
