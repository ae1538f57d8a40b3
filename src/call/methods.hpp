// The table of methods. A method fixes the bits of a call. One entry of the table has everything that is known about
// a method. Other code uses these properties and does not compare methods.
// Cost: finding an entry takes a few comparisons. Source: docs/guarantees.md.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "call/guarantees.hpp"
#include "schedule/registry.hpp"

namespace steadfold::call {

using arithmetic::Method;

struct MethodProperties {
  Method method;
  schedule::Merging merging;  // the method's name and its properties for schedules; see merging_of
  // Version of the method's bits, which changes when the bits change; empty if the bits are not fixed.
  std::string_view bits_version;
  // Guarantees that the method keeps, even for operators whose bits depend on the order of combining.
  Guarantees keeps;
  bool needs_indices = false;      // whether the bits depend on which row has which index
  bool rounds_once = false;        // whether the method keeps all bits until the end; if so, the method makes only sums
  bool has_sweep = false;          // whether calls may choose a sweep
  bool has_absolute_sums = false;  // whether the method takes the absolute values of doubles and floats itself
  // Whether partials of few rows may be the rows themselves (arithmetic/exact/kept_rows).
  bool may_keep_rows = false;
  // Number of rows of an array from which it is faster to reduce its columns one by one. One call takes 40 to 100 ns,
  // and a builder of many columns must transpose the rows.
  order::Count rows_worth_a_call = 512;

  /// Makes the kind of partial for `columns` columns of elements that are combined without conversion. The operator
  /// must outlive the kind. Throws Failure if the method does not serve the operation or the type.
  std::unique_ptr<arithmetic::PartialKind> (*make)(const Description& description, const arithmetic::Operator& op,
                                                   order::Count columns);
};

/// Returns all methods, in the order in which they are shown.
std::span<const MethodProperties> methods() noexcept;
/// Returns the properties of a method. Not for `automatic`, which is resolved to another method before.
const MethodProperties& properties_of(Method method) noexcept;
/// Returns the method with this name, or null.
const MethodProperties* find_method(std::string_view name) noexcept;

/// Returns the method's `merging` for calls with this sweep. If the method has a sweep, the transport can add its
/// partials as words only with a double sweep, which gives all ranks the same bin range.
schedule::Merging merging_of(const MethodProperties& properties, arithmetic::Sweep sweep) noexcept;

std::string_view name_of(Method method) noexcept;

/// Names the methods that round once and serve the call's operation on its elements, as text for a suggestion: "exact
/// or binned", "exact", or an empty text.
std::string rounding_once(const Description& description);

}  // namespace steadfold::call
