// Kernels of narrow_groups.hpp. Each lane of a vector has one column.
#include "kernels/narrow_groups.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/highway.hpp"
#include "kernels/rounded_double.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/narrow_groups.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>

#include "kernels/two_words.hpp"
#endif

#ifndef STEADFOLD_NARROW_GROUPS_REFERENCE  // compiled once, although this file is included again for every target
#define STEADFOLD_NARROW_GROUPS_REFERENCE
namespace steadfold::kernels {
namespace {

constexpr std::uint64_t below_the_next_unit = 0xFFFFFFFF;

struct GroupWords {
  std::uint64_t head;
  EachColumn<std::uint64_t> low;
  EachColumn<std::uint64_t> high;

  bool is_settled() const noexcept {
    std::uint64_t lowest = 0;
    std::uint64_t beyond = 0;
    for (std::size_t i = 0; i < most_columns; ++i) {
      lowest |= low[i] & below_the_next_unit;
      beyond |= high[i] ^ (0 - (low[i] >> 63));
    }
    return lowest != 0 && beyond != 0;
  }
};
static_assert(sizeof(GroupWords) == narrow_group_bytes);

std::uint64_t head_at(const std::byte* group) noexcept {
  std::uint64_t head;
  std::memcpy(&head, group, sizeof head);
  return head;
}

order::Count merge_one_by_one(std::uint64_t head, const std::byte* left, const std::byte* right, order::Count groups,
                              std::byte* out) noexcept {
  GroupWords a;
  GroupWords b;
  for (order::Count group = 0; group < groups; ++group) {
    std::memcpy(&a, left + group * sizeof a, sizeof a);
    std::memcpy(&b, right + group * sizeof b, sizeof b);
    if (a.head != head || b.head != head || !a.is_settled() || !b.is_settled()) return group;
    std::uint64_t overflow = 0;  // the highest bit is set after an overflow
    for (std::size_t i = 0; i < most_columns; ++i) {
      const std::uint64_t low = a.low[i] + b.low[i];
      const std::uint64_t high = a.high[i] + b.high[i] + (low < b.low[i] ? 1 : 0);
      overflow |= (a.high[i] ^ high) & (b.high[i] ^ high);
      a.low[i] = low;
      a.high[i] = high;
    }
    if (overflow >> 63 != 0 || !a.is_settled()) return group;
    std::memcpy(out + group * sizeof a, &a, sizeof a);
  }
  return groups;
}

constexpr std::uint64_t fraction_of_doubles = (std::uint64_t{1} << fraction_bits_of_doubles) - 1;
constexpr std::uint64_t exponent_of_infinity = 0x7FF;
constexpr std::uint64_t most_shifted = 127 - (fraction_bits_of_doubles + 1);  // number of bits; leaves room for a sign
constexpr std::int64_t no_digit = 1 << 20;                                    // the number of the digit of a zero

int add_one_by_one(const std::byte* row, std::uint64_t kept_bits, int& lowest, std::uint64_t* low,
                   std::uint64_t* high) noexcept {
  EachColumn<std::uint64_t> mantissas;
  EachColumn<std::uint64_t> shifts;  // exponents of the terms' last bits, counted from 2^-1074
  EachColumn<bool> negative;
  std::int64_t digit = no_digit;
  bool are_zero = true;
  for (std::size_t i = 0; i < most_columns; ++i) {
    const std::uint64_t bits = head_at(row + i * sizeof(double)) & kept_bits;
    const std::uint64_t exponent = bits >> fraction_bits_of_doubles & exponent_of_infinity;
    if (exponent == exponent_of_infinity || bits == sign_of_doubles) return terms_refused;
    mantissas[i] = (bits & fraction_of_doubles) | (exponent == 0 ? 0 : fraction_of_doubles + 1);
    shifts[i] = exponent == 0 ? 0 : exponent - 1;
    negative[i] = bits >> 63 != 0;
    if (mantissas[i] != 0) digit = std::min(digit, static_cast<std::int64_t>(shifts[i] / 32));
    are_zero = are_zero && (low[i] | high[i]) == 0;
  }
  if (digit == no_digit) return terms_added;
  if (are_zero) lowest = static_cast<int>(digit);
  if (digit < lowest) return static_cast<int>(digit);
  EachColumn<std::uint64_t> low_sums;
  EachColumn<std::uint64_t> high_sums;
  for (std::size_t i = 0; i < most_columns; ++i) {
    const std::uint64_t shift = mantissas[i] == 0 ? 0 : shifts[i] - 32 * static_cast<std::uint64_t>(lowest);
    if (shift > most_shifted) return terms_refused;
    const std::uint64_t by = shift % 64;
    const std::uint64_t top = mantissas[i] >> 1 >> (63 - by);
    std::uint64_t of_low = shift < 64 ? mantissas[i] << by : 0;
    std::uint64_t of_high = shift < 64 ? top : mantissas[i] << by;
    if (negative[i]) {
      of_low = 0 - of_low;
      of_high = ~of_high + (of_low == 0 ? 1 : 0);
    }
    low_sums[i] = low[i] + of_low;
    high_sums[i] = high[i] + of_high + (low_sums[i] < of_low ? 1 : 0);
    if (((high[i] ^ high_sums[i]) & (of_high ^ high_sums[i])) >> 63 != 0) return terms_refused;
  }
  std::memcpy(low, low_sums.data(), sizeof low_sums);
  std::memcpy(high, high_sums.data(), sizeof high_sums);
  return terms_added;
}

order::Count round_one_by_one(std::uint64_t head, const std::byte* from, order::Count groups, int unit,
                              std::byte* doubles) noexcept {
  GroupWords words;
  EachColumn<std::uint64_t> results;
  for (order::Count group = 0; group < groups; ++group) {
    std::memcpy(&words, from + group * sizeof words, sizeof words);
    if (words.head != head || !words.is_settled()) return group;
    for (std::size_t i = 0; i < most_columns; ++i) results[i] = rounded_double(words.low[i], words.high[i], unit);
    std::memcpy(doubles + group * sizeof results, results.data(), sizeof results);
  }
  return groups;
}

}  // namespace
}  // namespace steadfold::kernels
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

/// Collects the bits that tell whether a group is settled, from all of its columns.
template <class V>
HWY_INLINE V beyond_of(V low, V high) {
  return hn::Xor(high, sign_of(low));
}
template <class V>
HWY_INLINE bool is_settled(V lowest, V beyond) {
  const Words d;
  const V zero = hn::Zero(d);
  return !hn::AllTrue(d, hn::Eq(hn::And(lowest, hn::Set(d, below_the_next_unit)), zero)) &&
         !hn::AllTrue(d, hn::Eq(beyond, zero));
}

HWY_INLINE const std::uint64_t* low_words(const std::byte* group) {
  return reinterpret_cast<const std::uint64_t*>(group + sizeof(std::uint64_t));
}

order::Count merge(std::uint64_t head, const std::byte* left, const std::byte* right, order::Count groups,
                   std::byte* out) noexcept {
  const Words d;
  using V = hn::Vec<Words>;
  const std::size_t lanes = hn::Lanes(d);
  for (order::Count group = 0; group < groups; ++group) {
    if (head_at(left) != head || head_at(right) != head) return group;
    const std::uint64_t* const a = low_words(left);
    const std::uint64_t* const b = low_words(right);
    auto* const to = reinterpret_cast<std::uint64_t*>(out + sizeof head);
    V lowest_of_a = hn::Zero(d), lowest_of_b = lowest_of_a, lowest_of_sum = lowest_of_a;
    V beyond_of_a = lowest_of_a, beyond_of_b = lowest_of_a, beyond_of_sum = lowest_of_a;
    V overflow = lowest_of_a;
    for (std::size_t i = 0; i < most_columns; i += lanes) {
      const V low_of_a = hn::LoadU(d, a + i);
      const V low_of_b = hn::LoadU(d, b + i);
      const V high_of_a = hn::LoadU(d, a + most_columns + i);
      const V high_of_b = hn::LoadU(d, b + most_columns + i);
      V low, high;
      overflow = hn::Or(overflow, add_words(low_of_a, high_of_a, low_of_b, high_of_b, low, high));
      lowest_of_a = hn::Or(lowest_of_a, low_of_a);
      lowest_of_b = hn::Or(lowest_of_b, low_of_b);
      lowest_of_sum = hn::Or(lowest_of_sum, low);
      beyond_of_a = hn::Or(beyond_of_a, beyond_of(low_of_a, high_of_a));
      beyond_of_b = hn::Or(beyond_of_b, beyond_of(low_of_b, high_of_b));
      beyond_of_sum = hn::Or(beyond_of_sum, beyond_of(low, high));
      hn::StoreU(low, d, to + i);
      hn::StoreU(high, d, to + most_columns + i);
    }
    const bool has_room = hn::AllTrue(d, hn::Eq(hn::ShiftRight<63>(overflow), hn::Zero(d)));
    if (!has_room || !is_settled(lowest_of_a, beyond_of_a) || !is_settled(lowest_of_b, beyond_of_b) ||
        !is_settled(lowest_of_sum, beyond_of_sum))
      return group;
    std::memcpy(out, &head, sizeof head);
    left += narrow_group_bytes;
    right += narrow_group_bytes;
    out += narrow_group_bytes;
  }
  return groups;
}

/// Adds a row as `add_one_by_one` does, with vectors.
int add(const std::byte* row, std::uint64_t kept_bits, int& lowest, std::uint64_t* low, std::uint64_t* high) noexcept {
  const Words d;
  const hn::RebindToSigned<Words> as_signed;
  using V = hn::Vec<Words>;
  const std::size_t lanes = hn::Lanes(d);
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1);
  const auto* const terms = reinterpret_cast<const std::uint64_t*>(row);
  const V kept = hn::Set(d, kept_bits);
  const auto exponent_in = [&](V bits) HWY_ATTR {
    return hn::And(hn::ShiftRight<fraction_bits_of_doubles>(bits), hn::Set(d, exponent_of_infinity));
  };
  const auto mantissa_in = [&](V bits, V exponent) HWY_ATTR {
    const V implicit = hn::IfThenZeroElse(hn::Eq(exponent, zero), hn::Set(d, fraction_of_doubles + 1));
    return hn::Or(hn::And(bits, hn::Set(d, fraction_of_doubles)), implicit);
  };
  const auto shift_by = [&](V exponent)
                            HWY_ATTR { return hn::IfThenZeroElse(hn::Eq(exponent, zero), hn::Sub(exponent, one)); };
  V all = zero;
  V refused = zero;  // not 0 in lanes whose term is refused
  auto digits = hn::Set(as_signed, no_digit);
  for (std::size_t i = 0; i < most_columns; i += lanes) {
    const V bits = hn::And(hn::LoadU(d, terms + i), kept);
    const V exponent = exponent_in(bits);
    const V is_infinite = hn::VecFromMask(d, hn::Eq(exponent, hn::Set(d, exponent_of_infinity)));
    refused = hn::Or(refused, hn::Or(is_infinite, hn::VecFromMask(d, hn::Eq(bits, hn::Set(d, sign_of_doubles)))));
    const V digit = hn::ShiftRight<5>(shift_by(exponent));
    const V counted =
        hn::IfThenElse(hn::Eq(mantissa_in(bits, exponent), zero), hn::Set(d, std::uint64_t{no_digit}), digit);
    digits = hn::Min(digits, hn::BitCast(as_signed, counted));
    all = hn::Or(all, hn::Or(hn::LoadU(d, low + i), hn::LoadU(d, high + i)));
  }
  if (!hn::AllTrue(d, hn::Eq(refused, zero))) return terms_refused;
  const std::int64_t digit = hn::GetLane(hn::MinOfLanes(as_signed, digits));
  if (digit == no_digit) return terms_added;
  if (hn::AllTrue(d, hn::Eq(all, zero))) lowest = static_cast<int>(digit);
  if (digit < lowest) return static_cast<int>(digit);
  HWY_ALIGN EachColumn<std::uint64_t> low_sums;
  HWY_ALIGN EachColumn<std::uint64_t> high_sums;
  const V unit = hn::Set(d, 32 * static_cast<std::uint64_t>(lowest));
  for (std::size_t i = 0; i < most_columns; i += lanes) {
    const V bits = hn::And(hn::LoadU(d, terms + i), kept);
    const V exponent = exponent_in(bits);
    const V mantissa = mantissa_in(bits, exponent);
    const V shift = hn::IfThenZeroElse(hn::Eq(mantissa, zero), hn::Sub(shift_by(exponent), unit));
    const auto is_far = hn::Lt(hn::Set(d, 63), shift);
    const V by = hn::And(shift, hn::Set(d, 63));
    const V up = hn::Shl(mantissa, by);
    const V over = hn::Shr(hn::ShiftRight<1>(mantissa), hn::Sub(hn::Set(d, 63), by));
    V of_low = hn::IfThenZeroElse(is_far, up);
    V of_high = hn::IfThenElse(is_far, up, over);
    negate_words(sign_of(bits), of_low, of_high);
    V low_sum, high_sum;
    const V overflow = add_words(hn::LoadU(d, low + i), hn::LoadU(d, high + i), of_low, of_high, low_sum, high_sum);
    const V has_no_room = hn::VecFromMask(d, hn::Lt(hn::Set(d, most_shifted), shift));
    refused = hn::Or(refused, hn::Or(has_no_room, hn::ShiftRight<63>(overflow)));
    if (lanes == most_columns) {  // stored without a copy, because loads of the copy would wait for its stores
      if (!hn::AllTrue(d, hn::Eq(refused, zero))) return terms_refused;
      hn::StoreU(low_sum, d, low);
      hn::StoreU(high_sum, d, high);
      return terms_added;
    }
    hn::StoreU(low_sum, d, low_sums.data() + i);
    hn::StoreU(high_sum, d, high_sums.data() + i);
  }
  if (!hn::AllTrue(d, hn::Eq(refused, zero))) return terms_refused;
  std::memcpy(low, low_sums.data(), sizeof low_sums);
  std::memcpy(high, high_sums.data(), sizeof high_sums);
  return terms_added;
}

order::Count round(std::uint64_t head, const std::byte* from, order::Count groups, int unit,
                   std::byte* doubles) noexcept {
  const Words d;
  using V = hn::Vec<Words>;
  const std::size_t lanes = hn::Lanes(d);
  const V first_bit = hn::Set(d, static_cast<std::uint64_t>(unit + bias_of_first_bit));
  for (order::Count group = 0; group < groups; ++group) {
    if (head_at(from) != head) return group;
    const std::uint64_t* const words = low_words(from);
    auto* const to = reinterpret_cast<std::uint64_t*>(doubles);
    V lowest = hn::Zero(d), beyond = lowest;
    for (std::size_t i = 0; i < most_columns; i += lanes) {
      const V low = hn::LoadU(d, words + i);
      const V high = hn::LoadU(d, words + most_columns + i);
      lowest = hn::Or(lowest, low);
      beyond = hn::Or(beyond, beyond_of(low, high));
      hn::StoreU(rounded_doubles(low, high, first_bit), d, to + i);
    }
    if (!is_settled(lowest, beyond)) return group;
    from += narrow_group_bytes;
    doubles += most_columns * sizeof(double);
  }
  return groups;
}

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

AddNarrowTerms add_narrow_terms([[maybe_unused]] Target target) noexcept {
  const AddNarrowTerms own = pick<AddNarrowTerms>(target, STEADFOLD_EACH(add));
  return own == nullptr ? &add_one_by_one : own;
}
MergeNarrowGroups merge_narrow_groups([[maybe_unused]] Target target) noexcept {
  const MergeNarrowGroups own = pick<MergeNarrowGroups>(target, STEADFOLD_EACH(merge));
  return own == nullptr ? &merge_one_by_one : own;
}
RoundNarrowGroups round_narrow_groups([[maybe_unused]] Target target) noexcept {
  const RoundNarrowGroups own = pick<RoundNarrowGroups>(target, STEADFOLD_EACH(round));
  return own == nullptr ? &round_one_by_one : own;
}

}  // namespace steadfold::kernels
#endif
