// The states of the aggregate functions. Each takes the rows of a group, and finishes as one double, rounded once.
// `finish` returns nothing where SQL has NULL. DuckDB moves states as bytes. It destroys a state at most once; states
// of groups that a query does not read are never destroyed.
#pragma once

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

/// Sums with the number of their rows.
template <class Sums>
struct Counted {
  void add(double x, double y) {
    sums.add(x, y);
    ++rows;
  }
  void add_rows(const double* x, const double* y, std::size_t count) {
    sums.add_rows(x, y, count);
    rows += count;
  }
  void merge(const Counted& other) {
    sums.merge(other.sums);
    rows += other.rows;
  }
  void destroy() noexcept { sums.destroy(); }

  Sums sums;
  std::uint64_t rows = 0;
};

/// exact_avg(x): the mean.
struct Average : Counted<Sum<1>> {
  static constexpr const char* name = "exact_avg";
  static constexpr int operands = 1;

  std::optional<double> finish() const noexcept {
    if (rows == 0) return {};
    const arithmetic::ExactSum exact = sums.sum.exact(rows);
    const auto mean = arithmetic::leading(exact.range, arithmetic::Accumulator<double, 1>::lowest_exponent);
    return arithmetic::rounded_mean<double>(exact.flags, rows, mean);
  }
};

/// The sums of elements and of their squares.
struct Moments {
  void add(double x, double /*y*/) {
    sum.add(x);
    squares.add({x, x});
  }
  void add_rows(const double* x, const double* /*y*/, std::size_t rows) {
    sum.add_rows(x, nullptr, rows);
    squares.add_rows(x, x, rows);
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
struct SampleVariance : Counted<Moments> {
  static constexpr const char* name = is_root ? "exact_stddev_samp" : "exact_var_samp";
  static constexpr int operands = 1;

  std::optional<double> finish() const noexcept {
    if (rows < 2) return {};
    const arithmetic::ExactSum squares = sums.squares.exact(rows);
    const arithmetic::ExactSum sum = sums.sum.exact(rows);
    return is_root ? arithmetic::rounded_deviation<double>(squares, sum, 1, lowest_exponent_of_products)
                   : arithmetic::rounded_covariance<double>(squares, sum, sum, 1, lowest_exponent_of_products);
  }
};

/// The moments of both elements of pairs, and the sum of their products.
struct MomentsOfPairs {
  void add(double y, double x) {
    of_y.add(y, 0);
    of_x.add(x, 0);
    products.add({y, x});
  }
  void add_rows(const double* y, const double* x, std::size_t rows) {
    of_y.add_rows(y, nullptr, rows);
    of_x.add_rows(x, nullptr, rows);
    products.add_rows(y, x, rows);
  }
  void merge(const MomentsOfPairs& other) {
    of_y.merge(other.of_y);
    of_x.merge(other.of_x);
    products.merge(other.products);
  }
  void destroy() noexcept {
    of_y.destroy();
    of_x.destroy();
    products.destroy();
  }

  Moments of_y, of_x;
  SumState<2> products;
};

/// exact_corr(y, x): Pearson's correlation.
struct Correlation : Counted<MomentsOfPairs> {
  static constexpr const char* name = "exact_corr";
  static constexpr int operands = 2;

  std::optional<double> finish() const noexcept {
    if (rows == 0) return {};
    const auto& [of_y, of_x, products] = sums;
    return arithmetic::rounded_correlation<double>({products.exact(rows), of_y.sum.exact(rows), of_x.sum.exact(rows),
                                                    of_y.squares.exact(rows), of_x.squares.exact(rows)});
  }
};

}  // namespace steadfold::duckdb
