// Exact sums of many columns, whose elements come in any order. Each column has a small sum, whose integer mostly
// decides to which number the sum is rounded. Otherwise the terms set aside are sorted by column and added to
// accumulators.
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
#include "arithmetic/exact/small_sum.hpp"
#include "arithmetic/rows/dealt_builder.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"

namespace steadfold::arithmetic {

/// Terms are doubles; floats, which become doubles first; products of floats, which are doubles (factors = 2); or
/// products of doubles. One thread at a time.
template <class Element, int factors>
class DealtSums {
  using Wide = Accumulator<Element, factors>;
  static constexpr bool are_cut = factors == 2 && sizeof(Element) == sizeof(double);
  static constexpr int parts = are_cut ? 2 : 1;
  using Small = SmallSum<parts>;
  using ColumnSum = SmallSums<parts>;
  static constexpr bool are_rounded_products = factors == 2 && !are_cut;

 public:
  using Term = std::conditional_t<are_cut, Factors, std::conditional_t<are_rounded_products, double, Element>>;
  static constexpr Bytes bytes_per_column = sizeof(ColumnSum);

  DealtSums(Count columns, const Ending& ending) : ending_(ending), sums_(columns) {}

  Count count() const noexcept { return sums_.size(); }
  void clear() noexcept;
  /// Adds contiguous terms, each to its column.
  void add(std::span<const std::uint32_t> columns, const std::byte* terms);
  Bytes write(Count rows, std::span<std::byte> out);
  void finish(std::byte* values);

 private:
  static constexpr auto none = std::numeric_limits<std::uint32_t>::max();
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
  void set_aside(Small& sum, std::int64_t value, int unit, int end);
  void add_to_accumulators();
  Wide* wide_of(std::size_t column) noexcept;
  Wide& wide_for(std::size_t column);
  void write_value(const Small& sum, Int128 value, std::byte* out) const noexcept;
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
