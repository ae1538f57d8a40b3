// Rows of one column for the kernels that add them to bins: in place if they are contiguous, otherwise a copy.
// Rank order: none. Cost: for a copy, one pass through the first-level cache.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "arithmetic/binned/record.hpp"
#include "kernels/slices.hpp"

namespace steadfold::arithmetic {

/// Some rows of one column, the kernel that adds them, and the kernel that only finds the largest term.
struct BinnedTile {
  const void* first = nullptr;
  const void* second = nullptr;
  Count count = 0;
  kernels::AddSlices add_slices = nullptr;
  kernels::AddSlices largest = nullptr;
};

/// Copies elements that are not contiguous, or that include infinities and NaNs. Products become their terms. There may
/// be one builder per column, so all builders of a thread share the memory of the copy. The next copy of any builder
/// overwrites this copy.
class BinnedCopy {
 public:
  static constexpr Count capacity = 512;

  explicit BinnedCopy(const binned_record::BinnedShape& shape) noexcept
      : add_slices_(kernels::add_slices<double>(kernels::chosen(), form_of(shape), shape.bin_count)),
        largest_(kernels::add_slices<double>(kernels::chosen(), form_of(shape), 0)) {}

  template <class Element>
  BinnedTile of(const std::byte* first, const std::byte* second, Count count, Bytes stride) noexcept {
    for (Count i = 0; i < count; ++i) values_[i] = load<Element>(first + i * stride);
    if (second != nullptr)
      for (Count i = 0; i < count; ++i) values_[i] *= load<Element>(second + i * stride);
    return {.first = values_.data(), .count = count, .add_slices = add_slices_, .largest = largest_};
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
  kernels::AddSlices add_slices_;
  kernels::AddSlices largest_;
};

/// Removes infinities and NaNs from `values`, and returns their flags. If the terms are squares, an infinity counts as
/// positive.
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
