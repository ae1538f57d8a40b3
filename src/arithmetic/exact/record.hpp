// The layout of a record of exact sums, and functions that read and write it: a single column, or group by group.
// Rank order: none. Cost: copies of the digits that are not zero.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "arithmetic/exact/narrow_group.hpp"
#include "arithmetic/partial.hpp"
#include "arithmetic/superaccumulator/long_integer.hpp"
#include "kernels/narrow_groups.hpp"

namespace steadfold::arithmetic::exact_record {

// The record of one column: Header, number of rows, Descriptor, digits.
// The record of several columns: Header, number of rows, then groups of eight columns (the last group may have fewer),
// each a GroupHead and the columns' sums. If there is a unit in which 127 bits and a sign hold each sum of the group,
// the sums are stored in the largest such unit, with the smallest sufficient number of words (NarrowGroup::write).
// Otherwise every column has a Descriptor, without flags, and digits. So equal sums have equal bytes, whatever terms
// they come from.
struct Descriptor {
  std::uint8_t flags;
  std::uint8_t lowest;
  std::uint8_t count;
  std::uint8_t negative;
};
static_assert(sizeof(Descriptor) == 4 && widest_digit_count < 256);

/// The flags of a group's columns. Byte k has one bit per column, which is set if the column has the flag 2^k.
class GroupFlags {
 public:
  void add(std::size_t lane, Flags flags) noexcept { bits_ |= ((flags * spread) & every_lowest) << lane; }
  /// Adds the flags to all columns of a whole group.
  void add_all(Flags flags) noexcept { bits_ |= ((flags * spread) & every_lowest) * 0xFFU; }
  void add(const GroupFlags& others) noexcept { bits_ |= others.bits_; }
  Flags of(std::size_t lane) const noexcept {
    return static_cast<Flags>((((bits_ >> lane) & every_lowest) * gather) >> 24);
  }
  /// Whether the first columns have exactly these flags, and the other columns have none.
  bool all_are(Flags flags, std::size_t columns) const noexcept {
    return bits_ == ((flags * spread) & every_lowest) * (0xFFU >> (8 - columns));
  }
  /// Whether only the first columns have flags.
  bool are_within(std::size_t columns) const noexcept {
    return ((bits_ >> (columns - 1) >> 1) & (every_lowest * (0xFFU >> columns))) == 0;
  }

 private:
  static constexpr std::uint32_t every_lowest = 0x01010101;
  static constexpr std::uint32_t spread = 1 | 1 << 7 | 1 << 14 | 1 << 21;        // moves bit k to bit 8 k
  static constexpr std::uint32_t gather = 1 << 24 | 1 << 17 | 1 << 10 | 1 << 3;  // moves bit 8 k to bit 24 + k

  std::uint32_t bits_ = 0;
};

struct GroupHead {
  static constexpr std::uint8_t wide = 255;

  std::uint8_t lowest;  // number of the lowest digit, for a narrow group
  std::uint8_t words;   // number of words per column; or `wide`, for a group whose columns are stored separately
  std::uint8_t minus_zeros;
  std::uint8_t reserved;
  GroupFlags flags;
};
static_assert(sizeof(GroupHead) == 8);

inline constexpr Count columns_of_group = NarrowGroup::most_columns;

/// The sums of a group: all columns in one narrow group, or each column separately.
struct GroupSums {
  GroupFlags flags;
  // One bit for each column: whether it has a -0.0, if labels distribute the rows to columns.
  std::uint8_t minus_zeros = 0;
  bool is_narrow = true;
  NarrowGroup narrow;
  NarrowGroup::EachColumn<DigitRange> wide;  // sums of a wide group; digits are not initialised

  /// Returns the sum of a column as a digit range. Uses `room` for it if the group is narrow.
  const DigitRange& digit_range(std::size_t lane, DigitRange& room) const noexcept {
    if (!is_narrow) return wide[lane];
    narrow.digit_range(lane, room);
    return room;
  }
  Leading leading(std::size_t lane, int lowest_exponent) const noexcept {
    return is_narrow ? narrow.leading(lane, lowest_exponent) : arithmetic::leading(wide[lane], lowest_exponent);
  }
  /// Sets the sums to a + b. Neither `a` nor `b` may be this group.
  void set_sum(const GroupSums& a, const GroupSums& b, Count columns) noexcept {
    flags = a.flags;
    flags.add(b.flags);
    minus_zeros = a.minus_zeros | b.minus_zeros;
    is_narrow = a.is_narrow && b.is_narrow && narrow.set_sum(a.narrow, b.narrow);
    if (is_narrow) return;
    std::array<DigitRange, 2> rooms;
    for (std::size_t lane = 0; lane < columns; ++lane)
      add_digit_ranges(a.digit_range(lane, rooms[0]), b.digit_range(lane, rooms[1]), wide[lane]);
  }
  /// Stores the sums in the narrow form (integers of two words in one unit) if they fit it.
  void settle(Count columns) noexcept {
    if (!is_narrow) is_narrow = narrow.set_digit_ranges(std::span(wide).first(columns));
  }
};

inline constexpr Bytes fixed_bytes = sizeof(Header) + sizeof(Count);
inline constexpr unsigned all_flags = has_nan | has_plus_infinity | has_minus_infinity | not_minus_zero;

constexpr Bytes digit_bytes(int count) noexcept { return static_cast<Bytes>(count) * sizeof(std::uint32_t); }

/// Copies `bytes` bytes of digits. If `bytes` is small and `to` has room, copies a fixed number of bytes, which needs
/// no function call.
inline void copy(const void* from, Bytes bytes, Bytes room, void* to) noexcept {
  constexpr Bytes few = digit_bytes(4);
  if (bytes <= few && room >= few)
    std::memcpy(to, from, few);
  else
    std::memcpy(to, from, bytes);
}

/// Reads a record from the first column to the last. Never reads outside the bytes, even if they are invalid.
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
  /// Returns the position of the next column. `go_to` continues from this position.
  Bytes position(std::span<const std::byte> bytes) const noexcept { return bytes.size() - left_; }
  void go_to(Bytes position, std::span<const std::byte> bytes) noexcept {
    at_ = bytes.data() + position;
    left_ = bytes.size() - position;
  }
  bool at_end() const noexcept { return left_ == 0; }

  /// Consecutive groups of a record with the same head as the next group: the input for kernels of narrow groups.
  struct Alike {
    const std::byte* first;
    Count most;          // number of groups; 0 if the next group does not have two words per column
    std::uint64_t head;  // the bytes of the common head
    GroupHead next;
  };
  Alike alike(Count groups) const noexcept {
    Alike found{.first = at_, .most = std::min(groups, left_ / kernels::narrow_group_bytes), .head = 0, .next = {}};
    if (found.most == 0) return found;
    std::memcpy(&found.next, at_, sizeof found.next);
    std::memcpy(&found.head, at_, sizeof found.head);
    const bool is_usual = found.next.words == 2 && found.next.minus_zeros == 0 && found.next.reserved == 0 &&
                          found.next.lowest + NarrowGroup::most_digits <= digit_count_;
    if (!is_usual) found.most = 0;
    return found;
  }
  /// Skips the groups that a kernel has handled.
  void skip_alike(Count groups) noexcept { skip(groups * kernels::narrow_group_bytes); }

  /// Reads the next column. Returns false if there is none, or if no Writer can have written its bytes.
  bool next(Flags& flags, DigitRange& range) noexcept {
    Descriptor descriptor;
    if (left_ < sizeof descriptor) return false;
    std::memcpy(&descriptor, at_, sizeof descriptor);
    skip(sizeof descriptor);
    flags = static_cast<Flags>(descriptor.flags);
    range.lowest = descriptor.lowest;
    range.count = descriptor.count;
    range.negative = descriptor.negative == 1;
    const Bytes digits = digit_bytes(range.count);
    if ((descriptor.flags & ~all_flags) != 0 || descriptor.negative > 1 || range.end() > digit_count_ ||
        digits > left_) {
      return false;
    }
    copy(at_, digits, left_, range.digits.data());
    skip(digits);
    return range.canonical();
  }

  /// Reads the next group, and returns false in the same cases.
  bool next(Count columns, GroupSums& group) noexcept {
    GroupHead head;
    if (left_ < sizeof head) return false;
    std::memcpy(&head, at_, sizeof head);
    skip(sizeof head);
    group.flags = head.flags;
    group.minus_zeros = head.minus_zeros;
    if (head.reserved != 0 || head.minus_zeros >> columns != 0 || !head.flags.are_within(columns)) return false;
    group.is_narrow = head.words != GroupHead::wide;
    return group.is_narrow ? next_narrow(head, columns, group.narrow) : next_wide(head, columns, group);
  }

 private:
  void skip(Bytes bytes) noexcept {
    at_ += bytes;
    left_ -= bytes;
  }
  bool next_narrow(const GroupHead& head, Count columns, NarrowGroup& sums) noexcept {
    const Bytes bytes = head.words * columns * sizeof(std::uint64_t);
    if (head.words > 2 || bytes > left_ || !sums.read(head.words, columns, head.lowest, at_)) return false;
    skip(bytes);
    return sums.ends_within(digit_count_);
  }
  bool next_wide(const GroupHead& head, Count columns, GroupSums& group) noexcept {
    if (head.lowest != 0) return false;
    Flags flags = no_flags;
    for (Count lane = 0; lane < columns; ++lane)
      if (!next(flags, group.wide[lane]) || flags != no_flags) return false;
    return !NarrowGroup().set_digit_ranges(std::span(group.wide).first(columns));
  }

  const std::byte* at_;
  Bytes left_;
  int digit_count_;
  Count rows_ = 0;
};

/// Writes a record from the first column to the last. Never writes outside `out`. If the record does not fit, `finish`
/// writes a failure.
class Writer {
 public:
  Writer(std::span<std::byte> out, const Header& header, Count rows, int digit_count) noexcept
      : out_(out), header_(header), digit_count_(digit_count), fits_(out.size() >= fixed_bytes) {
    if (fits_) std::memcpy(out.data() + sizeof header, &rows, sizeof rows);
  }

  void put(Flags flags, const DigitRange& range) noexcept {
    const Bytes digits = digit_bytes(range.count);
    fits_ = fits_ && range.end() <= digit_count_ && sizeof(Descriptor) + digits <= out_.size() - size_;
    if (!fits_) return;
    const Descriptor descriptor{flags, static_cast<std::uint8_t>(range.lowest), static_cast<std::uint8_t>(range.count),
                                range.negative};
    std::memcpy(out_.data() + size_, &descriptor, sizeof descriptor);
    copy(range.digits.data(), digits, out_.size() - size_ - sizeof descriptor, out_.data() + size_ + sizeof descriptor);
    size_ += sizeof descriptor + digits;
  }
  /// Writes a group, as a narrow group if possible.
  void put(Count columns, GroupSums& group) noexcept {
    group.settle(columns);
    if (group.is_narrow)
      put(columns, group.narrow, group.flags, group.minus_zeros);
    else
      put_wide(columns, group);
  }
  void put(Count columns, NarrowGroup& group, GroupFlags flags, std::uint8_t minus_zeros = 0) noexcept {
    const int words = group.trim();
    const Bytes bytes = static_cast<Bytes>(words) * columns * sizeof(std::uint64_t);
    fits_ = fits_ && group.ends_within(digit_count_) && sizeof(GroupHead) + bytes <= out_.size() - size_;
    if (!fits_) return;
    put(GroupHead{.lowest = static_cast<std::uint8_t>(group.lowest()),
                  .words = static_cast<std::uint8_t>(words),
                  .minus_zeros = minus_zeros,
                  .reserved = 0,
                  .flags = flags});
    group.write(words, columns, out_.data() + size_);
    size_ += bytes;
  }
  /// Merges the next groups of two records with a kernel, until it refuses a group. Returns the number of merged
  /// groups.
  Count merge_alike(Reader& a, Reader& b, Count groups, kernels::MergeNarrowGroups merge) noexcept {
    const Reader::Alike left =
        a.alike(fits_ ? std::min(groups, (out_.size() - size_) / kernels::narrow_group_bytes) : 0);
    const Reader::Alike right = b.alike(left.most);
    const Count merged =
        right.most == 0 ? 0 : merge(left.head, left.first, right.first, right.most, out_.data() + size_);
    a.skip_alike(merged);
    b.skip_alike(merged);
    size_ += merged * kernels::narrow_group_bytes;
    return merged;
  }
  void fail() noexcept { fits_ = false; }
  bool fits() const noexcept { return fits_; }
  /// Returns the position for the next column. `go_to` continues from this position.
  Bytes position() const noexcept { return size_; }
  void go_to(Bytes position) noexcept { size_ = position; }

  /// Ends the record. Returns its size, or the size of the header that reports a failure.
  Bytes finish() noexcept {
    if (out_.size() < sizeof header_) return 0;
    if (!fits_) return write_failure(out_, header_, Status::transport_failed);
    set_header(out_, header_);
    return size_;
  }

 private:
  void put(const GroupHead& head) noexcept {
    std::memcpy(out_.data() + size_, &head, sizeof head);
    size_ += sizeof head;
  }
  void put_wide(Count columns, const GroupSums& group) noexcept {
    fits_ = fits_ && sizeof(GroupHead) <= out_.size() - size_;
    if (!fits_) return;
    put(GroupHead{
        .lowest = 0, .words = GroupHead::wide, .minus_zeros = group.minus_zeros, .reserved = 0, .flags = group.flags});
    for (Count lane = 0; lane < columns; ++lane) put(no_flags, group.wide[lane]);
  }

  std::span<std::byte> out_;
  Header header_;
  Bytes size_ = fixed_bytes;
  int digit_count_;
  bool fits_;
};

}  // namespace steadfold::arithmetic::exact_record
