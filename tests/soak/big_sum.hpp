// Sums of m * 2^e as one big integer per sign, rounded at the end, with integers alone. Shares no code with src/.
// Rank order: none. Cost: some 20 ns per term. Source: IEEE 754-2019, round to nearest, ties to even.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace steadfold::soak {

__extension__ typedef unsigned __int128 Wide;

inline int width_of(std::uint64_t m) { return 64 - std::countl_zero(m); }
inline int width_of(Wide m) {
  const auto high = static_cast<std::uint64_t>(m >> 64);
  return high != 0 ? 64 + width_of(high) : width_of(static_cast<std::uint64_t>(m));
}

/// The number size * 2^exponent.
struct Dyadic {
  Wide size = 0;
  int exponent = 0;
};

/// The magnitude of a finite number, without its sign.
inline Dyadic dyadic(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52 & 2047);
  const std::uint64_t digits = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent == 0) return {digits, -1074};
  return {digits | std::uint64_t{1} << 52, exponent - 1075};
}

/// x rounded to a multiple of 2^unit, ties to even.
inline Dyadic to_multiple(const Dyadic& x, int unit) {
  if (x.exponent >= unit || x.size == 0) return x;
  const int shift = unit - x.exponent;
  if (shift > 120) return {0, unit};  // the number is below half a unit
  const Wide rest = x.size & ((Wide{1} << shift) - 1);
  const Wide half = Wide{1} << (shift - 1);
  Wide whole = x.size >> shift;
  if (rest > half || (rest == half && (whole & 1) != 0)) whole += 1;
  return {whole, unit};
}

/// An unsigned number of fixed width, in units of 2^lowest.
template <int lowest_exponent, std::size_t limb_count>
class FixedPoint {
 public:
  static constexpr int lowest = lowest_exponent;
  static constexpr std::size_t limbs = limb_count;

  FixedPoint() = default;
  /// The number in a type with more limbs on both sides.
  template <int narrow_lowest, std::size_t narrow_limbs>
  explicit FixedPoint(const FixedPoint<narrow_lowest, narrow_limbs>& narrow) {
    static_assert((narrow_lowest - lowest) % 64 == 0);
    for (std::size_t i = 0; i < narrow_limbs; ++i)
      limb_[i + static_cast<std::size_t>((narrow_lowest - lowest) / 64)] = narrow.limb(i);
  }

  std::uint64_t limb(std::size_t i) const { return limb_[i]; }
  void add(const Dyadic& term) {
    if (term.size == 0) return;
    const auto place = static_cast<std::size_t>(term.exponent - lowest);
    const std::size_t shift = place % 64;
    const Wide low = Wide{static_cast<std::uint64_t>(term.size)} << shift;
    const Wide high = Wide{static_cast<std::uint64_t>(term.size >> 64)} << shift;
    add_at(place / 64, static_cast<std::uint64_t>(low));
    add_at(place / 64 + 1, static_cast<std::uint64_t>(low >> 64));
    add_at(place / 64 + 1, static_cast<std::uint64_t>(high));
    add_at(place / 64 + 2, static_cast<std::uint64_t>(high >> 64));
  }
  void subtract(const FixedPoint& less) {
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < limbs; ++i) {
      const Wide taken = Wide{less.limb_[i]} + borrow;
      borrow = limb_[i] < taken ? 1 : 0;
      limb_[i] -= static_cast<std::uint64_t>(taken);
    }
  }
  void multiply(std::uint64_t count) {
    Wide carry = 0;
    for (std::uint64_t& limb : limb_) {
      carry += Wide{limb} * count;
      limb = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
  }
  /// 0 minus this number, modulo 2^(64 limbs). `is_below_zero` tells whether a sum of such numbers is negative.
  FixedPoint negated() const {
    FixedPoint less;
    less.subtract(*this);
    return less;
  }
  bool is_below_zero() const { return limb_.back() >> 63 != 0; }
  /// The product. Neither factor may have bits below the square root of the lowest unit.
  FixedPoint times(const FixedPoint& factor) const {
    std::array<std::uint64_t, 2 * limbs> product{};  // in units of 2^(2 lowest)
    for (std::size_t i = 0; i < limbs; ++i) {
      Wide carry = 0;
      for (std::size_t j = 0; limb_[i] != 0 && j < limbs; ++j) {
        carry += Wide{limb_[i]} * factor.limb_[j] + product[i + j];
        product[i + j] = static_cast<std::uint64_t>(carry);
        carry >>= 64;
      }
      if (limb_[i] != 0) product[i + limbs] = static_cast<std::uint64_t>(carry);
    }
    static_assert(lowest % 64 == 0);
    FixedPoint found;
    for (std::size_t i = 0; i < limbs; ++i) found.limb_[i] = product[i + static_cast<std::size_t>(-lowest / 64)];
    return found;
  }
  /// Divides by `count`, which is not 0. Returns whether there is a remainder.
  bool divide(std::uint64_t count) {
    Wide rest = 0;
    for (std::size_t i = limbs; i-- > 0;) {
      const Wide digits = rest << 64 | limb_[i];
      limb_[i] = static_cast<std::uint64_t>(digits / count);
      rest = digits % count;
    }
    return rest != 0;
  }

  /// The number times 2^by; no bits may be lost.
  FixedPoint shifted(int by) const {
    const int whole = by >= 0 ? by / 64 : -((63 - by) / 64);
    const int bits = by - 64 * whole;
    FixedPoint made;
    for (std::size_t i = 0; i < limbs; ++i) {
      const Wide digits = Wide{limb_[i]} << bits;
      for (const auto& [place, part] : {std::pair(0, digits), std::pair(1, digits >> 64)}) {
        const auto at = static_cast<std::ptrdiff_t>(i) + whole + place;
        if (static_cast<std::uint64_t>(part) != 0)
          made.limb_.at(static_cast<std::size_t>(at)) |= static_cast<std::uint64_t>(part);
      }
    }
    return made;
  }

  int compare(const FixedPoint& other) const {
    for (std::size_t i = limbs; i-- > 0;)
      if (limb_[i] != other.limb_[i]) return limb_[i] < other.limb_[i] ? -1 : 1;
    return 0;
  }
  /// The exponent of the highest bit; below `lowest` if the number is 0.
  int top() const {
    for (std::size_t i = limbs; i-- > 0;)
      if (limb_[i] != 0) return lowest + static_cast<int>(64 * i) + width_of(limb_[i]) - 1;
    return lowest - 1;
  }
  /// The first bits, as a number from 1 to 2.
  long double leading() const {
    const int first = top() - 62;
    return std::ldexp(static_cast<long double>(first < lowest ? from(lowest) : from(first)),
                      first < lowest ? lowest - top() : -62);
  }
  /// The bits from 2^exponent on; there must be fewer than 64.
  std::uint64_t from(int exponent) const {
    const auto place = static_cast<std::size_t>(exponent - lowest);
    std::uint64_t bits = limb_[place / 64] >> place % 64;
    if (place % 64 != 0 && place / 64 + 1 < limbs) bits |= limb_[place / 64 + 1] << (64 - place % 64);
    return bits;
  }
  bool has_bits_below(int exponent) const {
    const auto place = static_cast<std::size_t>(exponent - lowest);
    for (std::size_t i = 0; i < place / 64; ++i)
      if (limb_[i] != 0) return true;
    return (limb_[place / 64] & ((std::uint64_t{1} << place % 64) - 1)) != 0;
  }

 private:
  void add_at(std::size_t i, std::uint64_t digits) {
    for (; digits != 0; ++i) {
      const std::uint64_t sum = limb_[i] + digits;
      digits = sum < digits ? 1 : 0;
      limb_[i] = sum;
    }
  }

  std::array<std::uint64_t, limbs> limb_{};
};

/// Any sum of products of doubles; the lowest unit is far below the square of the least double, for quotients and
/// roots.
using Magnitude = FixedPoint<-2368, 72>;
/// Any product of two of these, times 2^2200.
using ProductOfMagnitudes = FixedPoint<-4736, 200>;

/// Rounds digits * 2^last plus a remainder to the nearest T. `half`: the remainder is at least half of 2^last. `rest`:
/// the remainder is not 0 and not exactly half.
template <class T>
T nearest(std::uint64_t digits, bool half, bool rest, int last) {
  if (half && (rest || (digits & 1) != 0)) digits += 1;
  const int top = last + width_of(digits) - 1;
  if (digits != 0 && top >= std::numeric_limits<T>::max_exponent) return std::numeric_limits<T>::infinity();
  return static_cast<T>(std::ldexp(static_cast<double>(digits), last));
}

/// The exponent of the last digit of a T whose first digit is 2^first.
template <class T>
int last_place(int first) {
  using Numeric = std::numeric_limits<T>;
  const int least = Numeric::min_exponent - Numeric::digits;
  return first - Numeric::digits + 1 > least ? first - Numeric::digits + 1 : least;
}

/// The number as the nearest T. `more`: there is a remainder below its lowest bit.
template <class T>
T rounded(const Magnitude& x, bool more) {
  const int last = last_place<T>(x.top());
  const bool half = (x.from(last - 1) & 1) != 0;
  return nearest<T>(x.from(last), half, more || x.has_bits_below(last - 1), last);
}

/// The nearest T to the square root of the number, which may have a remainder below its lowest bit (`more`). One digit
/// more than T has is found bit by bit, and whether there is a remainder.
template <class T>
T rounded_root(const Magnitude& x, bool more = false) {
  if (x.top() < Magnitude::lowest) return T{0};
  const int first = x.top() >= 0 ? x.top() / 2 : -((1 - x.top()) / 2);
  const int last = last_place<T>(first);
  std::uint64_t root = 0;
  Magnitude square;
  for (std::uint64_t bit = std::uint64_t{1} << 54; bit > 0; bit >>= 1) {
    const std::uint64_t tried = root + bit;
    Magnitude square_of_tried;
    square_of_tried.add({Wide{tried} * tried, 2 * (last - 1)});
    if (square_of_tried.compare(x) > 0) continue;
    root = tried;
    square = square_of_tried;
  }
  return nearest<T>(root >> 1, (root & 1) != 0, more || square.compare(x) != 0, last);
}

/// The nearest T to the quotient of two numbers that are not 0, found in the same way as a root.
template <class T>
T rounded_quotient(const Magnitude& x, const Magnitude& divisor) {
  int first = x.top() - divisor.top();  // 2^first <= quotient < 2^(first + 1)
  if (first < last_place<T>(first) - 1) return T{0};
  if (divisor.shifted(first).compare(x) > 0) first -= 1;
  if (first >= std::numeric_limits<T>::max_exponent) return std::numeric_limits<T>::infinity();
  const int last = last_place<T>(first);
  if (first < last - 1) return T{0};
  std::uint64_t quotient = 0;
  Magnitude product;
  for (std::uint64_t bit = std::uint64_t{1} << 54; bit > 0; bit >>= 1) {
    Magnitude tried = divisor;
    tried.multiply(quotient + bit);
    if (tried.top() + last - 1 > x.top()) continue;
    tried = tried.shifted(last - 1);
    if (tried.compare(x) > 0) continue;
    quotient += bit;
    product = tried;
  }
  return nearest<T>(quotient >> 1, (quotient & 1) != 0, product.compare(x) != 0, last);
}

/// The nearest T to x / sqrt(a b), which is not above 1. No number is 0.
template <class T>
T rounded_quotient_by_root(const Magnitude& x, const Magnitude& a, const Magnitude& b) {
  const ProductOfMagnitudes square = ProductOfMagnitudes(x).times(ProductOfMagnitudes(x));
  const ProductOfMagnitudes divisor = ProductOfMagnitudes(a).times(ProductOfMagnitudes(b));
  int first = (square.top() - divisor.top() - 1) / 2;  // 2^first <= quotient < 2^(first + 1), or this is one too high
  if (divisor.compare(square.shifted(-2 * first)) > 0) first -= 1;
  const int last = last_place<T>(first);
  if (first < last - 1) return T{0};
  const ProductOfMagnitudes scaled = square.shifted(-2 * (last - 1));
  const auto compare = [&](std::uint64_t quotient) {
    ProductOfMagnitudes tried = divisor;
    tried.multiply(quotient);
    tried.multiply(quotient);
    return tried.compare(scaled);
  };
  // From an estimate with an error of a few digits, to the largest integer that is not above the exact quotient.
  auto quotient = static_cast<std::uint64_t>(
      std::sqrt(std::ldexp(scaled.leading() / divisor.leading(), scaled.top() - divisor.top())));
  while (compare(quotient) > 0) --quotient;
  while (compare(quotient + 1) <= 0) ++quotient;
  return nearest<T>(quotient >> 1, (quotient & 1) != 0, compare(quotient) != 0, last);
}

}  // namespace steadfold::soak
