// How the elements of DuckDB's types become doubles. Integers must be exact as doubles; DECIMAL is rounded to the
// nearest double.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>

#include "arithmetic/superaccumulator/long_integer.hpp"

namespace steadfold::duckdb {

using arithmetic::Int128;
using arithmetic::Uint128;

template <class Integer>
std::string text_of(Integer integer) {
  const bool is_negative = integer < 0;
  Uint128 rest = is_negative ? -static_cast<Uint128>(integer) : static_cast<Uint128>(integer);
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  while ((rest /= 10) != 0);
  return is_negative ? "-" + digits : digits;
}

/// Whether an integer is exact as a double: whether it has at most 53 significant bits.
template <class Integer>
bool is_exact_as_double(Integer integer) noexcept {
  Uint128 magnitude = integer < 0 ? -static_cast<Uint128>(integer) : static_cast<Uint128>(integer);
  while (magnitude >> 53 != 0 && (magnitude & 1) == 0) magnitude >>= 1;
  return magnitude >> 53 == 0;
}

/// The elements of one operand of a function.
struct Operand {
  /// Converts the elements of the selected rows, or the first `count` elements if `selected` is null.
  using Convert = void (*)(const std::byte* elements, const std::uint16_t* selected, std::size_t count, int scale,
                           double* made);
  Convert convert;
  std::size_t element_bytes;
  int scale = 0;             // of DECIMAL: the number of digits after the point
  bool are_doubles = false;  // elements that need not be converted
};

template <class Element>
double to_double(Element element, int /*scale*/) {
  if constexpr (sizeof element > 4 && !std::same_as<Element, double>)
    if (!is_exact_as_double(element))
      throw std::domain_error("the integer " + text_of(element) +
                              " is not exact as a DOUBLE (it has more than 53 significant bits), cast the column to "
                              "DOUBLE, which rounds it");
  return static_cast<double>(element);
}

/// Returns the double that is nearest to integer / 10^scale.
template <class Integer>
double decimal_to_double(Integer integer, int scale) {
  // Powers that are exact. The division of two exact numbers is rounded once.
  constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (scale < static_cast<int>(std::size(powers)) && is_exact_as_double(integer))
    return static_cast<double>(integer) / powers[scale];
  return std::strtod((text_of(integer) + "e-" + std::to_string(scale)).c_str(),
                     nullptr);  // from_chars is not everywhere
}

template <class Element, double (*to_double)(Element, int)>
void convert(const std::byte* elements, const std::uint16_t* selected, std::size_t count, int scale, double* made) {
  for (std::size_t i = 0; i < count; ++i) {
    Element element;  // DuckDB aligns integers of 16 bytes to 8 bytes
    std::memcpy(&element, elements + (selected != nullptr ? selected[i] : i) * sizeof element, sizeof element);
    made[i] = to_double(element, scale);
  }
}

template <class Element>
constexpr Operand numbers() noexcept {
  return {.convert = convert<Element, to_double<Element>>,
          .element_bytes = sizeof(Element),
          .are_doubles = std::same_as<Element, double>};
}

template <class Integer>
constexpr Operand decimals(int scale) noexcept {
  return {.convert = convert<Integer, decimal_to_double<Integer>>, .element_bytes = sizeof(Integer), .scale = scale};
}

}  // namespace steadfold::duckdb
