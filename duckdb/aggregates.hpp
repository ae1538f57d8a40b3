// The states of the aggregate functions. Each takes the rows of a group, and finishes as one double, rounded once.
// `finish` returns nothing where SQL has NULL. DuckDB moves states as bytes, and destroys each once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "duckdb/sum_state.hpp"

namespace steadfold::duckdb {

inline constexpr int lowest_exponent_of_products = arithmetic::Accumulator<double, 2>::lowest_exponent;

/// exact_sum(x), and exact_dot(x, y), the sum of the products.
template <int factors>
struct Sum {
  static constexpr const char* name = factors == 2 ? "exact_dot" : "exact_sum";
  static constexpr int operands = factors;

  void add(double x, double y) {
    if constexpr (factors == 2)
      sum.add({x, y});
    else
      sum.add(x);
  }
  void add_rows(const double* x, const double* y, std::size_t rows) { sum.add_rows(x, y, rows); }
  void merge(const Sum& other) { sum.merge(other.sum); }
  void destroy() noexcept { sum.destroy(); }
  std::optional<double> finish() const noexcept {
    if (!sum.has_rows()) return {};
    return sum.rounded();
  }

  SumState<factors> sum;
};

/// exact_avg(x): the mean.
struct Average {
  static constexpr const char* name = "exact_avg";
  static constexpr int operands = 1;

  void add(double x, double /*y*/) {
    sum.add(x);
    ++rows;
  }
  void add_rows(const double* x, const double* /*y*/, std::size_t count) {
    sum.add_rows(x, nullptr, count);
    rows += count;
  }
  void merge(const Average& other) {
    sum.merge(other.sum);
    rows += other.rows;
  }
  void destroy() noexcept { sum.destroy(); }
  std::optional<double> finish() const noexcept {
    if (rows == 0) return {};
    const arithmetic::ExactSum exact = sum.exact(rows);
    const auto mean = arithmetic::leading(exact.range, arithmetic::Accumulator<double, 1>::lowest_exponent);
    return arithmetic::rounded_mean<double>(exact.flags, rows, mean);
  }

  SumState<1> sum;
  std::uint64_t rows = 0;
};

/// The sums of elements and of their squares.
struct Moments {
  void add(double x) {
    sum.add(x);
    squares.add({x, x});
  }
  void add_rows(const double* x, std::size_t count) {
    sum.add_rows(x, nullptr, count);
    squares.add_rows(x, x, count);
  }
  void merge(const Moments& other) {
    sum.merge(other.sum);
    squares.merge(other.squares);
  }
  void destroy() noexcept {
    sum.destroy();
    squares.destroy();
  }

  SumState<1> sum;
  SumState<2> squares;
};

/// exact_var_samp(x) and, as its root, exact_stddev_samp(x).
template <bool is_root>
struct SampleVariance {
  static constexpr const char* name = is_root ? "exact_stddev_samp" : "exact_var_samp";
  static constexpr int operands = 1;

  void add(double x, double /*y*/) {
    moments.add(x);
    ++rows;
  }
  void add_rows(const double* x, const double* /*y*/, std::size_t count) {
    moments.add_rows(x, count);
    rows += count;
  }
  void merge(const SampleVariance& other) {
    moments.merge(other.moments);
    rows += other.rows;
  }
  void destroy() noexcept { moments.destroy(); }
  std::optional<double> finish() const noexcept {
    if (rows < 2) return {};
    const arithmetic::ExactSum squares = moments.squares.exact(rows);
    const arithmetic::ExactSum sum = moments.sum.exact(rows);
    return is_root ? arithmetic::rounded_deviation<double>(squares, sum, 1, lowest_exponent_of_products)
                   : arithmetic::rounded_covariance<double>(squares, sum, sum, 1, lowest_exponent_of_products);
  }

  Moments moments;
  std::uint64_t rows = 0;
};

/// exact_corr(y, x): Pearson's correlation.
struct Correlation {
  static constexpr const char* name = "exact_corr";
  static constexpr int operands = 2;

  void add(double y, double x) {
    of_y.add(y);
    of_x.add(x);
    products.add({y, x});
    ++rows;
  }
  void add_rows(const double* y, const double* x, std::size_t count) {
    of_y.add_rows(y, count);
    of_x.add_rows(x, count);
    products.add_rows(y, x, count);
    rows += count;
  }
  void merge(const Correlation& other) {
    of_y.merge(other.of_y);
    of_x.merge(other.of_x);
    products.merge(other.products);
    rows += other.rows;
  }
  void destroy() noexcept {
    of_y.destroy();
    of_x.destroy();
    products.destroy();
  }
  std::optional<double> finish() const noexcept {
    if (rows == 0) return {};
    return arithmetic::rounded_correlation<double>({products.exact(rows), of_y.sum.exact(rows), of_x.sum.exact(rows),
                                                    of_y.squares.exact(rows), of_x.squares.exact(rows)});
  }

  Moments of_y, of_x;
  SumState<2> products;
  std::uint64_t rows = 0;
};

}  // namespace steadfold::duckdb
