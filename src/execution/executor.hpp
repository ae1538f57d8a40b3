// Carries out a schedule's steps on real bytes: lifts, merges, copies and finishes in slots, and messages between them.
// Rank order: that of the steps. Cost: one virtual call per step; nothing is allocated once made.
#pragma once

#include <cstdint>
#include <memory>

#include "execution/messenger.hpp"

namespace steadfold::execution {

/// One rank's slots, bound to an endpoint of `transport` under `tag`. Payload and program must outlive it. `ports`: how
/// many messages a rank sends, and receives, at once; for the count of rounds. Not movable: its parts point at each
/// other.
class Executor final : public schedule::Machine {
 public:
  Executor(const schedule::Program& program, Payload& payload, transport::Transport& transport, std::uint32_t tag,
           std::uint32_t ports = 1)
      : Executor(program, payload, transport, tag, ports, slot_sizes(program, payload)) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Before each run.
  void begin() noexcept {
    slots_.begin();
    messenger_.begin();
    finished_ = nullptr;
  }
  /// Goes on with the run; see Interpreter::advance. `bounded`: by one piece of merges and finishes, or by as many
  /// steps as take no longer together; the same in all of a run.
  bool advance(schedule::Interpreter& interpreter, bool bounded);

  bool compute(const schedule::Step& step) override;
  void start(const schedule::Step& step, std::uint32_t ticket) override { messenger_.start(step, ticket); }
  void poll(schedule::Tickets& tickets) override { messenger_.poll(tickets); }

  /// The value of a segment, where the program has one on this rank; else nothing. Cost: O(1).
  Partial value(std::uint32_t segment) const noexcept { return slots_.value(segment); }
  /// The worst status that this rank saw in the run.
  Status status() const noexcept { return slots_.status(); }

  /// While on, every message is stamped with its logical time, for which it is copied.
  void trace(bool on) { messenger_.trace(on); }
  std::uint32_t rounds() const noexcept { return slots_.rounds(); }
  transport::Traffic traffic() const noexcept { return endpoint_->traffic(); }

 private:
  Executor(const schedule::Program& program, Payload& payload, transport::Transport& transport, std::uint32_t tag,
           std::uint32_t ports, const SlotSizes& sizes);

  void lift(const schedule::Step& step, const ResolvedStep& at);
  void copy(const schedule::Step& step, const ResolvedStep& at);
  /// False: there is more to do.
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
  bool bounded_ = false;                      // `advance` now
  float spent_ = 0;                           // of its bound
  Pieces pieces_;                             // of the step that comes next, if it has begun
  const schedule::Step* finished_ = nullptr;  // the step that the merge before it has carried out
};

}  // namespace steadfold::execution
