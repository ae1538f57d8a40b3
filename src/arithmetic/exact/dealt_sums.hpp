// Exact sums of many columns, whose elements come in any order. Each column has an integer of two words, with a
// separate unit. What does not fit is set aside: smaller terms, or the low bits of the integer when a much larger term
// comes. So the integer has the leading bits, and mostly decides to which number the sum is rounded. Otherwise the
// terms set aside are sorted by column and added to accumulators. Rank order: none. Cost: 24 bytes per column; some
// twenty instructions per term, and about fifty, and 16 bytes, for a term that is set aside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
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
  static constexpr std::uint16_t no_unit = 0xFFFF;       // far above all exponents
  static constexpr std::uint16_t most_counted = 0xFFFF;  // terms set aside

  /// The sum of one column: value() 2^(unit - 1075). A double with the biased exponent `unit` has the same unit in the
  /// last place.
  struct SmallSum {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint16_t unit = no_unit;
    std::uint16_t aside = 0;      // the number of terms set aside, or `most_counted`
    std::uint16_t aside_end = 0;  // each of them is below 2^(aside_end - 1075)
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
    bool add(std::uint64_t bits) noexcept;
    bool change_unit(int exponent) noexcept;
  };
  static_assert(sizeof(SmallSum) == bytes_per_column);
  /// value 2^(unit - 1075)
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

  void begin_with_units(std::span<const std::byte> elements) noexcept;
  /// When this number of terms is set aside, they are added to accumulators, which take about as much memory as these
  /// terms. The number fits in 32 bits.
  std::size_t most_aside() const noexcept { return std::clamp<std::size_t>(32 * sums_.size(), 1U << 20, 1U << 31); }
  /// The accumulators of few columns stay in the second-level cache: terms are added to them at once.
  static constexpr std::size_t few_columns = 2048;
  void add_elsewhere(SmallSum& sum, std::uint64_t bits);
  void add_far(SmallSum& sum, double term);
  void set_aside(SmallSum& sum, std::int64_t value, int unit, int end);
  void make_room_above(SmallSum& sum, int exponent);
  void add_to_accumulators();
  Wide* wide_of(std::size_t column) noexcept;
  Wide& wide_for(std::size_t column);
  void write_value(const SmallSum& sum, Int128 value, std::byte* out) const noexcept;
  bool is_written_without_aside(const SmallSum& sum, std::byte* out) const noexcept;
  bool read_narrow(std::span<const SmallSum> sums, NarrowGroup& group) const noexcept;
  void window(std::size_t column, const Sorted& sorted, DigitWindow& window) noexcept;
  void window_with_aside(std::size_t column, std::span<const Aside> aside, DigitWindow& window) noexcept;

  Ending ending_;
  std::vector<SmallSum> sums_;
  std::uint16_t usual_unit_ = no_unit;  // the first unit of sums
  AsideTerms aside_;
  std::deque<Wide> wides_;
  std::uint32_t wides_in_use_ = 0;
  std::vector<std::uint32_t> wide_of_column_;  // indices of accumulators; empty while none is in use
  Wide few_;                                   // for columns without an accumulator
};

extern template class DealtSums<float>;
extern template class DealtSums<double>;

}  // namespace steadfold::arithmetic
