// The grid, and how it is dealt to ranks: longitude goes around the globe, latitude from wall to wall, levels
// downwards. Ranks have blocks of columns and rows, of all levels, with a halo of one cell.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/ranks.hpp"
#include "task.hpp"

namespace climate {

/// This rank's block, and a communicator that knows whose blocks are beside it.
class Block {
 public:
  /// Collective. Throws std::invalid_argument, on all ranks, if there are more blocks along an edge than cells.
  Block(const Grid& grid, const example::Ranks& ranks);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { MPI_Comm_free(&comm); }

  std::uint64_t height() const { return rows.end - rows.begin; }
  std::uint64_t width() const { return columns.end - columns.begin; }

  Grid grid;
  std::array<int, 2> counts{};  // blocks along latitude and longitude
  sf::Interval rows{}, columns{};
  MPI_Comm comm = MPI_COMM_NULL;
};

/// Fields of some levels over a block and its halo, [field][level][row][column]. All values are NaN until they are set.
class Fields {
 public:
  Fields(const Block& block, std::uint64_t count, std::uint64_t levels);

  std::uint64_t count() const { return count_; }
  std::uint64_t levels() const { return levels_; }

  /// A block's own rows and columns are 1, 2, ...; the halo is before and behind them.
  double& at(std::uint64_t field, std::uint64_t level, std::uint64_t row, std::uint64_t column) {
    return values_[((field * levels_ + level) * rows_ + row) * columns_ + column];
  }
  double at(std::uint64_t field, std::uint64_t level, std::uint64_t row, std::uint64_t column) const {
    return values_[((field * levels_ + level) * rows_ + row) * columns_ + column];
  }
  /// The block's own cells, in place, without the halo.
  sf::Array<double> own() const;

  /// Takes the halo from the neighbours; beyond the walls it stays as it is. Collective.
  void exchange();
  /// All cells of the globe, in one order for any number of ranks. Collective. Throw std::invalid_argument, on all
  /// ranks.
  void write(const std::string& path) const;
  void read(const std::string& path);

 private:
  const Block& block_;
  std::uint64_t count_, levels_, rows_, columns_;  // rows and columns with those of the halo
  std::vector<double> values_;
};

}  // namespace climate
