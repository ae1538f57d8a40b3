// Converts elements that are not combined as they are stored: they are widened to the result's type, lose their signs,
// are squared or multiplied, or are complex numbers that become reals.
// Rank order: kept. Cost: one pass through the first-level cache before the cost of the kind. Source: IEEE 754-2019 for
// the formats; bfloat16 is the upper half of a binary32.
#pragma once

#include <memory>
#include <optional>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Converts `count` elements. The memory need not be aligned for them.
using Convert = void (*)(const std::byte* elements, Count count, std::byte* converted);

/// Multiplies `count` pairs of elements. The memory need not be aligned for them.
using Multiply = void (*)(const std::byte* first, const std::byte* second, Count count, std::byte* products);

struct Conversion {
  Type type;                 // the type in which elements are combined
  Type result;               // the type of the result
  Count parts = 1;           // number of real numbers that each element becomes, side by side
  Count rows = 1;            // number of converted rows for each row
  Convert first = nullptr;   // conversion of the elements; null: the bytes need no conversion
  Convert second = nullptr;  // conversion of the second factors
  // Replaces both conversions: makes one product of an element and its factor.
  Multiply multiply = nullptr;
};

/// Returns the conversion of elements of `type` before they are combined to a result of the type `result`. Empty if
/// they are combined unchanged, or if there is no exact conversion. `rounds_once` says that the method keeps all bits
/// until the end.
std::optional<Conversion> conversion(Operation operation, Type type, Type result, bool rounds_once) noexcept;

/// Makes a kind of partial that converts rows of `columns` elements before the builders of `kind` get them.
std::unique_ptr<PartialKind> make_converted(std::unique_ptr<PartialKind> kind, const Conversion& conversion, Type from,
                                            Count columns);

}  // namespace steadfold::arithmetic
