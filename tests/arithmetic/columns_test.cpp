// Rows of several columns give what every column gives by itself, and what they give one row at a time, byte by byte:
// ordinary columns between hostile ones, ranges that move in the middle, rows at any stride. Seeds are printed.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "arithmetic/binned/binned.hpp"
#include "arithmetic/exact/exact.hpp"
#include "arithmetic/ieee.hpp"
#include "arithmetic/plain.hpp"
#include "arithmetic/records.hpp"
#include "arithmetic/rows/columns_apart.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::columns_test {
namespace {

using arithmetic::Operation;
using arithmetic::Sweep;
using arithmetic::Type;

/// Makes a kind of so many columns.
struct Maker {
  std::string name;
  bool has_second;
  std::function<std::unique_ptr<PartialKind>(Count)> make;
};

template <class T>
std::vector<Maker> makers() {
  const Type exact_type = sizeof(T) == 8 ? Type::f64 : Type::f32;
  std::vector<Maker> all;
  for (const auto& [name, operation] : {std::pair{"sum", Operation::sum},
                                        {"abs_sum", Operation::abs_sum},
                                        {"mean", Operation::mean},
                                        {"dot", Operation::dot},
                                        {"norm2", Operation::norm2}})
    all.push_back({std::string("exact ") + name, operation == Operation::dot,
                   [=](Count columns) { return make_exact(operation, exact_type, exact_type, columns); }});
  for (const auto& [name, operation] : {std::pair{"sum", Operation::sum},
                                        {"dot", Operation::dot},
                                        {"norm2", Operation::norm2},
                                        {"mean", Operation::mean}})
    for (const int bins : {2, 3, 4})
      for (const Sweep sweep : {Sweep::single_sweep, Sweep::double_sweep})
        all.push_back({"binned " + std::string(name) + " in " + std::to_string(bins) + " bins, " +
                           (sweep == Sweep::single_sweep ? "one sweep" : "two sweeps"),
                       operation == Operation::dot, [=](Count columns) {
                         return make_binned(operation, type_of<T>, type_of<T>, bins, sweep, columns);
                       }});
  return all;
}

/// A number below 2^exponent in magnitude, of either sign.
template <class T>
T near_to(std::mt19937_64& random, int exponent) {
  return std::ldexp(static_cast<T>(random() >> 40) * (random() % 2 == 0 ? T{1} : T{-1}), exponent - 24);
}

/// Neighbours are of like sizes, so that groups of them stay together; now and then one is not.
template <class T>
T alike_element(std::mt19937_64& random, Count column, int exponent) {
  constexpr T others[] = {-0.0, T(1e30), T(1e-30), std::numeric_limits<T>::infinity()};
  if (column % 8 == 6) return T{0};
  if (column % 8 == 7 && random() % 50 == 0) return others[random() % 4];
  return near_to<T>(random, exponent + static_cast<int>(column % 3) * 10);
}

/// Each column has a manner of its own, so that neighbours differ in all that kernels look at.
template <class T>
T element(std::mt19937_64& random, Count row, Count column) {
  using Limits = std::numeric_limits<T>;
  const auto near = [&](int exponent) { return near_to<T>(random, exponent); };
  switch (column % 13) {
    case 0: return near(0);
    case 1: return wide_value<T>(random);
    case 2: return random() % 64 == 0 ? Limits::quiet_NaN() : near(3);
    case 3: return near(Limits::min_exponent + 4);                                   // subnormals among them
    case 4: return near(Limits::max_exponent - 20);                                  // sums beyond any range
    case 5: return near(row < 140 ? -20 : row < 150 ? 60 : row % 2 == 0 ? -60 : 0);  // ranges move
    case 6: return T{-0.0};
    case 7: return row == 200 ? Limits::infinity() : near(1);
    case 8: return row % 3 == 0 ? near(-50) : near(50);  // more than two levels
    case 9: return T{0};
    case 10: return Limits::max();
    case 11: return near(row == 0 ? 100 : -10);  // the first row has the largest element
    default: return near(static_cast<int>(random() % 40));
  }
}

/// Rows that stand with gaps, unaligned.
template <class T>
struct Rows {
  Rows(std::mt19937_64& random, Count row_count, Count column_count, Bytes gap)
      : rows(row_count), columns(column_count), stride(column_count * sizeof(T) + gap), memory(1 + rows * stride) {
    for (Count row = 0; row < rows; ++row)
      for (Count column = 0; column < columns; ++column) {
        const T value = are_alike ? alike_element<T>(random, column, alike_exponent)
                                  : element<T>(random, row, column + random_column);
        std::memcpy(memory.data() + 1 + row * stride + column * sizeof(T), &value, sizeof value);
      }
  }
  const std::byte* at(Count row, Count column = 0) const {
    return memory.data() + 1 + row * stride + column * sizeof(T);
  }
  Count rows, columns;
  Bytes stride;
  Record memory;
  static inline Count random_column = 0;  // in which manner the first column is
  static inline bool are_alike = false;   // columns that are neighbours
  static inline int alike_exponent = 0;   // of these; where formats end, too
};

template <class T>
Block block_of(const Rows<T>& first, const Rows<T>* second, Count row, Count count) {
  return {.first = first.at(row),
          .second = second == nullptr ? nullptr : second->at(row),
          .rows = count,
          .row_stride = first.stride};
}

/// Pushes the rows in blocks of some, after a first sweep if there is one.
template <class T>
Record record_of(const PartialKind& kind, const Rows<T>& first, const Rows<T>* second, Count some) {
  const auto builder = kind.builder();
  if (builder->surveyor() != nullptr) {
    for (Count row = 0; row < first.rows; row += some)
      builder->surveyor()->survey(0, block_of(first, second, row, std::min(some, first.rows - row)));
    Record surveyed(kind.survey_bytes());
    builder->surveyor()->write_survey(surveyed);
    builder->surveyor()->expect(surveyed);
    builder->clear();
  }
  for (Count row = 0; row < first.rows; row += some)
    builder->push(row, block_of(first, second, row, std::min(some, first.rows - row)));
  return written(kind, *builder, {});
}

template <class T>
std::vector<T> values_of(const PartialKind& kind, const Record& record, Count rows, Count columns) {
  std::vector<T> values(columns);
  std::vector<std::byte> spare(kind.value_bytes());
  const Status status = kind.finish(record, rows, reinterpret_cast<std::byte*>(values.data()), spare.data());
  EXPECT_EQ(status, Status::ok);
  return values;
}

/// A column whose elements stand side by side.
template <class T>
Rows<T> column_of(const Rows<T>& all, Count column) {
  std::mt19937_64 unused;
  Rows<T> one(unused, all.rows, 1, 0);
  for (Count row = 0; row < all.rows; ++row)
    std::memcpy(one.memory.data() + 1 + row * one.stride, all.at(row, column), sizeof(T));
  return one;
}

template <class T>
void expect_columns(const Maker& maker, std::uint64_t seed, Count rows, Count columns) {
  SCOPED_TRACE(maker.name + ": " + std::to_string(rows) + " rows of " + std::to_string(columns) + " columns of " +
               std::to_string(sizeof(T)) + " bytes, seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Rows<T>::are_alike = random() % 2 == 0;
  constexpr int exponents[] = {0, std::numeric_limits<T>::min_exponent - 20, std::numeric_limits<T>::max_exponent - 25};
  Rows<T>::alike_exponent = exponents[random() % 3];
  Rows<T>::random_column = random() % 13;
  const Rows<T> first(random, rows, columns, random() % 2 * 5);
  Rows<T>::random_column = random() % 13;
  const Rows<T> others(random, rows, columns, first.stride - columns * sizeof(T));
  const Rows<T>* const second = maker.has_second ? &others : nullptr;
  const auto kind = maker.make(columns);
  const Record record = record_of(*kind, first, second, rows);
  EXPECT_TRUE(same(record, record_of(*kind, first, second, 1))) << "one row at a time";
  EXPECT_TRUE(same(record, record_of(*kind, first, second, 1 + random() % rows))) << "in blocks";

  const auto values = values_of<T>(*kind, record, rows, columns);
  const auto one = maker.make(1);
  for (Count column = 0; column < columns; ++column) {
    const Rows<T> x = column_of(first, column);
    const Rows<T> y = column_of(others, column);
    const Record alone = record_of(*one, x, second == nullptr ? nullptr : &y, rows);
    const auto expected = values_of<T>(*one, alone, rows, 1);
    EXPECT_TRUE(same(std::as_bytes(std::span(values).subspan(column, 1)), std::as_bytes(std::span(expected))))
        << "column " << column;
  }
}

template <class T>
void expect_every_kind() {
  std::random_device device;
  for (int round = 0; round < (sanitized ? 1 : 8); ++round) {
    const std::uint64_t seed = device();
    for (const Maker& maker : makers<T>()) {
      expect_columns<T>(maker, seed, 1, 9);
      expect_columns<T>(maker, seed + 1, 5, 2);
      expect_columns<T>(maker, seed + 6, 2, 24);
      expect_columns<T>(maker, seed + 7, 3, 17);
      expect_columns<T>(maker, seed + 2, 16, 31);
      expect_columns<T>(maker, seed + 3, 129, 8);
      expect_columns<T>(maker, seed + 4, 261, 13);
      expect_columns<T>(maker, seed + 5, 400, 3);
    }
  }
}

/// Partials of columns by themselves: what stood in the room does not reach the bytes between them.
TEST(Columns, ByThemselvesAreTheSameInAnyRoom) {
  const auto kind = arithmetic::make_columns_apart(
      arithmetic::make_plain(arithmetic::built_in(Operation::sum, Type::f32), 1), {.columns = 3, .element_bytes = 4});
  const Table row = table_of(std::vector<float>{1, 2, 3}, 0, 3);
  std::vector<Record> records;
  for (const std::byte fill : {std::byte{0}, std::byte{255}}) {
    const auto builder = kind->builder();
    builder->push(0, row.block(0, 1));
    Record record(kind->working_capacity(IntervalSet(Interval{0, 1})), fill);
    record.resize(builder->write(record));
    ASSERT_EQ(status_of(record), Status::ok);
    records.push_back(record);
  }
  EXPECT_TRUE(same(records[0], records[1]));
}

/// -0.0 again and again is -0.0, and one other term makes it +0.0 or more.
TEST(Columns, OfOneRowAgainAndAgain) {
  const std::vector<double> row = {-0.0, 1.5, -0.0, 0.0};
  for (const Maker& maker : makers<double>()) {
    SCOPED_TRACE(maker.name);
    const auto kind = maker.make(4);
    const auto* const x = reinterpret_cast<const std::byte*>(row.data());
    const auto again = kind->builder();
    again->push(0, {.first = x, .second = x, .rows = 40, .row_stride = 0});
    const auto apart = kind->builder();
    for (Count i = 0; i < 40; ++i) apart->push(i, {.first = x, .second = x, .rows = 1, .row_stride = 32});
    EXPECT_TRUE(same(written(*kind, *again, {}), written(*kind, *apart, {})));
  }
}

TEST(Columns, OfDoublesAreThoseByThemselves) { expect_every_kind<double>(); }
TEST(Columns, OfFloatsAreThoseByThemselves) { expect_every_kind<float>(); }

}  // namespace
}  // namespace steadfold::test::columns_test
