// The slots of one rank: their memory, laid out when a plan is made, and their contents in a run.
// Cost: O(steps) to make. A run allocates nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "plan/payload.hpp"
#include "schedule/program.hpp"
#include "transport/transport.hpp"

namespace steadfold::plan {

/// The sizes in bytes of a program's slots.
struct SlotSizes {
  Bytes head_room = 0;          // bytes for the head of a slot whose values are stored apart
  std::vector<Bytes> landing;   // bytes of the landing slots, by their number
  std::vector<Bytes> partials;  // bytes of the largest partial, by segment
};
SlotSizes slot_sizes(const schedule::Program& program, Payload& payload);

/// The memory of a slot, and its contents.
struct SlotMemory {
  std::byte* data = nullptr;
  Bytes capacity = 0;
  Partial held = {};          // the contents; they begin at `data`
  std::uint32_t ready = 0;    // logical time at which the contents are ready; set while tracing
  std::uint32_t scratch = 0;  // index of the scratch memory, if the slot holds a partial
};

/// The slots of one rank. The payload must outlive them, and so must the endpoint, which owns the landing slots.
class Slots {
 public:
  Slots(const schedule::Program& program, Payload& payload, const SlotSizes& sizes, transport::Endpoint& endpoint);

  /// Resets the status, the rounds and the address of the result. Call this function before each run.
  void begin() noexcept {
    status_ = Status::ok;
    rounds_ = 0;
    result_ = apart_ == nullptr ? nullptr : apart_->result();
  }

  /// Returns the slot at an index of the program, or null for `no_slot`.
  SlotMemory* at(std::uint32_t index) noexcept {
    return index == schedule::Program::no_slot ? nullptr : &slots_[index];
  }
  /// Returns the value of a segment, if the program computes it on this rank, else an empty Partial. Cost: O(1).
  Partial value(std::uint32_t segment) const noexcept {
    const std::uint32_t index = value_indices_[segment];
    return index == schedule::Program::no_slot ? Partial{} : slots_[index].held;
  }
  /// Returns the address where the result may be written in this run; null if it may not be written yet.
  std::byte* result() const noexcept { return result_; }

  /// Records that the slot now holds `partial`, and that it is ready at the logical time `ready`.
  void written(SlotMemory& slot, const Partial& partial, std::uint32_t ready) noexcept {
    slot.held = partial;
    slot.ready = ready;
    rounds_ = std::max(rounds_, ready);
    status_ = worse(status_, arithmetic::status_of(partial.head));
  }
  void written(SlotMemory& slot, Bytes size, std::uint32_t ready) noexcept {
    written(slot, Partial{{slot.data, size}, nullptr}, ready);
  }
  /// Records that the slot is ready later than its message says.
  void delay(SlotMemory& slot, std::uint32_t ready) noexcept {
    slot.ready = ready;
    rounds_ = std::max(rounds_, ready);
  }
  void note(Status status) noexcept { status_ = worse(status_, status); }
  /// Returns the worst status that this rank has seen in the run, and the logical time of the run's end.
  Status status() const noexcept { return status_; }
  std::uint32_t rounds() const noexcept { return rounds_; }

  /// Returns the scratch memory of a slot. A merge whose target is one of its operands writes to this memory, which is
  /// then exchanged with the slot's memory.
  std::byte*& scratch_of(const SlotMemory& slot) noexcept { return scratch_[slot.scratch]; }

  /// Whether the slot's values are stored apart from their head. If the slot's memory has room for the values, they
  /// begin `head_room` bytes after the beginning of the slot.
  bool is_apart(schedule::Slot slot) const { return apart_ != nullptr && apart_->is_apart(slot.segment); }
  Bytes head_room() const noexcept { return head_room_; }
  /// Returns the number of bytes of the values that belong to the slot's contents, if they are stored apart; else 0.
  Bytes values_bytes(schedule::Slot slot, const Partial& partial) const;
  /// Makes a Partial of bytes that begin with a head. If `values` is null, the values follow the head.
  Partial taken_apart(schedule::Slot slot, std::span<const std::byte> whole, const std::byte* values) const;

 private:
  ApartPayload* apart_;  // the payload's ability to store values apart, or null
  std::vector<SlotMemory> slots_;
  std::vector<std::uint32_t> value_indices_;  // by segment: the index of the slot that has the segment's value
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::byte*> scratch_;  // one block of scratch memory per size
  Bytes head_room_;
  std::byte* result_ = nullptr;
  Status status_ = Status::ok;
  std::uint32_t rounds_ = 0;
};

}  // namespace steadfold::plan
