// Arrays in Fortran order. In the file, the index of the first axis varies fastest. Elements are numbered in C order,
// in which the index of the last axis varies fastest. The rows are the first axis. All other axes together are the
// columns, which are stored one after the other.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace steadfold::readers {

class FortranOrder {
 public:
  /// Makes the order of an array with these extents. Every extent is 1 or more.
  explicit FortranOrder(std::vector<std::uint64_t> shape) : shape_(std::move(shape)) {
    for (std::size_t axis = 1; axis < shape_.size(); ++axis) columns_ *= shape_[axis];
  }

  std::uint64_t rows() const noexcept { return shape_.front(); }
  std::uint64_t columns() const noexcept { return columns_; }

  /// Returns the position, within a row in C order, of the elements of a column. With two axes this is the number of
  /// the column.
  std::uint64_t place_of(std::uint64_t column) const noexcept {
    std::uint64_t place = 0;
    std::uint64_t stride = columns_;
    for (std::size_t axis = 1; axis < shape_.size(); ++axis) {
      stride /= shape_[axis];
      place += column % shape_[axis] * stride;
      column /= shape_[axis];
    }
    return place;
  }

 private:
  std::vector<std::uint64_t> shape_;
  std::uint64_t columns_ = 1;
};

}  // namespace steadfold::readers
