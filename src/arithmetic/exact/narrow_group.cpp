#include "arithmetic/exact/narrow_group.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace steadfold::arithmetic {
namespace {

/// Returns the number of zero digits below the lowest non-zero digit of a number that is not 0.
int zeros_below(std::uint64_t low, std::uint64_t high) noexcept {
  return low != 0 ? std::countr_zero(low) / 32 : 2 + std::countr_zero(high) / 32;
}

/// Moves a value up by `digits` digits. Returns false if it does not fit.
bool move_up(Int128& value, int digits) noexcept {
  if (value == 0) return true;
  if (digits >= NarrowGroup::most_digits) return false;
  const Int128 moved = value << (32 * digits);
  if (moved >> (32 * digits) != value) return false;
  value = moved;
  return true;
}

}  // namespace

bool NarrowGroup::zero() const noexcept {
  std::uint64_t bits = 0;
  for (std::size_t lane = 0; lane < most_columns; ++lane) bits |= low_[lane] | high_[lane];
  return bits == 0;
}

bool NarrowGroup::lower_unit(int digits) noexcept {
  NarrowGroup moved;
  moved.lowest_ = lowest_ - digits;
  for (std::size_t lane = 0; lane < most_columns; ++lane) {
    Int128 each = value(lane);
    if (!move_up(each, digits)) return false;
    moved.put(lane, each);
  }
  *this = moved;
  return true;
}

void NarrowGroup::raise_unit(int digits) noexcept {
  lowest_ += digits;
  for (std::size_t lane = 0; lane < most_columns; ++lane) put(lane, value(lane) >> (32 * digits));
}

bool NarrowGroup::add_elsewhere(std::size_t lane, Int128 value, int digit) noexcept {
  if (value == 0) return true;
  if (zero()) {
    lowest_ = digit;
    put(lane, value);
    return true;
  }
  if (digit == lowest_) trim();  // `trim` may free digits if the value did not fit
  const int zeros = zeros_below(static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(value >> 64));
  value >>= 32 * zeros;
  digit += zeros;
  if (digit < lowest_ && !lower_unit(lowest_ - digit)) return false;
  Int128 sum;
  if (!move_up(value, digit - lowest_) || __builtin_add_overflow(this->value(lane), value, &sum)) return false;
  put(lane, sum);
  return true;
}

bool NarrowGroup::set_sum(const NarrowGroup& a, const NarrowGroup& b) noexcept {
  if (a.lowest_ != b.lowest_) {
    const bool takes_units_of_a = b.zero() || (a.lowest_ < b.lowest_ && !a.zero());
    NarrowGroup moved = takes_units_of_a ? b : a;
    const NarrowGroup& other = takes_units_of_a ? a : b;
    if (moved.zero())
      moved.lowest_ = other.lowest_;
    else if (!moved.lower_unit(moved.lowest_ - other.lowest_))
      return false;
    return set_sum(moved, other);
  }
  lowest_ = a.lowest_;
  std::uint64_t overflow = 0;  // the highest bit is set after an overflow
  for (std::size_t lane = 0; lane < most_columns; ++lane) {
    const std::uint64_t low = a.low_[lane] + b.low_[lane];
    const std::uint64_t carry = low < a.low_[lane] ? 1 : 0;
    const std::uint64_t high = a.high_[lane] + b.high_[lane] + carry;
    overflow |= (a.high_[lane] ^ high) & (b.high_[lane] ^ high);
    low_[lane] = low;
    high_[lane] = high;
  }
  return overflow >> 63 == 0;
}

int NarrowGroup::trim() noexcept {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (std::size_t lane = 0; lane < most_columns; ++lane) {
    low |= low_[lane];
    high |= high_[lane];
  }
  if ((low | high) == 0) {
    lowest_ = 0;
    return 0;
  }
  if (const int zeros = zeros_below(low, high); zeros > 0) raise_unit(zeros);
  std::uint64_t beyond = 0;
  for (std::size_t lane = 0; lane < most_columns; ++lane) beyond |= high_[lane] ^ (0 - (low_[lane] >> 63));
  return beyond == 0 ? 1 : 2;
}

bool NarrowGroup::set_digit_ranges(std::span<const DigitRange> ranges) noexcept {
  clear();
  int lowest = widest_digit_count;
  int end = 0;
  for (const DigitRange& range : ranges) {
    if (range.zero()) continue;
    lowest = std::min(lowest, range.lowest);
    end = std::max(end, range.end());
  }
  if (end - lowest > most_digits) return false;
  lowest_ = lowest == widest_digit_count ? 0 : lowest;
  for (std::size_t lane = 0; lane < ranges.size(); ++lane) {
    const DigitRange& range = ranges[lane];
    Uint128 bits = 0;
    for (int i = 0; i < most_digits; ++i) bits |= Uint128{range.digit(lowest_ + i)} << (32 * i);
    if (!range.zero() && bits >> 127 != Uint128{range.negative}) return false;
    put(lane, static_cast<Int128>(bits));
  }
  return true;
}

void NarrowGroup::digit_range(std::size_t lane, DigitRange& range) const noexcept {
  std::array<std::int64_t, most_digits> words;
  const Int128 bits = value(lane);
  for (std::size_t i = 0; i + 1 < most_digits; ++i) words[i] = static_cast<std::uint32_t>(bits >> (32 * i));
  words[most_digits - 1] = static_cast<std::int64_t>(bits >> 96);
  make_digit_range(words, lowest_, range);
}

bool NarrowGroup::round(std::size_t columns, int lowest_exponent, std::byte* doubles) const noexcept {
  const int unit = lowest_exponent + 32 * lowest_;
  if (unit < lowest_normal_unit || unit > highest_normal_unit) return false;
  for (std::size_t lane = 0; lane < columns; ++lane) {
    const std::uint64_t result = rounded_normal(value(lane), unit);
    std::memcpy(doubles + lane * sizeof result, &result, sizeof result);
  }
  return true;
}

bool NarrowGroup::ends_within(int digit_count) const noexcept {
  if (lowest_ + most_digits <= digit_count) return true;
  DigitRange found;
  for (std::size_t lane = 0; lane < most_columns; ++lane) {
    digit_range(lane, found);
    if (found.end() > digit_count) return false;
  }
  return true;
}

void NarrowGroup::write(int words, std::size_t columns, std::byte* out) const noexcept {
  const std::size_t bytes = columns * sizeof(std::uint64_t);
  if (words > 0) std::memcpy(out, low_.data(), bytes);
  if (words > 1) std::memcpy(out + bytes, high_.data(), bytes);
}

bool NarrowGroup::read(int words, std::size_t columns, int lowest, const std::byte* from) noexcept {
  const std::size_t bytes = columns * sizeof(std::uint64_t);
  if (columns < most_columns || words < 2) clear();
  lowest_ = lowest;
  if (words > 0) std::memcpy(low_.data(), from, bytes);
  if (words > 1) std::memcpy(high_.data(), from + bytes, bytes);
  if (words == 1)
    for (std::size_t lane = 0; lane < columns; ++lane) high_[lane] = 0 - (low_[lane] >> 63);
  return trim() == words && lowest_ == lowest;
}

}  // namespace steadfold::arithmetic
