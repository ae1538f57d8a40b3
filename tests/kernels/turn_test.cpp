// Rows turned over into columns are what a loop over their elements copies, on every target: every small shape, at any
// alignment, with strides of either sign, and with nothing written beside it.
#include "kernels/turn.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "support/targets.hpp"

namespace steadfold::test::turn_test {
namespace {

using order::Count;

class Turn : public EveryTarget {};

/// How the rows and the columns stand: gaps in bytes between them, and whether the first one stands last.
struct Places {
  std::size_t row_gap;
  std::size_t column_gap;
  bool rows_backwards;
  bool columns_backwards;
  std::size_t unaligned;
};

template <std::size_t size>
void expect_turned(kernels::Target target, Count rows, Count columns, const Places& places) {
  const std::size_t row_bytes = columns * size + places.row_gap;
  const std::size_t column_bytes = rows * size + places.column_gap;
  std::vector<unsigned char> from(rows * row_bytes + places.unaligned);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 37 + i / 251);
  constexpr unsigned char untouched = 0xA5;
  std::vector<unsigned char> to(columns * column_bytes + places.unaligned, untouched);
  std::vector<unsigned char> expected = to;
  // Offsets of row i and of column j in the two memories.
  const auto row_at = [&](Count i) {
    return places.unaligned + (places.rows_backwards ? rows - 1 - i : i) * row_bytes;
  };
  const auto column_at = [&](Count j) {
    return places.unaligned + (places.columns_backwards ? columns - 1 - j : j) * column_bytes;
  };
  for (Count i = 0; i < rows; ++i)
    for (Count j = 0; j < columns; ++j)
      std::memcpy(expected.data() + column_at(j) + i * size, from.data() + row_at(i) + j * size, size);

  const auto signed_stride = [](bool backwards, std::size_t bytes) {
    return backwards ? -static_cast<std::ptrdiff_t>(bytes) : static_cast<std::ptrdiff_t>(bytes);
  };
  kernels::turn_over<size>(target)({.from = reinterpret_cast<const std::byte*>(from.data()) + row_at(0),
                                    .row_stride = signed_stride(places.rows_backwards, row_bytes),
                                    .to = reinterpret_cast<std::byte*>(to.data()) + column_at(0),
                                    .column_stride = signed_stride(places.columns_backwards, column_bytes),
                                    .rows = rows,
                                    .columns = columns});
  EXPECT_TRUE(to == expected) << rows << " rows of " << columns << " elements of " << size << " bytes";
}

template <std::size_t size>
void expect_all_shapes(kernels::Target target, const Places& places) {
  for (Count rows = 1; rows < 20; ++rows)
    for (Count columns = 1; columns < 20; ++columns) expect_turned<size>(target, rows, columns, places);
  expect_turned<size>(target, 129, 30, places);
  expect_turned<size>(target, 31, 67, places);
}

TEST_P(Turn, CopiesEveryShape) {
  for (const Places& places : {Places{0, 0, false, false, 0}, Places{8, 64, false, false, 0},
                               Places{24, 0, true, false, 3}, Places{0, 40, false, true, 1}}) {
    expect_all_shapes<4>(GetParam(), places);
    expect_all_shapes<8>(GetParam(), places);
  }
}

TEST_P(Turn, CopiesNothing) {
  for (const auto& [rows, columns] : {std::pair<Count, Count>{0, 5}, {5, 0}, {0, 0}}) {
    kernels::turn_over<8>(GetParam())({nullptr, 8, nullptr, 8, rows, columns});
    kernels::turn_over<4>(GetParam())({nullptr, 4, nullptr, 4, rows, columns});
  }
}

STEADFOLD_EVERY_TARGET(Turn);

}  // namespace
}  // namespace steadfold::test::turn_test
