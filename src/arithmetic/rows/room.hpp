// Memory that grows to what is asked of it and is kept: a second round of the same size allocates nothing.
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

/// Memory for a partial, which is mostly much shorter than it might be: bytes that nobody writes cost nothing.
class UnwrittenRoom {
 public:
  UnwrittenRoom() = default;
  explicit UnwrittenRoom(order::Bytes size) { make(size); }

  /// At least so many bytes; what was written is lost if there are fewer.
  void make(order::Bytes size) {
    if (size <= bytes().size()) return;
    size_ = 0;
    memory_.reset();  // before as much memory is asked for again
    memory_ = std::make_unique_for_overwrite<std::byte[]>(size);
    size_ = size;
  }
  std::span<std::byte> bytes() const noexcept { return {memory_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  order::Bytes size_ = 0;
};

}  // namespace steadfold::arithmetic
