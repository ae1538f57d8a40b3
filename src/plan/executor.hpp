// Carries out a schedule's steps on real bytes: builds partials of rows (lifts), merges, copies and finishes partials
// in slots, and sends messages between slots.
// Rank order: the order of the steps. Cost: one virtual call per step. Only construction allocates.
#pragma once

#include <cstdint>
#include <memory>

#include "plan/messenger.hpp"

namespace steadfold::plan {

/// Executes the program of one rank. Its slots use an endpoint of `transport` with the tag `tag`. Payload and program
/// must outlive the executor. `ports` is the number of messages that a rank can send, and receive, at once; it is used
/// to count rounds. An executor cannot be moved, because its parts point at each other.
class Executor final : public schedule::Machine {
 public:
  Executor(const schedule::Program& program, Payload& payload, transport::Transport& transport, std::uint32_t tag,
           std::uint32_t ports = 1)
      : Executor(program, payload, transport, tag, ports, slot_sizes(program, payload)) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Prepares the executor for a run. Call this function before each run.
  void begin() noexcept {
    slots_.begin();
    messenger_.begin();
    finished_ = nullptr;
  }
  /// Continues the run; see Interpreter::advance. If `bounded`, it does one piece of a merge or finish, or smaller
  /// steps that together take about as long. `bounded` must be the same during a run.
  bool advance(schedule::Interpreter& interpreter, bool bounded);

  bool compute(const schedule::Step& step) override;
  void start(const schedule::Step& step, std::uint32_t ticket) override { messenger_.start(step, ticket); }
  void poll(schedule::Tickets& tickets) override { messenger_.poll(tickets); }

  /// Returns the value of a segment, if the program computes it on this rank, else an empty Partial. Cost: O(1).
  Partial value(std::uint32_t segment) const noexcept { return slots_.value(segment); }
  /// Returns the worst status that this rank has seen in the run.
  Status status() const noexcept { return slots_.status(); }

  /// Turns tracing on or off. While tracing, every message is copied and stamped with its logical time.
  void trace(bool on) { messenger_.trace(on); }
  std::uint32_t rounds() const noexcept { return slots_.rounds(); }
  transport::Traffic traffic() const noexcept { return endpoint_->traffic(); }

 private:
  Executor(const schedule::Program& program, Payload& payload, transport::Transport& transport, std::uint32_t tag,
           std::uint32_t ports, const SlotSizes& sizes);

  void lift(const schedule::Step& step, const ResolvedStep& at);
  void copy(const schedule::Step& step, const ResolvedStep& at);
  /// Does a piece of a finish. Returns false if there are more pieces to do.
  bool finish(const schedule::Step& step, const ResolvedStep& at);
  bool merge(const schedule::Step& step, const ResolvedStep& at);
  bool merge_to_result(const schedule::Step& step, const ResolvedStep& at, std::byte* values);
  bool merge_as_prepared(const schedule::Step& step, const ResolvedStep& at);
  bool merge_and_finish(const schedule::Step& step, const ResolvedStep& at);
  Room room_for(const schedule::Step& step, const ResolvedStep& at, std::byte* data) const;
  std::byte*& room_of_merge(const ResolvedStep& at) noexcept {
    return at.target == at.left || at.target == at.right ? slots_.scratch_of(*at.target) : at.target->data;
  }
  Pieces& pieces_of(const ResolvedStep& at) noexcept {
    return pieces_.begun(bounded_ && at.work > 1 ? at.piece : Pieces::all);
  }

  Payload* payload_;
  std::unique_ptr<transport::Endpoint> endpoint_;
  Slots slots_;
  ResolvedSteps steps_;
  Messenger messenger_;
  bool bounded_ = false;  // whether the current `advance` is bounded
  // The part of the bounded work that the current `advance` has done, 0 to 1.
  float spent_ = 0;
  Pieces pieces_;                             // state of the next step, if the step has begun
  const schedule::Step* finished_ = nullptr;  // the finish that the merge before has already done
};

}  // namespace steadfold::plan
