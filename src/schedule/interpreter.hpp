// Carries out one rank's program: starts steps in order as soon as what they wait for is complete; never blocks.
// Rank order: that of the steps. Cost: a few nanoseconds per step and per completion, however many communications are
// open; allocates at construction only.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "schedule/program.hpp"

namespace steadfold::schedule {

/// Which of a run's communications are complete.
class Tickets {
 public:
  /// Numbers below `count`; that number itself is never complete.
  explicit Tickets(std::uint32_t count) : completed_in_(std::size_t{count} + 1, 0) {}

  /// From now on numbers below `count`, of which none is started.
  void reset(std::uint32_t count) {
    if (completed_in_.size() <= count) completed_in_.resize(std::size_t{count} + 1, 0);
    reset();
  }
  void reset() noexcept {
    ++run_;
    open_ = started_ = 0;
  }
  std::uint32_t start() noexcept {
    ++open_;
    return started_++;
  }
  /// A started communication, once.
  void complete(std::uint32_t ticket) noexcept {
    completed_in_[ticket] = run_;
    --open_;
  }
  bool is_complete(std::uint32_t ticket) const noexcept { return completed_in_[ticket] == run_; }
  bool all_complete() const noexcept { return open_ == 0; }

 private:
  std::vector<std::uint64_t> completed_in_;  // by ticket: the last run in which it completed, so that reset is O(1)
  std::uint64_t run_ = 1;
  std::uint32_t open_ = 0;
  std::uint32_t started_ = 0;
};

/// What the interpreter drives: slots and a transport, or symbols. The steps it is given are elements of
/// Program::steps(), so that Program::index_of and Program::places answer for them.
class Machine {
 public:
  virtual ~Machine() = default;

  /// Carries out a lift, merge, copy or finish. False: not yet, or not all of it; `advance` then ends, and the next one
  /// calls again with the same step.
  virtual bool compute(const Step& step) = 0;
  /// Starts a message that is sent or received, named by its last step (see Program::message), or an add_words.
  virtual void start(const Step& step, std::uint32_t ticket) = 0;
  /// Makes progress and tells `tickets` which communications have become complete.
  virtual void poll(Tickets& tickets) = 0;
};

/// The state of one run of a program. The program must outlive it. One thread at a time.
class Interpreter {
 public:
  explicit Interpreter(const Program& program) : program_(&program), tickets_(program.ticket_count()) { reset(); }

  /// Goes back to the first step. Only before a run or after one has ended.
  void reset() noexcept {
    tickets_.reset();
    next_ = program_->steps().data();
    wait_ = program_->waits().data();
  }

  /// Begins a run of another program.
  void reset(const Program& program) {
    program_ = &program;
    tickets_.reset(program.ticket_count());
    reset();
  }

  /// Does what can be done now. True when every step is done and every communication complete; further calls then do
  /// nothing. Polls as long as that lets another step start, and at least once where something is open: some transports
  /// move messages only when asked. Stops where the machine wants to go on later. A template, so that a machine which
  /// is `final` is asked without virtual calls.
  template <std::derived_from<Machine> Own>
  bool advance(Own& machine);

  /// Has the processor fetch what `advance` looks at first.
  void fetch_ahead() const noexcept {
    __builtin_prefetch(next_);
    __builtin_prefetch(wait_);
  }

  /// The step that waits, or the number of steps when all have started.
  std::uint32_t next_step() const noexcept { return static_cast<std::uint32_t>(next_ - program_->steps().data()); }

 private:
  const Program* program_;
  Tickets tickets_;
  const Step* next_ = nullptr;
  const Program::TicketWait* wait_ = nullptr;  // the first that was not over; the last one never is
};

template <std::derived_from<Machine> Own>
bool Interpreter::advance(Own& machine) {
  const Step* const steps = program_->steps().data();
  const Step* const end = steps + program_->steps().size();
  for (bool has_polled = false;; has_polled = true) {
    while (tickets_.is_complete(wait_->ticket)) ++wait_;
    const Step* const stop = steps + wait_->step;
    if (has_polled && next_ == stop) return next_ == end && tickets_.all_complete();
    for (; next_ != stop; ++next_) {
      if (!communicates(next_->kind)) {
        if (machine.compute(*next_)) continue;
        if (!tickets_.all_complete()) machine.poll(tickets_);
        return false;
      }
      if (!next_->more) machine.start(*next_, tickets_.start());
    }
    if (!tickets_.all_complete()) machine.poll(tickets_);
  }
}

}  // namespace steadfold::schedule
