// Where the least and the greatest value are: against a search through all rows, on data full of NaNs, zeros of both
// signs and ties, in every order of blocks and merges.
#include "arithmetic/location/location.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "arithmetic/records.hpp"

namespace steadfold::test::location_test {
namespace {

using arithmetic::make_location;
using arithmetic::Operation;
using arithmetic::Type;
using arithmetic::unknown_count;

template <class T>
struct Pair {
  T value;
  Index index;
};

/// The order of IEEE 754-2019: NaN first, then by value with -0 below +0, the other way round for the greatest.
template <class T>
bool before(T a, T b, bool least) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a != a && b == b;
    if (a == 0 && b == 0) return least ? std::signbit(a) && !std::signbit(b) : !std::signbit(a) && std::signbit(b);
  }
  return least ? a < b : b < a;
}

template <class T>
Pair<T> searched(const std::vector<T>& column, bool least) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < column.size(); ++i)
    if (before(column[i], column[best], least)) best = i;
  T value = column[best];
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) value = std::numeric_limits<T>::quiet_NaN();
  }
  return {value, best};
}

template <class T>
T hostile(std::mt19937_64& random) {
  if constexpr (std::is_floating_point_v<T>) {
    const T values[] = {T{0},
                        -T{0},
                        T{1},
                        T{-1},
                        std::numeric_limits<T>::infinity(),
                        -std::numeric_limits<T>::infinity(),
                        std::numeric_limits<T>::denorm_min(),
                        -std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::signaling_NaN(),
                        -std::numeric_limits<T>::quiet_NaN()};
    return values[random() % (random() % 8 == 0 ? 10 : 8)];
  } else {
    const T values[] = {T{0}, T{1}, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), static_cast<T>(-1)};
    return values[random() % 5];
  }
}

template <class T>
class Location : public testing::Test {};
using Numbers = testing::Types<double, float, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Location, Numbers);

TYPED_TEST(Location, IsTheFirstRowThatASearchFinds) {
  using T = TypeParam;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::size_t columns = 1 + seed % 3;
    const std::size_t rows = 1 + random() % 40;
    std::vector<T> elements;
    for (std::size_t i = 0; i < rows * columns; ++i) elements.push_back(hostile<T>(random));
    for (const bool least : {true, false}) {
      const auto kind = make_location(least ? Operation::min_location : Operation::max_location, type_of<T>, columns);
      const IntervalSet all(Interval{0, rows});
      // One partial per cut, merged in random order from both sides: no order may count.
      std::vector<std::vector<std::byte>> parts;
      for (Index begin = 0; begin < rows;) {
        const Index end = std::min<Index>(rows, begin + random() % 9);
        auto builder = kind->builder();
        const Index cut = begin + (end - begin) / 2;
        for (const Interval& rows_of_block : {Interval{begin, cut}, Interval{cut, end}})
          builder->push(rows_of_block.begin,
                        {.first = reinterpret_cast<const std::byte*>(elements.data() + rows_of_block.begin * columns),
                         .rows = rows_of_block.size(),
                         .row_stride = columns * sizeof(T)});
        std::vector<std::byte> out(kind->working_capacity(all));
        out.resize(builder->write(out));
        parts.push_back(std::move(out));
        begin = end;
      }
      while (parts.size() > 1) {
        std::swap(parts[random() % parts.size()], parts.back());
        const auto one = std::move(parts.back());
        parts.pop_back();
        auto& other = parts[random() % parts.size()];
        std::vector<std::byte> out(kind->working_capacity(all));
        out.resize(random() % 2 == 0 ? merge(*kind, one, other, out) : merge(*kind, other, one, out));
        other = std::move(out);
      }
      std::vector<std::byte> values(kind->value_bytes());
      std::vector<std::byte> spare(kind->value_bytes());
      ASSERT_EQ(kind->finish(parts.front(), rows, values.data(), spare.data()), Status::ok);
      ASSERT_EQ(values.size(), 16 * columns);
      for (std::size_t column = 0; column < columns; ++column) {
        std::vector<T> own;
        for (std::size_t row = 0; row < rows; ++row) own.push_back(elements[row * columns + column]);
        const Pair<T> expected = searched(own, least);
        EXPECT_EQ(std::memcmp(values.data() + 16 * column, &expected.value, sizeof(T)), 0);
        Index index = 0;
        std::memcpy(&index, values.data() + 16 * column + 8, sizeof index);
        EXPECT_EQ(index, expected.index);
      }
    }
  }
}

/// The value that wins against no other.
template <class T>
T worst(bool least) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    return least ? Limits::infinity() : -Limits::infinity();
  } else {
    return least ? Limits::max() : Limits::lowest();
  }
}

TYPED_TEST(Location, IsNoRowThatTheMaskLeavesOut) {
  using T = TypeParam;
  for (const bool least : {true, false}) {
    const T elements[] = {T{1}, worst<T>(least), T{1}, worst<T>(least)};
    const std::byte mask[] = {std::byte{0}, std::byte{1}, std::byte{0}, std::byte{1}};
    const auto kind = make_location(least ? Operation::min_location : Operation::max_location, type_of<T>, 1);
    auto builder = kind->builder();
    builder->push(0, {.first = reinterpret_cast<const std::byte*>(elements),
                      .mask = mask,
                      .rows = std::size(elements),
                      .row_stride = sizeof(T)});
    std::vector<std::byte> out(kind->working_capacity(IntervalSet(Interval{0, std::size(elements)})));
    out.resize(builder->write(out));
    std::vector<std::byte> values(16);
    std::vector<std::byte> spare(16);
    ASSERT_EQ(kind->finish(out, std::size(elements), values.data(), spare.data()), Status::ok);
    EXPECT_EQ(value_at<T>(values), worst<T>(least));
    EXPECT_EQ(value_at<Index>(values, 1), 1u);

    const std::byte none[std::size(elements)] = {};
    builder->clear();
    builder->push(0, {.first = reinterpret_cast<const std::byte*>(elements),
                      .mask = none,
                      .rows = std::size(elements),
                      .row_stride = sizeof(T)});
    out.resize(kind->working_capacity(IntervalSet(Interval{0, std::size(elements)})));
    out.resize(builder->write(out));
    EXPECT_EQ(kind->finish(out, std::size(elements), values.data(), spare.data()), Status::empty);
  }
}

TEST(Locations, OfNothingAndOfMissingRowsSaySo) {
  const auto kind = make_location(Operation::min_location, Type::f64, 1);
  auto builder = kind->builder();
  std::vector<std::byte> out(kind->working_capacity(IntervalSet(Interval{0, 1})));
  const Bytes size = builder->write(out);
  std::vector<std::byte> values(16);
  std::vector<std::byte> spare(16);
  const auto nothing = std::span(out).first(size);
  EXPECT_EQ(kind->finish(nothing, unknown_count, values.data(), spare.data()), Status::empty);
  EXPECT_EQ(kind->finish(nothing, 3, values.data(), spare.data()), Status::gap);
}

}  // namespace
}  // namespace steadfold::test::location_test
