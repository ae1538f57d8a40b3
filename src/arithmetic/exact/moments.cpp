#include "arithmetic/exact/moments.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace steadfold::arithmetic {

Comoment::Comoment(const ExactSum& products, const ExactSum& first, const ExactSum& second) noexcept
    : rows(products.rows) {
  const Natural of_products = Natural(products.range).times(products.rows);
  const Natural of_means = Natural(first.range).times(Natural(second.range));
  const bool is_below_zero = products.range.negative;
  const bool have_one_sign = is_below_zero == (first.range.negative != second.range.negative);
  const bool is_turned = have_one_sign && of_products < of_means;
  size = !have_one_sign ? of_products.plus(of_means)
         : is_turned    ? of_means.minus(of_products)
                        : of_products.minus(of_means);
  is_negative = is_below_zero != is_turned;
}

Leading Comoment::covariance(Count ddof, int lowest_exponent) const noexcept {
  Leading exact = size.divided_by(Natural(rows).times(rows - ddof), lowest_exponent);
  exact.negative = is_negative;
  return exact;
}

template <class Result>
Result rounded_correlation(const CorrelationSums& sums) noexcept {
  constexpr Result nan = std::numeric_limits<Result>::quiet_NaN();
  const auto& [products, first, second, squares_of_first, squares_of_second] = sums;
  const std::array all = {&products, &first, &second, &squares_of_first, &squares_of_second};
  if (!std::ranges::all_of(all, [](const ExactSum* sum) { return sum->is_finite(); })) return nan;
  const Comoment both(products, first, second);
  const Comoment of_first(squares_of_first, first, first);
  const Comoment of_second(squares_of_second, second, second);
  if (of_first.size.zero() || of_second.size.zero()) return nan;
  const Leading square = both.size.times(both.size).divided_by(of_first.size.times(of_second.size), 0);
  const auto size = rounded_root<Result>(not_minus_zero, products.rows, square);
  return both.is_negative && size != 0 ? -size : size;
}

template float rounded_correlation(const CorrelationSums& sums) noexcept;
template double rounded_correlation(const CorrelationSums& sums) noexcept;

}  // namespace steadfold::arithmetic
