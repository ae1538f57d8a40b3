// The reference for exact sums: MPFR with more bits than any sum of products has, so that only the last step rounds.
// Rank order: none. Cost: some hundred ns per term. Source: the MPFR manual, mpfr_subnormalize.
#pragma once

#include <mpfr.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace steadfold::reference {

/// Floats are converted to double on the way in, exactly.
class ExactSum {
 public:
  ExactSum() {
    mpfr_init2(sum_, 4400);  // 2^-2148 .. 2^2048, and room for counts
    mpfr_init2(product_, 106);
    mpfr_set_zero(sum_, -1);  // the sum of nothing but -0.0 keeps its sign
  }
  ~ExactSum() {
    mpfr_clear(sum_);
    mpfr_clear(product_);
  }
  ExactSum(const ExactSum&) = delete;
  ExactSum& operator=(const ExactSum&) = delete;

  void add(double x) {
    empty_ = false;
    expect_exact(mpfr_add_d(sum_, sum_, x, MPFR_RNDN));
  }
  void add_product(double x, double y) {
    empty_ = false;
    expect_exact(mpfr_set_d(product_, x, MPFR_RNDN));
    expect_exact(mpfr_mul_d(product_, product_, y, MPFR_RNDN));
    expect_exact(mpfr_add(sum_, sum_, product_, MPFR_RNDN));
  }
  /// Adds another sum with this sign.
  void merge(const ExactSum& other, int sign) {
    empty_ = empty_ && other.empty_;
    expect_exact(sign > 0 ? mpfr_add(sum_, sum_, other.sum_, MPFR_RNDN) : mpfr_sub(sum_, sum_, other.sum_, MPFR_RNDN));
  }
  void negate() { mpfr_neg(sum_, sum_, MPFR_RNDN); }
  int sign() const { return mpfr_sgn(sum_); }
  /// -1, 0 or 1.
  friend int compare(const ExactSum& a, const ExactSum& b) {
    const int order = mpfr_cmp(a.sum_, b.sum_);
    return (order > 0) - (order < 0);
  }
  void multiply(const ExactSum& other) { expect_exact(mpfr_mul(sum_, sum_, other.sum_, MPFR_RNDN)); }
  void square() { expect_exact(mpfr_sqr(sum_, sum_, MPFR_RNDN)); }
  void multiply(unsigned long count) { expect_exact(mpfr_mul_ui(sum_, sum_, count, MPFR_RNDN)); }

  template <class Result>
  Result rounded() const {
    return round<Result>([this](mpfr_t y) { return mpfr_set(y, sum_, MPFR_RNDN); });
  }
  template <class Result>
  Result rounded_root() const {
    return round<Result>([this](mpfr_t y) { return mpfr_sqrt(y, sum_, MPFR_RNDN); });
  }
  template <class Result>
  Result divided_by(unsigned long count) const {
    return round<Result>([this, count](mpfr_t y) { return mpfr_div_ui(y, sum_, count, MPFR_RNDN); });
  }
  template <class Result>
  Result divided_by(const ExactSum& other) const {
    return round<Result>([&](mpfr_t y) { return mpfr_div(y, sum_, other.sum_, MPFR_RNDN); });
  }
  /// The root of the quotient, of which 4400 bits are taken before it is rounded: as good as all, unless it is as near
  /// to the middle between two numbers, and not in it.
  template <class Result>
  Result root_divided_by(unsigned long count) const {
    return rounded_through<Result>([this, count](mpfr_t exact) {
      mpfr_div_ui(exact, sum_, count, MPFR_RNDN);
      mpfr_sqrt(exact, exact, MPFR_RNDN);
    });
  }
  /// Divides this sum by the root of the product of two other sums. The product is exact. The root and the quotient
  /// have 4400 bits before the result is rounded.
  template <class Result>
  Result divided_by_root(const ExactSum& a, const ExactSum& b) const {
    return rounded_through<Result>([&](mpfr_t exact) {
      mpfr_t product;
      mpfr_init2(product, 8800);
      expect_exact(mpfr_mul(product, a.sum_, b.sum_, MPFR_RNDN));
      mpfr_sqrt(exact, product, MPFR_RNDN);
      mpfr_div(exact, sum_, exact, MPFR_RNDN);
      mpfr_clear(product);
    });
  }

 private:
  static void expect_exact(int ternary) {
    if (ternary != 0) throw std::logic_error("the reference rounded");
  }

  /// `evaluate` sets a number of 4400 bits, which is then rounded.
  template <class Result, class Evaluate>
  Result rounded_through(const Evaluate& evaluate) const {
    return round<Result>([&](mpfr_t y) {
      mpfr_t exact;
      mpfr_init2(exact, 4400);
      evaluate(exact);
      const int ternary = mpfr_set(y, exact, MPFR_RNDN);
      mpfr_clear(exact);
      return ternary;
    });
  }

  /// `evaluate` rounds to the format's precision; then the format's range is imposed, without rounding twice.
  template <class Result, class Evaluate>
  Result round(const Evaluate& evaluate) const {
    using Limits = std::numeric_limits<Result>;
    if (empty_) return Result{0};
    mpfr_t y;
    mpfr_init2(y, Limits::digits);
    int ternary = evaluate(y);
    const mpfr_exp_t emin = mpfr_get_emin();
    const mpfr_exp_t emax = mpfr_get_emax();
    mpfr_set_emin(Limits::min_exponent - Limits::digits + 1);  // MPFR's mantissa is in [1/2, 1), as C's
    mpfr_set_emax(Limits::max_exponent);
    ternary = mpfr_check_range(y, ternary, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    const bool nan = mpfr_nan_p(y) != 0;
    const double wide = mpfr_get_d(y, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(y);
    if (!nan) return static_cast<Result>(wide);
    if constexpr (std::is_same_v<Result, float>) {
      return std::bit_cast<float>(std::uint32_t{0x7FC00000});
    } else {
      return std::bit_cast<double>(std::uint64_t{0x7FF8000000000000});
    }
  }

  mpfr_t sum_;
  mpfr_t product_;
  bool empty_ = true;
};

}  // namespace steadfold::reference
