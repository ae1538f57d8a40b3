// How exact sums become results.
// Cost: some ns per column.
#pragma once

#include <cstring>

#include "arithmetic/exact/exact.hpp"
#include "arithmetic/exact/record.hpp"
#include "arithmetic/superaccumulator/long_integer.hpp"

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

  /// Writes the values of a group's columns; returns where those of the next one go.
  std::byte* write(const exact_record::GroupSums& group, Count columns, Count rows, int lowest_exponent,
                   std::byte* values) const noexcept {
    const bool is_plain_sum = result == ExactType::f64 && operation != ExactOperation::norm2 &&
                              operation != ExactOperation::mean && group.is_narrow &&
                              group.flags.all_are(not_minus_zero, columns);
    const bool is_written = is_plain_sum && group.narrow.round(columns, lowest_exponent, values);
    for (std::size_t lane = 0; lane < columns; ++lane, values += value_size())
      if (!is_written) write(group.flags.of(lane), rows, group.leading(lane, lowest_exponent), values);
    return values;
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
