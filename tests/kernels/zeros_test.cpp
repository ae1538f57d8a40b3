// Zeros of either sign are counted as one would by hand, on every target: every length, every place of one, all pairs
// of special factors.
#include "kernels/zeros.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/targets.hpp"

namespace steadfold::test::zeros_test {
namespace {

using order::Count;

class Zeros : public EveryTarget {
 protected:
  template <class T>
  Count found(const std::vector<T>& x, bool negative) const {
    return kernels::count_zeros<T, 1>(GetParam())(x.data(), nullptr, x.size(), negative);
  }
  template <class T>
  Count found(const std::vector<T>& x, const std::vector<T>& y, bool negative) const {
    return kernels::count_zeros<T, 2>(GetParam())(x.data(), y.data(), x.size(), negative);
  }
};

template <class T>
std::vector<T> specials() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> all;
  for (const T x :
       {T{0}, T{1}, Limits::denorm_min(), Limits::min(), Limits::max(), Limits::infinity(), Limits::quiet_NaN()}) {
    all.push_back(x);
    all.push_back(std::copysign(x, T{-1}));
  }
  return all;
}

template <class T>
bool is_zero(T x, bool negative) {
  return x == 0 && std::signbit(x) == negative;
}

template <class T, class Test>
void expect_elements(const Test& count) {
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<T> x(size, T{1});
    for (std::size_t at = 0; at < size; ++at) {
      for (const T each : specials<T>()) {
        x[at] = each;
        for (const bool negative : {false, true}) EXPECT_EQ(count(x, negative), is_zero(each, negative) ? 1u : 0u);
      }
      x[at] = 1;
    }
    EXPECT_EQ(count(std::vector<T>(size, T{-0.0}), true), size);
    EXPECT_EQ(count(std::vector<T>(size, T{-0.0}), false), 0u);
  }
}

TEST_P(Zeros, AmongElements) {
  expect_elements<double>([this](const auto& x, bool negative) { return found(x, negative); });
  expect_elements<float>([this](const auto& x, bool negative) { return found(x, negative); });
}

/// Products as exact numbers: what underflows is none.
template <class T, class Test>
void expect_products(const Test& count) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{16}, std::size_t{37}}) {
    for (const T a : specials<T>()) {
      for (const T b : specials<T>()) {
        const std::vector<T> x(size, a);
        const std::vector<T> y(size, b);
        const bool is_product = std::isfinite(a) && std::isfinite(b) && (a == 0 || b == 0);
        for (const bool negative : {false, true}) {
          const bool is_counted = is_product && (std::signbit(a) != std::signbit(b)) == negative;
          EXPECT_EQ(count(x, y, negative), is_counted ? size : 0) << a << " * " << b;
        }
      }
    }
  }
}

TEST_P(Zeros, AmongProducts) {
  expect_products<double>([this](const auto& x, const auto& y, bool negative) { return found(x, y, negative); });
  expect_products<float>([this](const auto& x, const auto& y, bool negative) { return found(x, y, negative); });
}

STEADFOLD_EVERY_TARGET(Zeros);

}  // namespace
}  // namespace steadfold::test::zeros_test
