// How the record of exact sums is laid out, and how it is read and written column by column.
// Rank order: none. Cost: copies of the digits that are not zero. Source: ours.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "arithmetic/long_integer.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic::exact_record {

// The record: Header, number of rows, then for every column its Descriptor and digits.
struct Descriptor {
  std::uint8_t flags;
  std::uint8_t lowest;
  std::uint8_t count;
  std::uint8_t negative;
};
static_assert(sizeof(Descriptor) == 4 && widest_digit_count < 256);

inline constexpr Bytes fixed_bytes = sizeof(Header) + sizeof(Count);
inline constexpr unsigned all_flags = has_nan | has_plus_infinity | has_minus_infinity | not_minus_zero;

constexpr Bytes digit_bytes(int count) noexcept { return static_cast<Bytes>(count) * sizeof(std::uint32_t); }

/// Copies so many bytes of digits; where few are wanted and there is room, a fixed number, which takes no call.
inline void copy(const void* from, Bytes bytes, Bytes room, void* to) noexcept {
  constexpr Bytes few = digit_bytes(4);
  if (bytes <= few && room >= few)
    std::memcpy(to, from, few);
  else
    std::memcpy(to, from, bytes);
}

/// Reads a record column by column. Never reads outside the bytes, whatever they are.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, int digit_count) noexcept
      : at_(bytes.data()), left_(bytes.size()), digit_count_(digit_count) {
    if (left_ < fixed_bytes) {
      left_ = 0;
      return;
    }
    std::memcpy(&rows_, at_ + sizeof(Header), sizeof rows_);
    skip(fixed_bytes);
  }

  Count rows() const noexcept { return rows_; }
  /// Where the next column begins; and goes on from such a place.
  Bytes position(std::span<const std::byte> bytes) const noexcept { return bytes.size() - left_; }
  void go_to(Bytes position, std::span<const std::byte> bytes) noexcept {
    at_ = bytes.data() + position;
    left_ = bytes.size() - position;
  }
  bool at_end() const noexcept { return left_ == 0; }

  /// Reads the next column. False if there is none or its bytes are not what a Writer writes.
  bool next(Flags& flags, Window& window) noexcept {
    Descriptor descriptor;
    if (left_ < sizeof descriptor) return false;
    std::memcpy(&descriptor, at_, sizeof descriptor);
    skip(sizeof descriptor);
    flags = static_cast<Flags>(descriptor.flags);
    window.lowest = descriptor.lowest;
    window.count = descriptor.count;
    window.negative = descriptor.negative == 1;
    const Bytes digits = digit_bytes(window.count);
    if ((descriptor.flags & ~all_flags) != 0 || descriptor.negative > 1 || window.end() > digit_count_ ||
        digits > left_) {
      return false;
    }
    copy(at_, digits, left_, window.digits.data());
    skip(digits);
    return window.canonical();
  }

 private:
  void skip(Bytes bytes) noexcept {
    at_ += bytes;
    left_ -= bytes;
  }

  const std::byte* at_;
  Bytes left_;
  int digit_count_;
  Count rows_ = 0;
};

/// Writes a record column by column. Never writes outside `out`; what did not fit shows in `finish`.
class Writer {
 public:
  Writer(std::span<std::byte> out, const Header& header, Count rows, int digit_count) noexcept
      : out_(out), header_(header), digit_count_(digit_count), fits_(out.size() >= fixed_bytes) {
    if (fits_) std::memcpy(out.data() + sizeof header, &rows, sizeof rows);
  }

  void put(Flags flags, const Window& window) noexcept {
    const Bytes digits = digit_bytes(window.count);
    fits_ = fits_ && window.end() <= digit_count_ && sizeof(Descriptor) + digits <= out_.size() - size_;
    if (!fits_) return;
    const Descriptor descriptor{flags, static_cast<std::uint8_t>(window.lowest),
                                static_cast<std::uint8_t>(window.count), window.negative};
    std::memcpy(out_.data() + size_, &descriptor, sizeof descriptor);
    copy(window.digits.data(), digits, out_.size() - size_ - sizeof descriptor,
         out_.data() + size_ + sizeof descriptor);
    size_ += sizeof descriptor + digits;
  }
  void fail() noexcept { fits_ = false; }
  bool fits() const noexcept { return fits_; }
  /// Where the next column goes; and goes on from such a place.
  Bytes position() const noexcept { return size_; }
  void go_to(Bytes position) noexcept { size_ = position; }

  /// The size of the record, or of the failure's header.
  Bytes finish() noexcept {
    if (out_.size() < sizeof header_) return 0;
    if (!fits_) return write_failure(out_, header_, Status::transport_failed);
    set_header(out_, header_);
    return size_;
  }

 private:
  std::span<std::byte> out_;
  Header header_;
  Bytes size_ = fixed_bytes;
  int digit_count_;
  bool fits_;
};

}  // namespace steadfold::arithmetic::exact_record
