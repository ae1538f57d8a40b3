// Kernels of shares.hpp. For every bin, each lane adds up the bit patterns of term + extractor, modulo 2^64; in the end
// those of the extractors are subtracted. Sums of integers have no order, so the lane count does not show.
#include "kernels/shares.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/highway.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/shares.cpp"
#include <hwy/foreach_target.h>  // after the line above
#include <hwy/highway.h>

#include "kernels/load_first.hpp"
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

constexpr std::uint64_t each_byte = 0x0101010101010101;

/// A byte of each column.
inline std::uint64_t word_of(const EachColumn<std::uint8_t>& bytes) noexcept {
  std::uint64_t word;
  static_assert(sizeof word == sizeof bytes);
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}
inline void put_word(std::uint64_t word, EachColumn<std::uint8_t>& bytes) noexcept {
  std::memcpy(bytes.data(), &word, sizeof word);
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

namespace hn = hwy::HWY_NAMESPACE;

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
using ColumnTerms = hn::Vec<Columns>;
using ColumnSums = hn::Vec<ColumnsAsIntegers>;

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

/// Takes away the extractors that so many rows have added, fewer than 2^32. The lower half of an extractor is 0.
HWY_INLINE ColumnSums without_extractors(ColumnSums sum, ColumnTerms extractor, Count rows) {
  const ColumnsAsIntegers di;
  const hn::Repartition<std::uint32_t, Columns> halves;
  const hn::RebindToUnsigned<ColumnsAsIntegers> words;
  const auto upper = hn::BitCast(halves, hn::ShiftRight<32>(hn::BitCast(words, extractor)));
  const auto all = hn::MulEven(upper, hn::BitCast(halves, hn::Set(words, rows)));
  return hn::Sub(sum, hn::BitCast(di, hn::ShiftLeft<32>(all)));
}

/// The extractors of a bin, if there is one.
template <int bin_count>
HWY_INLINE ColumnTerms extractors_of(const ColumnBins& windows, std::size_t bin, Count begin) {
  return bin < bin_count ? hn::LoadU(Columns(), windows.extractors[bin].data() + begin) : hn::Zero(Columns());
}

template <TermForm form, class T, int bin_count>
void shares_of_columns(const ColumnRows& rows, const ColumnBins& windows, ColumnShares& shares) noexcept {
  const Columns d;
  const ColumnsAsIntegers di;
  const Count lanes = hn::Lanes(d);
  for (Count begin = 0; begin < rows.columns; begin += lanes) {
    const ColumnTerms e0 = extractors_of<bin_count>(windows, 0, begin);
    const ColumnTerms e1 = extractors_of<bin_count>(windows, 1, begin);
    const ColumnTerms e2 = extractors_of<bin_count>(windows, 2, begin);
    const ColumnTerms e3 = extractors_of<bin_count>(windows, 3, begin);
    ColumnSums s0, s1, s2, s3, largest;
    deal_out_rows<form, T, bin_count>(rows, begin, std::min(lanes, rows.columns - begin),
                                      hn::LoadU(d, windows.scale.data() + begin), e0, e1, e2, e3, s0, s1, s2, s3,
                                      largest);
    hn::StoreU(largest, di, reinterpret_cast<std::int64_t*>(shares.largest.data() + begin));
    const auto put = [&](std::size_t bin, auto sum, auto extractor) HWY_ATTR {
      hn::StoreU(without_extractors(sum, extractor, rows.rows), di, shares.sums[bin].data() + begin);
    };
    if constexpr (bin_count > 0) put(0, s0, e0);
    if constexpr (bin_count > 1) put(1, s1, e1);
    if constexpr (bin_count > 2) put(2, s2, e2);
    if constexpr (bin_count > 3) put(3, s3, e3);
  }
}

/// Whether the largest of some columns' terms all have a place, and if it is a guess, in no lower window; none is 0.
HWY_INLINE bool have_places(ColumnSums largest, const ColumnBins& windows, bool is_guess, Count begin, Count some) {
  const hn::RebindToUnsigned<ColumnsAsIntegers> words;
  const auto one = hn::Set(words, 1);
  const auto found = hn::BitCast(words, largest);
  const auto limits = hn::LoadU(words, windows.limits.data() + begin);
  const auto floors = is_guess ? hn::LoadU(words, windows.floors.data() + begin) : hn::Zero(words);
  const auto is_below = hn::VecFromMask(words, hn::Lt(found, floors));
  const auto has_place = hn::VecFromMask(words, hn::Lt(hn::Sub(found, one), hn::Sub(limits, one)));
  const auto is_outside = hn::Or(is_below, hn::Not(has_place));
  const auto counts = hn::VecFromMask(words, hn::FirstN(words, some));
  return hn::AllTrue(words, hn::Eq(hn::And(is_outside, counts), hn::Zero(words)));
}

/// Adds rows to one group. Returns whether it has; if not, nothing has changed.
template <TermForm form, class T, int bin_count>
HWY_INLINE bool add_to_group(const ColumnRows& rows, Count first, Count columns, const ColumnBins& windows,
                             bool is_guess, GroupOfBins& group) {
  const Columns d;
  const ColumnsAsIntegers di;
  const Count lanes = hn::Lanes(d);
  constexpr std::int64_t most = std::int64_t{1} << 61;
  alignas(64) std::array<EachColumn<std::int64_t>, bin_count> sums{};
  for (Count begin = 0; begin < columns; begin += lanes) {
    const Count some = std::min(lanes, columns - begin);
    const ColumnTerms e0 = extractors_of<bin_count>(windows, 0, begin);
    const ColumnTerms e1 = extractors_of<bin_count>(windows, 1, begin);
    const ColumnTerms e2 = extractors_of<bin_count>(windows, 2, begin);
    const ColumnTerms e3 = extractors_of<bin_count>(windows, 3, begin);
    ColumnSums s0, s1, s2, s3, largest;
    deal_out_rows<form, T, bin_count>(rows, first + begin, some, hn::LoadU(d, windows.scale.data() + begin), e0, e1, e2,
                                      e3, s0, s1, s2, s3, largest);
    auto beyond = hn::Zero(di);
    const auto put = [&](std::size_t bin, auto sum, auto extractor) HWY_ATTR {
      const auto all =
          hn::Add(hn::LoadU(di, group.sums[bin].data() + begin), without_extractors(sum, extractor, rows.rows));
      beyond = hn::Or(beyond, hn::Add(all, hn::Set(di, most)));
      hn::StoreU(all, di, sums[bin].data() + begin);
    };
    put(0, s0, e0);
    put(1, s1, e1);
    if constexpr (bin_count > 2) put(2, s2, e2);
    if constexpr (bin_count > 3) put(3, s3, e3);
    const auto is_far = hn::And(beyond, hn::Set(di, ~(2 * most - 1)));
    if (!have_places(largest, windows, is_guess, begin, some) || !hn::AllTrue(di, hn::Eq(is_far, hn::Zero(di))))
      return false;
  }
  std::copy(sums.begin(), sums.end(), group.sums.begin());
  return true;
}

template <TermForm form, class T, int bin_count>
Count add_to_groups(const ColumnRows& rows, const ColumnBins& windows, std::uint8_t lowest_top, std::uint8_t flag,
                    GroupOfBins* groups) noexcept {
  const std::uint64_t tops = word_of(windows.tops);
  for (Count first = 0, number = 0; first < rows.columns; first += most_columns, ++number) {
    GroupOfBins& group = groups[number];
    const Count columns = std::min(most_columns, rows.columns - first);
    const std::uint64_t counts = ~std::uint64_t{0} >> (64 - 8 * columns);  // bytes
    const std::uint64_t tops_of_group = word_of(group.tops);
    const std::uint64_t flags = word_of(group.flags);
    const bool is_empty = (((tops_of_group ^ each_byte * lowest_top) | flags) & counts) == 0;
    if (!is_empty && ((tops_of_group ^ tops) & counts) != 0) return number;
    if (!add_to_group<form, T, bin_count>(rows, first, columns, windows, is_empty, group)) return number;
    put_word(tops, group.tops);
    put_word(flags | each_byte * flag, group.flags);
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
SharesOfColumns of_columns(Target target) noexcept {
  return pick<SharesOfColumns>(target, STEADFOLD_EACH(shares_of_columns<form, T, bin_count>));
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
SharesOfColumns shares_of_columns(Target target, TermForm form, int bin_count) noexcept {
  return of_form(form, bin_count, [=]<TermForm chosen, int bins>() { return of_columns<chosen, T, bins>(target); });
}

template Shares shares<double>(Target, TermForm, int) noexcept;
template Shares shares<float>(Target, TermForm, int) noexcept;
template SharesOfColumns shares_of_columns<double>(Target, TermForm, int) noexcept;
template SharesOfColumns shares_of_columns<float>(Target, TermForm, int) noexcept;
template AddToGroupsOfBins add_to_groups_of_bins<double>(Target, TermForm, int) noexcept;
template AddToGroupsOfBins add_to_groups_of_bins<float>(Target, TermForm, int) noexcept;

}  // namespace steadfold::kernels
#endif
