// Exact sums of many columns, built from rows. Eight neighbouring columns share a narrow group (narrow_group.hpp). Only
// a column with a term that does not fit the group gets a separate accumulator.
// Rank order: none. Cost: 18 bytes per column while columns are narrow; kernels whose lanes are columns. The memory of
// the accumulators is reserved at the beginning, so nothing is allocated later, and it is not written before it is
// needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "arithmetic/exact/narrow_group.hpp"
#include "arithmetic/exact/record.hpp"
#include "arithmetic/rows/column_groups.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"
#include "arithmetic/superaccumulator/exponent_range_finder.hpp"
#include "arithmetic/superaccumulator/term.hpp"

namespace steadfold::arithmetic {

/// The sums of many columns. Terms are as in Accumulator, except products of doubles, which no narrow group holds. Use
/// the object from one thread at a time.
template <class Element, int factors>
class NarrowColumns {
  using Wide = Accumulator<Element, factors>;
  using F = Format<Element>;
  static_assert(sizeof(Element) * factors <= 8 && std::is_trivially_destructible_v<Wide>);

 public:
  static constexpr int digit_count = Wide::digit_count;

  /// Whether the chosen target has the kernels that make this class fast.
  static bool works(Signs signs) noexcept { return ColumnRangeFinder(Wide::terms_of(signs)).works(); }

  NarrowColumns(Count columns, Signs signs)
      : columns_(columns),
        signs_(signs),
        kept_bits_(signs == Signs::kept ? ~typename F::Bits{0} : ~F::sign_bit),
        groups_((columns + columns_of_group - 1) / columns_of_group),
        wide_(std::make_unique_for_overwrite<Reserved[]>(columns)),
        finder_(Wide::terms_of(signs)),
        tops_(columns, ColumnRangeFinder::no_top) {}

  Count count() const noexcept { return columns_; }
  void clear() noexcept { std::fill(groups_.begin(), groups_.end(), NarrowSums()); }

  /// Adds rows of all columns. `block.second` has the second factors, if terms are products.
  void add(const Block& block) noexcept;
  /// Adds rows of one column, `stride` bytes apart.
  void add_column(Count column, const std::byte* first, const std::byte* second, Count rows, Bytes stride) noexcept;

  /// Writes one group after the other; narrow groups are written in place. The units of groups may change.
  void write(exact_record::Writer& writer) noexcept;
  /// Calls `take(columns, group)` for one group after the other.
  template <class Take>
  void for_each_group(const Take& take) const {
    exact_record::GroupSums group;
    for (Count begin = 0; begin < columns_; begin += columns_of_group) {
      read(begin, group);
      take(columns_at(begin), std::as_const(group));
    }
  }

 private:
  static constexpr Count columns_of_group = exact_record::columns_of_group;
  static constexpr bool has_row_kernel = factors == 1 && sizeof(Element) == sizeof(double);
  static constexpr Count fewest_for_extraction = 4;

  struct NarrowSums {
    NarrowGroup narrow;
    exact_record::GroupFlags flags;  // flags of the group's columns, without the flags of accumulators
    std::uint8_t wide = 0;           // one bit for each column: whether the column has an accumulator
  };
  struct Reserved {
    alignas(Wide) std::byte memory[sizeof(Wide)];
  };

  Count columns_at(Count begin) const noexcept { return std::min(columns_of_group, columns_ - begin); }

  Wide& wide(Count column) noexcept;
  const Wide& made(Count column) const noexcept {
    return *std::launder(reinterpret_cast<const Wide*>(wide_[column].memory));
  }
  void add_by_extraction(const Block& block) noexcept;
  void add_row(const std::byte* row) noexcept;
  bool add_found(NarrowSums& group, std::size_t lane, const ColumnRangeFinder::Found& found) noexcept;
  void add_by_accumulator(Count column, const ColumnRangeFinder::Found& found, int levels,
                          const kernels::ColumnRows& rows, std::size_t lane) noexcept;
  void add_term(Count column, const std::byte* first, const std::byte* second) noexcept;
  void note_signs(NarrowSums& group, const kernels::ColumnRows& rows) const noexcept;
  void read(Count begin, exact_record::GroupSums& group) const noexcept;

  Count columns_;
  Signs signs_;
  typename F::Bits kept_bits_;  // mask of the bits of an element that are kept
  std::vector<NarrowSums> groups_;
  std::unique_ptr<Reserved[]> wide_;
  kernels::AddNarrowTerms add_narrow_terms_ = kernels::add_narrow_terms(kernels::chosen());
  ColumnRangeFinder finder_;
  std::vector<ColumnRangeFinder::Top> tops_;
};

extern template class NarrowColumns<float, 1>;
extern template class NarrowColumns<float, 2>;
extern template class NarrowColumns<double, 1>;

}  // namespace steadfold::arithmetic
