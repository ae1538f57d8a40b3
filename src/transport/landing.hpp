// The memory of an endpoint's landing slots: one block, in which every slot begins a cache line.
// Cost: one allocation. Every capacity is increased by at least one byte, to a multiple of 64 bytes. No page is touched
// before its first use.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace steadfold::transport {

class LandingSlots {
 public:
  /// Allocates the slots. Throws std::runtime_error if memory runs out.
  explicit LandingSlots(std::span<const Bytes> capacities) try {
    Bytes total = 0;
    slots_.reserve(capacities.size());
    for (const Bytes capacity : capacities) {
      if (capacity > most - total) throw std::bad_alloc();
      slots_.push_back({total, capacity});
      total += room_for(capacity);
    }
    if (total > 0) block_.reset(static_cast<std::byte*>(::operator new(total, std::align_val_t{alignment})));
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("no memory for messages (a rank may receive up to " + std::to_string(capacities.size()) +
                             " at once), use fewer segments or a schedule with smaller messages");
  }

  std::span<std::byte> operator[](SlotNumber slot) const noexcept {
    return {block_.get() + slots_[slot].first, slots_[slot].capacity};
  }
  /// Returns the memory of a slot, with its margin of at least one byte. If a message reaches into the margin, it did
  /// not fit the slot.
  std::span<std::byte> with_margin(SlotNumber slot) noexcept {
    return {block_.get() + slots_[slot].first, room_for(slots_[slot].capacity)};
  }

 private:
  static constexpr Bytes alignment = 64;
  static constexpr Bytes room_for(Bytes capacity) noexcept {
    return capacity == 0 ? 0 : (capacity / alignment + 1) * alignment;
  }
  static constexpr Bytes most = Bytes{1} << 62;  // limit of a capacity; below it, no sum of capacities wraps around
  struct Release {
    void operator()(std::byte* block) const noexcept { ::operator delete(block, std::align_val_t{alignment}); }
  };
  struct SlotRange {
    Bytes first = 0;
    Bytes capacity = 0;
  };

  std::vector<SlotRange> slots_;
  std::unique_ptr<std::byte, Release> block_;
};

}  // namespace steadfold::transport
