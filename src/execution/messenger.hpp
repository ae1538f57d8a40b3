// One rank's messages in a run: what leaves slots, and what lands in them.
// Rank order: that of the steps; waves are taken as they come. Cost: nothing is allocated once made, unless traced.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "execution/resolved_steps.hpp"
#include "execution/round_counter.hpp"
#include "schedule/interpreter.hpp"

namespace steadfold::execution {

/// All that it is made of must outlive it.
class Messenger {
 public:
  Messenger(const schedule::Program& program, Payload& payload, const ResolvedSteps& steps, Slots& slots,
            transport::Endpoint& endpoint, std::uint32_t ports);

  /// Before each run.
  void begin() noexcept {
    rounds_.begin();
    has_left_ = !asks_to_leave_;
  }
  /// See schedule::Machine.
  void start(const schedule::Step& step, std::uint32_t ticket);
  void poll(schedule::Tickets& tickets);
  /// Whether this rank may end a run whose communications are complete; to be asked until it may.
  bool may_leave() noexcept {
    if (!has_left_) has_left_ = endpoint_->may_leave();
    return has_left_;
  }

  /// While on, every message is stamped with its logical time, for which it is copied.
  void trace(bool on) { rounds_.turn(on); }

 private:
  /// A wave of the program, and how many of its messages have come in this run.
  struct WaveProgress {
    transport::Ticket first;
    transport::Ticket count;
    transport::Ticket come = 0;
  };

  std::span<const std::byte> packed(std::uint32_t ticket);
  std::span<const std::byte> values_of(const schedule::Step& send) const;
  std::span<std::byte> second_room(const schedule::Step& receive, const ResolvedStep& at);
  /// Returns the ticket that is complete now: in a wave the one whose turn it is.
  transport::Ticket take(const transport::Completion& done);
  transport::Ticket turn_of(transport::Ticket received) noexcept;
  /// Fills the slots of the receive `turn`: the message's own but in a wave.
  void land(const transport::Completion& done, transport::Ticket turn) noexcept;
  void land_whole(SlotMemory& slot, const transport::Completion& done) noexcept {
    slot.data = done.data;
    slots_->written(slot, done.size, 0);
  }
  void land_apart(SlotMemory& slot, const schedule::Step& step, const transport::Completion& done) noexcept;
  void take_traced(const transport::Completion& done, schedule::Tickets& tickets);

  const schedule::Program* program_;
  Payload* payload_;
  const ResolvedSteps* steps_;
  Slots* slots_;
  transport::Endpoint* endpoint_;
  bool asks_to_leave_;     // the endpoint wants that
  bool has_left_ = false;  // and has let it go in this run
  RoundCounter rounds_;
  std::vector<WaveProgress> waves_;                 // in the order of their tickets
  std::vector<std::vector<std::int64_t>> words_;    // by ticket, of add_words
  std::vector<std::vector<std::byte>> copies_;      // by ticket, of messages sent that are copied
  std::vector<transport::Completion> completions_;  // of one poll
};

}  // namespace steadfold::execution
