// Formulas of the ocean; see ocean.hpp.
#include "ocean.hpp"

#include <algorithm>

namespace climate {
namespace {

/// The middle of a cell, from -1 to 1.
double middle(std::uint64_t index, std::uint64_t count) {
  return (2 * static_cast<double>(index) + 1) / static_cast<double>(count) - 1;
}

/// How many levels of water there are at a place: a continent, and shelves around it.
std::uint64_t depth(const Grid& grid, double longitude, double latitude) {
  const double east = longitude - 0.3;
  const double shore = east * east + 0.5 * latitude * latitude - 0.1;
  if (shore < 0) return 0;
  return std::min(grid.levels, 1 + static_cast<std::uint64_t>(8 * shore * static_cast<double>(grid.levels)));
}

double first_value(std::uint64_t field, double level, double longitude, double latitude) {
  if (field == 0) return 25 * (1 - latitude * latitude) / (1 + level) + longitude / 7;
  return 35 + longitude * latitude / 3 - level / 11;
}

}  // namespace

Ocean::Ocean(const Block& block)
    : block_(block),
      areas_((block.height() + 2) * (block.width() + 2)),
      mask_(block.grid.levels * areas_.size()),
      tracers_(block, tracer_count, block.grid.levels),
      mixed_(tracers_) {
  const Grid& grid = block.grid;
  for (std::uint64_t row = 0; row < block.height() + 2; ++row) {
    if (block.rows.begin + row == 0 || block.rows.begin + row > grid.rows) continue;  // a wall
    const double latitude = middle(block.rows.begin + row - 1, grid.rows);
    for (std::uint64_t column = 0; column < block.width() + 2; ++column) {
      const std::uint64_t around = (block.columns.begin + column + grid.columns - 1) % grid.columns;
      const double longitude = middle(around, grid.columns);
      const std::uint64_t place = row * (block.width() + 2) + column;
      areas_[place] = 1.2e10 * (1 - 0.9 * latitude * latitude);
      for (std::uint64_t level = 0; level < depth(grid, longitude, latitude); ++level) {
        mask_[level * areas_.size() + place] = 1;
        for (std::uint64_t field = 0; field < tracer_count; ++field)
          tracers_.at(field, level, row, column) = first_value(field, static_cast<double>(level), longitude, latitude);
      }
    }
  }
}

sf::Array<double> Ocean::areas(std::uint64_t levels) const {
  const std::uint64_t rows = block_.height() + 2, columns = block_.width() + 2;
  const std::array<std::uint64_t, 3> shape = {levels, rows, columns};
  const std::array<std::int64_t, 3> bytes = {0, static_cast<std::int64_t>(columns * sizeof(double)), sizeof(double)};
  const sf::Array<double> all(areas_.data(), shape, bytes);  // the next level is 0 bytes further: one array for all
  return all.section(1, 1, rows - 1).section(2, 1, columns - 1);
}

sf::Array<std::uint8_t> Ocean::mask(std::uint64_t levels) const {
  const std::uint64_t rows = block_.height() + 2, columns = block_.width() + 2;
  const sf::Array<std::uint8_t> all(mask_.data(), {levels, rows, columns});
  return all.section(1, 1, rows - 1).section(2, 1, columns - 1);
}

double Ocean::inflow(std::uint64_t field, std::uint64_t level, std::uint64_t row, std::uint64_t column) const {
  const double here = tracers_.at(field, level, row, column);
  double flow = 0;
  const auto add = [&](double factor, std::uint64_t k, std::uint64_t j, std::uint64_t i) {
    if (has_water(k, j, i)) flow += factor * (tracers_.at(field, k, j, i) - here);
  };
  add(0.1, level, row, column - 1);
  add(0.1, level, row, column + 1);
  add(0.1, level, row - 1, column);
  add(0.1, level, row + 1, column);
  if (level > 0) add(0.02, level - 1, row, column);
  if (level + 1 < block_.grid.levels) add(0.02, level + 1, row, column);
  return flow;
}

void Ocean::mix() {
  tracers_.exchange();
  for (std::uint64_t field = 0; field < tracer_count; ++field)
    for (std::uint64_t level = 0; level < block_.grid.levels; ++level)
      for_each_cell(*this, level, [&](std::uint64_t row, std::uint64_t column) {
        mixed_.at(field, level, row, column) =
            tracers_.at(field, level, row, column) + inflow(field, level, row, column);
      });
  for (std::uint64_t field = 0; field < tracer_count; ++field)
    for (std::uint64_t level = 0; level < block_.grid.levels; ++level)
      for_each_cell(*this, level, [&](std::uint64_t row, std::uint64_t column) {
        tracers_.at(field, level, row, column) = mixed_.at(field, level, row, column);
      });
}

void Ocean::find(Fields& fluxes) const {
  for_each_cell(*this, 0, [&](std::uint64_t row, std::uint64_t column) {
    const double latitude = middle(block_.rows.begin + row - 1, block_.grid.rows);
    fluxes.at(0, 0, row, column) = 0.5 * (1 - latitude * latitude) - 0.02 * tracers_.at(0, 0, row, column);
    fluxes.at(1, 0, row, column) = 0.01 * latitude - 0.002 * tracers_.at(1, 0, row, column);
  });
}

void Ocean::take(const Fields& fluxes) {
  for (std::uint64_t field = 0; field < tracer_count; ++field)
    for_each_cell(*this, 0, [&](std::uint64_t row, std::uint64_t column) {
      tracers_.at(field, 0, row, column) += fluxes.at(field, 0, row, column);
    });
}

}  // namespace climate
