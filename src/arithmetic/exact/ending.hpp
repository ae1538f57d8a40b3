// Converts exact sums to the results of operations, such as sums and means. Cost: some ns per column.
#pragma once

#include <cstring>

#include "arithmetic/exact/exact.hpp"
#include "arithmetic/exact/record.hpp"
#include "arithmetic/superaccumulator/long_integer.hpp"

namespace steadfold::arithmetic {

/// Converts the sum of a column to its result, for one operation.
struct Ending {
  Operation operation;
  Type result;
  // Whether labels distribute the rows to the columns; then a column only knows whether it has a -0.0.
  bool is_dealt = false;

  Bytes value_size() const noexcept { return result == Type::f32 ? sizeof(float) : sizeof(double); }

  /// Checks whether `rows` is the number of all rows, and whether the operation has a result for it.
  Status check(Count rows, Count element_count) const noexcept {
    const Status whole = check_row_count(rows, element_count);
    return whole == Status::ok && operation == Operation::mean && rows == 0 ? Status::empty : whole;
  }

  /// Writes the value of one column.
  void write(Flags flags, Count rows, const Leading& sum, std::byte* value) const noexcept {
    if (result == Type::f32)
      write_as<float>(flags, rows, sum, value);
    else
      write_as<double>(flags, rows, sum, value);
  }

  /// Whether results are only the sums rounded to doubles, for narrow groups without infinities and NaNs.
  bool only_rounds() const noexcept {
    return result == Type::f64 && operation != Operation::norm2 && operation != Operation::mean;
  }

  /// Writes the values of the next groups of a record with a kernel, until it refuses a group. Returns the number of
  /// these groups.
  Count write_alike(exact_record::Reader& reader, Count groups, int lowest_exponent, kernels::RoundNarrowGroups round,
                    std::byte* values) const noexcept {
    const exact_record::Reader::Alike found = reader.alike(only_rounds() ? groups : 0);
    const int unit = lowest_exponent + 32 * found.next.lowest;
    const bool are_normal = unit >= lowest_normal_unit && unit <= highest_normal_unit;
    if (found.most == 0 || !are_normal || !found.next.flags.all_are(not_minus_zero, exact_record::columns_of_group))
      return 0;
    const Count rounded = round(found.head, found.first, found.most, unit, values);
    reader.skip_alike(rounded);
    return rounded;
  }

  /// Writes the values of a group's columns. Returns the address for the values of the next group.
  std::byte* write(const exact_record::GroupSums& group, Count columns, Count rows, int lowest_exponent,
                   std::byte* values) const noexcept {
    const bool is_rounded = only_rounds() && group.is_narrow && group.flags.all_are(not_minus_zero, columns);
    const bool is_written = is_rounded && group.narrow.round(columns, lowest_exponent, values);
    for (std::size_t lane = 0; lane < columns; ++lane, values += value_size())
      if (!is_written)
        write(group.flags.of(lane), is_dealt ? group.minus_zeros >> lane & 1 : rows,
              group.leading(lane, lowest_exponent), values);
    return values;
  }

 private:
  template <class Result>
  void write_as(Flags flags, Count rows, const Leading& sum, std::byte* value) const noexcept {
    const auto round = operation == Operation::norm2  ? &rounded_root<Result>
                       : operation == Operation::mean ? &rounded_mean<Result>
                                                      : &rounded<Result>;
    const Result rounded_value = round(flags, rows, sum);
    std::memcpy(value, &rounded_value, sizeof rounded_value);
  }
};

}  // namespace steadfold::arithmetic
