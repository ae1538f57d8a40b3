// Kernels of binned_groups.hpp. Each lane of a vector has one column. The tops and the flags of a group are compared as
// the bytes of one word.
#include "kernels/binned_groups.hpp"

#include <cstring>

#include "kernels/highway.hpp"
#include "kernels/pre_rounding.hpp"
#include "kernels/rounded_double.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/binned_groups.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>

#include "kernels/moved_bins.hpp"
#include "kernels/two_words.hpp"
#endif

#ifndef STEADFOLD_BINNED_GROUPS_BYTES  // compiled once, although this file is included again for every target
#define STEADFOLD_BINNED_GROUPS_BYTES
namespace steadfold::kernels {
namespace {

constexpr std::uint64_t highest_bits = 0x8080808080808080;

constexpr std::uint64_t in_every_byte(std::uint8_t value) noexcept { return value * std::uint64_t{0x0101010101010101}; }

/// Returns a word with the highest bit set in each byte in which the byte of a is at least the byte of b. All bytes are
/// below 128.
constexpr std::uint64_t at_least(std::uint64_t a, std::uint64_t b) noexcept {
  return ((a | highest_bits) - b) & highest_bits;
}

/// Returns the maximum of each pair of bytes. All bytes are below 128.
constexpr std::uint64_t higher_of(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t of_a = (at_least(a, b) >> 7) * 0xFF;
  return (a & of_a) | (b & ~of_a);
}

/// The tops and the flags of a group.
struct EachTopAndFlags {
  std::uint64_t tops;
  std::uint64_t flags;

  EachTopAndFlags(const std::byte* group, int bin_count) noexcept {
    const std::byte* const end = group + binned_group_bytes(bin_count);
    std::memcpy(&tops, end - sizeof tops - sizeof flags, sizeof tops);
    std::memcpy(&flags, end - sizeof flags, sizeof flags);
  }
  void write(std::byte* group, int bin_count) const noexcept {
    std::byte* const end = group + binned_group_bytes(bin_count);
    std::memcpy(end - sizeof tops - sizeof flags, &tops, sizeof tops);
    std::memcpy(end - sizeof flags, &flags, sizeof flags);
  }
  bool have_tops_within(const BinnedBounds& bounds) const noexcept {
    return (tops & highest_bits) == 0 && at_least(tops, in_every_byte(bounds.lowest_top)) == highest_bits &&
           at_least(in_every_byte(bounds.highest_top), tops) == highest_bits;
  }
};

}  // namespace
}  // namespace steadfold::kernels
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

HWY_INLINE auto sums_of(const std::byte* group) { return reinterpret_cast<const std::uint64_t*>(group); }

/// Returns the bytes of a word, one per lane.
HWY_INLINE hn::Vec<Words> lanes_of(std::uint64_t bytes, std::size_t first) {
  std::uint8_t each[most_columns];
  std::memcpy(each, &bytes, sizeof each);
  return widened(each + first);
}

/// Returns a value that is not zero in lanes whose sum is not between -most and most.
template <class V>
HWY_INLINE V beyond(V sum, std::uint64_t most) {
  const Words d;
  return hn::And(hn::Add(sum, hn::Set(d, most)), hn::Set(d, ~(2 * most - 1)));
}

template <int bin>
HWY_INLINE void add_moved(const std::uint64_t* a, hn::Vec<Words> by_of_a, const std::uint64_t* b,
                          hn::Vec<Words> by_of_b, std::uint64_t* to) {
  const Words d;
  hn::StoreU(hn::Add(moved<bin>(Words(), a, by_of_a), moved<bin>(Words(), b, by_of_b)), d, to + bin * most_columns);
}

/// Adds groups in which the bin ranges of some columns differ.
template <int bin_count>
HWY_INLINE void add_bin_ranges(const std::uint64_t* a, std::uint64_t tops_of_a, const std::uint64_t* b,
                               std::uint64_t tops_of_b, std::uint64_t tops, std::uint64_t* to) {
  const std::size_t lanes = hn::Lanes(Words());
  for (std::size_t i = 0; i < most_columns; i += lanes) {
    const auto by_of_a = lanes_of(tops - tops_of_a, i);
    const auto by_of_b = lanes_of(tops - tops_of_b, i);
    add_moved<0>(a + i, by_of_a, b + i, by_of_b, to + i);
    add_moved<1>(a + i, by_of_a, b + i, by_of_b, to + i);
    if constexpr (bin_count > 2) add_moved<2>(a + i, by_of_a, b + i, by_of_b, to + i);
    if constexpr (bin_count > 3) add_moved<3>(a + i, by_of_a, b + i, by_of_b, to + i);
  }
}

template <int bin_count>
order::Count merge(const BinnedBounds& bounds, const std::byte* left, std::uint64_t most_of_left,
                   const std::byte* right, std::uint64_t most_of_right, order::Count groups, std::byte* out) noexcept {
  const Words d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t word_count = bin_count * most_columns;
  const std::uint64_t unknown_flags = in_every_byte(static_cast<std::uint8_t>(~bounds.flags));
  for (order::Count group = 0; group < groups; ++group) {
    const EachTopAndFlags of_left(left, bin_count);
    const EachTopAndFlags of_right(right, bin_count);
    EachTopAndFlags sum = of_left;
    sum.flags |= of_right.flags;
    if (!of_left.have_tops_within(bounds) || !of_right.have_tops_within(bounds) || (sum.flags & unknown_flags) != 0)
      return group;
    const std::uint64_t* const a = sums_of(left);
    const std::uint64_t* const b = sums_of(right);
    auto* const to = reinterpret_cast<std::uint64_t*>(out);
    auto all = hn::Zero(d);
    for (std::size_t i = 0; i < word_count; i += lanes) {
      const auto of_a = hn::LoadU(d, a + i);
      const auto of_b = hn::LoadU(d, b + i);
      all = hn::Or(all, hn::Or(beyond(of_a, most_of_left), beyond(of_b, most_of_right)));
      hn::StoreU(hn::Add(of_a, of_b), d, to + i);
    }
    if (!hn::AllTrue(d, hn::Eq(all, hn::Zero(d)))) return group;
    if (of_left.tops != of_right.tops) {
      sum.tops = higher_of(of_left.tops, of_right.tops);
      add_bin_ranges<bin_count>(a, of_left.tops, b, of_right.tops, sum.tops, to);
    }
    sum.write(out, bin_count);
    left += binned_group_bytes(bin_count);
    right += binned_group_bytes(bin_count);
    out += binned_group_bytes(bin_count);
  }
  return groups;
}

template <int bin_count>
order::Count round(const BinnedBounds& bounds, const std::byte* from, std::uint64_t most, order::Count groups,
                   int unit_below_top_0, std::byte* doubles) noexcept {
  const Words d;
  const hn::RebindToSigned<Words> as_signed;
  const std::size_t lanes = hn::Lanes(d);
  const auto first_bit = hn::Set(d, static_cast<std::uint64_t>(std::int64_t{unit_below_top_0} + bias_of_first_bit));
  for (order::Count group = 0; group < groups; ++group) {
    const EachTopAndFlags of_group(from, bin_count);
    if (of_group.flags != in_every_byte(bounds.flags_of_rounded) || !of_group.have_tops_within(bounds)) return group;
    const std::uint64_t* const sums = sums_of(from);
    auto* const to = reinterpret_cast<std::uint64_t*>(doubles);
    auto all = hn::Zero(d);
    for (std::size_t i = 0; i < most_columns; i += lanes) {
      const auto top = hn::LoadU(d, sums + i);
      const auto next = hn::LoadU(d, sums + most_columns + i);
      all = hn::Or(all, hn::Or(beyond(top, most_of_rounded_top), hn::Or(beyond(top, most), beyond(next, most))));
      // The top bin's sum is shifted by the widths of two bins, or of one; the next bin's sum by one, or not at all.
      auto low = hn::ShiftLeft<pre_rounding_width>(bin_count == 2 ? top : next);
      auto high =
          hn::BitCast(d, hn::ShiftRight<64 - pre_rounding_width>(hn::BitCast(as_signed, bin_count == 2 ? top : next)));
      auto lowest = next;
      if constexpr (bin_count == 3) {
        lowest = hn::LoadU(d, sums + 2 * most_columns + i);
        all = hn::Or(all, beyond(lowest, most));
        high = hn::Add(high, hn::ShiftLeft<2 * pre_rounding_width - 64>(top));
      }
      hn::Vec<Words> low_sum, high_sum;
      add_words(low, high, lowest, sign_of(lowest), low_sum, high_sum);
      const auto tops = lanes_of(of_group.tops, i);
      const auto is_below = hn::Lt(tops, hn::Set(d, bounds.lowest_normal));
      const auto is_above = hn::Gt(tops, hn::Set(d, bounds.highest_normal));
      all = hn::Or(all, hn::IfThenElseZero(hn::Or(is_below, is_above), hn::Or(low_sum, high_sum)));
      hn::StoreU(rounded_doubles(low_sum, high_sum, hn::Add(first_bit, binades_of(tops))), d, to + i);
    }
    if (!hn::AllTrue(d, hn::Eq(all, hn::Zero(d)))) return group;
    from += binned_group_bytes(bin_count);
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

MergeBinnedGroups merge_binned_groups([[maybe_unused]] Target target, int bin_count) noexcept {
  switch (bin_count) {
    case 2: return pick<MergeBinnedGroups>(target, STEADFOLD_EACH(merge<2>));
    case 3: return pick<MergeBinnedGroups>(target, STEADFOLD_EACH(merge<3>));
    case 4: return pick<MergeBinnedGroups>(target, STEADFOLD_EACH(merge<4>));
    default: return nullptr;
  }
}
RoundBinnedGroups round_binned_groups([[maybe_unused]] Target target, int bin_count) noexcept {
  switch (bin_count) {
    case 2: return pick<RoundBinnedGroups>(target, STEADFOLD_EACH(round<2>));
    case 3: return pick<RoundBinnedGroups>(target, STEADFOLD_EACH(round<3>));
    default: return nullptr;
  }
}

}  // namespace steadfold::kernels
#endif
