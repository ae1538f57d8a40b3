// The slots of one rank: their memory, laid out when a plan is made, and their contents in a run.
// Cost: O(steps) to make. A run allocates nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "execution/payload.hpp"
#include "schedule/program.hpp"
#include "transport/transport.hpp"

namespace steadfold::execution {

/// The sizes in bytes of a program's slots.
struct SlotSizes {
  Bytes head_room = 0;          // for the heads of slots whose values are stored apart
  std::vector<Bytes> landing;   // by the number of the landing slot
  std::vector<Bytes> partials;  // by segment: the largest partial
};
SlotSizes slot_sizes(const schedule::Program& program, Payload& payload);

/// The memory of a slot, and its contents.
struct SlotMemory {
  std::byte* data = nullptr;
  Bytes capacity = 0;
  Partial held = {};          // begins at `data`
  std::uint32_t ready = 0;    // logical time, while tracing
  std::uint32_t scratch = 0;  // index of the scratch memory, for partials
};

/// The payload must outlive it, and so must the endpoint, which has the landing slots.
class Slots {
 public:
  Slots(const schedule::Program& program, Payload& payload, const SlotSizes& sizes, transport::Endpoint& endpoint);

  /// Call it before each run.
  void begin() noexcept {
    status_ = Status::ok;
    rounds_ = 0;
    result_ = apart_ == nullptr ? nullptr : apart_->result();
  }

  /// The slot at a place of the program, or null for no_place.
  SlotMemory* at(std::uint32_t place) noexcept {
    return place == schedule::Program::no_place ? nullptr : &places_[place];
  }
  /// The value of a segment, if the program computes it on this rank, else an empty Partial. Cost: O(1).
  Partial value(std::uint32_t segment) const noexcept {
    const std::uint32_t place = value_places_[segment];
    return place == schedule::Program::no_place ? Partial{} : places_[place].held;
  }
  /// Where the result may be written in this run; null if it may not be written yet.
  std::byte* result() const noexcept { return result_; }

  /// Records that the slot now holds these bytes and is ready at this logical time.
  void written(SlotMemory& slot, const Partial& partial, std::uint32_t ready) noexcept {
    slot.held = partial;
    slot.ready = ready;
    rounds_ = std::max(rounds_, ready);
    status_ = worse(status_, arithmetic::status_of(partial.head));
  }
  void written(SlotMemory& slot, Bytes size, std::uint32_t ready) noexcept {
    written(slot, Partial{{slot.data, size}, nullptr}, ready);
  }
  /// Records that the slot is ready later than its bytes say.
  void delay(SlotMemory& slot, std::uint32_t ready) noexcept {
    slot.ready = ready;
    rounds_ = std::max(rounds_, ready);
  }
  void note(Status status) noexcept { status_ = worse(status_, status); }
  /// The worst status that this rank has seen in the run, and the logical time of its end.
  Status status() const noexcept { return status_; }
  std::uint32_t rounds() const noexcept { return rounds_; }

  /// A merge into one of its operands writes to scratch memory, which then changes places with the slot.
  std::byte*& scratch_of(const SlotMemory& slot) noexcept { return scratch_[slot.scratch]; }

  /// Whether the slot's values are stored apart. If the slot itself has room for them, they are `head_room` behind its
  /// beginning.
  bool is_apart(schedule::Slot slot) const { return apart_ != nullptr && apart_->is_apart(slot.segment); }
  Bytes head_room() const noexcept { return head_room_; }
  /// The bytes of values that belong to the slot's contents, if they are stored apart; else 0.
  Bytes values_bytes(schedule::Slot slot, const Partial& partial) const;
  /// Makes a Partial of bytes that begin with a head. Null `values`: the values follow the head.
  Partial taken_apart(schedule::Slot slot, std::span<const std::byte> whole, const std::byte* values) const;

 private:
  ApartPayload* apart_;  // the payload's ability, or null
  std::vector<SlotMemory> places_;
  std::vector<std::uint32_t> value_places_;  // by segment: the place of its value
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::byte*> scratch_;  // one per size
  Bytes head_room_;
  std::byte* result_ = nullptr;
  Status status_ = Status::ok;
  std::uint32_t rounds_ = 0;
};

}  // namespace steadfold::execution
