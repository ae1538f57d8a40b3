// The bytes of a record of binned sums, written and taken apart: Header, number of rows, then for every column its
// Descriptor and bins, the top one first. And the value that a column stands for.
// Rank order: none. Cost: O(columns). Source: ours; see arithmetic/bins.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "arithmetic/bins.hpp"
#include "arithmetic/long_integer.hpp"
#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::arithmetic::binned_record {

struct Descriptor {
  std::uint8_t top;
  std::uint8_t flags;
  std::array<std::uint8_t, 6> reserved;
};
static_assert(sizeof(Descriptor) == 8);

constexpr Bytes fixed_bytes = sizeof(Header) + sizeof(Count);
constexpr unsigned all_flags = has_nan | has_plus_infinity | has_minus_infinity | not_minus_zero;

struct Column {
  Bins bins;
  std::uint8_t flags = no_flags;

  void clear(int top) noexcept {
    bins.top = top;
    bins.sums.fill(0);
    flags = no_flags;
  }
};

/// The parameters that kind and builder have in common.
struct Shape {
  Operation operation;
  Type input;
  Type result;
  int bin_count;
  Sweep sweep;
  Count columns;
  Grid grid;

  Bytes bin_bytes() const noexcept { return static_cast<Bytes>(bin_count) * sizeof(Int128); }
  Bytes column_bytes() const noexcept { return sizeof(Descriptor) + bin_bytes(); }
  Bytes record_bytes() const noexcept { return fixed_bytes + columns * column_bytes(); }
  /// The window never reaches below the lowest bin.
  int lowest_top() const noexcept { return bin_count - 1; }
};

/// Whether these are all rows, and enough of them for the operation.
inline Status check_rows(const Shape& shape, Count rows, Count element_count) noexcept {
  const Status whole = check_row_count(rows, element_count);
  return whole == Status::ok && shape.operation == Operation::mean && rows == 0 ? Status::empty : whole;
}

template <class Result>
void write_value(const Shape& shape, const Column& column, Count rows, std::byte* value) noexcept {
  const auto round = shape.operation == Operation::norm2  ? &rounded_root<Result>
                     : shape.operation == Operation::mean ? &rounded_mean<Result>
                                                          : &rounded<Result>;
  const int lowest = shape.grid.quantum(column.bins.top - shape.bin_count + 1);
  const Result result = round(static_cast<Flags>(column.flags), rows, column.bins.leading(shape.bin_count, lowest));
  std::memcpy(value, &result, sizeof result);
}

inline void write_value(const Shape& shape, const Column& column, Count rows, std::byte* value) noexcept {
  if (shape.result == Type::f32)
    write_value<float>(shape, column, rows, value);
  else
    write_value<double>(shape, column, rows, value);
}

inline Count rows_of(std::span<const std::byte> record) noexcept {
  Count rows = 0;
  std::memcpy(&rows, record.data() + sizeof(Header), sizeof rows);
  return rows;
}

/// Reads a column of a record. False if its bytes are not what `put` writes.
inline bool take(const Shape& shape, std::span<const std::byte> record, Count number, Column& column) noexcept {
  const std::byte* at = record.data() + fixed_bytes + number * shape.column_bytes();
  Descriptor descriptor;
  std::memcpy(&descriptor, at, sizeof descriptor);
  std::memcpy(column.bins.sums.data(), at + sizeof descriptor, shape.bin_bytes());
  column.bins.top = descriptor.top;
  column.flags = descriptor.flags;
  if (column.bins.top < shape.lowest_top() || column.bins.top > shape.grid.highest_top()) return false;
  if ((descriptor.flags & ~all_flags) != 0 || descriptor.reserved != decltype(descriptor.reserved){}) return false;
  const Int128 most = static_cast<Int128>(rows_of(record)) << (bin_width - 1);
  return std::all_of(column.bins.sums.begin(), column.bins.sums.begin() + shape.bin_count,
                     [&](Int128 sum) { return -most <= sum && sum <= most; });
}

inline void put(const Shape& shape, const Column& column, Count number, std::span<std::byte> record) noexcept {
  std::byte* at = record.data() + fixed_bytes + number * shape.column_bytes();
  const Descriptor descriptor{static_cast<std::uint8_t>(column.bins.top), column.flags, {}};
  std::memcpy(at, &descriptor, sizeof descriptor);
  std::memcpy(at + sizeof descriptor, column.bins.sums.data(), shape.bin_bytes());
}

}  // namespace steadfold::arithmetic::binned_record
