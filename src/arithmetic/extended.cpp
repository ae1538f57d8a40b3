#include "arithmetic/extended.hpp"

#include <cstring>
#include <limits>

namespace steadfold::arithmetic {
namespace {

// The standard library's isnan and signbit do not support binary128 in every mode of the compilers; the built-in
// functions do.
template <class T>
T nan_of() {
  return static_cast<T>(__builtin_nan(""));
}

/// IEEE 754-2019 minimum (or maximum): the result is NaN if an operand is NaN, and -0 is less than +0.
template <class T, bool least>
T extreme(T a, T b) {
  if (__builtin_isnan(a) || __builtin_isnan(b)) return nan_of<T>();
  const bool a_is_less = a == b ? __builtin_signbit(a) != 0 : a < b;
  return a_is_less == least ? a : b;
}

/// Clears the unused bytes of a number: the 80 bits of the x87 are stored in 12 or 16 bytes.
template <class T>
constexpr std::size_t bytes_in_use = sizeof(T);
template <>
constexpr std::size_t bytes_in_use<long double> =
    std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);

template <class T>
void clear_unused(void* values, std::size_t count) {
  auto* at = static_cast<std::byte*>(values);
  for (std::size_t i = 0; i < count; ++i, at += sizeof(T))
    std::memset(at + bytes_in_use<T>, 0, sizeof(T) - bytes_in_use<T>);
}

template <class T, T (*combined)(T, T)>
int apply(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  const auto* a = static_cast<const T*>(left);
  const auto* b = static_cast<const T*>(right);
  auto* r = static_cast<T*>(result);
  for (std::size_t i = 0; i < count; ++i) {
    r[i] = combined(a[i], b[i]);
    clear_unused<T>(r + i, 1);
  }
  return 0;
}

template <class T>
void canonicalise_extended(void* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    auto* const at = static_cast<std::byte*>(values) + i * sizeof(T);
    T x;
    std::memcpy(&x, at, sizeof x);
    if (__builtin_isnan(x)) x = nan_of<T>();
    std::memcpy(at, &x, sizeof x);
    clear_unused<T>(at, 1);
  }
}

template <class T>
void fill(void* values, std::size_t count, T value) {
  for (std::size_t i = 0; i < count; ++i) static_cast<T*>(values)[i] = value;
  canonicalise_extended<T>(values, count);
}

template <class T, T (*combined)(T, T)>
Operator make(bool is_extreme) {
  return {.apply = apply<T, combined>,
          .element_bytes = sizeof(T),
          .commutative = true,
          .order_free = is_extreme,
          .idempotent = is_extreme,
          .canonicalise = canonicalise_extended<T>,
          .clear_unused = bytes_in_use<T> < sizeof(T) ? clear_unused<T> : nullptr};
}

template <class T>
T sum(T a, T b) {
  return a + b;
}
template <class T>
T product(T a, T b) {
  return a * b;
}

template <class T>
std::array<Operator, 4> make_all_extended() {
  std::array<Operator, 4> all = {make<T, sum<T>>(false), make<T, product<T>>(false), make<T, extreme<T, true>>(true),
                                 make<T, extreme<T, false>>(true)};
  all[0].of_nothing = [](void* values, std::size_t count) { fill<T>(values, count, 0); };
  all[1].of_nothing = [](void* values, std::size_t count) { fill<T>(values, count, 1); };
  return all;
}

}  // namespace

std::array<Operator, 4> extended_operators(Type type) noexcept {
  if (type == Type::long_double) return make_all_extended<long double>();
#if defined(__SIZEOF_FLOAT128__)
  __extension__ typedef __float128 Float128;
  if (type == Type::f128) return make_all_extended<Float128>();
#endif
  return {};
}

}  // namespace steadfold::arithmetic
