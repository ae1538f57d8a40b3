// Memory that grows to the requested size and is kept, so a second round of the same size allocates nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "order/index.hpp"

namespace steadfold::arithmetic {

inline void make_room(std::vector<std::byte>& memory, order::Bytes size) {
  if (memory.size() < size) memory.resize(size);
}

/// Memory for a partial. Partials are mostly much shorter than their capacity, and bytes that are never written occupy
/// no memory.
class UnwrittenRoom {
 public:
  UnwrittenRoom() = default;
  explicit UnwrittenRoom(order::Bytes size) { make(size); }

  /// Allocates at least `size` bytes. If there were fewer before, the contents are lost.
  void make(order::Bytes size) {
    if (size <= bytes().size()) return;
    size_ = 0;
    memory_.reset();  // frees the old memory before the same amount is allocated again
    memory_ = std::make_unique_for_overwrite<std::byte[]>(size);
    size_ = size;
  }
  std::span<std::byte> bytes() const noexcept { return {memory_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  order::Bytes size_ = 0;
};

}  // namespace steadfold::arithmetic
