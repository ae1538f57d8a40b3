// The methods, which fix the bits of a call. One row has everything that is known about a method. Other code uses the
// properties in the row and does not compare methods.
// Cost: finding a row takes a few comparisons. Source: docs/guarantees.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "agreement/guarantees.hpp"
#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "schedule/registry.hpp"

namespace steadfold::agreement {

/// The numbers are equal to the numbers of sf_method in steadfold.h.
enum class Method : std::uint32_t { automatic, tree, exact, plain, binned };

struct MethodRow {
  Method method;
  schedule::Merging merging;       // its properties for schedules, and its name; see merging_of
  std::string_view bits_version;   // changes with the method's bits; empty if they are not fixed
  Guarantees keeps;                // even for operators whose bits depend on the order of combining
  bool needs_indices = false;      // the bits depend on which row has which index
  bool rounds_once = false;        // keeps all bits until the end, so it makes only sums
  bool has_bins = false;           // has a number of bins and a sweep
  bool has_absolute_sums = false;  // takes the absolute values of doubles and floats itself
  bool may_keep_rows = false;      // sums of few rows may be those of arithmetic/exact/kept_rows

  /// Makes the kind of partial for `columns` columns of elements that are combined without conversion. The operator
  /// must outlive the kind. Throws Failure if the method does not serve the operation or the type.
  std::unique_ptr<arithmetic::PartialKind> (*make)(const Description& description, const arithmetic::Operator& op,
                                                   order::Count columns);
};

/// All methods, in the order in which they are shown.
std::span<const MethodRow> methods() noexcept;
/// Not for `automatic`, which is resolved to another method first.
const MethodRow& row_of(Method method) noexcept;
/// The method with this name, or null.
const MethodRow* find_method(std::string_view name) noexcept;

/// The row's `merging`, for calls with this sweep. Methods with bins offer words only with a double sweep, which gives
/// all ranks the same window.
schedule::Merging merging_of(const MethodRow& row, arithmetic::Sweep sweep) noexcept;

std::string_view name_of(Method method) noexcept;

/// The methods that round once and serve the call's operation on its elements, as text for a suggestion: "exact or
/// binned", "exact", or an empty text.
std::string_view rounding_once(const Description& description) noexcept;

}  // namespace steadfold::agreement
