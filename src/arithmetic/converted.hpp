// Converts elements that are not combined in their own type: they are widened to the result's type, lose their signs,
// or are complex numbers that become reals.
// Rank order: kept. Cost: one pass through the first-level cache before the cost of the kind. Source: IEEE 754-2019 for
// the formats; bfloat16 is the upper half of a binary32.
#pragma once

#include <memory>
#include <optional>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// Converts `count` elements; memory need not be aligned for them.
using Convert = void (*)(const std::byte* elements, Count count, std::byte* converted);

struct Conversion {
  Type type;                 // the type in which elements are combined
  Type result;               // the type of the result
  Count parts = 1;           // numbers per element, side by side
  Count rows = 1;            // converted rows per row
  Convert first = nullptr;   // null: the bytes need no conversion
  Convert second = nullptr;  // for the second factors
};

/// The conversion of elements of `type` before they are combined to a `result`. Empty if they are combined unchanged,
/// or if there is no exact conversion. `rounds_once`: the method keeps all bits until the end.
std::optional<Conversion> conversion(Operation operation, Type type, Type result, bool rounds_once) noexcept;

/// The partials of `kind`, for rows of `columns` elements, which are converted before the builders of `kind` get them.
std::unique_ptr<PartialKind> make_converted(std::unique_ptr<PartialKind> kind, const Conversion& conversion, Type from,
                                            Count columns);

}  // namespace steadfold::arithmetic
