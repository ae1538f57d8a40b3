// The ocean: temperature and salinity that mix, and take heat and water through the surface. All numbers come from
// +, -, * and /, in one order wherever a cell is, so only what is summed over ranks can differ between them.
#pragma once

#include "grid.hpp"

namespace climate {

inline constexpr std::uint64_t tracer_count = 2;  // temperature and salinity; their fluxes are heat and water

class Ocean {
 public:
  explicit Ocean(const Block& block);

  /// What own cells have, [level][row][column] of the first `levels` levels: an area, the same on all levels, and
  /// whether there is water.
  sf::Array<double> areas(std::uint64_t levels) const;
  sf::Array<std::uint8_t> mask(std::uint64_t levels) const;

  /// The area of one cell, and whether there is water; rows and columns as in Fields.
  double area(std::uint64_t row, std::uint64_t column) const { return areas_[row * (block_.width() + 2) + column]; }
  bool has_water(std::uint64_t level, std::uint64_t row, std::uint64_t column) const {
    return mask_[(level * (block_.height() + 2) + row) * (block_.width() + 2) + column] != 0;
  }

  /// Lets neighbouring cells mix. Collective.
  void mix();
  /// The fluxes through the surface: a field of heat and a field of water. NaN on land.
  void find(Fields& fluxes) const;
  /// Adds the fluxes through the surface to the cells.
  void take(const Fields& fluxes);

  const Block& block() const { return block_; }
  Fields& tracers() { return tracers_; }
  const Fields& tracers() const { return tracers_; }

 private:
  double inflow(std::uint64_t field, std::uint64_t level, std::uint64_t row, std::uint64_t column) const;

  const Block& block_;
  std::vector<double> areas_;
  std::vector<std::uint8_t> mask_;
  Fields tracers_, mixed_;
};

/// Calls body(row, column) for the block's own cells that have water in the given level.
template <class Body>
void for_each_cell(const Ocean& ocean, std::uint64_t level, const Body& body) {
  for (std::uint64_t row = 1; row <= ocean.block().height(); ++row)
    for (std::uint64_t column = 1; column <= ocean.block().width(); ++column)
      if (ocean.has_water(level, row, column)) body(row, column);
}

}  // namespace climate
