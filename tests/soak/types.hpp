// Reads and writes the element types, bit by bit if C++ has no such type. Shares no code with src/.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "steadfold/steadfold.h"

namespace steadfold::soak {

#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Binary128;
#else
using Binary128 = long double;
#endif

inline bool is_integer(sf_type type) { return type >= SF_I32 && type <= SF_U64; }
inline bool is_complex(sf_type type) { return type == SF_COMPLEX_F32 || type == SF_COMPLEX_F64; }
inline bool is_narrow(sf_type type) { return type == SF_BF16 || type == SF_F16; }
inline bool is_extended(sf_type type) { return type == SF_LONG_DOUBLE || type == SF_FLOAT128; }
/// The type of a complex number's parts; for other types the type itself.
inline sf_type part_of(sf_type type) {
  return type == SF_COMPLEX_F32 ? SF_F32 : type == SF_COMPLEX_F64 ? SF_F64 : type;
}

inline std::size_t size_of(sf_type type) {
  switch (type) {
    case SF_F64:
    case SF_I64:
    case SF_U64:
    case SF_COMPLEX_F32: return 8;
    case SF_F32:
    case SF_I32:
    case SF_U32: return 4;
    case SF_BF16:
    case SF_F16: return 2;
    case SF_LONG_DOUBLE: return sizeof(long double);
    case SF_COMPLEX_F64:
    case SF_FLOAT128: return 16;
    default: return 0;
  }
}

/// A binary format whose numbers are all doubles: m * 2^e with m < 2^digits and e >= least, below 2^top.
struct Format {
  int digits;
  int least;
  int top;
};
inline Format format_of(sf_type type) {
  switch (part_of(type)) {
    case SF_F32: return {24, -149, 128};
    case SF_BF16: return {8, -133, 128};
    case SF_F16: return {11, -24, 16};
    default: return {53, -1074, 1024};
  }
}

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void write(std::byte* at, const T& value) {
  std::memcpy(at, &value, sizeof value);
}

inline double value_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int digits = bits & 1023;
  double size = exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(digits + 1024, exponent - 25);
  if (exponent == 31)
    size = digits == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return bits >> 15 != 0 ? -size : size;
}
/// `value` must be a number of the format, and not NaN.
inline std::uint16_t half_of(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::fabs(value);
  if (std::isinf(size)) return static_cast<std::uint16_t>(sign | 0x7C00);
  if (size < 0x1p-14) return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(size, 24)));
  const int exponent = std::ilogb(size);
  return static_cast<std::uint16_t>(sign | (exponent + 15) << 10 |
                                    (static_cast<int>(std::ldexp(size, 10 - exponent)) & 1023));
}

/// The value of a real number of any format except the extended formats.
inline double value_of(sf_type type, const std::byte* at) {
  switch (type) {
    case SF_F32: return static_cast<double>(read<float>(at));
    case SF_BF16: return static_cast<double>(std::bit_cast<float>(std::uint32_t{read<std::uint16_t>(at)} << 16));
    case SF_F16: return value_of_half(read<std::uint16_t>(at));
    default: return read<double>(at);
  }
}
/// `value` must be a number of the format, and not NaN.
inline void set_value(sf_type type, std::byte* at, double value) {
  switch (type) {
    case SF_F32: return write(at, static_cast<float>(value));
    case SF_BF16:
      return write(at, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16));
    case SF_F16: return write(at, half_of(value));
    default: return write(at, value);
  }
}

/// Writes a result: every NaN is the canonical quiet NaN, and unused bytes are zero.
template <class T>
void write_result(std::byte* at, T value) {
  if constexpr (std::is_integral_v<T>) {
    write(at, value);
  } else {
    if (value != value) value = static_cast<T>(__builtin_nan(""));
    constexpr bool is_x87 = std::is_same_v<T, long double> && std::numeric_limits<long double>::digits == 64;
    constexpr std::size_t in_use = is_x87 ? 10 : sizeof(T);
    std::memset(at, 0, sizeof value);
    std::memcpy(at, &value, in_use);
  }
}

}  // namespace steadfold::soak
