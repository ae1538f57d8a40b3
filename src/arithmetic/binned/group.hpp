// Neighbouring columns of binned sums of fewer than 2^24 rows: bins of one word each. Loops over the columns have
// constant ends.
// Rank order: none. Cost: 8 K + 2 bytes per column; a merge adds K words.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "arithmetic/binned/bins.hpp"
#include "kernels/binned_groups.hpp"
#include "kernels/column_bins.hpp"

namespace steadfold::arithmetic {

/// Calls `use(bin_count, columns)`. If a group is full, both are compile-time constants.
template <class Use>
auto with_extent(int bin_count, Count columns, const Use& use) {
  static_assert(fewest_bins == 2 && most_bins == 4);
  constexpr std::integral_constant<Count, kernels::most_columns> all;
  if (columns != all) return use(static_cast<std::size_t>(bin_count), columns);
  switch (bin_count) {
    case 2: return use(std::integral_constant<std::size_t, 2>(), all);
    case 3: return use(std::integral_constant<std::size_t, 3>(), all);
    default: return use(std::integral_constant<std::size_t, 4>(), all);
  }
}

/// The sums of one column, and the facts that are not in the sums (Flags).
struct BinnedColumn {
  Bins bins;
  std::uint8_t flags = no_flags;

  void clear(int top) noexcept {
    bins.top = top;
    bins.sums.fill(0);
    flags = no_flags;
  }
};

/// The tops, flags and bins of the first columns; the entries of other columns have no meaning.
struct BinnedGroup : kernels::GroupOfBins {
  template <class Value>
  using EachColumn = kernels::EachColumn<Value>;
  static_assert(most_bins == std::tuple_size_v<decltype(sums)>);

  static constexpr Bytes bytes_of(int bin_count, Count columns) noexcept {
    return columns * (static_cast<Bytes>(bin_count) * sizeof(std::int64_t) + 2);
  }

  /// Writes the sums of all columns, first bin by first bin, then the tops, then the flags.
  void write(std::byte* to, auto bin_count, auto columns) const noexcept {
    for (std::size_t bin = 0; bin < bin_count; ++bin) to = put(sums[bin], columns, to);
    put(flags, columns, put(tops, columns, to));
  }
  void read(const std::byte* from, auto bin_count, auto columns) noexcept {
    for (std::size_t bin = 0; bin < bin_count; ++bin) from = take(from, columns, sums[bin]);
    take(take(from, columns, tops), columns, flags);
  }

  /// Returns a power of two that the sums of `rows` rows can reach, with at most 2^39 quanta per row; 0 without rows.
  static constexpr std::uint64_t power_of(Count rows) noexcept { return std::bit_floor(rows) << (bin_width - 1); }

  /// Whether the magnitude of all sums is at most `power`, which is a power of two or 0. For a sum of exactly this size
  /// the result may be false.
  bool are_below(std::uint64_t power, auto bin_count, auto columns) const noexcept {
    std::uint64_t beyond = 0;
    for (std::size_t bin = 0; bin < bin_count; ++bin)
      for (std::size_t i = 0; i < columns; ++i) beyond |= static_cast<std::uint64_t>(sums[bin][i]) + power;
    return beyond < 2 * power;
  }
  /// Whether `rows` rows can have these sums, with at most 2^39 quanta per row.
  bool is_possible(Count rows, auto bin_count, auto columns) const noexcept {
    if (are_below(power_of(rows), bin_count, columns)) [[likely]]
      return true;
    const std::int64_t most = static_cast<std::int64_t>(rows) << (bin_width - 1);
    for (std::size_t bin = 0; bin < bin_count; ++bin)
      for (std::size_t i = 0; i < columns; ++i)
        if (sums[bin][i] < -most || sums[bin][i] > most) return false;
    return true;
  }
  bool tops_are_within(int lowest, int highest, auto columns) const noexcept {
    bool are_within = true;
    for (std::size_t i = 0; i < columns; ++i) are_within &= lowest <= tops[i] && tops[i] <= highest;
    return are_within;
  }
  std::uint8_t all_flags(auto columns) const noexcept {
    unsigned all = 0;
    for (std::size_t i = 0; i < columns; ++i) all |= flags[i];
    return static_cast<std::uint8_t>(all);
  }
  bool has_flags(std::uint8_t each, auto columns) const noexcept {
    unsigned others = 0;
    for (std::size_t i = 0; i < columns; ++i) others |= flags[i] ^ each;
    return others == 0;
  }
  bool has_tops_of(const BinnedGroup& other, auto columns) const noexcept {
    return std::memcmp(tops.data(), other.tops.data(), columns) == 0;
  }

  /// Adds the columns of another group. Both groups together must have fewer than 2^24 rows.
  void add(const BinnedGroup& other, auto bin_count, auto columns) noexcept {
    for (std::size_t i = 0; i < columns; ++i) flags[i] |= other.flags[i];
    if (!has_tops_of(other, columns)) return add_others(other, bin_count, columns);
    for (std::size_t bin = 0; bin < bin_count; ++bin)
      for (std::size_t i = 0; i < columns; ++i) sums[bin][i] += other.sums[bin][i];
  }

  BinnedColumn column(std::size_t lane, std::size_t bin_count) const noexcept {
    BinnedColumn found;
    found.bins.top = tops[lane];
    for (std::size_t bin = 0; bin < bin_count; ++bin) found.bins.sums[bin] = sums[bin][lane];
    found.flags = flags[lane];
    return found;
  }
  /// Sets a column of the group. Its sums must have one word each.
  void set_column(std::size_t lane, const BinnedColumn& column, std::size_t bin_count) noexcept {
    tops[lane] = static_cast<std::uint8_t>(column.bins.top);
    flags[lane] = column.flags;
    for (std::size_t bin = 0; bin < bin_count; ++bin)
      sums[bin][lane] = static_cast<std::int64_t>(column.bins.sums[bin]);
  }

 private:
  template <class Value>
  static std::byte* put(const EachColumn<Value>& values, auto columns, std::byte* to) noexcept {
    std::memcpy(to, values.data(), columns * sizeof(Value));
    return to + columns * sizeof(Value);
  }
  template <class Value>
  static const std::byte* take(const std::byte* from, auto columns, EachColumn<Value>& values) noexcept {
    std::memcpy(values.data(), from, columns * sizeof(Value));
    return from + columns * sizeof(Value);
  }
  void add_others(const BinnedGroup& other, std::size_t bin_count, std::size_t columns) noexcept {
    for (std::size_t i = 0; i < columns; ++i) {
      BinnedColumn sum = column(i, bin_count);
      sum.bins.add(other.column(i, bin_count).bins, static_cast<int>(bin_count));
      set_column(i, sum, bin_count);
    }
  }
};
static_assert(sizeof(BinnedGroup) == sizeof(kernels::GroupOfBins));  // so that kernels can use arrays of groups
static_assert(BinnedGroup::bytes_of(most_bins, kernels::most_columns) == kernels::binned_group_bytes(most_bins));

}  // namespace steadfold::arithmetic
