// The built-in operators on two numbers. Every kernel must equal them bit for bit.
// Rank order: left comes before right. Cost: one operation. Source: IEEE 754-2019, section 9.6, for minimum and
// maximum.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace steadfold::kernels {

/// Integers wrap around, because they are added as unsigned numbers.
struct Sum {
  template <class T>
  static T of(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  }
  template <class T>
  static constexpr T nothing = T{0};
};

struct Product {
  template <class T>
  static T of(T a, T b) noexcept {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) * static_cast<std::make_unsigned_t<T>>(b));
    else
      return a * b;
  }
  template <class T>
  static constexpr T nothing = T{1};
};

/// IEEE 754-2019 minimum: the result is NaN if an operand is NaN, and -0 is less than +0.
struct Min {
  template <class T>
  static T of(T a, T b) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
      if (a == b) return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
  }
};

struct Max {
  template <class T>
  static T of(T a, T b) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
      if (a == b) return std::signbit(a) ? b : a;
    }
    return a > b ? a : b;
  }
};

}  // namespace steadfold::kernels
