// Kernels of turn.hpp. The kernels transpose squares of elements in registers. The last elements of a row or a column
// are transposed again, together with some elements before them, to fill a square.
#include "kernels/turn.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/highway.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/turn.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>
#endif

#ifndef STEADFOLD_TURN_REFERENCE  // compiled once, although this file is included again for every target
#define STEADFOLD_TURN_REFERENCE
namespace steadfold::kernels {
namespace {

using order::Count;

template <std::size_t size>
void turn_one_by_one(const Turning& turning) noexcept {
  for (Count row = 0; row < turning.rows; ++row) {
    const std::byte* from = turning.from + static_cast<std::ptrdiff_t>(row) * turning.row_stride;
    std::byte* to = turning.to + row * size;
    for (Count column = 0; column < turning.columns; ++column, from += size, to += turning.column_stride)
      std::memcpy(to, from, size);
  }
}

}  // namespace
}  // namespace steadfold::kernels
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of a fixed width: the width of a square, if the target has vectors of this width.
template <std::size_t size>
using Bits = std::conditional_t<size == 8, std::uint64_t, std::uint32_t>;
#if HWY_MAX_BYTES >= 32 && !HWY_HAVE_SCALABLE
template <std::size_t size>
constexpr std::size_t side = 4;
#else
template <std::size_t size>
constexpr std::size_t side = 16 / size;
#endif
template <std::size_t size>
using D = hn::FixedTag<Bits<size>, side<size>>;

template <std::size_t size>
HWY_INLINE hn::Vec<D<size>> load(const std::byte* from) {
  return hn::LoadU(D<size>(), reinterpret_cast<const Bits<size>*>(from));
}
template <std::size_t size>
HWY_INLINE void store(hn::Vec<D<size>> v, std::byte* to) {
  hn::StoreU(v, D<size>(), reinterpret_cast<Bits<size>*>(to));
}

/// Transposes a square.
template <std::size_t size>
HWY_INLINE void turn_square(const std::byte* from, std::ptrdiff_t row_stride, std::byte* to,
                            std::ptrdiff_t column_stride) {
  const D<size> d;
  const auto a = load<size>(from);
  const auto b = load<size>(from + row_stride);
  if constexpr (side<size> == 2) {
    store<size>(hn::InterleaveLower(d, a, b), to);
    store<size>(hn::InterleaveUpper(d, a, b), to + column_stride);
  } else {
    const auto c = load<size>(from + 2 * row_stride);
    const auto e = load<size>(from + 3 * row_stride);
    const auto put = [&](auto first, auto second, auto third, auto fourth) HWY_ATTR {
      store<size>(first, to);
      store<size>(second, to + column_stride);
      store<size>(third, to + 2 * column_stride);
      store<size>(fourth, to + 3 * column_stride);
    };
    if constexpr (size == 8) {  // vectors have two blocks of 128 bits
      const auto even_ab = hn::InterleaveLower(d, a, b);
      const auto odd_ab = hn::InterleaveUpper(d, a, b);
      const auto even_ce = hn::InterleaveLower(d, c, e);
      const auto odd_ce = hn::InterleaveUpper(d, c, e);
      put(hn::ConcatLowerLower(d, even_ce, even_ab), hn::ConcatLowerLower(d, odd_ce, odd_ab),
          hn::ConcatUpperUpper(d, even_ce, even_ab), hn::ConcatUpperUpper(d, odd_ce, odd_ab));
    } else {
      const hn::RepartitionToWide<D<size>> pairs;
      const auto wide = [&](auto v) HWY_ATTR { return hn::BitCast(pairs, v); };
      const auto low_ab = wide(hn::InterleaveLower(d, a, b));
      const auto high_ab = wide(hn::InterleaveUpper(d, a, b));
      const auto low_ce = wide(hn::InterleaveLower(d, c, e));
      const auto high_ce = wide(hn::InterleaveUpper(d, c, e));
      const auto narrow = [&](auto v) HWY_ATTR { return hn::BitCast(d, v); };
      put(narrow(hn::InterleaveLower(pairs, low_ab, low_ce)), narrow(hn::InterleaveUpper(pairs, low_ab, low_ce)),
          narrow(hn::InterleaveLower(pairs, high_ab, high_ce)), narrow(hn::InterleaveUpper(pairs, high_ab, high_ce)));
    }
  }
}

template <std::size_t size>
void turn_over(const Turning& turning) noexcept {
  constexpr Count across = side<size>;
  constexpr Count down = 64 / size;  // number of rows that fill a cache line of every column
  if (turning.columns < across || turning.rows < across) return turn_one_by_one<size>(turning);
  const auto turn = [&](Count row, Count column) HWY_ATTR {
    turn_square<size>(turning.from + (static_cast<std::ptrdiff_t>(row) * turning.row_stride +
                                      static_cast<std::ptrdiff_t>(column * size)),
                      turning.row_stride,
                      turning.to + (static_cast<std::ptrdiff_t>(column) * turning.column_stride +
                                    static_cast<std::ptrdiff_t>(row * size)),
                      turning.column_stride);
  };
  for (Count row = 0; row < turning.rows; row += down) {
    const Count end = std::min(row + down, turning.rows);
    for (Count next = 0; next < turning.columns; next += across) {
      const Count column = std::min(next, turning.columns - across);
      Count here = row;
      for (; here + across <= end; here += across) turn(here, column);
      if (here < end) turn(end - across, column);
    }
  }
}

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

template <std::size_t size>
TurnOver turn_over([[maybe_unused]] Target target) noexcept {
  const TurnOver own = pick<TurnOver>(target, STEADFOLD_EACH(turn_over<size>));
  return own == nullptr ? &turn_one_by_one<size> : own;
}

template TurnOver turn_over<4>(Target) noexcept;
template TurnOver turn_over<8>(Target) noexcept;

}  // namespace steadfold::kernels
#endif
