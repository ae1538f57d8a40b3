// The least or the greatest of some elements, with the lowest index at which it occurs.
// Rank order: irrelevant. Cost: a fold of every tile; a tile with a better element is read a second time.
// Source: IEEE 754-2019, section 9.6: the result is NaN if an element is NaN, and -0 is less than +0.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

struct NoPadding {};

/// The index in the result if no element was selected.
inline constexpr Index no_index = ~Index{0};

/// A value and its index, without undefined bytes. So pairs with equal values and indices have equal bytes.
template <class T>
struct Located {
  T value{};
  [[no_unique_address]] std::conditional_t<sizeof(T) == 4, std::uint32_t, NoPadding> padding{};
  Index index = no_index;

  bool is_none() const noexcept { return index == no_index; }
};
static_assert(sizeof(Located<double>) == 16 && sizeof(Located<float>) == 16);

/// Whether the value `a` is chosen over the value `b` if `a` has the lower index. If `a` has the higher index, this
/// holds unless the two are equal.
template <class T, bool least>
bool wins(T a, T b) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a);
    if (a == b) return least ? std::signbit(a) || !std::signbit(b) : !std::signbit(a) || std::signbit(b);
  }
  return least ? a <= b : a >= b;
}

template <class T, bool least>
Located<T> winner(const Located<T>& a, const Located<T>& b) noexcept {
  const bool a_is_first = a.index < b.index;  // no_index is above all indices
  const Located<T>& first = a_is_first ? a : b;
  const Located<T>& later = a_is_first ? b : a;
  return later.is_none() || wins<T, least>(first.value, later.value) ? first : later;
}

/// A NaN is the canonical quiet NaN.
template <class T>
T canonical(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return std::numeric_limits<T>::quiet_NaN();
  }
  return value;
}

/// The least and the greatest of some elements.
struct Extremes {
  Located<double> min;
  Located<double> max;

  void take(const Located<double>& element) noexcept {
    min = winner<double, true>(min, element);
    max = winner<double, false>(max, element);
  }
};
inline Extremes merged(const Extremes& a, const Extremes& b) noexcept {
  return {winner<double, true>(a.min, b.min), winner<double, false>(a.max, b.max)};
}

template <class T>
constexpr Type number_type() noexcept {
  if constexpr (std::is_same_v<T, double>) return Type::f64;
  if constexpr (std::is_same_v<T, float>) return Type::f32;
  if constexpr (std::is_same_v<T, std::int32_t>) return Type::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Type::i64;
  return std::is_same_v<T, std::uint32_t> ? Type::u32 : Type::u64;
}

/// Searches one column for its least or its greatest element.
template <class T, bool least>
class Extreme {
 public:
  void clear() noexcept { best_ = {}; }
  const Located<T>& best() const noexcept { return best_; }

  /// Searches the elements begin, begin + 1, ... of the whole job that `mask` selects. The elements are `stride` bytes
  /// apart. `mask` may be null.
  void take(Index begin, const std::byte* first, const std::byte* mask, Count rows, Bytes stride) {
    for (Count done = 0, some = 0; done < rows; done += some) {
      some = std::min(rows - done, tile);
      take_tile(begin + done, first + done * stride, mask == nullptr ? nullptr : mask + done, some, stride);
    }
  }

 private:
  static constexpr Count tile = 512;
  static constexpr T loser = std::is_floating_point_v<T>
                                 ? (least ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity())
                                 : (least ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest());

  void take_tile(Index begin, const std::byte* first, const std::byte* mask, Count rows, Bytes stride) {
    std::array<T, tile> copy;
    if (mask != nullptr || stride != sizeof(T)) {
      for (Count i = 0; i < rows; ++i) std::memcpy(&copy[i], first + i * stride, sizeof(T));
      if (mask != nullptr) {
        if (std::all_of(mask, mask + rows, [](std::byte each) { return each == std::byte{0}; })) return;
        for (Count i = 0; i < rows; ++i) copy[i] = mask[i] == std::byte{0} ? loser : copy[i];
      }
      first = reinterpret_cast<const std::byte*>(copy.data());
    }
    T found;
    built_in(least ? Operation::min : Operation::max, number_type<T>()).fold_left(first, rows, &found);
    // The usual case: no element of the tile is better.
    if (best_.index < begin && wins<T, least>(best_.value, found)) return;
    Count at = 0;
    while (!is_it(first + at * sizeof(T), found) || (mask != nullptr && mask[at] == std::byte{0})) ++at;
    best_ = winner<T, least>(best_, {.value = canonical(found), .index = begin + at});
  }

  static bool is_it(const std::byte* element, T found) noexcept {
    T value;
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(found)) return std::isnan(value);
      return value == found && std::signbit(value) == std::signbit(found);
    }
    return value == found;
  }

  Located<T> best_;
};

}  // namespace steadfold::arithmetic
