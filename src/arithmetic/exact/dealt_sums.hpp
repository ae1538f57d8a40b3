// Exact sums of many columns, whose elements come in any order. Each column has an integer of two words, with a
// separate unit. Bits without room are set aside: smaller terms, or the low bits of the integer when a much larger term
// comes. So the integer has the leading bits, and mostly decides to which number the sum is rounded. Otherwise the
// terms set aside are sorted by column and added to accumulators. Products of doubles are cut into a high and a low
// word of at most 53 bits, which have an integer each.
// Rank order: none. Cost: 24 bytes per column, 48 for products of doubles; some twenty instructions per term, and about
// fifty, and 16 bytes, for a term that is set aside.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "arithmetic/exact/ending.hpp"
#include "arithmetic/exact/record.hpp"
#include "arithmetic/rows/dealt_builder.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"

namespace steadfold::arithmetic {

/// Terms are doubles; floats, which become doubles first; products of floats, which are doubles (factors = 2); or
/// products of doubles. One thread at a time.
template <class Element, int factors>
class DealtSums {
  using Wide = Accumulator<Element, factors>;
  static constexpr bool are_cut = factors == 2 && sizeof(Element) == sizeof(double);
  static constexpr std::size_t parts = are_cut ? 2 : 1;
  static constexpr bool are_rounded_products = factors == 2 && !are_cut;

 public:
  using Term = std::conditional_t<are_cut, Factors, std::conditional_t<are_rounded_products, double, Element>>;
  static constexpr Bytes bytes_per_column = 24 * parts;

  DealtSums(Count columns, const Ending& ending) : ending_(ending), sums_(columns) {}

  Count count() const noexcept { return sums_.size(); }
  void clear() noexcept;
  /// Adds contiguous terms, each to its column.
  void add(std::span<const std::uint32_t> columns, const std::byte* terms);
  Bytes write(Count rows, std::span<std::byte> out);
  void finish(std::byte* values);

 private:
  static constexpr auto none = std::numeric_limits<std::uint32_t>::max();
  // Value of `unit` if the sum has no unit; it is far above all exponents.
  static constexpr std::uint16_t no_unit = 0xFFFF;
  // Value of `aside` if more terms were set aside than it can count.
  static constexpr std::uint16_t most_counted = 0xFFFF;

  // Units: the exponent of unit 0. A double with the biased exponent `unit` has this unit in the last place, and so has
  // the low word of a product whose factors have this sum of biased exponents.
  static constexpr int exponent_of_unit = static_cast<int>(parts) * (Format<double>::lowest_exponent - 1);
  static constexpr unsigned most_shift = 126 - Format<double>::precision;  // a shifted word has at most 126 bits
  /// The largest unit. All finite terms fit it; infinities and NaNs do not.
  static constexpr int highest_unit =
      (are_cut ? 2 * 2046 + Format<double>::precision : 2046) - static_cast<int>(most_shift);

  /// The sum is value() 2^(unit + exponent_of_unit).
  struct SmallSum {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint16_t unit = no_unit;
    std::uint16_t aside = 0;      // the number of terms set aside, or `most_counted`
    std::uint16_t aside_end = 0;  // their magnitudes are below 2^(aside_end + exponent_of_unit)
    bool has_terms = false;       // whether the integer has terms
    std::uint8_t flags = no_flags;

    Int128 value() const noexcept { return static_cast<Int128>(Uint128{high} << 64 | low); }
    void put(Int128 value) noexcept {
      low = static_cast<std::uint64_t>(value);
      high = static_cast<std::uint64_t>(static_cast<Uint128>(value) >> 64);
    }
    Flags all_flags() const noexcept {
      return static_cast<Flags>((flags & ~has_minus_zero) | (has_terms ? not_minus_zero : no_flags));
    }
    /// The magnitude of the sum of the terms set aside is below 2^(end_of_aside() + exponent_of_unit).
    int end_of_aside() const noexcept {
      constexpr int most_bits = 64;  // bits of any number of terms
      return aside_end + (aside == most_counted ? most_bits : static_cast<int>(std::bit_width(aside)));
    }
    bool add(int exponent, std::uint64_t magnitude, std::int64_t sign) noexcept;
    bool change_unit(int exponent) noexcept;
  };
  using ColumnSum = std::array<SmallSum, parts>;  // products of doubles: the high words, the low words
  static_assert(sizeof(ColumnSum) == bytes_per_column);
  /// value 2^(unit + exponent_of_unit)
  struct Aside {
    std::int64_t value;
    std::int32_t unit;
    std::uint32_t column;
  };
  /// Terms in blocks, which are not copied when more terms come. Keeps its memory.
  class AsideTerms {
   public:
    std::size_t size() const noexcept { return used_ * in_block - static_cast<std::size_t>(end_ - next_); }
    void clear() noexcept {
      used_ = 0;
      next_ = end_ = nullptr;
    }
    void add(const Aside& term) {
      if (next_ == end_) begin_block();
      *next_++ = term;
    }
    template <class Visit>
    void for_each(const Visit& visit) const {
      for (std::size_t begin = 0; begin < size(); begin += in_block)
        std::ranges::for_each(std::span(blocks_[begin / in_block].get(), std::min(in_block, size() - begin)), visit);
    }

   private:
    static constexpr std::size_t in_block = 4096;

    void begin_block() {
      if (used_ == blocks_.size()) blocks_.push_back(std::make_unique_for_overwrite<Aside[]>(in_block));
      next_ = blocks_[used_++].get();
      end_ = next_ + in_block;
    }

    std::vector<std::unique_ptr<Aside[]>> blocks_;
    std::size_t used_ = 0;  // blocks
    Aside* next_ = nullptr;
    Aside* end_ = nullptr;
  };
  /// Terms sorted by column.
  struct Sorted {
    std::vector<Aside> terms;
    std::vector<std::uint32_t> ends;  // end of each column's terms

    Sorted(const AsideTerms& aside, std::size_t columns);
    std::span<const Aside> of(std::size_t column) const noexcept {
      if (terms.empty()) return {};
      const std::size_t begin = column == 0 ? 0 : ends[column - 1];
      return std::span(terms).subspan(begin, ends[column] - begin);
    }
  };

  void begin_with_units(std::span<const std::byte> terms) noexcept;
  /// When this number of terms is set aside, they are added to accumulators, which take about as much memory as these
  /// terms. The number fits in 32 bits.
  std::size_t most_aside() const noexcept { return std::clamp<std::size_t>(32 * sums_.size(), 1U << 20, 1U << 31); }
  /// The accumulators of few columns stay in the second-level cache: terms are added to them at once.
  static constexpr std::size_t few_columns = 2048;
  void add_term(ColumnSum& sum, double term);
  void add_term(ColumnSum& sum, const Factors& term);
  void add_special(ColumnSum& sum, const Factors& term);
  void add_product(ColumnSum& sum, int exponent, Uint128 magnitude, std::int64_t sign);
  void add_far(SmallSum& sum, int exponent, std::int64_t word);
  void set_aside(SmallSum& sum, std::int64_t value, int unit, int end);
  void make_room_above(SmallSum& sum, int exponent);
  void add_to_accumulators();
  Wide* wide_of(std::size_t column) noexcept;
  Wide& wide_for(std::size_t column);
  void write_value(const SmallSum& sum, Int128 value, std::byte* out) const noexcept;
  bool is_written_at_once(const ColumnSum& sum, std::byte* out) const noexcept;
  bool read_narrow(std::span<const ColumnSum> sums, NarrowGroup& group) const noexcept;
  void digit_range(std::size_t column, const Sorted& sorted, DigitRange& range) noexcept;
  void digit_range_of_all(std::size_t column, std::span<const Aside> aside, DigitRange& range) noexcept;

  Ending ending_;
  std::vector<ColumnSum> sums_;
  ColumnSum clear_{};  // a column without terms, with the units with which sums begin
  AsideTerms aside_;
  std::deque<Wide> wides_;
  std::uint32_t wides_in_use_ = 0;
  std::vector<std::uint32_t> wide_of_column_;  // indices of accumulators; empty while none is in use
  Wide few_;                                   // for columns without an accumulator
};

extern template class DealtSums<float, 1>;
extern template class DealtSums<float, 2>;
extern template class DealtSums<double, 1>;
extern template class DealtSums<double, 2>;

}  // namespace steadfold::arithmetic
