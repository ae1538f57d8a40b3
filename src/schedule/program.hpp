// One rank's steps compiled once: stored flat, communications numbered, and what each step must wait for worked out.
// Rank order: that of the steps. Cost: O(steps) to build, about 60 bytes per step; nothing is added during a run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/step.hpp"

namespace steadfold::schedule {

/// Whether the step is a communication: it is started, has a ticket, and completes later.
constexpr bool communicates(StepKind kind) noexcept {
  return kind == StepKind::send || kind == StepKind::receive || kind == StepKind::add_words;
}

/// Whether `slot` is one that peers write to.
constexpr bool is_landing(Slot slot) noexcept {
  return slot.kind == SlotKind::landing || slot.kind == SlotKind::landing_value;
}

/// The number under which all ranks know a landing slot: a function of the slot and the segment count alone, so that a
/// sender can name its peer's slot. Numbers of slots that a rank does not have stay unused.
constexpr std::uint32_t landing_number(Slot slot, std::uint32_t segments) noexcept {
  return (slot.number * segments + slot.segment) * 2 + (slot.kind == SlotKind::landing_value ? 1 : 0);
}

/// One rank's schedule, ready to be run any number of times. Immutable, unless a Compiler makes it anew.
class Program {
 public:
  static constexpr std::uint32_t no_place = ~std::uint32_t{0};

  /// Where a step's slots stand in `slots()`; `no_place` for slots it does not have. For a send, `target` belongs to
  /// the peer, hence no_place: use landing_number(step.target, segments()).
  struct Places {
    std::uint32_t target = no_place;
    std::uint32_t left = no_place;
    std::uint32_t right = no_place;
  };

  /// No program, until a Compiler makes one of it.
  Program() = default;
  /// Takes all steps out of the generator. `segments` is that of the context they were made for. Throws
  /// std::length_error if they have more landing slots than there are numbers for.
  Program(Steps steps, std::uint32_t segments);

  std::span<const Step> steps() const noexcept { return steps_; }
  std::uint32_t segments() const noexcept { return segments_; }

  /// The index in `steps()` of a step of this program, as the interpreter hands it to a Machine.
  std::uint32_t index_of(const Step& step) const noexcept { return static_cast<std::uint32_t>(&step - steps_.data()); }
  const Places& places(const Step& step) const noexcept { return places_[index_of(step)]; }

  /// This rank's slots, landing slots included, each once, in the order of first use.
  std::span<const Slot> slots() const noexcept { return slots_; }

  /// The largest landing_number of this rank plus one: the length of an endpoint's capacity table.
  std::uint32_t landing_count() const noexcept { return landing_count_; }

  /// Messages sent or received and add_words have tickets 0, 1, ... in the order of the steps; a message's last step
  /// stands for it.
  std::uint32_t ticket_count() const noexcept { return static_cast<std::uint32_t>(communications_.size()); }
  const Step& communication(std::uint32_t ticket) const noexcept { return steps_[index_of_communication(ticket)]; }
  std::uint32_t index_of_communication(std::uint32_t ticket) const noexcept { return communications_[ticket].last; }
  /// All steps of a message.
  std::span<const Step> message(std::uint32_t ticket) const noexcept {
    const StepRange& own = communications_[ticket];
    return steps().subspan(own.first, own.last - own.first + 1);
  }

  /// Receives whose messages are taken as they come (see step.hpp), by their tickets; in the order of the steps. Steps
  /// wait for one of them as if messages came in that order, so a machine completes the k-th ticket when k have come.
  struct Wave {
    std::uint32_t first;
    std::uint32_t count;
  };
  std::span<const Wave> waves() const noexcept { return waves_; }

  /// Which tickets must be complete before which steps start, in the order of the steps; those that an earlier step has
  /// waited for are left out. Reading a slot waits for what writes it; writing one waits for what writes it and for the
  /// sends that read it. The last wait is for nobody: its step is the end, its ticket the number of tickets.
  struct TicketWait {
    std::uint32_t step;
    std::uint32_t ticket;
  };
  std::span<const TicketWait> waits() const noexcept { return waits_; }

 private:
  friend class Compiler;
  struct StepRange {  // step indices
    std::uint32_t first;
    std::uint32_t last;
  };

  std::vector<Step> steps_;
  std::vector<Places> places_;
  std::vector<Slot> slots_;
  std::vector<StepRange> communications_;  // by ticket
  std::vector<TicketWait> waits_;
  std::vector<Wave> waves_;
  std::uint32_t segments_ = 1;
  std::uint32_t landing_count_ = 0;
};

}  // namespace steadfold::schedule
