// The rows of a chunk in tiles that stay in the first-level cache, as doubles. Rows with a null are left out.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "duckdb/operands.hpp"

namespace steadfold::duckdb {

/// The elements of one operand in a chunk. `validity` has a bit for each row, and is null if all rows are valid.
struct Column {
  const std::byte* elements;
  const std::uint64_t* validity;
};

/// Rows without nulls, with the states of their groups. `y` is null if there is one operand.
struct Tile {
  std::size_t rows;
  const double* x;
  const double* y;
  void** states;
};

/// The rows of a chunk, for functions of `count` operands.
template <std::size_t count>
class Tiles {
 public:
  static constexpr std::size_t tile_rows = 1024;

  Tiles(const std::array<Column, count>& columns, std::span<const Operand, count> operands, std::size_t rows)
      : columns_(columns), operands_(operands), rows_(rows) {}

  /// Calls `visit(tile)` for all rows in tiles. `states` has the state of each row's group.
  template <class Visit>
  void for_each(void** states, const Visit& visit) {
    for (std::size_t begin = 0; begin < rows_; begin += tile_rows) {
      const std::size_t rows = std::min(tile_rows, rows_ - begin);
      Tile tile{.rows = rows, .x = nullptr, .y = nullptr, .states = states + begin};
      const bool have_nulls = select(begin, rows);
      if (have_nulls) {
        tile.rows = selected_count_;
        tile.states = selected_states_.data();
        for (std::size_t i = 0; i < selected_count_; ++i) selected_states_[i] = states[begin + selected_[i]];
      }
      tile.x = doubles(0, begin, tile.rows, have_nulls);
      if constexpr (count == 2) tile.y = doubles(1, begin, tile.rows, have_nulls);
      if (tile.rows > 0) visit(tile);
    }
  }

 private:
  /// Notes the rows without a null. Returns whether there are others.
  bool select(std::size_t begin, std::size_t rows) noexcept {
    selected_count_ = 0;
    if (std::ranges::all_of(columns_, [](const Column& column) { return column.validity == nullptr; })) return false;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t row = begin + i;
      std::uint64_t is_valid = 1;
      for (const auto& [elements, validity] : columns_)
        if (validity != nullptr) is_valid &= validity[row / 64] >> row % 64;
      selected_[selected_count_] = static_cast<std::uint16_t>(i);
      selected_count_ += is_valid & 1;
    }
    return selected_count_ < rows;
  }
  const double* doubles(std::size_t operand, std::size_t begin, std::size_t rows, bool have_nulls) {
    const auto& [convert, element_bytes, scale, are_doubles] = operands_[operand];
    const std::byte* const elements = columns_[operand].elements + begin * element_bytes;
    if (are_doubles && !have_nulls) return reinterpret_cast<const double*>(elements);
    double* const made = converted_[operand].data();
    convert(elements, have_nulls ? selected_.data() : nullptr, rows, scale, made);
    return made;
  }

  std::array<Column, count> columns_;
  std::span<const Operand, count> operands_;
  std::size_t rows_;
  std::array<std::uint16_t, tile_rows> selected_;
  std::size_t selected_count_ = 0;
  std::array<void*, tile_rows> selected_states_;
  std::array<std::array<double, tile_rows>, count> converted_;
};

}  // namespace steadfold::duckdb
