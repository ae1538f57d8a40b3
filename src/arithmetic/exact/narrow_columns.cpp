#include "arithmetic/exact/narrow_columns.hpp"

#include <algorithm>

namespace steadfold::arithmetic {
namespace {

using exact_record::GroupSums;

/// Reads the element of a column in the first of some rows, and its second factor.
template <class Element>
const std::byte* first_of(const kernels::ColumnRows& rows, std::size_t lane) noexcept {
  return rows.first + lane * sizeof(Element);
}
template <class Element>
const std::byte* second_of(const kernels::ColumnRows& rows, std::size_t lane) noexcept {
  return (rows.second == nullptr ? rows.first : rows.second) + lane * sizeof(Element);
}

}  // namespace

template <class Element, int factors>
void NarrowColumns<Element, factors>::add(const Block& block) noexcept {
  if (block.rows >= fewest_for_extraction) return add_by_extraction(block);
  for (Count row = 0; row < block.rows; ++row) {
    const std::byte* first = block.first + row * block.row_stride;
    if constexpr (has_row_kernel) {
      add_row(first);
      continue;
    }
    const std::byte* second = block.second == nullptr ? first : block.second + row * block.row_stride;
    for (Count column = 0; column < columns_; ++column, first += sizeof(Element), second += sizeof(Element))
      add_term(column, first, second);
  }
}

/// Adds a row group by group. If the kernel refuses a group, its terms are added one by one.
template <class Element, int factors>
void NarrowColumns<Element, factors>::add_row(const std::byte* row) noexcept {
  for (Count begin = 0; begin < columns_; begin += columns_of_group, row += columns_of_group * sizeof(Element)) {
    NarrowSums& group = groups_[begin / columns_of_group];
    const Count columns = columns_at(begin);
    if (columns == columns_of_group && group.narrow.add_row(add_narrow_terms_, row, kept_bits_)) {
      group.flags.add_all(not_minus_zero);
      continue;
    }
    for (Count lane = 0; lane < columns; ++lane) add_term(begin + lane, row + lane * sizeof(Element), nullptr);
  }
}

/// Adds rows of one column. If there are many rows, an accumulator adds them, because its kernels read contiguous
/// elements of a column.
template <class Element, int factors>
void NarrowColumns<Element, factors>::add_column(Count column, const std::byte* first, const std::byte* second,
                                                 Count rows, Bytes stride) noexcept {
  if (rows >= fewest_for_kernels) return wide(column).add_rows(first, second, rows, stride);
  for (Count row = 0; row < rows; ++row) add_term(column, first + row * stride, second + row * stride);
}

template <class Element, int factors>
void NarrowColumns<Element, factors>::add_by_extraction(const Block& block) noexcept {
  for_each_column_group(block, columns_, sizeof(Element), [&](Count begin, const kernels::ColumnRows& rows) {
    ColumnRangeFinder::Found found;
    const int levels = finder_.add(rows, std::span(tops_).subspan(begin), found);
    NarrowSums& group = groups_[begin / columns_of_group];
    for (std::size_t lane = 0; lane < rows.columns; ++lane) {
      const bool has_two = levels == 2 || (found.fits[lane] != 0 && (found.sums[2][lane] | found.sums[3][lane]) == 0);
      if (!has_two || !add_found(group, lane, found)) add_by_accumulator(begin + lane, found, levels, rows, lane);
    }
    if (!group.flags.all_are(not_minus_zero, rows.columns)) note_signs(group, rows);
  });
}

/// Adds the sums of two levels, which together are below 2^96 units of the second level.
template <class Element, int factors>
bool NarrowColumns<Element, factors>::add_found(NarrowSums& group, std::size_t lane,
                                                const ColumnRangeFinder::Found& found) noexcept {
  Int128 value = (static_cast<Int128>(found.sums[0][lane]) << kernels::level_step) + found.sums[1][lane];
  const int exponent = kernels::level_unit(static_cast<int>(found.top[lane]), 1) - Wide::lowest_exponent;
  if (exponent < 0) value >>= std::min(-exponent, 127);  // the bits that are shifted out are zeros
  const auto bit = static_cast<unsigned>(std::max(exponent, 0));
  return group.narrow.add(lane, value << (bit & 31), static_cast<int>(bit / 32));
}

template <class Element, int factors>
void NarrowColumns<Element, factors>::add_by_accumulator(Count column, const ColumnRangeFinder::Found& found,
                                                         int levels, const kernels::ColumnRows& rows,
                                                         std::size_t lane) noexcept {
  const std::byte* const first = first_of<Element>(rows, lane);
  const std::byte* const second = second_of<Element>(rows, lane);
  if (found.fits[lane] == 0) return wide(column).add_rows(first, second, rows.rows, rows.row_stride);
  ExtractedSums sums{.count = rows.rows, .top = static_cast<int>(found.top[lane])};
  for (std::size_t level = 0; level < static_cast<std::size_t>(levels); ++level)
    sums.sums[level] = found.sums[level][lane];
  wide(column).add_sums(sums, first, second, rows.row_stride);
}

/// Records which columns have a term here that is not -0.0. Accumulators record this themselves.
template <class Element, int factors>
void NarrowColumns<Element, factors>::note_signs(NarrowSums& group, const kernels::ColumnRows& rows) const noexcept {
  for (std::size_t lane = 0; lane < rows.columns; ++lane) {
    const std::byte* first = first_of<Element>(rows, lane);
    const std::byte* second = second_of<Element>(rows, lane);
    for (Count row = 0; row < rows.rows && group.flags.of(lane) == no_flags; ++row) {
      const Factor<Element> x = load_factor<Element>(first, kept_bits_);
      bool is_other = !is_minus_zero(x);
      if constexpr (factors == 2) is_other = !is_minus_zero(x, load_factor<Element>(second, kept_bits_));
      if (is_other) group.flags.add(lane, not_minus_zero);
      first += rows.row_stride;
      second += rows.row_stride;
    }
  }
}

template <class Element, int factors>
void NarrowColumns<Element, factors>::add_term(Count column, const std::byte* first, const std::byte* second) noexcept {
  NarrowSums& group = groups_[column / columns_of_group];
  const std::size_t lane = column % columns_of_group;
  Factor<Element> x = load_factor<Element>(first, kept_bits_);
  bool finite = x.finite;
  bool is_negative = (x.bits & F::sign_bit) != 0;
  bool is_other = !is_minus_zero(x);
  if constexpr (factors == 2) {
    const Factor<Element> y = load_factor<Element>(second, kept_bits_);
    is_other = !is_minus_zero(x, y);
    finite = finite && y.finite;
    is_negative = ((x.bits ^ y.bits) & F::sign_bit) != 0;
    x.mantissa *= y.mantissa;
    x.shift += y.shift;
  }
  const Int128 sign = -static_cast<Int128>(is_negative);
  const Int128 value = ((static_cast<Int128>(x.mantissa) << x.shift % 32) ^ sign) - sign;
  if (!finite || !group.narrow.add(lane, value, static_cast<int>(x.shift / 32))) [[unlikely]]
    return wide(column).add_rows(first, second, 1, sizeof(Element));
  group.flags.add(lane, is_other ? not_minus_zero : no_flags);
}

/// Returns the accumulator of a column. The accumulator is empty if the column has had no accumulator since `clear`.
template <class Element, int factors>
auto NarrowColumns<Element, factors>::wide(Count column) noexcept -> Wide& {
  NarrowSums& group = groups_[column / columns_of_group];
  const auto mine = static_cast<std::uint8_t>(1U << column % columns_of_group);
  if ((group.wide & mine) == 0) {
    group.wide |= mine;
    return *new (wide_[column].memory) Wide(kernels::chosen(), signs_);
  }
  return *std::launder(reinterpret_cast<Wide*>(wide_[column].memory));
}

template <class Element, int factors>
void NarrowColumns<Element, factors>::write(exact_record::Writer& writer) noexcept {
  GroupSums wide;
  for (Count begin = 0; begin < columns_; begin += columns_of_group) {
    NarrowSums& sums = groups_[begin / columns_of_group];
    if (sums.wide == 0) {
      writer.put(columns_at(begin), sums.narrow, sums.flags);
      continue;
    }
    read(begin, wide);
    writer.put(columns_at(begin), wide);
  }
}

template <class Element, int factors>
void NarrowColumns<Element, factors>::read(Count begin, GroupSums& group) const noexcept {
  const NarrowSums& sums = groups_[begin / columns_of_group];
  group.flags = sums.flags;
  group.narrow = sums.narrow;
  group.is_narrow = sums.wide == 0;
  if (group.is_narrow) return;
  DigitRange narrow;
  DigitRange wide;
  for (std::size_t lane = 0; lane < columns_at(begin); ++lane) {
    if ((sums.wide >> lane & 1) == 0) {
      sums.narrow.digit_range(lane, group.wide[lane]);
      continue;
    }
    const Wide& all = made(begin + lane);
    sums.narrow.digit_range(lane, narrow);
    all.digit_range(wide);
    arithmetic::add_digit_ranges(narrow, wide, group.wide[lane]);
    group.flags.add(lane, all.flags());
  }
}

template class NarrowColumns<float, 1>;
template class NarrowColumns<float, 2>;
template class NarrowColumns<double, 1>;

}  // namespace steadfold::arithmetic
