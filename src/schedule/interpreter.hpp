// Runs one rank's program: starts steps in order, each as soon as the communications that it waits for are complete.
// Never blocks.
// Rank order: the order of the steps. Cost: a few nanoseconds per step and per completion, for any number of open
// communications. Allocates only in the constructor.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "schedule/program.hpp"

namespace steadfold::schedule {

/// Records which communications of a run are complete.
class Tickets {
 public:
  /// Makes a record for the tickets below `count`. `count` itself is never complete.
  explicit Tickets(std::uint32_t count) : completed_in_(std::size_t{count} + 1, 0) {}

  /// Begins a new run with tickets below `count`.
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
  /// Records that a communication is complete. Call this function once for each started communication.
  void complete(std::uint32_t ticket) noexcept {
    completed_in_[ticket] = run_;
    --open_;
  }
  bool is_complete(std::uint32_t ticket) const noexcept { return completed_in_[ticket] == run_; }
  bool all_complete() const noexcept { return open_ == 0; }

 private:
  std::vector<std::uint64_t> completed_in_;  // by ticket: the last run in which it completed, so that a reset is O(1)
  std::uint64_t run_ = 1;
  std::uint32_t open_ = 0;
  std::uint32_t started_ = 0;
};

/// The interface that the interpreter drives. A machine works on slots and a transport, or on symbols. The steps that
/// it receives are elements of Program::steps(), so Program::index_of and Program::slot_indices accept them.
class Machine {
 public:
  virtual ~Machine() = default;

  /// Carries out a lift, merge, copy or finish. Returns false if the step is not finished: then `advance` returns, and
  /// the next `advance` calls `compute` with the same step again.
  virtual bool compute(const Step& step) = 0;
  /// Starts an add_words, or the message that ends with this send or receive (see Program::message).
  virtual void start(const Step& step, std::uint32_t ticket) = 0;
  /// Makes progress and reports completed communications to `tickets`.
  virtual void poll(Tickets& tickets) = 0;
};

/// The state of one run of a program. The program must outlive it. Use the object from one thread at a time.
class Interpreter {
 public:
  explicit Interpreter(const Program& program) : program_(&program), tickets_(program.ticket_count()) { reset(); }

  /// Returns to the first step. Call this function only before a run or after a run has ended.
  void reset() noexcept {
    tickets_.reset();
    next_ = program_->steps().data();
    wait_ = program_->waits().data();
  }

  /// Prepares a run of another program.
  void reset(const Program& program) {
    program_ = &program;
    tickets_.reset(program.ticket_count());
    reset();
  }

  /// Does all work that is possible now. Returns true when every step is done and every communication complete; further
  /// calls then do nothing. Polls as long as polling lets another step start, and at least once if a communication is
  /// open, since some transports move messages only when asked. Returns early if the machine asks to continue later.
  /// The function is a template so that calls to a `final` machine are not virtual.
  template <std::derived_from<Machine> Own>
  bool advance(Own& machine);

  /// Prefetches the data that `advance` reads first.
  void fetch_ahead() const noexcept {
    __builtin_prefetch(next_);
    __builtin_prefetch(wait_);
  }

  /// Returns the number of the step that waits, or the number of steps if all have started.
  std::uint32_t next_step() const noexcept { return static_cast<std::uint32_t>(next_ - program_->steps().data()); }

 private:
  const Program* program_;
  Tickets tickets_;
  const Step* next_ = nullptr;
  const Program::TicketWait* wait_ = nullptr;  // the first wait that was not over; the last wait is never over
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
