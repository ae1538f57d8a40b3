// The states of the aggregate functions. Each takes the rows of a group, and finishes as one double, rounded once.
// `finish` returns nothing where SQL has NULL. DuckDB moves states as bytes. All calls for a state name the same owner
// of accumulators.
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

  void add(double x, double y, Accumulators& owner) {
    if constexpr (factors == 2)
      sum.add({x, y}, owner);
    else
      sum.add(x, owner);
  }
  void add_rows(const double* x, const double* y, std::size_t rows, Accumulators& owner) {
    sum.add_rows(x, y, rows, owner);
  }
  void merge(const Sum& other, Accumulators& owner) { sum.merge(other.sum, owner); }
  void give_back(Accumulators& owner) noexcept { sum.give_back(owner); }
  std::optional<double> finish() const noexcept {
    if (!sum.has_rows()) return {};
    return sum.rounded();
  }

  SumState<factors> sum;
};

/// Sums with the number of their rows.
template <class Sums>
struct Counted {
  void add(double x, double y, Accumulators& owner) {
    sums.add(x, y, owner);
    ++rows;
  }
  void add_rows(const double* x, const double* y, std::size_t count, Accumulators& owner) {
    sums.add_rows(x, y, count, owner);
    rows += count;
  }
  void merge(const Counted& other, Accumulators& owner) {
    sums.merge(other.sums, owner);
    rows += other.rows;
  }
  void give_back(Accumulators& owner) noexcept { sums.give_back(owner); }

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
  void add(double x, double /*y*/, Accumulators& owner) {
    sum.add(x, owner);
    squares.add({x, x}, owner);
  }
  void add_rows(const double* x, const double* /*y*/, std::size_t rows, Accumulators& owner) {
    sum.add_rows(x, nullptr, rows, owner);
    squares.add_rows(x, x, rows, owner);
  }
  void merge(const Moments& other, Accumulators& owner) {
    sum.merge(other.sum, owner);
    squares.merge(other.squares, owner);
  }
  void give_back(Accumulators& owner) noexcept {
    sum.give_back(owner);
    squares.give_back(owner);
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
  void add(double y, double x, Accumulators& owner) {
    of_y.add(y, 0, owner);
    of_x.add(x, 0, owner);
    products.add({y, x}, owner);
  }
  void add_rows(const double* y, const double* x, std::size_t rows, Accumulators& owner) {
    of_y.add_rows(y, nullptr, rows, owner);
    of_x.add_rows(x, nullptr, rows, owner);
    products.add_rows(y, x, rows, owner);
  }
  void merge(const MomentsOfPairs& other, Accumulators& owner) {
    of_y.merge(other.of_y, owner);
    of_x.merge(other.of_x, owner);
    products.merge(other.products, owner);
  }
  void give_back(Accumulators& owner) noexcept {
    of_y.give_back(owner);
    of_x.give_back(owner);
    products.give_back(owner);
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
