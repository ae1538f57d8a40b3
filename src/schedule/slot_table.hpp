// Assigns indices 0, 1, ... to a rank's slots in the order of first use, so that their contents can be stored in an
// array.
// Cost: O(1) per look-up. Memory: 4 bytes per slot number and segment.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/step.hpp"

namespace steadfold::schedule {

class SlotTable {
 public:
  explicit SlotTable(std::uint32_t segments) : segments_(segments) {}

  /// Returns the slot's index. A new slot gets the next index, and `size` grows.
  std::uint32_t index_of(Slot slot) {
    const std::size_t key = key_of(slot);
    if (key >= indices_.size()) indices_.resize(key + 1, none);
    if (indices_[key] == none) indices_[key] = size_++;
    return indices_[key];
  }
  std::uint32_t size() const noexcept { return size_; }

  /// Forgets all slots and keeps the memory of the table. `all` must be all slots that the table has seen.
  template <class Slots>
  void reset(const Slots& all, std::uint32_t segments) noexcept {
    for (const Slot slot : all) indices_[key_of(slot)] = none;
    size_ = 0;
    segments_ = segments;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::size_t kinds = static_cast<std::size_t>(SlotKind::landing_value);

  std::size_t key_of(Slot slot) const noexcept {
    return (std::size_t{slot.number} * segments_ + slot.segment) * kinds + static_cast<std::size_t>(slot.kind) - 1;
  }

  std::vector<std::uint32_t> indices_;  // indices of the slots, by number, segment and kind
  std::uint32_t segments_;
  std::uint32_t size_ = 0;
};

}  // namespace steadfold::schedule
