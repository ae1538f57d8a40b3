// The initial value of a call, which is combined once with the result, as the left operand. Every rank that gets a
// result combines its own columns, after the reduction. Rank order: the initial value is left of all rows. Cost: one
// operation per column of the result. Source: WG21 P4016R0.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "call/call.hpp"

namespace steadfold::call {

/// Throws Failure if the call has an initial value, and its method or its operation cannot combine the value.
void require_initial(const Call& call);

/// A copy of a call's initial value for every column of the result.
class InitialValue {
 public:
  /// `element` is one element of the result.
  InitialValue(std::span<const std::byte> element, Count columns);
  /// Makes a copy of the call's initial value. Returns null if the call has none.
  static std::unique_ptr<InitialValue> of(const Call& call);

  std::span<const std::byte> element() const noexcept { return std::span(values_).first(element_bytes_); }

  /// Combines the initial value with the results of `columns` columns, in place. Returns `operator_failed` if the
  /// operator failed.
  Status combine(const arithmetic::Operator& op, std::byte* results, Count columns);
  /// Writes the initial value itself as the results, because there are no rows.
  void write(const arithmetic::Operator& op, std::byte* results, Count columns) const;
  /// Whether the initial value combined with the operator's result of no rows is the initial value itself.
  bool is_kept_without_rows(const arithmetic::Operator& op) const;

 private:
  Bytes element_bytes_;
  std::vector<std::byte> values_;  // one element for each column
  std::vector<std::byte> made_;
};

}  // namespace steadfold::call
