// Terms whose correctly rounded sum is hard to compute: huge and tiny terms, cancellation, ties with small terms far
// below them, subnormals, signed zeros, intermediate overflow, infinities and NaNs. Shares no code with src/.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace steadfold::test {

enum class Trouble { near, far, cancel, nearly_cancel, tie, subnormal, few_bits, largest, zeros, not_finite };
inline constexpr Trouble troubles[] = {Trouble::near,  Trouble::far,       Trouble::cancel,   Trouble::nearly_cancel,
                                       Trouble::tie,   Trouble::subnormal, Trouble::few_bits, Trouble::largest,
                                       Trouble::zeros, Trouble::not_finite};

/// Makes floats or doubles.
template <class T>
class HostileTerms {
  using Limits = std::numeric_limits<T>;
  static constexpr int digits = Limits::digits;
  static constexpr int lowest = Limits::min_exponent - digits;  // exponent of the smallest number
  static constexpr int highest = Limits::max_exponent - 1;

 public:
  explicit HostileTerms(std::uint64_t seed) : random_(seed) {}

  /// `count` terms with one kind of trouble, shuffled.
  std::vector<T> of(std::size_t count, Trouble trouble) {
    const int scale = between(0, 3) == 0 ? lowest + 2 * digits + between(0, 9) : between(-20, 20);
    std::vector<T> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = term(trouble, i, scale);
    if (trouble == Trouble::cancel || trouble == Trouble::nearly_cancel) cancel(x, trouble == Trouble::nearly_cancel);
    std::ranges::shuffle(x, random_);
    return x;
  }

 private:
  int between(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  T sign() { return random_() % 2 == 0 ? T{1} : T{-1}; }
  T power(int exponent) { return std::ldexp(T{1}, std::clamp(exponent, lowest, highest)); }
  T mantissa() { return sign() * (T{1} + std::ldexp(static_cast<T>(random_() >> (64 - digits)), -digits)); }

  T term(Trouble trouble, std::size_t i, int scale) {
    switch (trouble) {
      case Trouble::near: return mantissa() - sign();
      case Trouble::far: return mantissa() * power(between(lowest, highest - 5));
      case Trouble::cancel:
      case Trouble::nearly_cancel: return mantissa() * power(scale + between(0, digits));
      case Trouble::tie: return tie_with_tail(i, scale);
      case Trouble::subnormal: return static_cast<T>(between(-9, 9)) * Limits::denorm_min();
      case Trouble::few_bits: return of_few_bits(scale);
      case Trouble::largest: return near_the_largest(i);
      case Trouble::zeros: return between(0, 15) == 0 ? T{0} : T{-0.0};
      case Trouble::not_finite: break;
    }
    return special();
  }
  /// The terms of a tie: a number, half a unit of its last digit, and a small term that decides the rounding.
  T tie_with_tail(std::size_t i, int scale) {
    if (i == 0) return power(scale) * (1 + static_cast<T>(between(0, 1)) * Limits::epsilon());
    if (i == 1) return sign() * power(scale - digits - between(0, 1));
    if (i == 2) return sign() * power(scale - digits - between(0, 4 * digits));
    return between(0, 2) == 0 ? sign() * power(scale - between(digits, 4 * digits)) : T{0};
  }
  /// Terms of few bits. The second-order rounding errors of their sum often cancel, or add up to a tie.
  T of_few_bits(int scale) {
    const int level = between(0, 2) * digits + between(-1, 2);
    return sign() * static_cast<T>(between(0, 3)) * power(scale - level);
  }
  T near_the_largest(std::size_t i) {
    if (i < 2) return sign() * Limits::max();
    const int level = between(0, 3);
    return sign() * (level == 0 ? Limits::max() : power(highest - digits * (level - 1) - between(0, 1)));
  }
  T special() {
    const T some[] = {T{0},          T{1},          Limits::denorm_min(), Limits::min(),
                      Limits::max(), Limits::max(), Limits::infinity(),   std::copysign(Limits::quiet_NaN(), sign())};
    return sign() * some[random_() % (between(0, 3) == 0 ? 8 : 6)];
  }
  /// Makes pairs of terms and their negatives, which may differ by a unit of the last digit.
  void cancel(std::vector<T>& x, bool almost) {
    for (std::size_t i = 0; i + 1 < x.size(); i += 2) x[i + 1] = -x[i];
    if (x.size() % 2 != 0) x.back() = almost ? x.back() * power(-2 * digits) : T{0};
    if (almost && x.size() > 1) x[1] = std::nextafter(x[1], sign() * Limits::max());
  }

  std::mt19937_64 random_;
};

}  // namespace steadfold::test
