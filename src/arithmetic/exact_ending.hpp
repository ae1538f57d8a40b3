// How exact sums become results.
// Cost: some ns per column. Source: ours.
#pragma once

#include <cstring>

#include "arithmetic/exact.hpp"
#include "arithmetic/long_integer.hpp"

namespace steadfold::arithmetic {

/// The way from a column's sum to its result by one operation.
struct Ending {
  ExactOperation operation;
  ExactType result;

  Bytes value_size() const noexcept { return result == ExactType::f32 ? sizeof(float) : sizeof(double); }

  /// Whether these are all rows, and enough of them for the operation.
  Status check(Count rows, Count element_count) const noexcept {
    const Status whole = check_row_count(rows, element_count);
    return whole == Status::ok && operation == ExactOperation::mean && rows == 0 ? Status::empty : whole;
  }

  /// Writes the value of one column.
  void write(Flags flags, Count rows, const Leading& sum, std::byte* value) const noexcept {
    if (result == ExactType::f32)
      write_as<float>(flags, rows, sum, value);
    else
      write_as<double>(flags, rows, sum, value);
  }

 private:
  template <class Result>
  void write_as(Flags flags, Count rows, const Leading& sum, std::byte* value) const noexcept {
    const auto round = operation == ExactOperation::norm2  ? &rounded_root<Result>
                       : operation == ExactOperation::mean ? &rounded_mean<Result>
                                                           : &rounded<Result>;
    const Result rounded_value = round(flags, rows, sum);
    std::memcpy(value, &rounded_value, sizeof rounded_value);
  }
};

}  // namespace steadfold::arithmetic
