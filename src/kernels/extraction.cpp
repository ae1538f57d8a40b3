// Kernels of extraction.hpp. The kernels use two chains of levels, so that an addition need not wait for the previous
// one.
#include "kernels/extraction.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/highway.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/extraction.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>

#include "kernels/extracted_terms.hpp"
#endif

#ifndef STEADFOLD_KERNELS_EXTRACTION_SCALAR
#define STEADFOLD_KERNELS_EXTRACTION_SCALAR
namespace steadfold::kernels {
namespace {

[[maybe_unused]] constexpr Count most_blocks =
    64;  // in a block a lane adds less than 2^52 units: 2^58 in 64 blocks, and 2^61 in 8 lanes

/// The number 1. The variable is volatile, because the compiler would turn a multiply-add by a known 1 into an
/// addition.
[[maybe_unused]] const volatile double opaque_one = 1.0;

}  // namespace
}  // namespace steadfold::kernels
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

/// Calls `take(row)` for a vector of columns of every row. Later rows are prefetched if rows are close to each other.
template <ExtractedTerms terms, class Take>
HWY_INLINE void for_each_row(const ColumnRows& rows, Count begin, const Take& take) {
  using Element = ElementOf<terms>;
  const bool fetches_ahead = prefetch == Prefetch::far && rows.row_stride <= 512;
  const Count ahead = 128 * rows.row_stride;
  const std::byte* x = rows.first + begin * sizeof(Element);
  const std::byte* y = is_product(terms) ? rows.second + begin * sizeof(Element) : x;
  for (Count row = 0; row < rows.rows; ++row, x += rows.row_stride, y += rows.row_stride) {
    if (fetches_ahead) {
      __builtin_prefetch(x + ahead, 0, 2);
      if constexpr (is_product(terms)) __builtin_prefetch(y + ahead, 0, 2);
    }
    take(SomeTerms<terms>{reinterpret_cast<const Element*>(x), reinterpret_cast<const Element*>(y),
                          rows.columns - begin});
  }
}

/// For exponents of normal numbers.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

HWY_INLINE V start(int top, int level) { return hn::Set(D(), 1.5 * power_of_two(top - level_step * level)); }

HWY_INLINE VI added(V start, V a, V b) {
  const DI di;
  const VI from = hn::BitCast(di, start);
  return hn::Add(hn::Sub(hn::BitCast(di, a), from), hn::Sub(hn::BitCast(di, b), from));
}

HWY_INLINE std::int64_t total(VI sums) { return hn::GetLane(hn::SumOfLanes(DI(), sums)); }

/// Not 0 in lanes whose terms did not fit.
HWY_INLINE VI misfits(VI strayed, V lost) {
  const DI di;
  const VI outside = hn::And(strayed, hn::Set(di, static_cast<std::int64_t>(0xFFF0000000000000u)));
  const VI left_over = hn::Add(hn::BitCast(di, lost), hn::BitCast(di, lost));  // doubling drops the sign of zeros
  return hn::Or(outside, left_over);
}
HWY_INLINE bool fits(VI strayed, V lost) { return hn::AllTrue(DI(), hn::Eq(misfits(strayed, lost), hn::Zero(DI()))); }

/// The rounding error of a product below 2^-960 may be too small for a double.
constexpr int lowest_exact = -960;

/// Whether every product has at least the magnitude `least`, or a factor 0. Their rounding errors are doubles.
HWY_NOINLINE bool are_exact(const Source<ExtractedTerms::products_of_doubles>& source, Count begin, Count end,
                            double least) {
  const D d;
  const V zero = hn::Zero(d);
  for (Count i = begin; i < end; i += hn::Lanes(d)) {
    const auto some = source.some(i, std::min<Count>(end - i, hn::Lanes(d)));
    const V x = some.x(), y = some.y();
    const auto is_small = hn::Lt(hn::Abs(hn::Mul(x, y)), hn::Set(d, least));
    if (!hn::AllFalse(d, hn::And(is_small, hn::And(hn::Ne(x, zero), hn::Ne(y, zero))))) return false;
  }
  return true;
}

template <ExtractedTerms terms, int levels>
struct ExtractionKernel {
  static constexpr bool has_rests = terms == ExtractedTerms::products_of_doubles;
  /// A product adds two terms to the lower levels, its remainder and its error. So half as many products fill them.
  static constexpr Count block = has_rests ? extraction_block / 2 : extraction_block;

  /// Adds one vector of terms to one chain, and collects three facts. `strayed`: its sign and exponent are not 0 if the
  /// first level left its binade, even for a while. `lost`: not 0 if the last level lost something. `least`: the least
  /// of the absolute products.
  template <class TermSource>
  HWY_INLINE static void add(const TermSource& source, Count i, V one, VI start_bits, V& s0, V& s1, V& s2, V& s3,
                             VI& strayed, V& lost, V& least) {
    const V term = source[i];
    V rest = extract<0>(s0, term, one);
    strayed = hn::Or(strayed, hn::Xor(hn::BitCast(DI(), s0), start_bits));
    rest = extract<1>(s1, rest, one);
    if constexpr (levels > 2) rest = extract<2>(s2, rest, one);
    if constexpr (levels > 3) rest = extract<3>(s3, rest, one);
    lost = hn::Or(lost, rest);
    if constexpr (has_rests) {
      least = hn::Min(least, hn::Abs(term));
      V low = extract<1>(s1, source.rest_of(term, i), one);
      low = extract<2>(s2, low, one);
      low = extract<3>(s3, low, one);
      lost = hn::Or(lost, low);
    }
  }

  static Count sum(const void* first, const void* second, Count count, int top, std::int64_t* sums) noexcept {
    using Element = ElementOf<terms>;
    const D d;
    const DI di;
    const Count lanes = hn::Lanes(d);
    const V one = hn::Set(d, opaque_one);
    const V m0 = start(top, 0), m1 = start(top, 1);
    const V m2 = levels > 2 ? start(top, 2) : m1, m3 = levels > 3 ? start(top, 3) : m1;
    const VI start_bits = hn::BitCast(di, m0);
    VI t0 = hn::Zero(di), t1 = hn::Zero(di), t2 = hn::Zero(di), t3 = hn::Zero(di);
    const Source<terms> all{static_cast<const Element*>(first), static_cast<const Element*>(second)};

    Count done = 0;
    Count next = count < 2 * block ? 0 : all.before_alignment();
    if (next == 0) next = std::min(count, block);
    for (Count blocks = 0; done < count && blocks < most_blocks; ++blocks) {
      V a0 = m0, a1 = m1, a2 = m2, a3 = m3, b0 = m0, b1 = m1, b2 = m2, b3 = m3;
      VI strayed = hn::Zero(di);
      V lost = hn::Zero(d);
      V least = hn::Set(d, hwy::HighestValue<double>());
      const Count end = done + next;
      Count i = done;
      for (; i + 2 * lanes <= end; i += 2 * lanes) {
        all.fetch_ahead(i);
        add(all, i, one, start_bits, a0, a1, a2, a3, strayed, lost, least);
        if (lanes * sizeof(Element) >= 64) all.fetch_ahead(i + lanes);
        add(all, i + lanes, one, start_bits, b0, b1, b2, b3, strayed, lost, least);
      }
      if (i < end) {
        V of_zeros = least;
        const Count left = end - i;
        add(all.some(i, std::min(left, lanes)), 0, one, start_bits, a0, a1, a2, a3, strayed, lost, of_zeros);
        if (left > lanes)
          add(all.some(i + lanes, left - lanes), 0, one, start_bits, b0, b1, b2, b3, strayed, lost, of_zeros);
      }
      if (!fits(strayed, lost)) break;
      if constexpr (has_rests) {
        constexpr double enough = power_of_two(lowest_exact);
        const Count first_in_doubt = hn::AllTrue(d, hn::Ge(least, hn::Set(d, enough))) ? i : done;
        if (!are_exact(all, first_in_doubt, end, enough)) break;
      }
      t0 = hn::Add(t0, added(m0, a0, b0));
      t1 = hn::Add(t1, added(m1, a1, b1));
      if constexpr (levels > 2) t2 = hn::Add(t2, added(m2, a2, b2));
      if constexpr (levels > 3) t3 = hn::Add(t3, added(m3, a3, b3));
      done = end;
      next = std::min(count - done, block);
    }
    sums[0] += total(t0);
    sums[1] += total(t1);
    if constexpr (levels > 2) sums[2] += total(t2);
    if constexpr (levels > 3) sums[3] += total(t3);
    return done;
  }

  /// Adds all rows to one vector of columns after the other.
  static void sum_columns(const ColumnRows& rows, ExtractedColumns& found) noexcept {
    const D d;
    const DI di;
    const V one = hn::Set(d, opaque_one);
    for (Count begin = 0; begin < rows.columns; begin += hn::Lanes(d)) {
      const VI exponent = hn::Add(hn::LoadU(di, found.top.data() + begin), hn::Set(di, 1023));
      const auto start = [&](int level) HWY_ATTR {
        const VI biased = hn::Sub(exponent, hn::Set(di, level_step * level));
        return hn::BitCast(d, hn::Or(hn::ShiftLeft<52>(biased), hn::Set(di, std::int64_t{1} << 51)));
      };
      const V m0 = start(0), m1 = start(1);
      const V m2 = levels > 2 ? start(2) : m1, m3 = levels > 3 ? start(3) : m1;
      const VI start_bits = hn::BitCast(di, m0);
      V s0 = m0, s1 = m1, s2 = m2, s3 = m3, lost = hn::Zero(d), least = lost;
      VI strayed = hn::Zero(di);
      for_each_row<terms>(rows, begin, [&](const SomeTerms<terms>& row) HWY_ATTR {
        add(row, 0, one, start_bits, s0, s1, s2, s3, strayed, lost, least);
      });
      hn::StoreU(hn::VecFromMask(di, hn::Eq(misfits(strayed, lost), hn::Zero(di))), di, found.fits.data() + begin);
      const auto put = [&](std::size_t level, V sum, V from) HWY_ATTR {
        hn::StoreU(hn::Sub(hn::BitCast(di, sum), hn::BitCast(di, from)), di, found.sums[level].data() + begin);
      };
      put(0, s0, m0);
      put(1, s1, m1);
      if constexpr (levels > 2) put(2, s2, m2);
      if constexpr (levels > 3) put(3, s3, m3);
    }
  }
};

/// Adds products of doubles whose magnitudes are near each other. Two sums hold the rounded products, and two others,
/// which start 54 binades lower, their rounding errors. The largest magnitude shows that no sum can leave its binade,
/// and the least that nothing is lost: a rounded product is a multiple of the second sum's unit, and its error, which
/// ends at most 105 binades below the product, of the fourth sum's.
struct NearProducts {
  static constexpr Count block = extraction_block / 2;
  static constexpr int errors_below = 54;
  static constexpr int lowest_top = -1022 + errors_below + level_step;  // below, the fourth sum is not normal

  /// The least of the magnitudes of both.
  HWY_INLINE static V least_of(V least, V v) {
#if HWY_TARGET == HWY_AVX3
    return V{_mm512_range_pd(least.raw, v.raw, 2 | 2 << 2)};  // the least magnitude, without a sign
#else
    return hn::Min(least, hn::Abs(v));
#endif
  }
  HWY_INLINE static V most_of(V most, V v) {
#if HWY_TARGET == HWY_AVX3
    return V{_mm512_range_pd(most.raw, v.raw, 3 | 2 << 2)};  // the largest magnitude, without a sign
#else
    return hn::Max(most, hn::Abs(v));
#endif
  }

  HWY_INLINE static void add(V x, V y, V one, V& high, V& rest, V& error, V& last, V& least, V& most) {
    const V product = hn::Mul(x, y);
    rest = hn::Add(rest, extract<0>(high, product, one));
    last = hn::Add(last, extract<1>(error, hn::MulSub(x, y, product), one));
    least = least_of(least, product);
    most = most_of(most, product);
  }

  static Count sum(const void* first, const void* second, Count count, int top, std::int64_t* sums) noexcept {
    if (top < lowest_top) return 0;
    const D d;
    const DI di;
    const Count lanes = hn::Lanes(d);
    const V one = hn::Set(d, opaque_one);
    const V m0 = start(top, 0), m1 = start(top, 1);
    const V m2 = start(top - errors_below, 0), m3 = start(top - errors_below, 1);
    VI t0 = hn::Zero(di), t1 = hn::Zero(di), t2 = hn::Zero(di), t3 = hn::Zero(di);
    const Source<ExtractedTerms::products_of_doubles> all{static_cast<const double*>(first),
                                                          static_cast<const double*>(second)};
    // The products of a lane of a chain add up to less than half a binade.
    const double too_large = power_of_two(top - 1) / static_cast<double>((block - 1) / (2 * lanes) + 1);
    const double enough = power_of_two(std::max(level_unit(top, 1) + 52, lowest_exact));

    Count done = 0;
    Count next = count < 2 * block ? 0 : all.before_alignment();
    if (next == 0) next = std::min(count, block);
    for (Count blocks = 0; done < count && blocks < most_blocks; ++blocks) {
      V a0 = m0, a1 = m1, a2 = m2, a3 = m3, b0 = m0, b1 = m1, b2 = m2, b3 = m3;
      V least = hn::Set(d, hwy::HighestValue<double>()), most = hn::Zero(d);
      const Count end = done + next;
      Count i = done;
      for (; i + 2 * lanes <= end; i += 2 * lanes) {
        all.fetch_ahead(i);
        add(load(all.first + i), load(all.second + i), one, a0, a1, a2, a3, least, most);
        const Count j = i + lanes;
        if (lanes * sizeof(double) >= 64) all.fetch_ahead(j);
        add(load(all.first + j), load(all.second + j), one, b0, b1, b2, b3, least, most);
      }
      const bool all_have = hn::AllTrue(d, hn::Ge(least, hn::Set(d, enough)));
      if (!are_exact(all, all_have ? i : done, end, enough)) break;
      if (i < end) {
        const auto some = all.some(i, std::min(end - i, lanes));
        add(some.x(), some.y(), one, a0, a1, a2, a3, least, most);
      }
      if (i + lanes < end) {
        const auto some = all.some(i + lanes, end - i - lanes);
        add(some.x(), some.y(), one, b0, b1, b2, b3, least, most);
      }
      // A NaN stays in the first sum, but may not stay in the largest magnitude.
      const VI start_bits = hn::BitCast(di, m0);
      const VI strayed = hn::Or(hn::Xor(hn::BitCast(di, a0), start_bits), hn::Xor(hn::BitCast(di, b0), start_bits));
      if (!hn::AllTrue(d, hn::Lt(most, hn::Set(d, too_large))) || !fits(strayed, hn::Zero(d))) break;
      t0 = hn::Add(t0, added(m0, a0, b0));
      t1 = hn::Add(t1, added(m1, a1, b1));
      t2 = hn::Add(t2, added(m2, a2, b2));
      t3 = hn::Add(t3, added(m3, a3, b3));
      done = end;
      next = std::min(count - done, block);
    }
    sums[0] += total(t0);
    sums[1] += total(t1);
    add_below(total(t2), sums + 1);
    add_below(total(t3), sums + 2);
    return done;
  }

 private:
  /// Adds a sum of errors, which is a few binades below a level, to this level and to the next one.
  static void add_below(std::int64_t sum, std::int64_t* levels) {
    constexpr int below = errors_below - level_step;
    levels[0] += sum >> below;
    levels[1] += (sum & ((std::int64_t{1} << below) - 1)) << (level_step - below);
  }
};

template <ExtractedTerms terms>
int highest(const void* first, const void* second, Count count) noexcept {
  using Element = ElementOf<terms>;
  const D d;
  const DI di;
  const Count lanes = hn::Lanes(d);
  const Source<terms> all{static_cast<const Element*>(first), static_cast<const Element*>(second)};
  VI most = hn::Zero(di);
  const auto take = [&](V term) HWY_ATTR { most = hn::Max(most, hn::BitCast(di, hn::Abs(term))); };
  Count i = 0;
  for (; i + lanes <= count; i += lanes) take(all[i]);
  if (i < count) take(all.some(i, count - i)[0]);
  return static_cast<int>(hn::GetLane(hn::MaxOfLanes(di, most)) >> 52) - 1023;
}

template <ExtractedTerms terms>
void highest_of_columns(const ColumnRows& rows, EachColumn<std::int64_t>& exponents) noexcept {
  const DI di;
  for (Count begin = 0; begin < rows.columns; begin += hn::Lanes(di)) {
    VI most = hn::Zero(di);
    for_each_row<terms>(rows, begin, [&](const SomeTerms<terms>& row) HWY_ATTR {
      most = hn::Max(most, hn::BitCast(di, hn::Abs(row[0])));
    });
    hn::StoreU(hn::Sub(hn::ShiftRight<52>(most), hn::Set(di, 1023)), di, exponents.data() + begin);
  }
}

AddColumnsByExtraction add_columns_by_extraction(ExtractedTerms terms, int levels) noexcept {
  if (hn::Lanes(D()) > most_columns) return nullptr;
  const auto of = [=]<ExtractedTerms chosen>() {
    return levels == 2 ? &ExtractionKernel<chosen, 2>::sum_columns : &ExtractionKernel<chosen, 4>::sum_columns;
  };
  switch (terms) {
    case ExtractedTerms::doubles: return of.template operator()<ExtractedTerms::doubles>();
    case ExtractedTerms::floats: return of.template operator()<ExtractedTerms::floats>();
    case ExtractedTerms::products_of_floats: return of.template operator()<ExtractedTerms::products_of_floats>();
    case ExtractedTerms::products_of_doubles: break;
    case ExtractedTerms::absolute_doubles: return of.template operator()<ExtractedTerms::absolute_doubles>();
    case ExtractedTerms::absolute_floats: return of.template operator()<ExtractedTerms::absolute_floats>();
  }
  return nullptr;
}

HighestExponents highest_exponents(ExtractedTerms terms) noexcept {
  if (hn::Lanes(D()) > most_columns) return nullptr;
  switch (terms) {
    case ExtractedTerms::doubles:
    case ExtractedTerms::absolute_doubles: return &highest_of_columns<ExtractedTerms::doubles>;
    case ExtractedTerms::floats:
    case ExtractedTerms::absolute_floats: return &highest_of_columns<ExtractedTerms::floats>;
    case ExtractedTerms::products_of_floats: return &highest_of_columns<ExtractedTerms::products_of_floats>;
    case ExtractedTerms::products_of_doubles: break;
  }
  return nullptr;
}

AddByExtraction add_by_extraction(ExtractedTerms terms, int levels) noexcept {
  switch (terms) {
    case ExtractedTerms::doubles:
      return levels == 2 ? &ExtractionKernel<ExtractedTerms::doubles, 2>::sum
                         : &ExtractionKernel<ExtractedTerms::doubles, 4>::sum;
    case ExtractedTerms::floats:
      return levels == 2 ? &ExtractionKernel<ExtractedTerms::floats, 2>::sum
                         : &ExtractionKernel<ExtractedTerms::floats, 4>::sum;
    case ExtractedTerms::products_of_floats:
      return levels == 2 ? &ExtractionKernel<ExtractedTerms::products_of_floats, 2>::sum
                         : &ExtractionKernel<ExtractedTerms::products_of_floats, 4>::sum;
    case ExtractedTerms::products_of_doubles:
      if constexpr (has_fma)
        return levels == 4 ? &ExtractionKernel<ExtractedTerms::products_of_doubles, 4>::sum : &NearProducts::sum;
      break;
    case ExtractedTerms::absolute_doubles:
      return levels == 2 ? &ExtractionKernel<ExtractedTerms::absolute_doubles, 2>::sum
                         : &ExtractionKernel<ExtractedTerms::absolute_doubles, 4>::sum;
    case ExtractedTerms::absolute_floats:
      return levels == 2 ? &ExtractionKernel<ExtractedTerms::absolute_floats, 2>::sum
                         : &ExtractionKernel<ExtractedTerms::absolute_floats, 4>::sum;
  }
  return nullptr;
}

HighestExponent highest_exponent(ExtractedTerms terms) noexcept {
  switch (terms) {
    case ExtractedTerms::doubles: return &highest<ExtractedTerms::doubles>;
    case ExtractedTerms::floats: return &highest<ExtractedTerms::floats>;
    case ExtractedTerms::products_of_floats: return &highest<ExtractedTerms::products_of_floats>;
    case ExtractedTerms::products_of_doubles: return &highest<ExtractedTerms::products_of_doubles>;
    case ExtractedTerms::absolute_doubles: return &highest<ExtractedTerms::doubles>;
    case ExtractedTerms::absolute_floats: return &highest<ExtractedTerms::floats>;
  }
  return nullptr;
}

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

AddByExtraction add_by_extraction(Target target, [[maybe_unused]] ExtractedTerms terms,
                                  [[maybe_unused]] int levels) noexcept {
  using Choose = AddByExtraction (*)(ExtractedTerms, int) noexcept;
  const auto choose = pick<Choose>(target, STEADFOLD_EACH(add_by_extraction));
  return choose == nullptr ? nullptr : choose(terms, levels);
}

HighestExponent highest_exponent(Target target, [[maybe_unused]] ExtractedTerms terms) noexcept {
  using Choose = HighestExponent (*)(ExtractedTerms) noexcept;
  const auto choose = pick<Choose>(target, STEADFOLD_EACH(highest_exponent));
  return choose == nullptr ? nullptr : choose(terms);
}

AddColumnsByExtraction add_columns_by_extraction(Target target, [[maybe_unused]] ExtractedTerms terms,
                                                 [[maybe_unused]] int levels) noexcept {
  using Choose = AddColumnsByExtraction (*)(ExtractedTerms, int) noexcept;
  const auto choose = pick<Choose>(target, STEADFOLD_EACH(add_columns_by_extraction));
  return choose == nullptr ? nullptr : choose(terms, levels);
}

HighestExponents highest_exponents(Target target, [[maybe_unused]] ExtractedTerms terms) noexcept {
  using Choose = HighestExponents (*)(ExtractedTerms) noexcept;
  const auto choose = pick<Choose>(target, STEADFOLD_EACH(highest_exponents));
  return choose == nullptr ? nullptr : choose(terms);
}

}  // namespace steadfold::kernels
#endif
