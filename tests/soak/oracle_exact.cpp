// Methods exact and binned: sums all terms of a column as one big integer, and rounds once. Source: docs/guarantees.md.
#include <algorithm>
#include <array>

#include "big_sum.hpp"
#include "oracle.hpp"
#include "types.hpp"

namespace steadfold::soak {
namespace {

/// The product x * y, which may not be a double.
struct Term {
  double x;
  double y;
};

bool is_square(sf_operation operation) { return operation == SF_NORM2 || operation == SF_SUM_SQUARES; }

bool is_negative(const Term& t) { return std::signbit(t.x) != std::signbit(t.y); }
bool is_finite(const Term& t) { return std::isfinite(t.x) && std::isfinite(t.y); }

/// The exact product.
Dyadic size_of_term(const Term& t) {
  const Dyadic x = dyadic(t.x);
  const Dyadic y = dyadic(t.y);
  return {x.size * y.size, x.exponent + y.exponent};
}

/// Rounds to 53 bits, ties to even, with any exponent.
Dyadic to_53_bits(const Dyadic& x) { return to_multiple(x, x.exponent + std::max(width_of(x.size) - 53, 0)); }

/// The exponent of the lowest bin's unit.
int unit_of(const std::vector<Term>& terms, bool squares, int bins) {
  int largest = squares ? -2148 : -1074;
  for (const Term& t : terms) {
    if (!is_finite(t)) continue;
    const Dyadic x = dyadic(t.x);
    const int above = x.size == 0 ? -1074 : x.exponent + width_of(x.size);  // |x| < 2^above
    largest = std::max(largest, squares ? 2 * above : above);
  }
  const int lowest = squares ? -2148 : -1074;
  const int top = std::max((largest - lowest) / 40, bins - 1);
  return 40 * (top - bins + 1) + lowest;
}

/// The sum of the terms before it is rounded.
struct Total {
  Magnitude size;
  bool negative = false;
  bool is_nan = false;
  bool is_infinite = false;
  bool is_zero = false;
};

Total total_of(const std::vector<Term>& terms, const Member& m) {
  const bool squares = is_square(m.operation);
  const bool binned = m.method == SF_BINNED;
  const int unit = binned ? unit_of(terms, squares, m.bins == 0 ? 3 : static_cast<int>(m.bins)) : 0;
  Total total;
  Magnitude below;
  bool infinite[2] = {};
  bool only_minus_zeros = !terms.empty();
  for (const Term& t : terms) {
    if (!is_finite(t)) {
      total.is_nan |= t.x * t.y != t.x * t.y;
      infinite[is_negative(t) ? 1 : 0] = true;
      continue;
    }
    Dyadic size = size_of_term(t);
    only_minus_zeros &= size.size == 0 && is_negative(t);
    if (binned) size = to_multiple(squares ? to_53_bits(size) : size, unit);
    (is_negative(t) ? below : total.size).add(size);
  }
  total.is_nan |= infinite[0] && infinite[1];
  total.is_infinite = infinite[0] || infinite[1];
  const int order = total.size.compare(below);
  total.is_zero = order == 0;
  total.negative = total.is_infinite ? infinite[1] : order < 0 || (order == 0 && only_minus_zeros);
  if (order < 0) std::swap(total.size, below);
  total.size.subtract(below);
  return total;
}

template <class T>
void write_rounded(Total total, const Member& m, std::uint64_t rows, std::byte* out) {
  using Limits = std::numeric_limits<T>;
  T value = 0;
  if (total.is_nan) {
    value = Limits::quiet_NaN();
  } else if (total.is_infinite) {
    value = Limits::infinity();
  } else if (!total.is_zero && m.operation == SF_NORM2) {
    value = rounded_root<T>(total.size);
  } else if (!total.is_zero) {
    const bool rest = m.operation == SF_MEAN && total.size.divide(rows);
    value = rounded<T>(total.size, rest);
  }
  write_result(out, total.negative ? -value : value);
}

/// Writes the quotient of two sums, with the rules of IEEE 754.
template <class T>
void write_quotient(const Total& sum, const Total& divisor, std::byte* out) {
  using Limits = std::numeric_limits<T>;
  T value = 0;
  const bool is_infinite = sum.is_infinite || (divisor.is_zero && !divisor.is_infinite);
  const bool is_zero = sum.is_zero || divisor.is_infinite;
  if (sum.is_nan || divisor.is_nan || (sum.is_infinite && divisor.is_infinite) ||
      (!sum.is_infinite && sum.is_zero && !divisor.is_infinite && divisor.is_zero)) {
    value = Limits::quiet_NaN();
  } else if (is_infinite) {
    value = Limits::infinity();
  } else if (!is_zero) {
    value = rounded_quotient<T>(sum.size, divisor.size);
  }
  write_result(out, sum.negative != divisor.negative ? -value : value);
}

/// The terms of the rows. With method binned, the term of a dot product is the product rounded to double.
class Terms {
 public:
  Terms(const Member& m, const Elements& all, std::uint64_t rows) : m_(m), all_(all), rows_(rows) {}

  /// The terms of a column's sum. `part`, for complex results: the real part (0) or the imaginary part (1).
  std::vector<Term> of(std::uint64_t column, int part) const {
    std::vector<Term> terms;
    for (std::uint64_t row = 0; row < rows_; ++row) {
      if (m_.operation == SF_MASKED_SUM && all_.second[row] == std::byte{0}) continue;
      if (is_complex(m_.type))
        add_complex(terms, row * m_.columns + column, part);
      else
        add_real(terms, row * m_.columns + column);
    }
    return terms;
  }

 private:
  double at(const std::vector<std::byte>& elements, std::uint64_t i) const {
    const sf_type type = part_of(m_.type);
    return value_of(type, elements.data() + i * size_of(type));
  }
  void add_product(std::vector<Term>& terms, double x, double y) const {
    if (m_.method == SF_BINNED)
      terms.push_back({x * y, 1.0});
    else
      terms.push_back({x, y});
  }
  void add_real(std::vector<Term>& terms, std::uint64_t i) const {
    const double x = at(all_.first, i);
    if (m_.has_factors())
      add_product(terms, x, at(all_.second, i));
    else if (is_square(m_.operation))
      terms.push_back({x, x});
    else
      terms.push_back({m_.operation == SF_ABS_SUM ? std::fabs(x) : x, 1.0});
  }
  void add_complex(std::vector<Term>& terms, std::uint64_t i, int part) const {
    const double a = at(all_.first, 2 * i);
    const double b = m_.operation == SF_DOTC ? -at(all_.first, 2 * i + 1) : at(all_.first, 2 * i + 1);
    if (m_.has_factors()) {
      const double c = at(all_.second, 2 * i);
      const double d = at(all_.second, 2 * i + 1);
      add_product(terms, a, part == 0 ? c : d);
      add_product(terms, part == 0 ? -b : b, part == 0 ? d : c);
    } else if (is_square(m_.operation)) {
      terms.push_back({a, a});
      terms.push_back({b, b});
    } else {
      terms.push_back({part == 0 ? a : b, 1.0});
    }
  }

  const Member& m_;
  const Elements& all_;
  std::uint64_t rows_;
};

/// n P - X Y of n pairs, from the sums of products and of both numbers.
struct Comoment {
  Comoment() = default;
  Comoment(const Total& products, const Total& x, const Total& y, std::uint64_t n) : size(products.size) {
    for (const Total* each : {&products, &x, &y}) is_finite = is_finite && !each->is_nan && !each->is_infinite;
    if (!is_finite) return;
    size.multiply(n);
    if (products.negative) size = size.negated();
    const Magnitude of_sums = x.size.times(y.size);
    size.subtract(x.negative != y.negative ? of_sums.negated() : of_sums);
    is_below_zero = size.is_below_zero();
    if (is_below_zero) size = size.negated();
  }
  bool is_zero() const { return size.top() < Magnitude::lowest; }

  Magnitude size;
  bool is_finite = true;
  bool is_below_zero = false;
};

/// The comoments of a column: of both numbers, of first numbers, of second numbers.
struct Comoments {
  Comoments(const Member& m, const Elements& all, std::uint64_t rows, std::uint64_t column) {
    Member alone = m, squares = m;
    alone.operation = SF_SUM;
    squares.operation = SF_SUM_SQUARES;
    Elements second = all;
    second.first = all.second;
    const auto total = [&](const Member& by, const Elements& of) {
      return total_of(Terms(by, of, rows).of(column, 0), by);
    };
    const Total x = total(alone, all), y = total(alone, second);
    both = Comoment(total(m, all), x, y, rows);
    if (m.operation != SF_CORRELATION) return;
    of_first = Comoment(total(squares, all), x, x, rows);
    of_second = Comoment(total(squares, second), y, y, rows);
  }
  bool are_finite() const { return both.is_finite && of_first.is_finite && of_second.is_finite; }

  Comoment both, of_first, of_second;
};

template <class T>
void write_covariance(const Comoments& found, std::uint64_t n, std::uint64_t ddof, std::byte* out) {
  if (!found.are_finite() || n <= ddof) return write_result(out, std::numeric_limits<T>::quiet_NaN());
  if (found.both.is_zero()) return write_result(out, T{0});
  Magnitude size = found.both.size;
  bool rest = size.divide(n);
  rest |= size.divide(n - ddof);
  const T value = rounded<T>(size, rest);
  write_result(out, found.both.is_below_zero ? -value : value);
}

template <class T>
void write_correlation(const Comoments& found, std::byte* out) {
  if (!found.are_finite() || found.of_first.is_zero() || found.of_second.is_zero())
    return write_result(out, std::numeric_limits<T>::quiet_NaN());
  if (found.both.is_zero()) return write_result(out, T{0});
  const T value = rounded_quotient_by_root<T>(found.both.size, found.of_first.size, found.of_second.size);
  write_result(out, found.both.is_below_zero && value != 0 ? -value : value);
}

template <class T>
void write_of_pairs(const Member& m, const Comoments& found, std::uint64_t rows, std::byte* out) {
  if (m.operation == SF_CORRELATION) return write_correlation<T>(found, out);
  write_covariance<T>(found, rows, m.operation == SF_SAMPLE_COVARIANCE ? 1 : 0, out);
}

void compare_pairs(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  for (std::uint64_t column = 0; column < m.columns; ++column, out += size_of(m.result_type)) {
    const Comoments found(m, all, rows, column);
    m.result_type == SF_F32 ? write_of_pairs<float>(m, found, rows, out) : write_of_pairs<double>(m, found, rows, out);
  }
}

void divide_sums(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  Member weights = m;
  weights.operation = SF_SUM;
  Elements of_weights = all;
  of_weights.first = all.second;
  for (std::uint64_t column = 0; column < m.columns; ++column, out += size_of(m.result_type)) {
    const Total sum = total_of(Terms(m, all, rows).of(column, 0), m);
    const Total divisor = total_of(Terms(weights, of_weights, rows).of(column, 0), weights);
    m.result_type == SF_F32 ? write_quotient<float>(sum, divisor, out) : write_quotient<double>(sum, divisor, out);
  }
}

}  // namespace

void reduce_once_rounded(const Member& m, const Elements& all, std::uint64_t rows, std::byte* out) {
  if (m.operation == SF_WEIGHTED_MEAN) return divide_sums(m, all, rows, out);
  if (is_quotient_of_pairs(m.operation)) return compare_pairs(m, all, rows, out);
  const Terms terms(m, all, rows);
  const int parts = is_complex(m.result_type) ? 2 : 1;
  for (std::uint64_t column = 0; column < m.columns; ++column) {
    for (int part = 0; part < parts; ++part) {
      const Total total = total_of(terms.of(column, part), m);
      if (part_of(m.result_type) == SF_F32) {
        write_rounded<float>(total, m, rows, out);
        out += 4;
      } else {
        write_rounded<double>(total, m, rows, out);
        out += 8;
      }
    }
  }
}

}  // namespace steadfold::soak
