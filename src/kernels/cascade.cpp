// Kernels of cascade.hpp. Each lane of a vector has one column.
#include "kernels/cascade.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/highway.hpp"
#include "kernels/pre_rounding.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cascade.cpp"
#include <hwy/foreach_target.h>  // HWY_TARGET_INCLUDE must be defined before this line
#include <hwy/highway.h>

#include "kernels/load_first.hpp"
#endif

#ifndef STEADFOLD_CASCADE_REFERENCE  // compiled once, although this file is included again for every target
#define STEADFOLD_CASCADE_REFERENCE
namespace steadfold::kernels {
namespace {

/// The constants of the bound on g: F times the first constant plus |d| times the second constant, which is 4 u.
template <class T>
constexpr T times_lost = 4;
template <class T>
constexpr T times_last_loss = 2 * std::numeric_limits<T>::epsilon();

/// Adds x to `sum`, and returns the rounding error.
template <class T>
T add_one(T& sum, T x) noexcept {
  const T before = sum;
  sum = before + x;
  const T of_x = sum - before;
  return (before - (sum - of_x)) + (x - of_x);
}

/// Whether `sum` is certain to be right.
template <class T>
bool cascade_column(std::span<const T> terms, T& sum) noexcept {
  if (terms.size() == 2) {  // the rounded sum of two terms is correct
    sum = terms[0] + terms[1];
    return std::isfinite(sum);
  }
  sum = terms[0];
  T losses = add_one(sum, terms[1]);
  T lost = 0;
  for (const T x : terms.subspan(2)) {
    const T loss = add_one(sum, x);
    lost += std::abs(add_one(losses, loss));
  }
  T rounded = sum;
  const T last_loss = add_one(rounded, losses);
  if (losses != 0) sum = rounded;
  const T bound = times_lost<T> * lost + times_last_loss<T> * std::abs(last_loss);
  return lost == 0 || (sum + (last_loss + bound) == sum && sum + (last_loss - bound) == sum);
}

template <class T>
order::Count cascade_one_by_one(std::span<const std::byte* const> rows, order::Bytes offset, order::Count columns,
                                int bin_count, std::byte* sums, std::uint32_t* uncertain) noexcept {
  order::Count found = 0;
  std::array<T, most_cascaded> room;
  for (order::Count column = 0; column < columns; ++column) {
    T sum;
    if (!cascade_column(column_of<T>(rows, offset + column * sizeof(T), bin_count, room), sum))
      uncertain[found++] = static_cast<std::uint32_t>(column);
    std::memcpy(sums + column * sizeof(T), &sum, sizeof sum);
  }
  return found;
}

}  // namespace
}  // namespace steadfold::kernels
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Adds vectors as add_one adds numbers.
template <class V>
HWY_INLINE V add(V& sum, V x) {
  const V before = sum;
  sum = hn::Add(before, x);
  const V of_x = hn::Sub(sum, before);
  return hn::Add(hn::Sub(before, hn::Sub(sum, of_x)), hn::Sub(x, of_x));
}

/// Computes what pre_rounding_bound computes, for vectors. The division by 40 is a multiplication and a shift. Bits
/// that reach the upper halves of 64-bit lanes on the way are shifted out in the end.
template <class D>
HWY_INLINE hn::Vec<D> bound_of(D d, hn::Vec<D> largest, int bin_count) {
  using Form = PreRounding<hn::TFromD<D>>;
  constexpr std::int32_t fortieth = 1639;  // 2^16 / 40, exact enough for numbers up to 2098 = 52 * 40 + 18
  const hn::RebindToUnsigned<D> bits;
  const hn::Repartition<std::int32_t, D> whole;
  const auto field = hn::BitCast(whole, hn::ShiftRight<Form::fraction_bits>(hn::BitCast(bits, largest)));
  const auto above = hn::Add(field, hn::Set(whole, Form::to_bin));
  const auto top = hn::ShiftRight<16>(hn::Mul(above, hn::Set(whole, fortieth)));
  const auto lowest = hn::Max(hn::Sub(top, hn::Set(whole, bin_count - 1)), hn::Zero(whole));
  const auto of_lowest = hn::Add(hn::Mul(lowest, hn::Set(whole, pre_rounding_width)), hn::Set(whole, Form::shift));
  const auto bound = hn::BitCast(bits, hn::Max(of_lowest, hn::Zero(whole)));
  return hn::BitCast(d, hn::ShiftLeft<Form::fraction_bits>(bound));
}

/// Loads a vector of columns, or the last `count` columns followed by zeros.
template <bool is_whole>
struct Columns {
  std::span<const std::byte* const> rows;
  order::Bytes offset;
  order::Count count;

  template <class D>
  HWY_INLINE hn::Vec<D> load(D d, std::size_t row) const {
    const auto* const x = reinterpret_cast<const hn::TFromD<D>*>(rows[row] + offset);
    if constexpr (is_whole)
      return hn::LoadU(d, x);
    else
      return load_first(d, x, count);
  }
};

/// Sums a vector of columns as cascade_column sums one column. `term(row)` returns the terms of a row. Zeros after the
/// last column count as certain.
template <class D, class Term>
HWY_INLINE hn::Mask<D> cascade_vector(D d, std::size_t rows, const Term& term, hn::Vec<D>& result) {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  const V zero = hn::Zero(d);
  if (rows == 2) {  // the rounded sum of two terms is correct
    result = hn::Add(term(0), term(1));
    return hn::Eq(hn::Sub(result, result), zero);
  }
  V sum = term(0);
  V losses = add(sum, term(1));
  V lost = zero;
  for (std::size_t row = 2; row < rows; ++row) {
    const V loss = add(sum, term(row));
    lost = hn::Add(lost, hn::Abs(add(losses, loss)));
  }
  V rounded = sum;
  const V last_loss = add(rounded, losses);
  rounded = hn::IfThenElse(hn::Eq(losses, zero), sum, rounded);
  const V bound =
      hn::Add(hn::Mul(hn::Set(d, times_lost<T>), lost), hn::Mul(hn::Set(d, times_last_loss<T>), hn::Abs(last_loss)));
  const auto stays = [&](V change) HWY_ATTR { return hn::Eq(hn::Add(rounded, change), rounded); };
  result = rounded;
  return hn::Or(hn::Eq(lost, zero), hn::And(stays(hn::Add(last_loss, bound)), stays(hn::Sub(last_loss, bound))));
}

template <class D>
HWY_INLINE hn::Mask<D> cascade_vector(D d, const auto& columns, hn::Vec<D>& result) {
  const auto term = [&](std::size_t row) HWY_ATTR { return columns.load(d, row); };
  return cascade_vector(d, columns.rows.size(), term, result);
}

/// Sums a vector of columns as cascade_vector does. If terms are far below the largest term of a column, small terms
/// are pre-rounded.
template <class D>
HWY_INLINE hn::Mask<D> cascade_pre_rounded(D d, const auto& columns, int bin_count, hn::TFromD<D> part,
                                           hn::Vec<D>& result) {
  using V = hn::Vec<D>;
  V largest = hn::Abs(columns.load(d, 0));
  V least = largest;
  for (std::size_t row = 1; row < columns.rows.size(); ++row) {
    const V magnitude = hn::Abs(columns.load(d, row));
    largest = hn::Max(largest, magnitude);
    least = hn::Min(least, magnitude);
  }
  if (hn::AllTrue(d, hn::Ge(least, hn::Mul(largest, hn::Set(d, part))))) return cascade_vector(d, columns, result);
  const V bound = bound_of(d, largest, bin_count);
  const auto term = [&](std::size_t row) HWY_ATTR {
    const V x = columns.load(d, row);
    const V magnitude = hn::Abs(x);
    const V rounded = hn::CopySign(hn::Sub(hn::Add(magnitude, bound), bound), x);
    return hn::IfThenElse(hn::Ge(magnitude, bound), x, rounded);
  };
  return cascade_vector(d, columns.rows.size(), term, result);
}

/// Appends the lanes outside the mask to a list, and returns the new length of the list.
template <class D, class M>
HWY_NOINLINE order::Count append_others(D d, M certain, order::Count column, order::Count found,
                                        std::uint32_t* uncertain) {
  std::uint8_t bits[hn::MaxLanes(d) / 8 + 8];  // up to eight bytes are written at once
  hn::StoreMaskBits(d, hn::Not(certain), bits);
  for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane)
    if ((bits[lane / 8] >> (lane % 8) & 1) != 0) uncertain[found++] = static_cast<std::uint32_t>(column + lane);
  return found;
}

template <class T, bool is_pre_rounded>
HWY_INLINE order::Count cascade(std::span<const std::byte* const> rows, order::Bytes offset, order::Count columns,
                                int bin_count, std::byte* sums, std::uint32_t* uncertain) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  order::Count found = 0;
  order::Count column = 0;
  auto sum = hn::Zero(d);
  const T part = is_pre_rounded ? kept_part<T>(bin_count) : 0;
  const auto sum_of = [&](const auto& some) HWY_ATTR {
    if constexpr (is_pre_rounded) return cascade_pre_rounded(d, some, bin_count, part, sum);
    return cascade_vector(d, some, sum);
  };
  for (; column + lanes <= columns; column += lanes) {
    const auto certain = sum_of(Columns<true>{rows, offset + column * sizeof(T), lanes});
    hn::StoreU(sum, d, reinterpret_cast<T*>(sums + column * sizeof(T)));
    if (!hn::AllTrue(d, certain)) found = append_others(d, certain, column, found, uncertain);
  }
  if (column == columns) return found;
  const order::Count count = columns - column;
  const auto certain = sum_of(Columns<false>{rows, offset + column * sizeof(T), count});
  T last[hn::MaxLanes(d)];
  hn::StoreU(sum, d, last);
  std::memcpy(sums + column * sizeof(T), last, count * sizeof(T));
  return hn::AllTrue(d, certain) ? found : append_others(d, certain, column, found, uncertain);
}

template <class T>
order::Count cascade_rows(std::span<const std::byte* const> rows, order::Bytes offset, order::Count columns,
                          int bin_count, std::byte* sums, std::uint32_t* uncertain) noexcept {
  return bin_count == 0 ? cascade<T, false>(rows, offset, columns, bin_count, sums, uncertain)
                        : cascade<T, true>(rows, offset, columns, bin_count, sums, uncertain);
}

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

template <class T>
CascadeRows cascade_rows([[maybe_unused]] Target target) noexcept {
  const CascadeRows own = pick<CascadeRows>(target, STEADFOLD_EACH(cascade_rows<T>));
  return own == nullptr ? &cascade_one_by_one<T> : own;
}

template CascadeRows cascade_rows<double>(Target) noexcept;
template CascadeRows cascade_rows<float>(Target) noexcept;

}  // namespace steadfold::kernels
#endif
