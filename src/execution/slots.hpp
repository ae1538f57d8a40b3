// One rank's slots: their memory, worked out when a plan is made, and what each of them holds in a run.
// Cost: O(steps) to make; nothing is allocated in a run.
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

/// Bytes that a program's slots take.
struct SlotSizes {
  Bytes head_room = 0;          // of slots whose values stand apart
  std::vector<Bytes> landing;   // by the number of the landing slot
  std::vector<Bytes> partials;  // by segment, the largest
};
SlotSizes slot_sizes(const schedule::Program& program, Payload& payload);

/// A slot's memory, and what it holds.
struct SlotMemory {
  std::byte* data = nullptr;
  Bytes capacity = 0;
  Partial held = {};          // begins at `data`
  std::uint32_t ready = 0;    // logical time, while tracing
  std::uint32_t scratch = 0;  // which, of partials
};

/// Payload and endpoint, which has the landing slots, must outlive it.
class Slots {
 public:
  Slots(const schedule::Program& program, Payload& payload, const SlotSizes& sizes, transport::Endpoint& endpoint);

  /// Before each run.
  void begin() noexcept {
    status_ = Status::ok;
    rounds_ = 0;
    result_ = apart_ == nullptr ? nullptr : apart_->result();
  }

  /// By the program's place; null: it is none.
  SlotMemory* at(std::uint32_t place) noexcept {
    return place == schedule::Program::no_place ? nullptr : &places_[place];
  }
  /// The value of a segment, where the program has one on this rank; else nothing. Cost: O(1).
  Partial value(std::uint32_t segment) const noexcept {
    const std::uint32_t place = value_places_[segment];
    return place == schedule::Program::no_place ? Partial{} : places_[place].held;
  }
  /// Where the result may be written in this run; null: nowhere yet.
  std::byte* result() const noexcept { return result_; }

  /// The slot holds these bytes now, and is ready at this logical time.
  void written(SlotMemory& slot, const Partial& partial, std::uint32_t ready) noexcept {
    slot.held = partial;
    slot.ready = ready;
    rounds_ = std::max(rounds_, ready);
    status_ = worse(status_, arithmetic::status_of(partial.head));
  }
  void written(SlotMemory& slot, Bytes size, std::uint32_t ready) noexcept {
    written(slot, Partial{{slot.data, size}, nullptr}, ready);
  }
  /// The slot is ready later than its bytes said.
  void delay(SlotMemory& slot, std::uint32_t ready) noexcept {
    slot.ready = ready;
    rounds_ = std::max(rounds_, ready);
  }
  void note(Status status) noexcept { status_ = worse(status_, status); }
  /// The worst status that this rank saw in the run, and the logical time of its end.
  Status status() const noexcept { return status_; }
  std::uint32_t rounds() const noexcept { return rounds_; }

  /// A merge into one of its operands goes to scratch memory, and the two change places.
  std::byte*& scratch_of(const SlotMemory& slot) noexcept { return scratch_[slot.scratch]; }

  /// Whether the slot's values stand apart, `head_room` behind its beginning if not elsewhere.
  bool is_apart(schedule::Slot slot) const { return apart_ != nullptr && apart_->is_apart(slot.segment); }
  Bytes head_room() const noexcept { return head_room_; }
  /// How many bytes of values belong to what the slot holds, if they stand apart; else 0.
  Bytes values_bytes(schedule::Slot slot, const Partial& partial) const;
  /// Bytes that begin with a head, and the values that belong to it; null: they stand behind it.
  Partial taken_apart(schedule::Slot slot, std::span<const std::byte> whole, const std::byte* values) const;

 private:
  ApartPayload* apart_;  // the payload's, if it has one
  std::vector<SlotMemory> places_;
  std::vector<std::uint32_t> value_places_;  // by segment, of its value
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::byte*> scratch_;  // one per size
  Bytes head_room_;
  std::byte* result_ = nullptr;
  Status status_ = Status::ok;
  std::uint32_t rounds_ = 0;
};

}  // namespace steadfold::execution
