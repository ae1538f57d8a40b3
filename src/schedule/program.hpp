// The steps of one rank, compiled once: a flat array of steps, numbered communications, and the waits of each step.
// Rank order: the order of the steps. Cost: building takes O(steps) and about 60 bytes per step. A run allocates no
// memory here.
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

/// Whether peers write to this slot.
constexpr bool is_landing(Slot slot) noexcept {
  return slot.kind == SlotKind::landing || slot.kind == SlotKind::landing_value;
}

/// Returns the number of a landing slot, the same on all ranks. The number depends only on the slot and the segment
/// count, so that a sender can name its peer's slot. Numbers of slots that a rank does not have are unused.
constexpr std::uint32_t landing_number(Slot slot, std::uint32_t segments) noexcept {
  return (slot.number * segments + slot.segment) * 2 + (slot.kind == SlotKind::landing_value ? 1 : 0);
}

/// The schedule of one rank. A program can be run any number of times. Immutable, unless a Compiler replaces its
/// contents.
class Program {
 public:
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};

  /// The indices in `slots()` of a step's slots, or `no_slot` if the step lacks the slot. The `target` of a send
  /// belongs to the peer, so its index is no_slot: use landing_number(step.target, segments()).
  struct SlotIndices {
    std::uint32_t target = no_slot;
    std::uint32_t left = no_slot;
    std::uint32_t right = no_slot;
  };

  /// Makes an empty program, for a Compiler to fill.
  Program() = default;
  /// Compiles all steps that the generator makes. `segments` is the segment count of the context for which they were
  /// made. Throws std::length_error if the landing slots cannot be numbered.
  Program(Steps steps, std::uint32_t segments);

  std::span<const Step> steps() const noexcept { return steps_; }
  std::uint32_t segments() const noexcept { return segments_; }

  /// Returns the index in `steps()` of a step of this program. The interpreter passes these steps to a Machine.
  std::uint32_t index_of(const Step& step) const noexcept { return static_cast<std::uint32_t>(&step - steps_.data()); }
  const SlotIndices& slot_indices(const Step& step) const noexcept { return slot_indices_[index_of(step)]; }

  /// Returns this rank's slots, including landing slots, each once, in the order of first use.
  std::span<const Slot> slots() const noexcept { return slots_; }

  /// Returns the largest landing_number of this rank plus one: the length of an endpoint's capacity table.
  std::uint32_t landing_count() const noexcept { return landing_count_; }

  /// Returns the number of tickets. Each message sent or received, and each add_words, has a ticket 0, 1, ... in the
  /// order of the steps. A message is represented by its last step.
  std::uint32_t ticket_count() const noexcept { return static_cast<std::uint32_t>(communications_.size()); }
  const Step& communication(std::uint32_t ticket) const noexcept { return steps_[index_of_communication(ticket)]; }
  std::uint32_t index_of_communication(std::uint32_t ticket) const noexcept { return communications_[ticket].last; }
  /// Returns all steps of a message.
  std::span<const Step> message(std::uint32_t ticket) const noexcept {
    const StepRange& own = communications_[ticket];
    return steps().subspan(own.first, own.last - own.first + 1);
  }

  /// The tickets of consecutive receives whose messages are taken as they arrive (see step.hpp), in the order of the
  /// steps. Steps wait as if the messages arrived in this order. So a machine completes the k-th ticket when k messages
  /// have arrived.
  struct Wave {
    std::uint32_t first;
    std::uint32_t count;
  };
  std::span<const Wave> waves() const noexcept { return waves_; }

  /// The tickets that must be complete before a step starts, in the order of the steps. Tickets for which an earlier
  /// step has waited are left out. A step that reads a slot waits for the communication that writes it. A step that
  /// writes a slot waits for the communication that writes it and for the sends that read it. The last wait is a
  /// sentinel: its step is the end, its ticket the number of tickets.
  struct TicketWait {
    std::uint32_t step;
    std::uint32_t ticket;
  };
  std::span<const TicketWait> waits() const noexcept { return waits_; }

 private:
  friend class Compiler;
  struct StepRange {  // a range of step indices
    std::uint32_t first;
    std::uint32_t last;
  };

  std::vector<Step> steps_;
  std::vector<SlotIndices> slot_indices_;
  std::vector<Slot> slots_;
  std::vector<StepRange> communications_;  // steps of each communication, by ticket
  std::vector<TicketWait> waits_;
  std::vector<Wave> waves_;
  std::uint32_t segments_ = 1;
  std::uint32_t landing_count_ = 0;
};

}  // namespace steadfold::schedule
