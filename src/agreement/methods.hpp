// The methods: what fixes the bits of a call. One row each says all there is to know about a method; everybody else
// asks for what a row says, not which method it is. Cost: finding a row is a few comparisons. Source:
// docs/guarantees.md.
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

/// The numbers are those of sf_method in steadfold.h.
enum class Method : std::uint32_t { automatic, tree, exact, plain, binned };

struct MethodRow {
  Method method;
  schedule::Merging merging;       // what schedules must know, with the method's name; see merging_of
  std::string_view bits_version;   // whoever changes the method's bits changes it; empty if they are not fixed
  Guarantees keeps;                // even of operators whose bits follow the order of combining
  bool needs_indices = false;      // which row has which index decides the bits
  bool rounds_once = false;        // keeps all bits until the end, so it makes sums and nothing else
  bool has_bins = false;           // takes a number of bins and a sweep
  bool has_absolute_sums = false;  // takes the absolute values of doubles and floats itself
  bool may_keep_rows = false;      // its sums of few rows are those of arithmetic/exact/kept_rows

  /// How `columns` columns of elements that are combined as they are become partials. The operator must outlive the
  /// kind. Throws Failure if the method does not serve the operation or the type.
  std::unique_ptr<arithmetic::PartialKind> (*make)(const Description& description, const arithmetic::Operator& op,
                                                   order::Count columns);
};

/// All methods, in the order in which they are shown.
std::span<const MethodRow> methods() noexcept;
/// Not of `automatic`, which is resolved to one of the others.
const MethodRow& row_of(Method method) noexcept;
/// The method of that name, or null.
const MethodRow* find_method(std::string_view name) noexcept;

/// The row's `merging`, for calls with this sweep: those of methods with bins offer words by double sweep only, which
/// gives all ranks one window.
schedule::Merging merging_of(const MethodRow& row, arithmetic::Sweep sweep) noexcept;

std::string_view name_of(Method method) noexcept;

/// The methods that round once and serve the call's operation on its elements, as suggestions name them: "exact or
/// binned", "exact", or nothing.
std::string_view rounding_once(const Description& description) noexcept;

}  // namespace steadfold::agreement
