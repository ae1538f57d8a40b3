// Kernels of column_bins.hpp. Each lane of a vector has one column. As in kernels/slices, the sums are sums of the bit
// patterns of slices plus extractors. Every row adds its extractors; at the end the extractors of all rows are
// subtracted.
#include "kernels/column_bins.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/highway.hpp"
#include "kernels/pre_rounding.hpp"
#include "kernels/rounded_double.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/column_bins.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>

#include "kernels/deal_out.hpp"
#include "kernels/moved_bins.hpp"
#include "kernels/prefetch.hpp"
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

using order::Count;

using Columns = hn::CappedTag<double, most_columns>;
using ColumnsAsIntegers = hn::RebindToSigned<Columns>;
using ColumnsAsWords = hn::RebindToUnsigned<Columns>;
using ColumnTerms = hn::Vec<Columns>;
using ColumnSums = hn::Vec<ColumnsAsIntegers>;
using ColumnWords = hn::Vec<ColumnsAsWords>;

/// Adds up the slices of a vector of columns over all rows, with the extractors of every row. Finds the largest
/// magnitudes. Prefetches later rows, as far ahead as a tile of the caller has rows.
template <TermForm form, class T, int bin_count>
HWY_INLINE void deal_out_rows(const ColumnRows& rows, Count begin, Count some, ColumnTerms scale, ColumnTerms e0,
                              ColumnTerms e1, ColumnTerms e2, ColumnTerms e3, ColumnSums& s0, ColumnSums& s1,
                              ColumnSums& s2, ColumnSums& s3, ColumnSums& largest_bits) {
  const Columns d;
  const ColumnsAsIntegers di;
  const bool fetches_ahead = prefetch == Prefetch::far && rows.row_stride <= 512;
  const Count ahead_of_row = 128 * rows.row_stride;
  const std::byte* x = rows.first + begin * sizeof(T);
  const std::byte* y = form == TermForm::product ? rows.second + begin * sizeof(T) : x;
  s0 = s1 = s2 = s3 = largest_bits = hn::Zero(di);
  ColumnTerms largest = hn::Zero(d), not_finite = largest;
  for (Count row = 0; row < rows.rows; ++row, x += rows.row_stride, y += rows.row_stride) {
    if (fetches_ahead) {
      __builtin_prefetch(x + ahead_of_row, 0, 2);
      if constexpr (form == TermForm::product) __builtin_prefetch(y + ahead_of_row, 0, 2);
    }
    const ColumnTerms term = factors<form>(d, reinterpret_cast<const T*>(x), reinterpret_cast<const T*>(y), some);
    find_largest(term, largest_bits, largest, not_finite);
    deal_out<form, bin_count>(term, scale, e0, e1, e2, e3, s0, s1, s2, s3);
  }
  if constexpr (!compares_bits) {
    const auto is_finite = hn::Eq(hn::BitCast(di, not_finite), hn::Zero(di));
    largest_bits = hn::IfThenElse(is_finite, hn::BitCast(di, largest),
                                  hn::Set(di, static_cast<std::int64_t>(infinity_of_doubles)));
  }
}

/// Finds the largest magnitudes of some columns.
template <TermForm form, class T>
HWY_INLINE ColumnWords largest_of(const ColumnRows& rows, Count begin, Count some) {
  const ColumnTerms none = hn::Zero(Columns());
  ColumnSums s0, s1, s2, s3, largest;
  deal_out_rows<form, T, 0>(rows, begin, some, none, none, none, none, none, s0, s1, s2, s3, largest);
  return hn::BitCast(ColumnsAsWords(), largest);
}

template <TermForm form, class T>
void largest_of_columns(const ColumnRows& rows, EachColumn<std::uint64_t>& largest) noexcept {
  const ColumnsAsWords d;
  for (Count begin = 0; begin < rows.columns; begin += hn::Lanes(d))
    hn::StoreU(largest_of<form, T>(rows, begin, std::min<Count>(hn::Lanes(d), rows.columns - begin)), d,
               largest.data() + begin);
}

/// Returns the maximum of each pair of words below 2^63. The comparison is signed, because most instruction sets
/// compare signed numbers only.
HWY_INLINE ColumnWords higher(ColumnWords a, ColumnWords b) {
  const ColumnsAsIntegers di;
  return hn::BitCast(ColumnsAsWords(), hn::Max(hn::BitCast(di, a), hn::BitCast(di, b)));
}
HWY_INLINE auto are_above(ColumnWords a, std::uint64_t b) {
  const ColumnsAsIntegers di;
  return hn::RebindMask(ColumnsAsWords(), hn::Gt(hn::BitCast(di, a), hn::Set(di, static_cast<std::int64_t>(b))));
}

/// Returns the top of a set of terms whose largest magnitude has these bits. Not for squares of subnormal numbers.
template <TermForm form>
HWY_INLINE ColumnWords tops_of(ColumnWords largest, std::uint64_t lowest_top) {
  const ColumnsAsWords d;
  const hn::Repartition<std::uint32_t, Columns> halves;
  static_assert(pre_rounding_width == 40);
  const ColumnWords field = hn::Add(hn::ShiftRight<fraction_bits_of_doubles>(largest),
                                    hn::Set(d, std::uint64_t{PreRounding<double>::to_bin}));
  // Exponents of the largest terms, counted from the exponent of the least quantum.
  const ColumnWords binades = form == TermForm::square ? hn::Add(field, field) : field;
  // Division by 40: 52429 is 2^21 / 40.
  const auto product = hn::MulEven(hn::BitCast(halves, binades), hn::Set(halves, 52429));
  const ColumnWords lowest = hn::Set(d, lowest_top);
  return hn::IfThenElse(hn::Eq(largest, hn::Zero(d)), lowest, higher(lowest, hn::ShiftRight<21>(product)));
}

/// Returns the exponent field of the power of two by which terms below a top, or their factors, are multiplied
/// (BinGrid::scale).
template <TermForm form>
HWY_INLINE ColumnWords scale_fields(ColumnWords tops) {
  const ColumnsAsIntegers di;
  const ColumnsAsWords d;
  constexpr int lowest = PreRounding<double>::lowest_exponent;
  if constexpr (form == TermForm::square) {
    const auto half = hn::Set(di, bias_of_doubles - lowest - pre_rounding_width / 2);
    const auto half_bins = hn::BitCast(di, hn::Add(hn::ShiftLeft<4>(tops), hn::ShiftLeft<2>(tops)));
    const auto field = hn::Sub(half, half_bins);
    return hn::BitCast(d, hn::Min(hn::Max(field, hn::Set(di, 1)), hn::Set(di, 2 * bias_of_doubles - 1)));
  }
  constexpr int highest = (bias_of_doubles - fraction_bits_of_doubles - 1 - lowest) / pre_rounding_width;
  const auto is_high = are_above(tops, highest);
  return hn::IfThenElse(is_high, hn::Set(d, std::uint64_t{bias_of_doubles - pre_rounding_width}),
                        hn::Set(d, std::uint64_t{bias_of_doubles}));
}

/// Returns the extractors of the top bins (BinGrid::extractors).
template <TermForm form>
HWY_INLINE ColumnTerms extractors_of(ColumnWords tops, ColumnWords scales) {
  const ColumnsAsWords d;
  constexpr int factors = form == TermForm::square ? 2 : 1;
  constexpr int lowest = PreRounding<double>::lowest_exponent;
  constexpr int rest = factors * (lowest - bias_of_doubles) + fraction_bits_of_doubles + bias_of_doubles;
  const ColumnWords scaled = hn::Add(binades_of(tops), factors == 2 ? hn::Add(scales, scales) : scales);
  const ColumnWords field = hn::Add(scaled, hn::Set(d, static_cast<std::uint64_t>(std::int64_t{rest})));
  const ColumnWords half = hn::Set(d, std::uint64_t{1} << (fraction_bits_of_doubles - 1));
  return hn::BitCast(Columns(), hn::Or(hn::ShiftLeft<fraction_bits_of_doubles>(field), half));
}

constexpr std::uint64_t between_extractors = std::uint64_t{pre_rounding_width} << fraction_bits_of_doubles;

/// Returns the extractors times the number of rows, below 2^32, as integers. The lower half of each extractor is 0.
HWY_INLINE ColumnWords times_rows(ColumnTerms extractors, Count rows) {
  const ColumnsAsWords d;
  const hn::Repartition<std::uint32_t, Columns> halves;
  const auto upper = hn::BitCast(halves, hn::ShiftRight<32>(hn::BitCast(d, extractors)));
  return hn::ShiftLeft<32>(hn::MulEven(upper, hn::BitCast(halves, hn::Set(d, rows))));
}

/// Returns the extractors of the next lower bins.
HWY_INLINE ColumnTerms next_extractors(ColumnTerms extractors) {
  const ColumnsAsWords d;
  return hn::BitCast(Columns(), hn::Sub(hn::BitCast(d, extractors), hn::Set(d, between_extractors)));
}

/// Whether all terms of a column of zeros are -0.0.
template <TermForm form, class T>
HWY_INLINE ColumnWords are_minus_zero(const ColumnRows& rows, Count begin, Count some) {
  const ColumnsAsWords d;
  const std::byte* x = rows.first + begin * sizeof(T);
  const std::byte* y = form == TermForm::product ? rows.second + begin * sizeof(T) : x;
  ColumnWords all = hn::Set(d, ~std::uint64_t{0});
  for (Count row = 0; row < rows.rows; ++row, x += rows.row_stride, y += rows.row_stride) {
    const ColumnTerms term =
        factors<form>(Columns(), reinterpret_cast<const T*>(x), reinterpret_cast<const T*>(y), some);
    all = hn::And(all, hn::BitCast(d, form == TermForm::square ? hn::Abs(term) : term));
  }
  return hn::VecFromMask(d, hn::Eq(all, hn::Set(d, sign_of_doubles)));
}

/// Adds rows to some columns of a group, from `begin` on. Returns false if columns are left out: they are not changed,
/// and are not 0 in `left_out`. `likely` has probable tops for columns without a top; they are the tops of the previous
/// group.
template <TermForm form, class T, int bin_count>
HWY_INLINE bool add_to_columns(const ColumnRows& rows, Count first, Count some, std::uint8_t lowest_top,
                               std::uint8_t flag, const GroupOfBins& group, Count begin, GroupOfBins& out,
                               EachColumn<std::uint64_t>& likely, EachColumn<std::uint64_t>& left_out) {
  const Columns d;
  const ColumnsAsIntegers di;
  const ColumnsAsWords words;
  constexpr std::int64_t most = std::int64_t{1} << 61;
  const ColumnWords zero = hn::Zero(words);
  const ColumnWords present = widened(group.tops.data() + begin);
  const ColumnWords lowest = hn::Set(words, lowest_top);
  const ColumnWords above_lowest = hn::Sub(hn::LoadU(words, likely.data() + begin), lowest);
  // Written as an addition, because a choice between words that were bytes in memory crashes GCC 12 for AVX-512.
  ColumnWords tops = hn::Add(present, hn::IfThenElseZero(hn::Eq(present, lowest), above_lowest));
  ColumnTerms e0, e1, e2, e3;
  ColumnSums s0, s1, s2, s3, largest_bits;
  ColumnWords largest, wanted;
  bool is_another = false;
  for (;;) {  // repeated if a bin range was wrong; zeros have no slices in any bin
    const ColumnWords scales = scale_fields<form>(tops);
    e0 = extractors_of<form>(tops, scales);
    e1 = next_extractors(e0);
    e2 = next_extractors(e1);
    e3 = next_extractors(e2);
    deal_out_rows<form, T, bin_count>(rows, first, some,
                                      hn::BitCast(d, hn::ShiftLeft<fraction_bits_of_doubles>(scales)), e0, e1, e2, e3,
                                      s0, s1, s2, s3, largest_bits);
    largest = hn::BitCast(words, largest_bits);
    wanted = higher(present, tops_of<form>(largest, lowest_top));
    const auto differs = hn::IfThenZeroElse(hn::Eq(largest, zero), hn::Xor(wanted, tops));
    if (hn::AllTrue(words, hn::Eq(differs, zero))) break;
    tops = hn::Xor(tops, differs);
    is_another = true;
  }
  const auto is_nothing = hn::Eq(largest, zero);
  auto is_refused = hn::VecFromMask(words, are_above(largest, infinity_of_doubles - 1));
  if constexpr (form == TermForm::square) {  // the bin ranges of subnormal factors depend on all of their bits
    const auto is_small = hn::Eq(hn::ShiftRight<fraction_bits_of_doubles>(largest), zero);
    is_refused = hn::Or(is_refused, hn::AndNot(hn::VecFromMask(words, is_nothing), hn::VecFromMask(words, is_small)));
  }
  const ColumnWords by = hn::Sub(wanted, present);
  const bool are_moved = !hn::AllTrue(words, hn::Eq(by, zero));
  const auto* const sums = reinterpret_cast<const std::uint64_t*>(group.sums.data()) + begin;
  // The extractors, which are added to every bin's sum in addition to the slices.
  ColumnWords added = times_rows(e0, rows.rows);
  const auto sum_of = [&]<int bin>(std::integral_constant<int, bin>, ColumnSums sum) HWY_ATTR {
    const auto before = are_moved ? moved<bin>(words, sums, by) : hn::LoadU(words, sums + bin * most_columns);
    const auto all = hn::Add(before, hn::Sub(hn::BitCast(words, sum), added));
    added = hn::Sub(added, hn::Set(words, rows.rows * between_extractors));
    return hn::BitCast(di, all);
  };
  s0 = sum_of(std::integral_constant<int, 0>(), s0);
  s1 = sum_of(std::integral_constant<int, 1>(), s1);
  if constexpr (bin_count > 2) s2 = sum_of(std::integral_constant<int, 2>(), s2);
  if constexpr (bin_count > 3) s3 = sum_of(std::integral_constant<int, 3>(), s3);
  const auto room = hn::Set(di, most);
  auto beyond = hn::Or(hn::Add(s0, room), hn::Add(s1, room));
  if constexpr (bin_count > 2) beyond = hn::Or(beyond, hn::Add(s2, room));
  if constexpr (bin_count > 3) beyond = hn::Or(beyond, hn::Add(s3, room));
  is_refused = hn::Or(is_refused, hn::BitCast(words, hn::And(beyond, hn::Set(di, ~(2 * most - 1)))));
  const ColumnWords flags = widened(group.flags.data() + begin);
  const ColumnWords has_flag = hn::And(flags, hn::Set(words, flag));
  ColumnWords gets_none = zero;  // set in columns in which all terms were -0.0
  if (!hn::AllTrue(words, hn::Ne(hn::Or(has_flag, largest), zero)))
    gets_none = hn::IfThenElseZero(is_nothing, are_minus_zero<form, T>(rows, first, some));
  ColumnWords all_flags = hn::Or(flags, hn::AndNot(gets_none, hn::Set(words, flag)));
  const bool are_all = hn::AllTrue(words, hn::Eq(is_refused, zero));
  if (!are_all) {
    const ColumnWords stays = hn::VecFromMask(words, hn::Ne(is_refused, zero));
    const auto chosen = [&](ColumnWords old, ColumnWords other)
                            HWY_ATTR { return hn::Or(hn::And(stays, old), hn::AndNot(stays, other)); };
    const auto sum_that_stays = [&](int bin, ColumnSums sum) HWY_ATTR {
      const auto old = hn::LoadU(words, sums + bin * static_cast<int>(most_columns));
      return hn::BitCast(di, chosen(old, hn::BitCast(words, sum)));
    };
    s0 = sum_that_stays(0, s0);
    s1 = sum_that_stays(1, s1);
    if constexpr (bin_count > 2) s2 = sum_that_stays(2, s2);
    if constexpr (bin_count > 3) s3 = sum_that_stays(3, s3);
    wanted = chosen(present, wanted);
    all_flags = chosen(flags, all_flags);
    hn::StoreU(stays, words, left_out.data() + begin);
  }
  hn::StoreU(s0, di, out.sums[0].data() + begin);
  hn::StoreU(s1, di, out.sums[1].data() + begin);
  if constexpr (bin_count > 2) hn::StoreU(s2, di, out.sums[2].data() + begin);
  if constexpr (bin_count > 3) hn::StoreU(s3, di, out.sums[3].data() + begin);
  store_narrow(wanted, out.tops.data() + begin);
  if (is_another) hn::StoreU(tops, words, likely.data() + begin);
  store_narrow(all_flags, out.flags.data() + begin);
  return are_all;
}

/// Returns a bit for each column of a group that is not 0.
HWY_INLINE std::uint8_t bits_of(const EachColumn<std::uint64_t>& each, Count columns) {
  unsigned bits = 0;
  for (Count i = 0; i < columns; ++i) bits |= each[i] != 0 ? 1U << i : 0U;
  return static_cast<std::uint8_t>(bits);
}

template <TermForm form, class T, int bin_count>
Count add_to_groups(const ColumnRows& rows, std::uint8_t lowest_top, std::uint8_t flag, GroupOfBins* groups,
                    std::uint8_t& left_out) noexcept {
  // Whether a vector holds all columns of a group.
  constexpr bool holds_a_group = !HWY_HAVE_SCALABLE && hn::MaxLanes(Columns()) == most_columns;
  [[maybe_unused]] const Count lanes = hn::Lanes(Columns());
  EachColumn<std::uint64_t> likely;
  likely.fill(lowest_top);
  EachColumn<std::uint64_t> each_left_out{};
  for (Count first = 0, number = 0; first < rows.columns; first += most_columns, ++number) {
    GroupOfBins& group = groups[number];
    const Count columns = std::min(most_columns, rows.columns - first);
    bool are_all = true;
    if constexpr (holds_a_group) {
      are_all = add_to_columns<form, T, bin_count>(rows, first, columns, lowest_top, flag, group, 0, group, likely,
                                                   each_left_out);
    } else {
      GroupOfBins sum;  // only these bins, and columns that exist, are written
      Count written = 0;
      for (; written < columns; written += lanes)
        are_all &= add_to_columns<form, T, bin_count>(rows, first + written, std::min(lanes, columns - written),
                                                      lowest_top, flag, group, written, sum, likely, each_left_out);
      const auto commit = [&](auto count) {
        for (std::size_t bin = 0; bin < bin_count; ++bin)
          std::memcpy(group.sums[bin].data(), sum.sums[bin].data(), count * sizeof(std::int64_t));
        std::memcpy(group.tops.data(), sum.tops.data(), count);
        std::memcpy(group.flags.data(), sum.flags.data(), count);
      };
      if (written == most_columns)
        commit(std::integral_constant<Count, most_columns>());  // the constant size makes the copies inline
      else
        commit(written);
    }
    left_out = are_all ? std::uint8_t{0} : bits_of(each_left_out, columns);
    if (left_out != 0) return number + 1;
  }
  return (rows.columns + most_columns - 1) / most_columns;
}

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {
namespace {

template <TermForm form, class T, int bin_count>
AddToGroupsOfBins to_groups(Target target) noexcept {
  if constexpr (bin_count == 0)
    return nullptr;
  else
    return pick<AddToGroupsOfBins>(target, STEADFOLD_EACH(add_to_groups<form, T, bin_count>));
}

}  // namespace

template <class T>
AddToGroupsOfBins add_to_groups_of_bins(Target target, TermForm form, int bin_count) noexcept {
  return of_form(form, bin_count, [=]<TermForm chosen, int bins>() { return to_groups<chosen, T, bins>(target); });
}

template <class T>
LargestOfColumns largest_of_columns(Target target, TermForm form) noexcept {
  return form == TermForm::product
             ? pick<LargestOfColumns>(target, STEADFOLD_EACH(largest_of_columns<TermForm::product, T>))
             : pick<LargestOfColumns>(target, STEADFOLD_EACH(largest_of_columns<TermForm::element, T>));
}

template LargestOfColumns largest_of_columns<double>(Target, TermForm) noexcept;
template LargestOfColumns largest_of_columns<float>(Target, TermForm) noexcept;
template AddToGroupsOfBins add_to_groups_of_bins<double>(Target, TermForm, int) noexcept;
template AddToGroupsOfBins add_to_groups_of_bins<float>(Target, TermForm, int) noexcept;

}  // namespace steadfold::kernels
#endif
