// Exact sums of many columns, whose elements come in any order. Each column has an integer of two words, with a
// separate unit. Terms that do not fit this integer are stored in a list, and later sorted by column and added to
// accumulators.
// Rank order: none. Cost: 24 bytes per column; some twenty instructions per term, and a hundred for a term in the list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "arithmetic/exact/ending.hpp"
#include "arithmetic/exact/record.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"

namespace steadfold::arithmetic {

/// Exact sums of many columns. Terms are doubles, or floats, which are first converted to doubles. Use the object from
/// one thread at a time.
template <class Element>
class DealtSums {
  using Wide = Accumulator<Element, 1>;

 public:
  using Term = Element;
  static constexpr Bytes bytes_per_column = 24;

  DealtSums(Count columns, const Ending& ending) : ending_(ending), sums_(columns) {}

  Count count() const noexcept { return sums_.size(); }
  void clear() noexcept;
  /// Adds contiguous elements, each to its column.
  void add(std::span<const std::uint32_t> columns, const std::byte* elements);
  Bytes write(Count rows, std::span<std::byte> out);
  void finish(std::byte* values);

 private:
  static constexpr auto none = std::numeric_limits<std::uint32_t>::max();
  static constexpr auto only_aside = none - 1;
  // Value of `unit` if the sum has no unit; it is far above all exponents.
  static constexpr std::uint16_t no_unit = 0xFFFF;

  /// The sum of one column: value() 2^(unit - 1075). A double with the biased exponent `unit` has the same unit in the
  /// last place.
  struct SmallSum {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint16_t unit = no_unit;
    bool has_terms = false;  // whether the integer has terms
    std::uint8_t flags = no_flags;
    // Index of the accumulator for terms that did not fit, `only_aside` (in the list only) or `none`.
    std::uint32_t wide = none;

    Int128 value() const noexcept { return static_cast<Int128>(Uint128{high} << 64 | low); }
    void put(Int128 value) noexcept {
      low = static_cast<std::uint64_t>(value);
      high = static_cast<std::uint64_t>(static_cast<Uint128>(value) >> 64);
    }
    Flags all_flags() const noexcept {
      return static_cast<Flags>((flags & ~has_minus_zero) | (has_terms ? not_minus_zero : no_flags));
    }
    bool add(std::uint64_t bits) noexcept;
    bool change_unit(int exponent) noexcept;
  };
  static_assert(sizeof(SmallSum) == bytes_per_column);
  struct Aside {
    Element term;
    std::uint32_t column;
  };
  /// Terms of the list, sorted by column.
  struct Sorted {
    std::vector<Element> terms;
    std::vector<std::uint32_t> ends;  // by column: index after the column's last term

    Sorted(std::span<const Aside> aside, std::size_t columns);
    std::span<const Element> of(std::size_t column) const noexcept {
      if (terms.empty()) return {};
      const std::size_t begin = column == 0 ? 0 : ends[column - 1];
      return std::span(terms).subspan(begin, ends[column] - begin);
    }
  };

  void begin_with_units(std::span<const std::byte> elements) noexcept;
  /// Returns the length of the list at which its terms are added to accumulators, which take about as much memory as
  /// these terms. The length fits in 32 bits.
  std::size_t most_aside() const noexcept { return std::clamp<std::size_t>(32 * sums_.size(), 1U << 15, 1U << 31); }
  void add_elsewhere(SmallSum& sum, Element element);
  void add_to_accumulators();
  Wide& wide_of(SmallSum& sum);
  bool is_rounded_at_once(const SmallSum& sum) const noexcept;
  bool read_narrow(std::span<const SmallSum> sums, NarrowGroup& group) const noexcept;
  void window(std::size_t column, const Sorted& sorted, DigitWindow& window) noexcept;

  Ending ending_;
  std::vector<SmallSum> sums_;
  std::uint16_t usual_unit_ = no_unit;  // the unit with which sums begin
  std::vector<Aside> aside_;
  std::deque<Wide> wides_;
  std::uint32_t wides_in_use_ = 0;
  Wide few_;  // accumulator for columns that have only a few terms in the list
};

extern template class DealtSums<float>;
extern template class DealtSums<double>;

}  // namespace steadfold::arithmetic
