// Elements in memory with any strides, between two fences, and the same elements row after row. Shares no code with
// src/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "support/fenced.hpp"

namespace steadfold::test {

/// The bytes from one row to the next, and from one element of a row to the next.
struct Pitch {
  std::ptrdiff_t row;
  std::ptrdiff_t element;
  std::string name;
};

/// All kinds of strides that arrays have, and some that arrays do not have.
inline std::vector<Pitch> pitches(std::size_t rows, std::size_t columns, std::size_t element_bytes) {
  const auto r = static_cast<std::ptrdiff_t>(rows);
  const auto c = static_cast<std::ptrdiff_t>(columns);
  const auto e = static_cast<std::ptrdiff_t>(element_bytes);
  return {{c * e, e, "touching"},
          {c * e + 16, e, "rows apart"},
          {c * e + 5, e, "rows apart, not aligned"},
          {3 * c * e, 3 * e, "every third element"},
          {2 * c * e + 7 * e, 2 * e, "every second element, rows apart"},
          {c * (e + 3) + 2, e + 3, "elements apart, not aligned"},
          {e, r * e, "transposed"},
          {2 * e, (2 * r + 3) * e, "transposed, every second row, with a halo"},
          {e, e, "every row one element further"},
          {0, e, "one row again and again"},
          {e, 0, "one column again and again"},
          {0, 0, "one element again and again"},
          {-c * e, e, "rows reversed"},
          {c * e, -e, "columns reversed"},
          {-c * e, -e, "all reversed"},
          {-e, r * e, "transposed, rows reversed"},
          {-(c * e + 3), -e, "all reversed, rows apart, not aligned"}};
}

/// `rows` x `columns` elements, with NaNs in the memory between them. If strides map several elements to one place, the
/// last one is stored.
class Strided {
 public:
  Strided(const std::vector<std::byte>& elements, std::size_t rows, std::size_t columns, std::size_t element_bytes,
          const Pitch& pitch, Side side)
      : rows_(rows), columns_(columns), element_bytes_(element_bytes), pitch_(pitch), memory_(span() + 1) {
    auto* const memory = memory_.array<std::byte>(span(), side);
    std::memset(memory, 0xFF, span());
    begin_ = memory + below();
    for (std::size_t row = 0; row < rows_; ++row)
      for (std::size_t column = 0; column < columns_; ++column)
        std::memcpy(at(row, column), elements.data() + (row * columns_ + column) * element_bytes_, element_bytes_);
  }

  const std::byte* begin() const { return begin_; }

  /// Columns first, ..., last - 1 of all rows, row after row.
  std::vector<std::byte> copy(std::size_t first, std::size_t last) const {
    std::vector<std::byte> copied;
    copied.reserve(rows_ * (last - first) * element_bytes_ + 1);
    for (std::size_t row = 0; row < rows_; ++row)
      for (std::size_t column = first; column < last; ++column)
        copied.insert(copied.end(), at(row, column), at(row, column) + element_bytes_);
    return copied;
  }

 private:
  std::byte* at(std::size_t row, std::size_t column) const {
    return begin_ + static_cast<std::ptrdiff_t>(row) * pitch_.row +
           static_cast<std::ptrdiff_t>(column) * pitch_.element;
  }
  std::ptrdiff_t farthest(bool is_below) const {
    const auto reach = [&](std::size_t count, std::ptrdiff_t step) {
      return (step < 0) == is_below ? static_cast<std::ptrdiff_t>(count - 1) * step : 0;
    };
    return rows_ == 0 || columns_ == 0 ? 0 : reach(rows_, pitch_.row) + reach(columns_, pitch_.element);
  }
  std::ptrdiff_t below() const { return -farthest(true); }
  std::size_t span() const { return static_cast<std::size_t>(farthest(false) + below()) + element_bytes_; }

  std::size_t rows_;
  std::size_t columns_;
  std::size_t element_bytes_;
  Pitch pitch_;
  Fenced memory_;
  std::byte* begin_ = nullptr;
};

}  // namespace steadfold::test
