// A long fixed-point accumulator: sums of floats, doubles or their products without error, rounded once at the end.
// Rank order: irrelevant, because the order of the additions of integers changes no sum. Cost: 2 word updates per term
// (4 for products of doubles); a few vector additions for contiguous terms whose exponents are close to each other
// (exponent_range_finder.hpp).
// Source: Kulisch's long accumulator in carry-save digits. Extraction needs the promised floating-point environment;
// digits work in any.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "arithmetic/partial.hpp"
#include "arithmetic/superaccumulator/exponent_range_finder.hpp"
#include "arithmetic/superaccumulator/long_integer.hpp"
#include "kernels/digits.hpp"

namespace steadfold::arithmetic {

/// The number of rows from which kernels are used. Fewer rows are added one by one with integers, which is as fast.
inline constexpr Count fewest_for_kernels = 32;

/// Whether terms keep their signs.
enum class Signs : bool { kept, dropped };

/// The sum of at most 2^63 terms. Terms are elements (factors = 1), whose signs may be dropped, or products of two
/// elements (factors = 2). Does not allocate.
template <class Element, int factors>
class Accumulator {
  using F = Format<Element>;
  using Bits = typename F::Bits;

 public:
  static constexpr int lowest_exponent = factors * F::lowest_exponent;
  static constexpr int digit_count = digits_needed<Element, factors>;

  /// Returns the kernels' name of the terms.
  static constexpr kernels::ExtractedTerms terms_of(Signs signs) noexcept {
    if constexpr (factors == 2)
      return sizeof(Element) == 8 ? kernels::ExtractedTerms::products_of_doubles
                                  : kernels::ExtractedTerms::products_of_floats;
    if (signs == Signs::dropped)
      return sizeof(Element) == 8 ? kernels::ExtractedTerms::absolute_doubles
                                  : kernels::ExtractedTerms::absolute_floats;
    return sizeof(Element) == 8 ? kernels::ExtractedTerms::doubles : kernels::ExtractedTerms::floats;
  }

  /// Makes an empty accumulator that uses the kernels of `target`. The target `scalar` adds terms one by one, which is
  /// the reference.
  explicit Accumulator(kernels::Target target = kernels::chosen(), Signs signs = Signs::kept) noexcept
      : kept_bits_(signs == Signs::kept ? ~Bits{0} : ~F::sign_bit),
        finder_(terms_of(signs), target),
        cut_into_digits_(signs == Signs::kept ? kernels::cut_into_digits(target) : nullptr) {}

  /// Sets the sum to 0. Cost: that of the digits that have changed since the last clear.
  void clear() noexcept;

  /// Adds `rows` elements, `stride` bytes apart (aligned or not), or their products with the elements of `second`,
  /// which may be `first`.
  void add_rows(const std::byte* first, const std::byte* second, Count rows, Bytes stride) noexcept;

  /// Sums contiguous rows; nothing may have been added since the last clear. If one exponent range holds them, notes
  /// their number and flags, writes their sum and returns true: no digits need be added and read. Otherwise adds them
  /// and returns false.
  bool sum_or_add(const std::byte* first, const std::byte* second, Count rows, Leading& sum) noexcept;

  /// Adds the sums that an extraction found for rows of this column, `stride` bytes apart.
  void add_sums(const ExtractedSums& sums, const std::byte* first, const std::byte* second, Bytes stride) noexcept;

  /// Adds the integer of a digit range in units of 2^lowest_exponent, or subtracts it, and unites the flags of
  /// infinities and NaNs. The digit range and the sum must end within `digit_count`. Counts no rows.
  void add_digit_range(const DigitRange& range, Flags special, bool subtract) noexcept;

  /// Adds value 2^exponent, a multiple of 2^lowest_exponent that is no larger than a term may be. Counts no rows.
  void add_scaled(std::int64_t value, int exponent) noexcept;

  Count rows() const noexcept { return rows_; }
  /// Whether the highest digit certainly has only the sign. The word at `high_` may extend over two digits.
  bool far_from_top() const noexcept { return low_ > high_ || high_ + 2 < digit_count; }
  Flags special() const noexcept { return static_cast<Flags>(special_); }
  Flags flags() const noexcept { return static_cast<Flags>(special_ | (other_ != 0 ? not_minus_zero : no_flags)); }
  void digit_range(DigitRange& range) const noexcept {
    if (low_ > high_) return make_digit_range({}, 0, range);
    make_digit_range(std::span(words_).subspan(low_, high_ - low_ + 1), static_cast<int>(low_), range);
  }

  Leading leading() const noexcept {
    DigitRange digits;
    digit_range(digits);
    return arithmetic::leading(digits, lowest_exponent);
  }

  template <class Result>
  Result rounded() const noexcept {
    return arithmetic::rounded<Result>(flags(), rows_, leading());
  }
  template <class Result>
  Result rounded_root() const noexcept {
    return arithmetic::rounded_root<Result>(flags(), rows_, leading());
  }
  template <class Result>
  Result rounded_mean() const noexcept {
    return arithmetic::rounded_mean<Result>(flags(), rows_, leading());
  }

 private:
  void add_contiguous(const std::byte* first, const std::byte* second, Count rows, ExtractedSums sums) noexcept;
  void add_one_by_one(const std::byte* first, const std::byte* second, Count rows, Bytes stride) noexcept;
  void add_block(const std::byte* first, const std::byte* second, Count rows) noexcept;
  void add_digits(const kernels::Digits& digits, Count count) noexcept;
  void add_scaled(const ExtractedSums& sums) noexcept;
  void note_signs(const std::byte* first, const std::byte* second, Count rows, Bytes stride) noexcept;
  void add_some(const std::byte* first, const std::byte* second, Count rows, Bytes stride) noexcept;
  void add_special(Bits x, Bits y) noexcept;
  void carry() noexcept;

  std::array<std::int64_t, digit_count> words_{};
  unsigned low_ = digit_count;  // number of the lowest word in use; words outside low_..high_ are 0
  unsigned high_ = 0;
  Count pending_ = 0;  // number of terms since the last carry
  Count rows_ = 0;
  std::uint64_t other_ = 0;  // not 0 if some term was not -0.0
  std::uint8_t special_ = no_flags;
  Bits kept_bits_;  // mask of the bits of an element that are kept
  ExponentRangeFinder finder_;
  kernels::CutIntoDigits cut_into_digits_;
};

extern template class Accumulator<float, 1>;
extern template class Accumulator<float, 2>;
extern template class Accumulator<double, 1>;
extern template class Accumulator<double, 2>;

}  // namespace steadfold::arithmetic
