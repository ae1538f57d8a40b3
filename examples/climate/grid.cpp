// Blocks, halos and files; see grid.hpp.
#include "grid.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

namespace climate {
namespace {

using Extents = std::array<std::uint64_t, 4>;

/// A part of an array of four axes, as MPI knows it.
class Part {
 public:
  Part(const Extents& whole, const Extents& part, const Extents& begin) {
    std::array<int, 4> sizes{}, parts{}, starts{};
    for (std::size_t axis = 0; axis < 4; ++axis) {
      sizes[axis] = static_cast<int>(whole[axis]);
      parts[axis] = static_cast<int>(part[axis]);
      starts[axis] = static_cast<int>(begin[axis]);
    }
    MPI_Type_create_subarray(4, sizes.data(), parts.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() { MPI_Type_free(&type); }

  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// A file of doubles, opened by all ranks of a block's communicator, each of which sees its own cells.
class File {
 public:
  File(const Block& block, const Extents& own, const std::string& path, int mode)
      : whole_{own[0], own[1], block.grid.rows, block.grid.columns},
        mine_(whole_, own, {0, 0, block.rows.begin, block.columns.begin}) {
    if (MPI_File_open(block.comm, path.c_str(), mode, MPI_INFO_NULL, &file) != MPI_SUCCESS)
      throw std::invalid_argument(fmt::format("cannot use {} (MPI_File_open failed), name a directory", path));
    MPI_File_set_view(file, 0, MPI_DOUBLE, mine_.type, "native", MPI_INFO_NULL);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { MPI_File_close(&file); }

  MPI_Offset bytes() const { return static_cast<MPI_Offset>(whole_[0] * whole_[1] * whole_[2] * whole_[3] * 8); }

  MPI_File file = MPI_FILE_NULL;

 private:
  Extents whole_;
  Part mine_;
};

}  // namespace

Block::Block(const Grid& whole, const example::Ranks& ranks) : grid(whole) {
  MPI_Dims_create(static_cast<int>(ranks.count), 2, counts.data());
  const std::array<std::uint64_t, 2> cells = {grid.rows, grid.columns};
  for (std::size_t axis = 0; axis < 2; ++axis)
    if (cells[axis] < static_cast<std::uint64_t>(counts[axis]))
      throw std::invalid_argument(fmt::format("cannot deal cells ({} x {} to {} x {} blocks), take fewer ranks",
                                              cells[0], cells[1], counts[0], counts[1]));
  const std::array<int, 2> around = {0, 1};
  std::array<int, 2> at{};
  int rank = 0;
  MPI_Cart_create(ranks.comm, 2, counts.data(), around.data(), 0, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Cart_coords(comm, rank, 2, at.data());
  const auto share = [&](std::size_t axis) {
    const auto number = static_cast<std::uint64_t>(at[axis]), count = static_cast<std::uint64_t>(counts[axis]);
    return sf::Interval{cells[axis] * number / count, cells[axis] * (number + 1) / count};
  };
  rows = share(0);
  columns = share(1);
}

Fields::Fields(const Block& block, std::uint64_t count, std::uint64_t levels)
    : block_(block),
      count_(count),
      levels_(levels),
      rows_(block.height() + 2),
      columns_(block.width() + 2),
      values_(count * levels * rows_ * columns_, std::numeric_limits<double>::quiet_NaN()) {}

sf::Array<double> Fields::own() const {
  const sf::Array<double> all(values_.data(), {count_, levels_, rows_, columns_});
  return all.section(2, 1, rows_ - 1).section(3, 1, columns_ - 1);
}

void Fields::exchange() {
  const Extents whole = {count_, levels_, rows_, columns_};
  for (const int axis : {0, 1}) {
    const auto place = static_cast<std::size_t>(2 + axis);
    const std::uint64_t last = whole[place] - 1;
    Extents line = {count_, levels_, block_.height(), block_.width()};
    line[place] = 1;
    for (const bool upwards : {true, false}) {
      int from = MPI_PROC_NULL, to = MPI_PROC_NULL;
      MPI_Cart_shift(block_.comm, axis, upwards ? 1 : -1, &from, &to);
      Extents leaves = {0, 0, 1, 1}, arrives = {0, 0, 1, 1};
      leaves[place] = upwards ? last - 1 : 1;
      arrives[place] = upwards ? 0 : last;
      const Part sent(whole, line, leaves), received(whole, line, arrives);
      MPI_Sendrecv(values_.data(), 1, sent.type, to, 0, values_.data(), 1, received.type, from, 0, block_.comm,
                   MPI_STATUS_IGNORE);
    }
  }
}

void Fields::write(const std::string& path) const {
  const Extents own = {count_, levels_, block_.height(), block_.width()};
  const Part cells({count_, levels_, rows_, columns_}, own, {0, 0, 1, 1});
  const File out(block_, own, path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  MPI_File_set_size(out.file, out.bytes());
  MPI_File_write_all(out.file, values_.data(), 1, cells.type, MPI_STATUS_IGNORE);
}

void Fields::read(const std::string& path) {
  const Extents own = {count_, levels_, block_.height(), block_.width()};
  const Part cells({count_, levels_, rows_, columns_}, own, {0, 0, 1, 1});
  const File in(block_, own, path, MPI_MODE_RDONLY);
  MPI_Offset found = 0;
  MPI_File_get_size(in.file, &found);
  if (found != in.bytes())
    throw std::invalid_argument(fmt::format(
        "cannot use {} ({} bytes, this grid has {}), give the --cells it was saved with", path, found, in.bytes()));
  MPI_File_read_all(in.file, values_.data(), 1, cells.type, MPI_STATUS_IGNORE);
}

}  // namespace climate
