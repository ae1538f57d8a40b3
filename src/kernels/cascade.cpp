// Kernels of cascade.hpp: lanes are columns.
#include "kernels/cascade.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/highway.hpp"

#if STEADFOLD_HIGHWAY
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cascade.cpp"
#include <hwy/foreach_target.h>  // after the line above
#include <hwy/highway.h>

#include "kernels/load_first.hpp"
#endif

#ifndef STEADFOLD_CASCADE_REFERENCE  // compiled once, though this file is included once more for every target
#define STEADFOLD_CASCADE_REFERENCE
namespace steadfold::kernels {
namespace {

/// The bound on g: F times the first, and |d| times the second, which is 4 u.
template <class T>
constexpr T times_lost = 4;
template <class T>
constexpr T times_last_loss = 2 * std::numeric_limits<T>::epsilon();

/// Adds x to `sum`; returns what that loses.
template <class T>
T add_one(T& sum, T x) noexcept {
  const T before = sum;
  sum = before + x;
  const T of_x = sum - before;
  return (before - (sum - of_x)) + (x - of_x);
}

template <class T>
T load_one(const std::byte* x) noexcept {
  T value;
  std::memcpy(&value, x, sizeof value);
  return value;
}

/// Whether `sum` is certain to be right.
template <class T>
bool cascade_column(std::span<const std::byte* const> rows, order::Bytes offset, T& sum) noexcept {
  sum = load_one<T>(rows[0] + offset);
  T losses = add_one(sum, load_one<T>(rows[1] + offset));
  T lost = 0;
  for (const std::byte* const row : rows.subspan(2)) {
    const T loss = add_one(sum, load_one<T>(row + offset));
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
                                std::byte* sums, std::uint32_t* uncertain) noexcept {
  order::Count found = 0;
  for (order::Count column = 0; column < columns; ++column) {
    T sum;
    if (!cascade_column(rows, offset + column * sizeof(T), sum))
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

/// As add_one.
template <class V>
HWY_INLINE V add(V& sum, V x) {
  const V before = sum;
  sum = hn::Add(before, x);
  const V of_x = hn::Sub(sum, before);
  return hn::Add(hn::Sub(before, hn::Sub(sum, of_x)), hn::Sub(x, of_x));
}

/// A vector of a row, or the `count` elements that are left of it.
template <bool is_whole, class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* row, order::Count count) {
  const auto* const x = reinterpret_cast<const hn::TFromD<D>*>(row);
  if constexpr (is_whole)
    return hn::LoadU(d, x);
  else
    return load_first(d, x, count);
}

/// As cascade_column, for a vector of columns. Zeros behind the last column are certain.
template <bool is_whole, class D>
HWY_INLINE hn::Mask<D> cascade_vector(D d, std::span<const std::byte* const> rows, order::Bytes offset,
                                      order::Count count, hn::Vec<D>& result) {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  const V zero = hn::Zero(d);
  V sum = load<is_whole>(d, rows[0] + offset, count);
  V losses = add(sum, load<is_whole>(d, rows[1] + offset, count));
  V lost = zero;
  for (std::size_t i = 2; i < rows.size(); ++i) {
    const V loss = add(sum, load<is_whole>(d, rows[i] + offset, count));
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

/// Appends the lanes outside the mask to a list; returns how many there are in it then.
template <class D, class M>
HWY_NOINLINE order::Count append_others(D d, M certain, order::Count column, order::Count found,
                                        std::uint32_t* uncertain) {
  std::uint8_t bits[hn::MaxLanes(d) / 8 + 8];  // eight or less are written at once
  hn::StoreMaskBits(d, hn::Not(certain), bits);
  for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane)
    if ((bits[lane / 8] >> (lane % 8) & 1) != 0) uncertain[found++] = static_cast<std::uint32_t>(column + lane);
  return found;
}

template <class T>
order::Count cascade_rows(std::span<const std::byte* const> rows, order::Bytes offset, order::Count columns,
                          std::byte* sums, std::uint32_t* uncertain) noexcept {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  order::Count found = 0;
  order::Count column = 0;
  auto sum = hn::Zero(d);
  for (; column + lanes <= columns; column += lanes) {
    const auto certain = cascade_vector<true>(d, rows, offset + column * sizeof(T), lanes, sum);
    hn::StoreU(sum, d, reinterpret_cast<T*>(sums + column * sizeof(T)));
    if (!hn::AllTrue(d, certain)) found = append_others(d, certain, column, found, uncertain);
  }
  if (column == columns) return found;
  const auto certain = cascade_vector<false>(d, rows, offset + column * sizeof(T), columns - column, sum);
  T last[hn::MaxLanes(d)];
  hn::StoreU(sum, d, last);
  std::memcpy(sums + column * sizeof(T), last, (columns - column) * sizeof(T));
  return hn::AllTrue(d, certain) ? found : append_others(d, certain, column, found, uncertain);
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
