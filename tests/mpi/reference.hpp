// References that share no code with the library: [S0]'s tree by its recursion, and exact sums as one big integer.
// Rank order: none. Cost: some 20 ns per term. Source: [S0] eq. 2.1-2.3; IEEE 754-2019, round to nearest, ties to even.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace steadfold::reference {

/// Node (x, y) combines (x, y - 1) with (x + 2^(y-1), y - 1), and passes the first through where the other is beyond N.
template <class T, class Op>
T node(std::span<const T> a, std::size_t x, int y, const Op& op) {
  if (y == 0) return a[x];
  const T left = node(a, x, y - 1, op);
  const std::size_t right = x + (std::size_t{1} << (y - 1));
  return right < a.size() ? op(left, node(a, right, y - 1, op)) : left;
}

/// All elements, at least one.
template <class T, class Op>
T tree(std::span<const T> a, const Op& op) {
  int levels = 0;
  while ((std::size_t{1} << levels) < a.size()) ++levels;
  return node(a, 0, levels, op);
}

/// What built-in operators make of a NaN.
template <class T>
T canonical(T x) {
  return x != x ? std::numeric_limits<T>::quiet_NaN() : x;
}

/// The element that wins every comparison: a NaN, or else the least or greatest, -0 below +0.
template <class T, bool greatest>
T extreme(std::span<const T> x) {
  const auto wins = [](T a, T b) {
    if (b != b || a != a) return a != a;
    if (a == b) return a == 0 && std::signbit(static_cast<double>(a)) != greatest;
    return greatest ? a > b : a < b;
  };
  T best = x[0];
  for (const T each : x)
    if (wins(each, best)) best = each;
  return canonical(best);
}

/// A whole number, in limbs of 32 bits from the lowest on, of as many as 2^33 products of doubles may need.
class Natural {
 public:
  static constexpr std::size_t limbs = 136;

  /// Adds digits * 2^shift.
  void add(std::uint64_t digits, unsigned shift) {
    const std::uint64_t low = (digits & 0xFFFFFFFFu) << (shift % 32);
    const std::uint64_t high = (digits >> 32) << (shift % 32);
    add_at(shift / 32, low);
    add_at(shift / 32 + 1, high);
  }
  /// Adds a * b * 2^shift.
  void add_product(std::uint64_t a, std::uint64_t b, unsigned shift) {
    const std::uint64_t a_low = a & 0xFFFFFFFFu;
    const std::uint64_t b_low = b & 0xFFFFFFFFu;
    add(a_low * b_low, shift);
    add((a >> 32) * b_low, shift + 32);
    add(a_low * (b >> 32), shift + 32);
    add((a >> 32) * (b >> 32), shift + 64);
  }

  /// This minus `other`, which is not larger.
  Natural minus(const Natural& other) const {
    Natural difference;
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < limbs; ++i) {
      const std::uint64_t taken = other.limb_[i] + borrow;
      borrow = limb_[i] < taken ? 1 : 0;
      difference.limb_[i] = (borrow << 32) + limb_[i] - taken;
    }
    return difference;
  }
  /// Negative, zero or positive as this is less than, equal to or more than `other`.
  int compare(const Natural& other) const {
    for (std::size_t i = limbs; i-- > 0;)
      if (limb_[i] != other.limb_[i]) return limb_[i] < other.limb_[i] ? -1 : 1;
    return 0;
  }

  /// The place of the highest bit, or -1.
  int top() const {
    for (std::size_t i = limbs; i-- > 0;)
      if (limb_[i] != 0) return static_cast<int>(32 * i + std::bit_width(limb_[i])) - 1;
    return -1;
  }
  /// This divided by 2^shift, without the rest; less than 2^64.
  std::uint64_t shifted(unsigned shift) const {
    std::uint64_t digits = 0;
    for (unsigned bit = 0; bit < 64 && shift + bit < 32 * limbs; ++bit) digits |= bit_at(shift + bit) << bit;
    return digits;
  }

 private:
  std::uint64_t bit_at(unsigned place) const { return limb_[place / 32] >> (place % 32) & 1; }
  void add_at(std::size_t i, std::uint64_t digits) {
    for (; digits != 0; ++i) {
      const std::uint64_t sum = limb_[i] + (digits & 0xFFFFFFFFu);
      limb_[i] = sum & 0xFFFFFFFFu;
      digits = (digits >> 32) + (sum >> 32);
    }
  }

  std::array<std::uint64_t, limbs> limb_{};  // each below 2^32
};

/// A sum of doubles and of products of doubles (floats are converted on the way in, exactly), rounded when asked for.
class ExactSum {
 public:
  void add(double x) { add_product(x, 1.0); }

  void add_product(double x, double y) {
    count_ += 1;
    const double product = x * y;
    if (product != product) nan_ = true;
    const bool negative = std::signbit(x) != std::signbit(y);
    if (!negative || (x != 0 && y != 0)) only_minus_zeros_ = false;
    if (!std::isfinite(x) || !std::isfinite(y)) {
      (negative ? minus_infinity_ : plus_infinity_) = true;
      return;
    }
    const Parts a = parts(x);
    const Parts b = parts(y);
    if (a.digits == 0 || b.digits == 0) return;
    (negative ? negative_ : positive_).add_product(a.digits, b.digits, static_cast<unsigned>(a.place + b.place - unit));
  }

  template <class T>
  T rounded() const {
    if (nan_ || (plus_infinity_ && minus_infinity_)) return std::numeric_limits<T>::quiet_NaN();
    if (plus_infinity_ || minus_infinity_) return signed_as(std::numeric_limits<T>::infinity(), minus_infinity_);
    const int order = positive_.compare(negative_);
    if (order == 0) return signed_as(T{0}, count_ > 0 && only_minus_zeros_);
    const Natural size = order > 0 ? positive_.minus(negative_) : negative_.minus(positive_);
    const int last = last_place<T>(size.top() + unit);
    const std::uint64_t digits = size.shifted(static_cast<unsigned>(last - unit));
    Natural middle;  // between that and the next
    middle.add(2 * digits + 1, static_cast<unsigned>(last - 1 - unit));
    return signed_as(nearest<T>(digits, size.compare(middle), last), order < 0);
  }

  /// The square root of a sum of squares.
  template <class T>
  T rounded_root() const {
    if (nan_) return std::numeric_limits<T>::quiet_NaN();
    if (plus_infinity_) return std::numeric_limits<T>::infinity();
    if (positive_.top() < 0) return T{0};
    const int last = last_place<T>((positive_.top() + unit) >> 1);
    std::uint64_t root = 0;
    for (std::uint64_t bit = std::uint64_t{1} << 53; bit > 0; bit >>= 1)
      if (square(root + bit, last).compare(positive_) <= 0) root += bit;
    return nearest<T>(root, positive_.compare(square_of_middle(root, last)), last);
  }

 private:
  static constexpr int unit =
      -2152;  // the place of a Natural's lowest bit: below the square of any half of a last digit

  struct Parts {
    std::uint64_t digits;
    int place;
  };
  /// |x| = digits * 2^place.
  static Parts parts(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const auto exponent = static_cast<int>(bits >> 52 & 0x7FF);
    const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFFu;
    return exponent == 0 ? Parts{fraction, -1074} : Parts{fraction | std::uint64_t{1} << 52, exponent - 1075};
  }

  /// The place of the last digit of a number whose first has place `first`.
  template <class T>
  static int last_place(int first) {
    using Limits = std::numeric_limits<T>;
    return std::max(first - Limits::digits + 1, Limits::min_exponent - Limits::digits);
  }

  /// (root * 2^last)^2, and that of the number half-way to the next root.
  static Natural square(std::uint64_t root, int last) {
    Natural result;
    result.add_product(root, root, static_cast<unsigned>(2 * last - unit));
    return result;
  }
  static Natural square_of_middle(std::uint64_t root, int last) { return square(2 * root + 1, last - 1); }

  /// digits * 2^last, or one more where the rest is above the middle (`side` > 0) or in it (0) and digits is odd.
  template <class T>
  static T nearest(std::uint64_t digits, int side, int last) {
    if (side > 0 || (side == 0 && digits % 2 != 0)) digits += 1;
    const double value = std::ldexp(static_cast<double>(digits), last);
    if (value > static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::infinity();
    return static_cast<T>(value);
  }
  template <class T>
  static T signed_as(T size, bool negative) {
    return negative ? -size : size;
  }

  Natural positive_;
  Natural negative_;
  std::uint64_t count_ = 0;
  bool nan_ = false;
  bool plus_infinity_ = false;
  bool minus_infinity_ = false;
  bool only_minus_zeros_ = true;
};

template <class T>
T exact_sum(std::span<const T> x) {
  ExactSum sum;
  for (const T each : x) sum.add(static_cast<double>(each));
  return sum.rounded<T>();
}

template <class T>
T exact_abs_sum(std::span<const T> x) {
  ExactSum sum;
  for (const T each : x) sum.add(std::fabs(static_cast<double>(each)));
  return sum.rounded<T>();
}

/// The sum of the elements whose byte is not 0.
template <class T, class Byte>
T exact_masked_sum(std::span<const T> x, std::span<const Byte> mask) {
  ExactSum sum;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (mask[i] != Byte{0}) sum.add(static_cast<double>(x[i]));
  return sum.rounded<T>();
}

/// Each element rounded to a multiple of the lowest of `bins` bins of 40 bits below the largest, ties to even.
template <class T>
T binned_sum(std::span<const T> x, int bins) {
  int largest = -1074;
  for (const T each : x) {
    int exponent = largest;
    if (each != 0 && std::isfinite(each)) std::frexp(static_cast<double>(each), &exponent);
    largest = std::max(largest, exponent);
  }
  const int unit = 40 * (std::max((largest + 1074) / 40, bins - 1) - bins + 1) - 1074;
  ExactSum sum;
  for (const T each : x) {
    const double multiple = std::nearbyint(std::ldexp(static_cast<double>(each), -unit));
    sum.add(multiple == 0 && each != 0 ? 0.0 : std::ldexp(multiple, unit));
  }
  return sum.rounded<T>();
}

template <class T>
T exact_dot(std::span<const T> x, std::span<const T> y) {
  ExactSum sum;
  for (std::size_t i = 0; i < x.size(); ++i) sum.add_product(static_cast<double>(x[i]), static_cast<double>(y[i]));
  return sum.rounded<T>();
}

template <class T>
T exact_norm2(std::span<const T> x) {
  ExactSum sum;
  for (const T each : x) sum.add_product(static_cast<double>(each), static_cast<double>(each));
  return sum.rounded_root<T>();
}

}  // namespace steadfold::reference
