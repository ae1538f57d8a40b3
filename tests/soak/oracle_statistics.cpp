// Statistics of a column: finds the extremes by search, and computes the mean and (n S2 - S1^2) / (n (n - ddof)) as big
// integers, rounded once. Source: docs/guarantees.md.
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "big_sum.hpp"
#include "oracle.hpp"
#include "types.hpp"

namespace steadfold::soak {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The layout of sf_statistics, as the interface documents it.
struct Found {
  std::uint64_t count = 0;
  double min = nan;
  std::uint64_t min_index = ~std::uint64_t{0};
  double max = nan;
  std::uint64_t max_index = ~std::uint64_t{0};
  double mean = nan;
  double variance[2] = {nan, nan};
  double deviation[2] = {nan, nan};
};

bool beats(double x, double best, bool least) {
  if (std::isnan(x) || std::isnan(best)) return std::isnan(x) && !std::isnan(best);
  if (x == best) return std::signbit(x) != std::signbit(best) && std::signbit(x) == least;
  return least ? x < best : x > best;
}

/// The sums of one column.
struct Sums {
  Magnitude positive;
  Magnitude negative;
  Magnitude squares;
  bool has_infinity[2] = {};
  bool has_nan = false;
  bool has_only_minus_zeros = true;

  void add(double x) {
    has_nan |= std::isnan(x);
    has_only_minus_zeros &= x == 0 && std::signbit(x);
    if (std::isinf(x)) has_infinity[x < 0 ? 1 : 0] = true;
    if (!std::isfinite(x)) return;
    const Dyadic size = dyadic(x);
    (std::signbit(x) ? negative : positive).add(size);
    squares.add({size.size * size.size, 2 * size.exponent});
  }
};

double mean_of(const Sums& sums, std::uint64_t count) {
  if (sums.has_nan || (sums.has_infinity[0] && sums.has_infinity[1])) return nan;
  const bool is_below = sums.positive.compare(sums.negative) < 0;
  const double sign = sums.has_infinity[1] || is_below || sums.has_only_minus_zeros ? -1 : 1;
  if (sums.has_infinity[0] || sums.has_infinity[1]) return (sums.has_infinity[1] ? -1 : 1) * HUGE_VAL;
  Magnitude size = is_below ? sums.negative : sums.positive;
  size.subtract(is_below ? sums.positive : sums.negative);
  if (size.top() < Magnitude::lowest) return sums.has_only_minus_zeros ? -0.0 : 0.0;
  const bool rest = size.divide(count);
  return sign * rounded<double>(size, rest);
}

void set_variances(const Sums& sums, Found& found) {
  Magnitude sum = sums.positive;
  Magnitude less = sums.negative;
  if (sum.compare(less) < 0) std::swap(sum, less);
  sum.subtract(less);
  Magnitude scaled = sums.squares;
  scaled.multiply(found.count);
  scaled.subtract(sum.times(sum));
  for (std::uint64_t ddof = 0; ddof < 2 && ddof < found.count; ++ddof) {
    found.variance[ddof] = found.deviation[ddof] = 0;
    Magnitude quotient = scaled;
    if (quotient.top() < Magnitude::lowest) continue;
    bool rest = quotient.divide(found.count);
    rest |= quotient.divide(found.count - ddof);
    found.variance[ddof] = rounded<double>(quotient, rest);
    found.deviation[ddof] = rounded_root<double>(quotient, rest);
  }
}

}  // namespace

void describe_columns(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  for (std::uint64_t column = 0; column < m.columns; ++column) {
    Found found;
    Sums sums;
    for (std::uint64_t row = 0; row < rows; ++row) {
      const double x = value_of(m.type, all.first.data() + (row * m.columns + column) * size_of(m.type));
      sums.add(x);
      if (row == 0 || beats(x, found.min, true)) {
        found.min = x;
        found.min_index = row;
      }
      if (row == 0 || beats(x, found.max, false)) {
        found.max = x;
        found.max_index = row;
      }
    }
    found.count = rows;
    if (sums.has_nan) found.min = found.max = nan;
    if (rows > 0) found.mean = mean_of(sums, rows);
    if (rows > 0 && !sums.has_nan && !sums.has_infinity[0] && !sums.has_infinity[1]) set_variances(sums, found);
    static_assert(sizeof found == 80);
    std::memcpy(out + column * sizeof found, &found, sizeof found);
  }
}

}  // namespace steadfold::soak
