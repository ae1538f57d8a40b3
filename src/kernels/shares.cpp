// Kernels of shares.hpp. For every bin, each lane adds up the bit patterns of term + extractor, modulo 2^64; in the end
// those of the extractors are subtracted. Sums of integers have no order, so the lane count does not show.
#include "kernels/shares.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/highway.hpp"
#include "kernels/pre_rounding.hpp"
#include "kernels/rounded_double.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/shares.cpp"
#include <hwy/foreach_target.h>  // after the line above
#include <hwy/highway.h>

#include "kernels/load_first.hpp"
#include "kernels/moved_bins.hpp"
#include "kernels/prefetch.hpp"
#endif

#ifndef STEADFOLD_KERNELS_SHARES_SCALAR
#define STEADFOLD_KERNELS_SHARES_SCALAR
namespace steadfold::kernels {
namespace {

using order::Count;

template <class T>
double load(const void* elements, Count number) noexcept {
  T x;
  std::memcpy(&x, static_cast<const char*>(elements) + number * sizeof x, sizeof x);
  return static_cast<double>(x);
}

[[maybe_unused]] constexpr std::uint64_t infinity = 0x7FF0000000000000;

/// Adds to `sums` what `found` holds: the bit patterns of `count` terms, each plus an extractor, less the extractors'.
template <int bin_count>
void take_away_extractors(const std::uint64_t* found, Count count, const double* extractors,
                          std::int64_t* sums) noexcept {
  for (int bin = 0; bin < bin_count; ++bin)
    sums[bin] += static_cast<std::int64_t>(found[bin] - count * std::bit_cast<std::uint64_t>(extractors[bin]));
}

template <TermForm form, class T, int bin_count>
std::uint64_t reference(const void* first, const void* second, Count count, double scale, const double* extractors,
                        std::int64_t* sums) noexcept {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  std::uint64_t largest = 0;
  std::uint64_t found[std::max(bin_count, 1)] = {};
  for (Count i = 0; i < count; ++i) {
    double term = load<T>(first, i);
    if constexpr (form == TermForm::product) term *= load<T>(second, i);
    largest = std::max(largest, std::bit_cast<std::uint64_t>(term) & ~sign);
    double rest = term * scale;
    if constexpr (form == TermForm::square) rest *= rest;
    for (int bin = 0; bin < bin_count; ++bin) {
      const double moved = rest + extractors[bin];
      found[bin] += std::bit_cast<std::uint64_t>(moved);
      rest -= moved - extractors[bin];
    }
  }
  take_away_extractors<bin_count>(found, count, extractors, sums);
  return largest;
}

}  // namespace
}  // namespace steadfold::kernels
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<double>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;

template <class Tag>
HWY_INLINE hn::Vec<Tag> load(Tag d, const double* x) {
  return hn::LoadU(d, x);
}
template <class Tag>
HWY_INLINE hn::Vec<Tag> load(Tag d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Tag>(), x));
}
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_few(Tag d, const double* x, Count count) {
  return load_first(d, x, count);
}
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_few(Tag d, const float* x, Count count) {
  return hn::PromoteTo(d, load_first(hn::Rebind<float, Tag>(), x, count));
}

/// Loads the elements, or their products. The last few are followed by zeros, which have no shares.
template <TermForm form, class Tag, class T>
HWY_INLINE hn::Vec<Tag> factors(Tag d, const T* x, const T* y, Count count) {
  if (count >= hn::Lanes(d)) [[likely]] {
    if constexpr (form == TermForm::product) return hn::Mul(load(d, x), load(d, y));
    return load(d, x);
  }
  if constexpr (form == TermForm::product) return hn::Mul(load_few(d, x, count), load_few(d, y, count));
  return load_few(d, x, count);
}

/// Whether the largest is found by comparing bit patterns. Without an instruction for that, a comparison and a choice
/// follow each other, and every vector waits for the one before. Then magnitudes are compared, and a term that is not
/// finite shows in x - x, which is otherwise +0.
constexpr bool compares_bits = HWY_TARGET == HWY_AVX3 || HWY_HAVE_SCALABLE != 0;

HWY_INLINE std::uint64_t sum_of_lanes(VI lanes) {
  return static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(DI(), lanes)));
}

/// Adds the shares of a vector of terms, each plus its extractor.
// The sums are variables, not an array, since vectors of SVE have no size; nothing takes their address, which would
// keep them in memory.
template <TermForm form, int bin_count, class Floats, class Integers>
HWY_INLINE void deal_out(Floats term, Floats scale, Floats e0, Floats e1, Floats e2, Floats e3, Integers& s0,
                         Integers& s1, Integers& s2, Integers& s3) {
  const hn::DFromV<Integers> di;
  Floats rest = term;
  if constexpr (form == TermForm::square) {
    rest = hn::Mul(rest, scale);
    rest = hn::Mul(rest, rest);
  }
  if constexpr (bin_count > 0 && form == TermForm::square) {
    const auto moved = hn::Add(rest, e0);
    s0 = hn::Add(s0, hn::BitCast(di, moved));
    rest = hn::Sub(rest, hn::Sub(moved, e0));
  } else if constexpr (bin_count > 0) {  // fused or not: rest * scale is exact, or has no share
    const auto moved = hn::MulAdd(rest, scale, e0);
    s0 = hn::Add(s0, hn::BitCast(di, moved));
    rest = hn::MulSub(rest, scale, hn::Sub(moved, e0));
  }
  if constexpr (bin_count > 1) {
    const auto moved = hn::Add(rest, e1);
    s1 = hn::Add(s1, hn::BitCast(di, moved));
    rest = hn::Sub(rest, hn::Sub(moved, e1));
  }
  if constexpr (bin_count > 2) {
    const auto moved = hn::Add(rest, e2);
    s2 = hn::Add(s2, hn::BitCast(di, moved));
    rest = hn::Sub(rest, hn::Sub(moved, e2));
  }
  if constexpr (bin_count > 3) s3 = hn::Add(s3, hn::BitCast(di, hn::Add(rest, e3)));
}

template <TermForm form, class T, int bin_count>
std::uint64_t shares(const void* first, const void* second, Count count, double scale_by, const double* extractors,
                     std::int64_t* sums) noexcept {
  const D d;
  const DI di;
  const Count lanes = hn::Lanes(d);
  const auto* x = static_cast<const T*>(first);
  const auto* y = static_cast<const T*>(form == TermForm::product ? second : first);
  const V scale = hn::Set(d, scale_by);
  const V e0 = hn::Set(d, bin_count > 0 ? extractors[0] : 0.0);
  const V e1 = hn::Set(d, bin_count > 1 ? extractors[1] : 0.0);
  const V e2 = hn::Set(d, bin_count > 2 ? extractors[2] : 0.0);
  const V e3 = hn::Set(d, bin_count > 3 ? extractors[3] : 0.0);
  VI largest_bits = hn::Zero(di);
  V largest = hn::Zero(d);
  V not_finite = hn::Zero(d);
  VI s0 = hn::Zero(di);
  VI s1 = hn::Zero(di);
  VI s2 = hn::Zero(di);
  VI s3 = hn::Zero(di);
  const Prefetch where = prefetch;
  Count done = 0;
  for (; done < count; done += lanes, x += lanes, y += lanes) {
    if (done + bytes_ahead / sizeof(T) < count) {  // looking up a page beyond the elements would cost more than is won
      ask_ahead(x, where);
      if constexpr (form == TermForm::product) ask_ahead(y, where);
    }
    const V rest = factors<form>(D(), x, y, count - done);
    if constexpr (compares_bits) {
      largest_bits = hn::Max(largest_bits, hn::BitCast(di, hn::Abs(rest)));
    } else {
      largest = hn::Max(largest, hn::Abs(rest));
      not_finite = hn::Or(not_finite, hn::Sub(rest, rest));
    }
    deal_out<form, bin_count>(rest, scale, e0, e1, e2, e3, s0, s1, s2, s3);
  }
  std::uint64_t found[4] = {};
  if constexpr (bin_count > 0) found[0] = sum_of_lanes(s0);
  if constexpr (bin_count > 1) found[1] = sum_of_lanes(s1);
  if constexpr (bin_count > 2) found[2] = sum_of_lanes(s2);
  if constexpr (bin_count > 3) found[3] = sum_of_lanes(s3);
  take_away_extractors<bin_count>(found, done, extractors, sums);
  if constexpr (compares_bits) return static_cast<std::uint64_t>(hn::GetLane(hn::MaxOfLanes(di, largest_bits)));
  if (!hn::AllTrue(di, hn::Eq(hn::BitCast(di, not_finite), hn::Zero(di)))) return infinity;
  return std::bit_cast<std::uint64_t>(hn::GetLane(hn::MaxOfLanes(d, largest)));
}

using Columns = hn::CappedTag<double, most_columns>;
using ColumnsAsIntegers = hn::RebindToSigned<Columns>;
using ColumnsAsWords = hn::RebindToUnsigned<Columns>;
using ColumnTerms = hn::Vec<Columns>;
using ColumnSums = hn::Vec<ColumnsAsIntegers>;
using ColumnWords = hn::Vec<ColumnsAsWords>;

/// Adds up the shares of a vector of columns, through all rows; every row adds its extractors, too. Finds the largest
/// magnitudes. Rows to come are asked for, as far ahead as a caller has rows in a tile.
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
    if constexpr (compares_bits) {
      largest_bits = hn::Max(largest_bits, hn::BitCast(di, hn::Abs(term)));
    } else {
      largest = hn::Max(largest, hn::Abs(term));
      not_finite = hn::Or(not_finite, hn::Sub(term, term));
    }
    deal_out<form, bin_count>(term, scale, e0, e1, e2, e3, s0, s1, s2, s3);
  }
  if constexpr (!compares_bits) {
    const auto is_finite = hn::Eq(hn::BitCast(di, not_finite), hn::Zero(di));
    largest_bits =
        hn::IfThenElse(is_finite, hn::BitCast(di, largest), hn::Set(di, static_cast<std::int64_t>(infinity)));
  }
}

/// The largest magnitudes of some columns.
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

/// The higher ones of words below 2^63: most instruction sets compare numbers with signs.
HWY_INLINE ColumnWords higher(ColumnWords a, ColumnWords b) {
  const ColumnsAsIntegers di;
  return hn::BitCast(ColumnsAsWords(), hn::Max(hn::BitCast(di, a), hn::BitCast(di, b)));
}
HWY_INLINE auto are_above(ColumnWords a, std::uint64_t b) {
  const ColumnsAsIntegers di;
  return hn::RebindMask(ColumnsAsWords(), hn::Gt(hn::BitCast(di, a), hn::Set(di, static_cast<std::int64_t>(b))));
}

/// The top that a set of terms wants whose largest magnitude has these bits. Not for squares of subnormal numbers.
template <TermForm form>
HWY_INLINE ColumnWords tops_of(ColumnWords largest, std::uint64_t lowest_top) {
  const ColumnsAsWords d;
  const hn::Repartition<std::uint32_t, Columns> halves;
  static_assert(pre_rounding_width == 40);
  const ColumnWords field = hn::Add(hn::ShiftRight<fraction_bits_of_doubles>(largest),
                                    hn::Set(d, std::uint64_t{PreRounding<double>::to_bin}));
  const ColumnWords binades = form == TermForm::square ? hn::Add(field, field) : field;    // above the least quantum
  const auto product = hn::MulEven(hn::BitCast(halves, binades), hn::Set(halves, 52429));  // 2^21 / 40
  const ColumnWords lowest = hn::Set(d, lowest_top);
  return hn::IfThenElse(hn::Eq(largest, hn::Zero(d)), lowest, higher(lowest, hn::ShiftRight<21>(product)));
}

/// The exponent field of the power of two that terms below a top, or factors, are multiplied by (BinGrid::scale).
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

/// The extractors of the top bins (BinGrid::extractors).
template <TermForm form>
HWY_INLINE ColumnTerms extractors_of(ColumnWords tops, ColumnWords scales) {
  const ColumnsAsWords d;
  constexpr int factors = form == TermForm::square ? 2 : 1;
  constexpr int lowest = PreRounding<double>::lowest_exponent;
  constexpr int rest = factors * (lowest - bias_of_doubles) + fraction_bits_of_doubles + bias_of_doubles;
  const ColumnWords binades = hn::Add(hn::ShiftLeft<5>(tops), hn::ShiftLeft<3>(tops));
  const ColumnWords scaled = hn::Add(binades, factors == 2 ? hn::Add(scales, scales) : scales);
  const ColumnWords field = hn::Add(scaled, hn::Set(d, static_cast<std::uint64_t>(std::int64_t{rest})));
  const ColumnWords half = hn::Set(d, std::uint64_t{1} << (fraction_bits_of_doubles - 1));
  return hn::BitCast(Columns(), hn::Or(hn::ShiftLeft<fraction_bits_of_doubles>(field), half));
}

constexpr std::uint64_t between_extractors = std::uint64_t{pre_rounding_width} << fraction_bits_of_doubles;

/// So many rows' extractors, fewer than 2^32, as integers. The lower half of each is 0.
HWY_INLINE ColumnWords times_rows(ColumnTerms extractors, Count rows) {
  const ColumnsAsWords d;
  const hn::Repartition<std::uint32_t, Columns> halves;
  const auto upper = hn::BitCast(halves, hn::ShiftRight<32>(hn::BitCast(d, extractors)));
  return hn::ShiftLeft<32>(hn::MulEven(upper, hn::BitCast(halves, hn::Set(d, rows))));
}

/// Those of the bins below.
HWY_INLINE ColumnTerms next_extractors(ColumnTerms extractors) {
  const ColumnsAsWords d;
  return hn::BitCast(Columns(), hn::Sub(hn::BitCast(d, extractors), hn::Set(d, between_extractors)));
}

/// Whether nothing but -0.0 stands in a column of zeros.
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

/// Adds rows to some columns of a group, from `begin` on. Returns whether it has; if not, nothing has changed.
/// `likely`: the tops of columns that have none yet, as those of the last group say.
template <TermForm form, class T, int bin_count>
HWY_INLINE bool add_to_columns(const ColumnRows& rows, Count first, Count some, std::uint8_t lowest_top,
                               std::uint8_t flag, const GroupOfBins& group, Count begin, GroupOfBins& out,
                               EachColumn<std::uint64_t>& likely) {
  const Columns d;
  const ColumnsAsIntegers di;
  const ColumnsAsWords words;
  constexpr std::int64_t most = std::int64_t{1} << 61;
  const ColumnWords zero = hn::Zero(words);
  const ColumnWords present = widened(group.tops.data() + begin);
  const ColumnWords lowest = hn::Set(words, lowest_top);
  const ColumnWords above_lowest = hn::Sub(hn::LoadU(words, likely.data() + begin), lowest);
  // A choice between words that were bytes in memory makes GCC 12 fail for AVX-512.
  ColumnWords tops = hn::Add(present, hn::IfThenElseZero(hn::Eq(present, lowest), above_lowest));
  ColumnTerms e0, e1, e2, e3;
  ColumnSums s0, s1, s2, s3, largest_bits;
  ColumnWords largest, wanted;
  bool is_another = false;
  for (;;) {  // once more, if a window is another one; zeros have no shares in any
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
    tops = wanted;
    is_another = true;
  }
  const auto is_nothing = hn::Eq(largest, zero);
  auto is_refused = hn::VecFromMask(words, are_above(largest, infinity - 1));
  if constexpr (form == TermForm::square) {  // windows of subnormal factors depend on all of their bits
    const auto is_small = hn::Eq(hn::ShiftRight<fraction_bits_of_doubles>(largest), zero);
    is_refused = hn::Or(is_refused, hn::AndNot(hn::VecFromMask(words, is_nothing), hn::VecFromMask(words, is_small)));
  }
  const ColumnWords by = hn::Sub(wanted, present);
  const bool are_moved = !hn::AllTrue(words, hn::Eq(by, zero));
  const auto* const sums = reinterpret_cast<const std::uint64_t*>(group.sums.data()) + begin;
  ColumnWords added = times_rows(e0, rows.rows);  // beside the shares, to every bin's sum
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
  if (!hn::AllTrue(words, hn::Eq(is_refused, zero))) return false;
  const ColumnWords flags = widened(group.flags.data() + begin);
  const ColumnWords has_flag = hn::And(flags, hn::Set(words, flag));
  ColumnWords gets_none = zero;  // nothing but -0.0 has come
  if (!hn::AllTrue(words, hn::Ne(hn::Or(has_flag, largest), zero)))
    gets_none = hn::IfThenElseZero(is_nothing, are_minus_zero<form, T>(rows, first, some));
  hn::StoreU(s0, di, out.sums[0].data() + begin);
  hn::StoreU(s1, di, out.sums[1].data() + begin);
  if constexpr (bin_count > 2) hn::StoreU(s2, di, out.sums[2].data() + begin);
  if constexpr (bin_count > 3) hn::StoreU(s3, di, out.sums[3].data() + begin);
  store_narrow(wanted, out.tops.data() + begin);
  if (is_another) hn::StoreU(hn::IfThenElse(is_nothing, tops, wanted), words, likely.data() + begin);
  store_narrow(hn::Or(flags, hn::AndNot(gets_none, hn::Set(words, flag))), out.flags.data() + begin);
  return true;
}

template <TermForm form, class T, int bin_count>
Count add_to_groups(const ColumnRows& rows, std::uint8_t lowest_top, std::uint8_t flag, GroupOfBins* groups) noexcept {
  const Count lanes = hn::Lanes(Columns());
  EachColumn<std::uint64_t> likely;
  likely.fill(lowest_top);
  for (Count first = 0, number = 0; first < rows.columns; first += most_columns, ++number) {
    GroupOfBins& group = groups[number];
    const Count columns = std::min(most_columns, rows.columns - first);
    if (lanes == most_columns) {
      if (!add_to_columns<form, T, bin_count>(rows, first, columns, lowest_top, flag, group, 0, group, likely))
        return number;
      continue;
    }
    GroupOfBins sum;  // no bins but these are written, and no columns that there are not
    Count written = 0;
    for (; written < columns; written += lanes)
      if (!add_to_columns<form, T, bin_count>(rows, first + written, std::min(lanes, columns - written), lowest_top,
                                              flag, group, written, sum, likely))
        return number;
    const auto commit = [&](auto count) {
      for (std::size_t bin = 0; bin < bin_count; ++bin)
        std::memcpy(group.sums[bin].data(), sum.sums[bin].data(), count * sizeof(std::int64_t));
      std::memcpy(group.tops.data(), sum.tops.data(), count);
      std::memcpy(group.flags.data(), sum.flags.data(), count);
    };
    if (written == most_columns)
      commit(std::integral_constant<Count, most_columns>());  // which takes no calls
    else
      commit(written);
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
Shares one_of(Target target) noexcept {
  const Shares kernel = pick<Shares>(target, STEADFOLD_EACH(shares<form, T, bin_count>));
  return kernel != nullptr ? kernel : &reference<form, T, bin_count>;
}

template <TermForm form, class T, int bin_count>
AddToGroupsOfBins to_groups(Target target) noexcept {
  if constexpr (bin_count == 0)
    return nullptr;
  else
    return pick<AddToGroupsOfBins>(target, STEADFOLD_EACH(add_to_groups<form, T, bin_count>));
}

/// `choose.template operator()<form, bin_count>()`. Without bins, squares are surveyed as the elements are.
template <TermForm form, class Choose>
auto of_form(int bin_count, const Choose& choose) noexcept {
  switch (bin_count) {
    case 2: return choose.template operator()<form, 2>();
    case 3: return choose.template operator()<form, 3>();
    case 4: return choose.template operator()<form, 4>();
    default: break;
  }
  return choose.template operator() < form == TermForm::square ? TermForm::element : form, 0 > ();
}

template <class Choose>
auto of_form(TermForm form, int bin_count, const Choose& choose) noexcept {
  switch (form) {
    case TermForm::product: return of_form<TermForm::product>(bin_count, choose);
    case TermForm::square: return of_form<TermForm::square>(bin_count, choose);
    case TermForm::element: break;
  }
  return of_form<TermForm::element>(bin_count, choose);
}

}  // namespace

template <class T>
Shares shares(Target target, TermForm form, int bin_count) noexcept {
  return of_form(form, bin_count, [=]<TermForm chosen, int bins>() { return one_of<chosen, T, bins>(target); });
}

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

template Shares shares<double>(Target, TermForm, int) noexcept;
template Shares shares<float>(Target, TermForm, int) noexcept;
template LargestOfColumns largest_of_columns<double>(Target, TermForm) noexcept;
template LargestOfColumns largest_of_columns<float>(Target, TermForm) noexcept;
template AddToGroupsOfBins add_to_groups_of_bins<double>(Target, TermForm, int) noexcept;
template AddToGroupsOfBins add_to_groups_of_bins<float>(Target, TermForm, int) noexcept;

}  // namespace steadfold::kernels
#endif
