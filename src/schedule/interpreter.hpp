// Carries out one rank's program: starts steps in order as soon as what they wait for is complete; never blocks.
// Rank order: that of the steps. Cost: a few nanoseconds per step; allocates at construction only. Source: ours.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/program.hpp"

namespace steadfold::schedule {

/// What the interpreter drives: slots and a transport, or symbols. The steps it is given are elements of
/// Program::steps(), so that Program::index_of and Program::places answer for them.
class Machine {
 public:
  virtual ~Machine() = default;

  /// Carries out a lift, merge, copy or finish at once.
  virtual void compute(const Step& step) = 0;
  /// Starts a message that is sent or received, named by its last step (see Program::message), or an add_words.
  virtual void start(const Step& step, std::uint32_t ticket) = 0;
  /// Whether a started communication is complete. Asked again until it answers true, then not again in that run.
  virtual bool completed(const Step& step, std::uint32_t ticket) = 0;
};

/// The state of one run of a program. The program must outlive it. One thread at a time.
class Interpreter {
 public:
  explicit Interpreter(const Program& program);

  /// Goes back to the first step. Only before a run or after one has ended.
  void reset() noexcept;

  /// Does what can be done now and asks each open communication once. True when every step is done and every
  /// communication complete; further calls then do nothing.
  bool advance(Machine& machine);

  /// The step that waits, or the number of steps when all have started.
  std::uint32_t next_step() const noexcept { return next_step_; }

 private:
  bool may_start(Machine& machine, std::uint32_t dependencies_end);
  bool is_complete(Machine& machine, std::uint32_t ticket);
  bool poll(Machine& machine, std::uint32_t asked);

  const Program* program_;
  std::vector<std::uint64_t> completed_in_;  // by ticket: the last run in which it completed, so that reset is O(1)
  std::uint64_t run_ = 1;
  std::uint32_t next_step_ = 0;
  std::uint32_t next_dependency_ = 0;  // in Program::all_dependencies()
  std::uint32_t next_ticket_ = 0;
  std::uint32_t first_open_ = 0;  // all tickets before it are complete
};

}  // namespace steadfold::schedule
