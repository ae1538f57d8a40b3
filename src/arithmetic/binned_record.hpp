// The bytes of a record of binned sums, written and taken apart: Header, number of rows, then for every column its
// Descriptor and bins, the top one first, of one word each if there are fewer than 2^24 rows, else of two. And the
// value that a column stands for. Rank order: none. Cost: O(columns). Source: ours; see arithmetic/bins.hpp.
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

template <class Sum>
struct ColumnOf {
  BinsOf<Sum> bins;
  std::uint8_t flags = no_flags;

  void clear(int top) noexcept {
    bins.top = top;
    bins.sums.fill(0);
    flags = no_flags;
  }
};

using Column = ColumnOf<Int128>;
using NarrowColumn = ColumnOf<std::int64_t>;

/// Calls `use(column)` with a column of the kind that records of so many rows have.
template <class Use>
auto with_column(Count rows, const Use& use) {
  return rows < fewest_terms_for_bins ? use(NarrowColumn()) : use(Column());
}

/// The parameters that kind and builder have in common.
struct Shape {
  Operation operation;
  Type input;
  Type result;
  int bin_count;
  Sweep sweep;
  Count columns;
  Grid grid;

  template <class Sum>
  Bytes column_bytes() const noexcept {
    return sizeof(Descriptor) + static_cast<Bytes>(bin_count) * sizeof(Sum);
  }
  Bytes record_bytes(Count rows) const noexcept {
    return fixed_bytes +
           columns * (rows < fewest_terms_for_bins ? column_bytes<std::int64_t>() : column_bytes<Int128>());
  }
  Bytes largest_record_bytes() const noexcept { return record_bytes(fewest_terms_for_bins); }
  /// The window never reaches below the lowest bin.
  int lowest_top() const noexcept { return bin_count - 1; }
};

/// Whether these are all rows, and enough of them for the operation.
inline Status check_rows(const Shape& shape, Count rows, Count element_count) noexcept {
  const Status whole = check_row_count(rows, element_count);
  return whole == Status::ok && shape.operation == Operation::mean && rows == 0 ? Status::empty : whole;
}

template <class Result, class Sum>
void write_value_as(const Shape& shape, const ColumnOf<Sum>& column, Count rows, std::byte* value) noexcept {
  const auto round = shape.operation == Operation::norm2  ? &rounded_root<Result>
                     : shape.operation == Operation::mean ? &rounded_mean<Result>
                                                          : &rounded<Result>;
  const int lowest = shape.grid.quantum(column.bins.top - shape.bin_count + 1);
  const Result result = round(static_cast<Flags>(column.flags), rows, leading(column.bins, shape.bin_count, lowest));
  std::memcpy(value, &result, sizeof result);
}

template <class Sum>
void write_value(const Shape& shape, const ColumnOf<Sum>& column, Count rows, std::byte* value) noexcept {
  if (shape.result == Type::f32)
    write_value_as<float>(shape, column, rows, value);
  else
    write_value_as<double>(shape, column, rows, value);
}

inline Count rows_of(std::span<const std::byte> record) noexcept {
  Count rows = 0;
  std::memcpy(&rows, record.data() + sizeof(Header), sizeof rows);
  return rows;
}

/// Copies the sums of 2, 3 or 4 bins: a number that the compiler knows takes no call.
template <class Sum>
void copy_sums(const void* from, int bin_count, void* to) noexcept {
  static_assert(fewest_bins == 2 && most_bins == 4);
  switch (bin_count) {
    case 2: std::memcpy(to, from, 2 * sizeof(Sum)); break;
    case 3: std::memcpy(to, from, 3 * sizeof(Sum)); break;
    default: std::memcpy(to, from, 4 * sizeof(Sum)); break;
  }
}

/// Whether so many rows can have these sums.
template <class Sum>
bool are_possible(const BinsOf<Sum>& bins, int bin_count, Count rows) noexcept {
  const Sum most = static_cast<Sum>(rows) << (bin_width - 1);
  return std::all_of(bins.sums.begin(), bins.sums.begin() + bin_count,
                     [&](Sum sum) { return -most <= sum && sum <= most; });
}

/// Reads a column of a record. False if its bytes are not what `put` writes.
template <class Sum>
bool take(const Shape& shape, std::span<const std::byte> record, Count number, ColumnOf<Sum>& column) noexcept {
  const std::byte* at = record.data() + fixed_bytes + number * shape.column_bytes<Sum>();
  Descriptor descriptor;
  std::memcpy(&descriptor, at, sizeof descriptor);
  copy_sums<Sum>(at + sizeof descriptor, shape.bin_count, column.bins.sums.data());
  column.bins.top = descriptor.top;
  column.flags = descriptor.flags;
  if (column.bins.top < shape.lowest_top() || column.bins.top > shape.grid.highest_top()) return false;
  if ((descriptor.flags & ~all_flags) != 0 || descriptor.reserved != decltype(descriptor.reserved){}) return false;
  return are_possible(column.bins, shape.bin_count, rows_of(record));
}

template <class Sum>
void put(const Shape& shape, const ColumnOf<Sum>& column, Count number, std::span<std::byte> record) noexcept {
  std::byte* at = record.data() + fixed_bytes + number * shape.column_bytes<Sum>();
  // Byte by byte: a descriptor made elsewhere would be read before its bytes have reached the cache as one word.
  std::memset(at, 0, sizeof(Descriptor));
  at[offsetof(Descriptor, top)] = static_cast<std::byte>(column.bins.top);
  at[offsetof(Descriptor, flags)] = static_cast<std::byte>(column.flags);
  copy_sums<Sum>(column.bins.sums.data(), shape.bin_count, at + sizeof(Descriptor));
}

/// Another number of words for the same sums.
template <class To, class From>
void convert(const ColumnOf<From>& from, int bin_count, ColumnOf<To>& to) noexcept {
  to.bins.top = from.bins.top;
  to.flags = from.flags;
  for (std::size_t bin = 0; bin < static_cast<std::size_t>(bin_count); ++bin)
    to.bins.sums[bin] = static_cast<To>(from.bins.sums[bin]);
}

}  // namespace steadfold::arithmetic::binned_record
