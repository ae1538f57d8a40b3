// Rows of one column as kernels add them to bins: where they stand if they touch, else a copy of them.
// Rank order: none. Cost: of a copy, one pass through the first-level cache.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "arithmetic/binned/record.hpp"
#include "kernels/shares.hpp"

namespace steadfold::arithmetic {

/// Some rows of one column, the kernel that adds them, and the one that only finds the largest.
struct BinnedTile {
  const void* first = nullptr;
  const void* second = nullptr;
  Count count = 0;
  kernels::Shares shares = nullptr;
  kernels::Shares largest = nullptr;
};

/// Copies elements that are not contiguous, or have infinities and NaNs among them; products become their terms. All
/// copies of a thread stand in the same memory, since there may be a builder for each of many columns: the next copy of
/// any builder ends the one before.
class BinnedCopy {
 public:
  static constexpr Count capacity = 512;

  explicit BinnedCopy(const binned_record::BinnedShape& shape) noexcept
      : shares_(kernels::shares<double>(kernels::chosen(), form_of(shape), shape.bin_count)),
        largest_(kernels::shares<double>(kernels::chosen(), form_of(shape), 0)) {}

  template <class Element>
  BinnedTile of(const std::byte* first, const std::byte* second, Count count, Bytes stride) noexcept {
    for (Count i = 0; i < count; ++i) values_[i] = load<Element>(first + i * stride);
    if (second != nullptr)
      for (Count i = 0; i < count; ++i) values_[i] *= load<Element>(second + i * stride);
    return {.first = values_.data(), .count = count, .shares = shares_, .largest = largest_};
  }

  std::span<double> values(Count count) noexcept { return std::span(values_).first(count); }

 private:
  template <class Element>
  static double load(const std::byte* at) noexcept {
    Element x;
    std::memcpy(&x, at, sizeof x);
    return static_cast<double>(x);
  }
  static kernels::TermForm form_of(const binned_record::BinnedShape& shape) noexcept {
    return shape.grid.squares() ? kernels::TermForm::square : kernels::TermForm::element;
  }

  static inline constinit thread_local std::array<double, capacity> values_{};
  kernels::Shares shares_;
  kernels::Shares largest_;
};

/// Takes infinities and NaNs away; returns their flags. Squares are of one sign.
inline std::uint8_t set_aside_specials(const binned_record::BinnedShape& shape, std::span<double> values) noexcept {
  unsigned flags = no_flags;
  for (double& value : values) {
    if (std::isfinite(value)) continue;
    const bool is_plus = value > 0 || shape.grid.squares();
    flags |= std::isnan(value) ? has_nan : is_plus ? has_plus_infinity : has_minus_infinity;
    value = 0;
  }
  return static_cast<std::uint8_t>(flags);
}

inline bool all_minus_zero(std::span<const double> values) noexcept {
  return std::ranges::all_of(values, [](double value) { return value == 0 && std::signbit(value); });
}

}  // namespace steadfold::arithmetic
