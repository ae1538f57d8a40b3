// The objects that calls of one shape need on one rank: their kind of partial and the lifter. The objects are made once
// for all calls of a shape. Rank order and cost: as the kind of partial.
#pragma once

#include <memory>

#include "call/description.hpp"
#include "call/kinds.hpp"
#include "plan/lifter.hpp"

namespace steadfold::group {

using call::Call;
using call::Data;
using call::Description;

/// `kind` refers to `op`, so a shape must not move. The operator's context may change from call to call.
struct Shape {
  /// `layout` has the intervals of all ranks; null: the rows are one interval, or their indices change no bits.
  Shape(const Description& given, const Call& call, const order::Layout* layout = nullptr)
      : description(given),
        op(operator_of(given, call.user)),
        kind(make_kind(given, op, given.columns, {.layout = layout})),
        lifter(*kind, row_shape(given, given.columns)),
        strides(strides_of(given, call.array)) {}
  Shape(const Shape&) = delete;
  Shape& operator=(const Shape&) = delete;

  /// Takes the strides of this call's array, because calls of one shape may have arrays with different strides.
  void stand_as(const Call& call) noexcept {
    if (call.array != nullptr) strides = strides_of(description, call.array);
  }
  /// Returns the rows of a call, for the lifter. The rows are valid until the next call of this function. If indices do
  /// not affect the bits, the rows are one interval.
  plan::StoredRows rows_of(const Call& call, const Data& data) noexcept {
    all_rows = {0, call.rows};
    const bool has_indices = needs_indices(description);
    return {.intervals = has_indices ? call.intervals : std::span<const order::Interval>(&all_rows, 1),
            .data = operands_of(description, data),
            .strides = strides};
  }

  Description description;
  arithmetic::Operator op;
  std::unique_ptr<arithmetic::PartialKind> kind;
  plan::Lifter lifter;
  arithmetic::Strides strides;
  order::Interval all_rows;
};

}  // namespace steadfold::group
