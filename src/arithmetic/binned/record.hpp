// Writes and reads the bytes of a record of binned sums: Header, number of rows, then the columns. A record of fewer
// than 2^24 rows has groups of eight columns (the last group may be smaller), as BinnedGroup writes them. A record of
// more rows has, for every column, its BinDescriptor and bins of two words, the top bin first. This file also computes
// the values of columns. Rank order: none. Cost: O(columns). See arithmetic/binned/bins.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "arithmetic/binned/bins.hpp"
#include "arithmetic/binned/group.hpp"
#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "arithmetic/superaccumulator/long_integer.hpp"
#include "kernels/binned_groups.hpp"

namespace steadfold::arithmetic::binned_record {

struct BinDescriptor {
  std::uint8_t top;
  std::uint8_t flags;
  std::array<std::uint8_t, 6> reserved;
};
static_assert(sizeof(BinDescriptor) == 8);

inline constexpr Bytes fixed_bytes = sizeof(Header) + sizeof(Count);
inline constexpr unsigned all_flags = has_nan | has_plus_infinity | has_minus_infinity | not_minus_zero;
inline constexpr Count columns_of_group = kernels::most_columns;

using Column = BinnedColumn;

inline bool has_groups(Count rows) noexcept { return rows < fewest_terms_for_two_words; }

/// The common parameters of the kind and the builder.
struct BinnedShape {
  Operation operation;
  Type input;
  Type result;
  int bin_count;
  Sweep sweep;
  Count columns;
  BinGrid grid;
  // Whether labels distribute the rows to the columns; then a column only knows whether it has a -0.0.
  bool is_dealt = false;

  Bytes column_bytes() const noexcept { return sizeof(BinDescriptor) + static_cast<Bytes>(bin_count) * sizeof(Int128); }
  Bytes record_bytes(Count rows) const noexcept {
    return fixed_bytes + (has_groups(rows) ? BinnedGroup::bytes_of(bin_count, columns) : columns * column_bytes());
  }
  Bytes largest_record_bytes() const noexcept { return record_bytes(fewest_terms_for_two_words); }
  /// Returns the position of the group that has this column.
  Bytes group_at(Count column) const noexcept {
    return fixed_bytes + BinnedGroup::bytes_of(bin_count, column / columns_of_group * columns_of_group);
  }
  /// Returns the number of columns in this column's group.
  Count group_columns(Count column) const noexcept {
    return std::min(columns_of_group, columns - column / columns_of_group * columns_of_group);
  }
  /// Returns the flags that a column may have.
  std::uint8_t known_flags() const noexcept {
    return static_cast<std::uint8_t>(all_flags | (is_dealt ? has_minus_zero : no_flags));
  }
  /// Returns the lowest top: the bin range must not reach below the lowest bin.
  int lowest_top() const noexcept { return bin_count - 1; }
  bool is_plain_sum_of_doubles() const noexcept {
    return result == Type::f64 && operation != Operation::norm2 && operation != Operation::mean;
  }

  /// Returns the exponent of the lowest bin's quantum in the bin range below a top.
  int unit(int top) const noexcept { return grid.quantum(top - bin_count + 1); }
  bool is_normal(int top) const noexcept { return lowest_normal_unit <= unit(top) && unit(top) <= highest_normal_unit; }
  /// Returns the bounds of the groups that kernels may merge, and of the groups that kernels may round to doubles.
  kernels::BinnedBounds bounds() const noexcept {
    int lowest = lowest_top();
    int highest = grid.highest_top();
    while (!is_normal(lowest)) ++lowest;
    while (!is_normal(highest)) --highest;
    return {.lowest_top = static_cast<std::uint8_t>(lowest_top()),
            .highest_top = static_cast<std::uint8_t>(grid.highest_top()),
            .lowest_normal = static_cast<std::uint8_t>(lowest),
            .highest_normal = static_cast<std::uint8_t>(highest),
            .flags = known_flags(),
            .flags_of_rounded = not_minus_zero};
  }
};

/// Checks whether `rows` is the number of all rows, and whether the operation has a result for it.
inline Status check_rows(const BinnedShape& shape, Count rows, Count element_count) noexcept {
  const Status whole = check_row_count(rows, element_count);
  return whole == Status::ok && shape.operation == Operation::mean && rows == 0 ? Status::empty : whole;
}

template <class Result>
void write_value_as(const BinnedShape& shape, const Column& column, Count rows, std::byte* value) noexcept {
  const auto round = shape.operation == Operation::norm2  ? &rounded_root<Result>
                     : shape.operation == Operation::mean ? &rounded_mean<Result>
                                                          : &rounded<Result>;
  const Result result = round(static_cast<Flags>(column.flags & all_flags), rows,
                              leading(column.bins, shape.bin_count, shape.unit(column.bins.top)));
  std::memcpy(value, &result, sizeof result);
}

inline void write_value(const BinnedShape& shape, const Column& column, Count rows, std::byte* value) noexcept {
  if (shape.is_dealt) rows = (column.flags & has_minus_zero) != 0 ? 1 : 0;
  if (shape.result == Type::f32)
    write_value_as<float>(shape, column, rows, value);
  else
    write_value_as<double>(shape, column, rows, value);
}

/// Whether `rounded_normal` can round these sums to normal doubles: there are two or three bins, which together are one
/// integer.
inline bool are_normal_doubles(const BinnedShape& shape, const BinnedGroup& group, auto columns) noexcept {
  if (shape.bin_count > 3 || !shape.is_plain_sum_of_doubles() || !group.has_flags(not_minus_zero, columns))
    return false;
  std::uint64_t beyond = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    if (!shape.is_normal(group.tops[i])) return false;
    beyond |= static_cast<std::uint64_t>(group.sums[0][i] ^ (group.sums[0][i] >> 63));
  }
  return beyond < static_cast<std::uint64_t>(most_of_one_number);
}

/// Writes the values of a group's columns.
inline void write_values(const BinnedShape& shape, const BinnedGroup& group, auto bin_count, auto columns, Count rows,
                         std::byte* values) noexcept {
  if (are_normal_doubles(shape, group, columns)) {
    for (std::size_t i = 0; i < columns; ++i) {
      Int128 all = group.sums[0][i];
      for (std::size_t bin = 1; bin < bin_count; ++bin) all = (all << bin_width) + group.sums[bin][i];
      const std::uint64_t bits = rounded_normal(all, shape.unit(group.tops[i]));
      std::memcpy(values + i * sizeof bits, &bits, sizeof bits);
    }
    return;
  }
  for (std::size_t i = 0; i < columns; ++i)
    write_value(shape, group.column(i, bin_count), rows, values + i * size_of(shape.result));
}

inline Count rows_of(std::span<const std::byte> record) noexcept {
  Count rows = 0;
  std::memcpy(&rows, record.data() + sizeof(Header), sizeof rows);
  return rows;
}

/// Whether this number of rows can have these sums.
inline bool are_possible(const Bins& bins, int bin_count, Count rows) noexcept {
  const Int128 most = static_cast<Int128>(rows) << (bin_width - 1);
  return std::all_of(bins.sums.begin(), bins.sums.begin() + bin_count,
                     [&](Int128 sum) { return -most <= sum && sum <= most; });
}

/// Reads the group that begins with a column. Returns false if `BinnedGroup::write` cannot have written its bytes.
inline bool take_group(const BinnedShape& shape, std::span<const std::byte> record, Count first, BinnedGroup& group,
                       auto bin_count, auto columns) noexcept {
  group.read(record.data() + shape.group_at(first), bin_count, columns);
  return group.tops_are_within(shape.lowest_top(), shape.grid.highest_top(), columns) &&
         (group.all_flags(columns) & ~shape.known_flags()) == 0 &&
         group.is_possible(rows_of(record), bin_count, columns);
}

/// Reads a column of a record without groups. Returns false if `put` cannot have written its bytes.
inline bool take(const BinnedShape& shape, std::span<const std::byte> record, Count number, Column& column) noexcept {
  const std::byte* at = record.data() + fixed_bytes + number * shape.column_bytes();
  BinDescriptor descriptor;
  std::memcpy(&descriptor, at, sizeof descriptor);
  std::memcpy(column.bins.sums.data(), at + sizeof descriptor,
              static_cast<std::size_t>(shape.bin_count) * sizeof(Int128));
  column.bins.top = descriptor.top;
  column.flags = descriptor.flags;
  if (column.bins.top < shape.lowest_top() || column.bins.top > shape.grid.highest_top()) return false;
  if ((descriptor.flags & ~shape.known_flags()) != 0 || descriptor.reserved != decltype(descriptor.reserved){})
    return false;
  return are_possible(column.bins, shape.bin_count, rows_of(record));
}
inline void put(const BinnedShape& shape, const Column& column, Count number, std::span<std::byte> record) noexcept {
  std::byte* at = record.data() + fixed_bytes + number * shape.column_bytes();
  const BinDescriptor descriptor{
      .top = static_cast<std::uint8_t>(column.bins.top), .flags = column.flags, .reserved = {}};
  std::memcpy(at, &descriptor, sizeof descriptor);
  std::memcpy(at + sizeof descriptor, column.bins.sums.data(),
              static_cast<std::size_t>(shape.bin_count) * sizeof(Int128));
}

/// Writes a column to its group; after the last column of a group, writes the group to the record. Columns must come in
/// order.
inline void put_in_group(const BinnedShape& shape, const Column& column, Count number, BinnedGroup& group,
                         std::span<std::byte> record) noexcept {
  const auto bin_count = static_cast<std::size_t>(shape.bin_count);
  const Count lane = number % columns_of_group;
  const Count count = shape.group_columns(number);
  group.set_column(lane, column, bin_count);
  if (lane + 1 == count) group.write(record.data() + shape.group_at(number), bin_count, count);
}

/// Calls `use(number, column)` for columns of a record. The first column must begin a group. Returns false if the bytes
/// are invalid, or if `use` returns false.
template <class Use>
bool for_each_column(const BinnedShape& shape, std::span<const std::byte> record, const order::Interval& columns,
                     const Use& use) {
  if (!has_groups(rows_of(record))) {
    Column column;
    for (Count i = columns.begin; i < columns.end; ++i)
      if (!take(shape, record, i, column) || !use(i, column)) return false;
    return true;
  }
  BinnedGroup group;
  for (Count begin = columns.begin; begin < columns.end; begin += columns_of_group) {
    const auto bins = static_cast<std::size_t>(shape.bin_count);
    const Count count = shape.group_columns(begin);
    if (!take_group(shape, record, begin, group, bins, count)) return false;
    for (std::size_t lane = 0; lane < count; ++lane)
      if (!use(begin + lane, group.column(lane, bins))) return false;
  }
  return true;
}

}  // namespace steadfold::arithmetic::binned_record
