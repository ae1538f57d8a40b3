// Elements that are not combined as they are: widened to the result's type, without their signs, or complex ones taken
// apart into reals.
// Rank order: kept. Cost: one pass through the first-level cache before the kind's own. Source: IEEE 754-2019 for
// the formats, bfloat16 is the upper half of a binary32.
#pragma once

#include <memory>
#include <optional>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic {

/// What `count` elements become; memory need not be aligned to them.
using Convert = void (*)(const std::byte* elements, Count count, std::byte* converted);

struct Conversion {
  Type type;                 // of what is combined
  Type result;               // of what that comes to
  Count parts = 1;           // how many of them an element becomes, side by side
  Count rows = 1;            // how many rows a row becomes
  Convert first = nullptr;   // null: the bytes are right as they are
  Convert second = nullptr;  // of the other factors
};

/// How elements of `type` are converted before they are combined to a `result`; nothing if they are combined as they
/// are, or if no exact conversion leads there. `rounds_once`: the method keeps all bits until the end.
std::optional<Conversion> conversion(Operation operation, Type type, Type result, bool rounds_once) noexcept;

/// Partials of rows of `columns` elements: those of `kind`, whose builders get converted rows.
std::unique_ptr<PartialKind> make_converted(std::unique_ptr<PartialKind> kind, const Conversion& conversion, Type from,
                                            Count columns);

}  // namespace steadfold::arithmetic
