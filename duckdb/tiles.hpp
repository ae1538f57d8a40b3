// The rows of a chunk in tiles that stay in the first-level cache, as doubles. Rows with a null are left out. Integers
// must be exact as doubles.
#pragma once

#include <duckdb_extension.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "arithmetic/superaccumulator/long_integer.hpp"

DUCKDB_EXTENSION_EXTERN

namespace steadfold::duckdb {

/// The types of operands. DuckDB converts the others: smaller integers to BIGINT, FLOAT and DECIMAL to DOUBLE.
inline constexpr std::array operand_types = {DUCKDB_TYPE_DOUBLE, DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_UBIGINT,
                                             DUCKDB_TYPE_HUGEINT, DUCKDB_TYPE_UHUGEINT};

/// All pairs of types of operands.
inline constexpr auto pairs_of_types = [] {
  std::array<std::array<duckdb_type, 2>, operand_types.size() * operand_types.size()> pairs{};
  std::size_t made = 0;
  for (const duckdb_type first : operand_types)
    for (const duckdb_type second : operand_types) pairs[made++] = {first, second};
  return pairs;
}();

/// Rows without nulls, with the states of their groups. `y` is null if there is one operand.
struct Tile {
  std::size_t rows;
  const double* x;
  const double* y;
  duckdb_aggregate_state* states;
};

using arithmetic::Int128;
using arithmetic::Uint128;

template <class Integer>
std::string text_of(Integer integer) {
  const bool is_negative = integer < 0;
  Uint128 rest = is_negative ? -static_cast<Uint128>(integer) : static_cast<Uint128>(integer);
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  while ((rest /= 10) != 0);
  return is_negative ? "-" + digits : digits;
}

/// Whether an integer is a double: whether it has at most 53 significant bits.
template <class Integer>
bool is_double(Integer integer) noexcept {
  Uint128 magnitude = integer < 0 ? -static_cast<Uint128>(integer) : static_cast<Uint128>(integer);
  while (magnitude >> 53 != 0 && (magnitude & 1) == 0) magnitude >>= 1;
  return magnitude >> 53 == 0;
}

/// The rows of a chunk, for functions of `operands` operands.
template <int operands>
class Tiles {
 public:
  static constexpr std::size_t tile_rows = 1024;

  Tiles(duckdb_data_chunk chunk, const duckdb_type* types) : rows_(duckdb_data_chunk_get_size(chunk)), types_(types) {
    for (std::size_t i = 0; i < operands; ++i) {
      const duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, i);
      data_[i] = static_cast<const std::byte*>(duckdb_vector_get_data(vector));
      validity_[i] = duckdb_vector_get_validity(vector);
    }
  }

  /// Calls `visit(tile)` for all rows in tiles. `states` has the state of each row's group.
  template <class Visit>
  void for_each(duckdb_aggregate_state* states, const Visit& visit) {
    for (std::size_t begin = 0; begin < rows_; begin += tile_rows) {
      const std::size_t rows = std::min(tile_rows, rows_ - begin);
      Tile tile{.rows = rows, .x = nullptr, .y = nullptr, .states = states + begin};
      const bool have_nulls = select(begin, rows);
      if (have_nulls) {
        tile.rows = selected_count_;
        tile.states = selected_states_.data();
        for (std::size_t i = 0; i < selected_count_; ++i) selected_states_[i] = states[begin + selected_[i]];
      }
      tile.x = doubles(0, begin, rows, have_nulls);
      if constexpr (operands == 2) tile.y = doubles(1, begin, rows, have_nulls);
      if (tile.rows > 0) visit(tile);
    }
  }

 private:
  /// Notes the rows without a null. Returns whether there are others.
  bool select(std::size_t begin, std::size_t rows) noexcept {
    selected_count_ = 0;
    if (std::ranges::all_of(validity_, [](const std::uint64_t* each) { return each == nullptr; })) return false;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t row = begin + i;
      std::uint64_t is_valid = 1;
      for (const std::uint64_t* each : validity_)
        if (each != nullptr) is_valid &= each[row / 64] >> row % 64;
      selected_[selected_count_] = static_cast<std::uint16_t>(i);
      selected_count_ += is_valid & 1;
    }
    return selected_count_ < rows;
  }
  const double* doubles(std::size_t operand, std::size_t begin, std::size_t rows, bool have_nulls) {
    switch (types_[operand]) {
      case DUCKDB_TYPE_BIGINT: return converted<std::int64_t>(operand, begin, rows, have_nulls);
      case DUCKDB_TYPE_UBIGINT: return converted<std::uint64_t>(operand, begin, rows, have_nulls);
      case DUCKDB_TYPE_HUGEINT: return converted<Int128>(operand, begin, rows, have_nulls);
      case DUCKDB_TYPE_UHUGEINT: return converted<Uint128>(operand, begin, rows, have_nulls);
      default: break;
    }
    if (have_nulls) return converted<double>(operand, begin, rows, true);
    return reinterpret_cast<const double*>(data_[operand]) + begin;
  }
  template <class Element>
  const double* converted(std::size_t operand, std::size_t begin, std::size_t rows, bool have_nulls) {
    const auto element = [elements = data_[operand], begin](std::size_t row) {
      Element loaded;  // DuckDB aligns integers of 16 bytes to 8 bytes
      std::memcpy(&loaded, elements + (begin + row) * sizeof loaded, sizeof loaded);
      return loaded;
    };
    double* const made = converted_[operand].data();
    if (!have_nulls)
      for (std::size_t i = 0; i < rows; ++i) made[i] = to_double(element(i));
    else
      for (std::size_t i = 0; i < selected_count_; ++i) made[i] = to_double(element(selected_[i]));
    return made;
  }
  static double to_double(double element) noexcept { return element; }
  template <class Integer>
  static double to_double(Integer element) {
    if (!is_double(element))
      throw std::domain_error("the integer " + text_of(element) +
                              " is no DOUBLE (only integers with at most 53 significant bits are), cast the column to "
                              "DOUBLE, which rounds it, or use sum, which is exact for integers");
    return static_cast<double>(element);
  }

  std::size_t rows_;
  const duckdb_type* types_;
  std::array<const std::byte*, operands> data_{};
  std::array<const std::uint64_t*, operands> validity_{};
  std::array<std::uint16_t, tile_rows> selected_;
  std::size_t selected_count_ = 0;
  std::array<duckdb_aggregate_state, tile_rows> selected_states_;
  std::array<std::array<double, tile_rows>, operands> converted_;
};

}  // namespace steadfold::duckdb
