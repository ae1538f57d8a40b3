// Sends and receives the messages of one rank in a run, and points slots at the bytes that arrived.
// Rank order: the order of the steps. Waves are taken in the order of arrival. Cost: only construction allocates,
// unless rounds are traced.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/resolved_steps.hpp"
#include "plan/round_counter.hpp"
#include "schedule/interpreter.hpp"

namespace steadfold::plan {

/// Sends and receives the messages of one rank. The objects passed to the constructor must outlive the messenger.
class Messenger {
 public:
  Messenger(const schedule::Program& program, Payload& payload, const ResolvedSteps& steps, Slots& slots,
            transport::Endpoint& endpoint, std::uint32_t ports);

  /// Prepares the messenger for a run. Call this function before each run.
  void begin() noexcept {
    rounds_.begin();
    has_left_ = !asks_to_leave_;
  }
  /// Starts the communication of a step; see schedule::Machine.
  void start(const schedule::Step& step, std::uint32_t ticket);
  void poll(schedule::Tickets& tickets);
  /// Returns whether this rank may leave a run whose communications are complete. Call this function until it returns
  /// true.
  bool may_leave() noexcept {
    if (!has_left_) has_left_ = endpoint_->may_leave();
    return has_left_;
  }

  /// Turns tracing on or off. While tracing, every message is copied and stamped with its logical time.
  void trace(bool on) { rounds_.turn(on); }

 private:
  /// A wave of the program (receives whose messages are taken as they arrive), and the number of its messages that have
  /// arrived in this run.
  struct WaveProgress {
    transport::Ticket first;
    transport::Ticket count;
    transport::Ticket come = 0;
  };

  std::span<const std::byte> packed(std::uint32_t ticket);
  std::span<const std::byte> values_of(const schedule::Step& send) const;
  std::span<std::byte> second_room(const schedule::Step& receive, const ResolvedStep& at);
  /// Takes a completed communication, and returns the ticket that is now complete. In a wave this is the next ticket of
  /// the wave.
  transport::Ticket take(const transport::Completion& done);
  transport::Ticket turn_of(transport::Ticket received) noexcept;
  /// Fills the slots of the receive with the ticket `turn`. Outside waves this is the receive to which the message
  /// belongs.
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
  bool asks_to_leave_;     // whether the endpoint must be asked before the rank leaves a run
  bool has_left_ = false;  // whether the endpoint has allowed the rank to leave this run
  RoundCounter rounds_;
  std::vector<WaveProgress> waves_;                 // in the order of their tickets
  std::vector<std::vector<std::int64_t>> words_;    // by ticket: the words that an add_words step adds
  std::vector<std::vector<std::byte>> copies_;      // by ticket: copies of messages that are sent
  std::vector<transport::Completion> completions_;  // communications that one poll reported as complete
};

}  // namespace steadfold::plan
