// Operators of a user, and what built-in ones should do: none shares code with the library.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "mpi/inputs.hpp"
#include "mpi/reference.hpp"

namespace steadfold::tests {

/// Integers wrap around.
inline constexpr auto add = []<class T>(const T& a, const T& b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else
    return a + b;
};

inline constexpr auto multiply = []<class T>(const T& a, const T& b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) * static_cast<std::make_unsigned_t<T>>(b));
  else
    return a * b;
};

/// IEEE 754-2019: a NaN wins, -0 is below +0.
inline constexpr auto lesser = []<class T>(const T& a, const T& b) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == 0 && b == 0) return std::signbit(a) || std::signbit(b) ? -T{0} : T{0};
  }
  return b < a ? b : a;
};

inline constexpr auto greater = []<class T>(const T& a, const T& b) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == 0 && b == 0) return std::signbit(a) && std::signbit(b) ? -T{0} : T{0};
  }
  return a < b ? b : a;
};

/// Neither commutative nor associative.
inline constexpr auto subtract = [](double a, double b) noexcept { return a - b; };

/// Rounded as it is, associative by name only; never commutative.
struct Matrix {
  double a, b, c, d;
};
inline constexpr auto matrix_product = [](const Matrix& l, const Matrix& r) {
  return Matrix{l.a * r.a + l.b * r.c, l.a * r.b + l.b * r.d, l.c * r.a + l.d * r.c, l.c * r.b + l.d * r.d};
};

/// Letters with the brackets of every combination, for up to 20 of them.
struct Text {
  std::array<char, 64> letters{};

  static Text of(char letter) {
    Text text;
    text.letters[0] = letter;
    return text;
  }
  std::string string() const { return {letters.data(), strnlen(letters.data(), letters.size())}; }
};
inline constexpr auto join = [](const Text& l, const Text& r) {
  const std::string all = "(" + l.string() + r.string() + ")";
  Text text;
  std::memcpy(text.letters.data(), all.data(), std::min(all.size(), text.letters.size()));
  return text;
};

/// Any other bracketing or order gives another number.
inline std::uint64_t mixed(std::uint64_t l, std::uint64_t r) {
  const std::uint64_t sum = 3 * l + 5 * r + 7;
  return (sum ^ sum >> 31) * 0x9E3779B97F4A7C15u;
}

/// Numbers under `mixed`, as many as make elements of any size.
template <class WordType, std::size_t count>
struct Mixed {
  using Word = WordType;
  std::array<Word, count> words;
};
inline constexpr auto mix = []<class M>(const M& l, const M& r) {
  M result;
  for (std::size_t i = 0; i < l.words.size(); ++i)
    result.words[i] = static_cast<typename M::Word>(mixed(l.words[i], r.words[i]) % 251);
  return result;
};

using Hash = Mixed<std::uint64_t, 1>;
inline constexpr auto mix_hashes = [](const Hash& l, const Hash& r) noexcept {
  return Hash{{mixed(l.words[0], r.words[0])}};
};

/// mix_hashes on arrays. Reads the left operand before it writes the result, which may be the same memory.
struct MixArrays {
  void operator()(const Hash* left, const Hash* right, Hash* result, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t l = left[i].words[0];
      result[i].words[0] = 0;
      result[i].words[0] = mixed(l, right[i].words[0]);
    }
  }
};

/// Elements of any of these types, from a seed.
template <class T>
std::vector<T> elements(std::size_t n, Random& random) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_arithmetic_v<T>) {
      return numbers<T>(n, random);
    } else if constexpr (std::same_as<T, Matrix>) {
      for (double* entry : {&x[i].a, &x[i].b, &x[i].c, &x[i].d}) *entry = number<double>(random, -1, 0);
    } else if constexpr (std::same_as<T, Text>) {
      x[i] = Text::of(static_cast<char>('a' + draw(random, 26)));
    } else {
      for (auto& word : x[i].words) word = static_cast<typename T::Word>(random() % 251);
    }
  }
  return x;
}

/// What the tree method should come to, for at least one element.
template <class T, class Op>
T tree_of(const std::vector<T>& x, const Op& op) {
  const T result = reference::tree(std::span<const T>(x), op);
  if constexpr (std::floating_point<T>)
    return reference::canonical(result);
  else
    return result;
}

}  // namespace steadfold::tests
