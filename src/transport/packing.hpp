// Messages that carry several slots: the bytes of each slot, aligned to 16 bytes, then the size of each slot (64 bits
// per size). A message of one slot contains only the bytes of that slot.
// Cost: 8 bytes per slot, and up to 15 bytes of padding.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "order/index.hpp"

namespace steadfold::transport {

using order::Bytes;

constexpr Bytes on_boundary(Bytes bytes) noexcept { return (bytes + 15) / 16 * 16; }

/// Returns the number of bytes that a slot of `bytes` bytes takes in a message of `slots` slots.
constexpr Bytes bytes_in_message(Bytes bytes, std::size_t slots) noexcept {
  return slots == 1 ? bytes : on_boundary(bytes) + sizeof(std::uint64_t);
}

/// Packs slots into the message `out`, whose old bytes are overwritten. Allocates nothing if the capacity of `out`
/// suffices.
class Packer {
 public:
  explicit Packer(std::vector<std::byte>& out) : out_(out) { out_.clear(); }
  /// Adds a slot to the message. `apart` has the last bytes of the slot, if they are stored elsewhere.
  void add(std::span<const std::byte> slot, std::span<const std::byte> apart = {}) {
    out_.insert(out_.end(), slot.begin(), slot.end());
    out_.insert(out_.end(), apart.begin(), apart.end());
    out_.resize(on_boundary(out_.size()));
  }
  void add_size(std::uint64_t size) {
    const auto bytes = std::as_bytes(std::span(&size, 1));
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

 private:
  std::vector<std::byte>& out_;
};

/// Returns the slots of a message, one per call. Returns nothing for any slot if the sizes in the message do not add
/// up.
class Unpacker {
 public:
  Unpacker(std::span<std::byte> message, std::size_t slots) : message_(message), slots_(slots) {
    if (slots == 1) return;
    const Bytes table = slots * sizeof(std::uint64_t);
    Bytes left = message.size() < table ? 0 : message.size() - table;
    is_sound_ = message.size() >= table;
    table_ = left;
    for (std::size_t i = 0; i < slots && is_sound_; ++i) {
      const std::uint64_t size = size_of(i);
      is_sound_ = size <= left && on_boundary(size) <= left;
      left -= is_sound_ ? on_boundary(size) : 0;
    }
    is_sound_ = is_sound_ && left == 0;
  }

  std::span<std::byte> next() {
    if (slots_ == 1) return message_;
    if (!is_sound_) return message_.first(0);
    const Bytes size = size_of(taken_++);
    const auto slot = message_.subspan(at_, size);
    at_ += on_boundary(size);
    return slot;
  }

 private:
  std::uint64_t size_of(std::size_t i) const {
    std::uint64_t size = 0;
    std::memcpy(&size, message_.data() + table_ + i * sizeof size, sizeof size);
    return size;
  }

  std::span<std::byte> message_;
  std::size_t slots_;
  std::size_t taken_ = 0;
  Bytes table_ = 0;
  Bytes at_ = 0;
  bool is_sound_ = true;
};

}  // namespace steadfold::transport
