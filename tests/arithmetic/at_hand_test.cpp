// Rows at hand reduced without a builder have the bits of the builder's partial: sums by `exact` and `binned` of
// hostile terms, any number of rows that is taken, several tiles of columns.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "arithmetic/binned/binned.hpp"
#include "arithmetic/exact/exact.hpp"
#include "arithmetic/records.hpp"
#include "kernels/cascade.hpp"
#include "support/hostile_terms.hpp"

namespace steadfold::test::at_hand_test {
namespace {

using arithmetic::Operation;
using arithmetic::Sweep;
using arithmetic::Type;

template <class T>
constexpr Type exact_type = sizeof(T) == 8 ? Type::f64 : Type::f32;

/// Rows of columns whose troubles take turns, from the first one given on.
template <class T>
std::vector<std::vector<T>> hostile_rows(HostileTerms<T>& hostile, Count rows, Count columns, std::size_t first) {
  std::vector<std::vector<T>> x(rows, std::vector<T>(columns));
  for (Count column = 0; column < columns; ++column) {
    const std::vector<T> terms = hostile.of(rows, troubles[(first + column) % std::size(troubles)]);
    for (Count row = 0; row < rows; ++row) x[row][column] = terms[row];
  }
  return x;
}

template <class T>
Record by_builder(const PartialKind& kind, const std::vector<std::vector<T>>& rows) {
  const auto builder = kind.builder();
  for (Count row = 0; row < rows.size(); ++row)
    builder->push(row, {.first = reinterpret_cast<const std::byte*>(rows[row].data()), .rows = 1});
  Record partial(kind.capacity(IntervalSet(Interval{0, rows.size()})));
  partial.resize(builder->write(partial));
  Record values(kind.value_bytes());
  EXPECT_EQ(kind.finish(partial, rows.size(), values.data(), nullptr), Status::ok);
  return values;
}

template <class T>
Record plain_sums(const std::vector<std::vector<T>>& rows) {
  std::vector<T> sums = rows.front();
  for (Count row = 1; row < rows.size(); ++row)
    for (Count column = 0; column < sums.size(); ++column) sums[column] += rows[row][column];
  const auto* const bytes = reinterpret_cast<const std::byte*>(sums.data());
  return {bytes, bytes + sums.size() * sizeof(T)};
}

/// `make(columns)` is the kind.
template <class T, class Make>
void expect_bits_of_the_builder(std::uint64_t seed, const Make& make) {
  SCOPED_TRACE(seed);
  HostileTerms<T> hostile(seed);
  for (const Count columns : {Count{1}, Count{7}, Count{255}, Count{512}, Count{1537}}) {
    const std::unique_ptr<PartialKind> kind = make(columns);
    for (const Count rows : {2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 33, 64}) {
      auto x = hostile_rows(hostile, rows, columns, rows);
      if (columns > 7) {  // those that are not finite
        x[0][3] = std::numeric_limits<T>::infinity();
        x[1][4] = -std::numeric_limits<T>::quiet_NaN();
        x[0][5] = x[1][5] = std::numeric_limits<T>::max();
      }
      std::vector<const std::byte*> places;
      for (const auto& row : x) places.push_back(reinterpret_cast<const std::byte*>(row.data()));
      ASSERT_EQ(kind->rows_at_hand()->spare_rows(rows), std::optional<Count>(0));
      Guarded guarded(kind->value_bytes());
      ASSERT_EQ(kind->rows_at_hand()->reduce_rows(places, guarded.data(), nullptr), Status::ok);
      const Record found = guarded.taken(kind->value_bytes());
      const Record due = by_builder(*kind, x);
      ASSERT_TRUE(same(found, due)) << rows << " rows, " << columns << " columns";
      if (columns > 200 && rows > 2) {
        EXPECT_FALSE(same(plain_sums(x), due));
      }
    }
  }
}

template <class T>
void expect_bits_of_exact(std::uint64_t seed) {
  expect_bits_of_the_builder<T>(seed, [](Count columns) {
    return arithmetic::make_exact(Operation::sum, exact_type<T>, exact_type<T>, columns);
  });
}
template <class T>
void expect_bits_of_binned(std::uint64_t seed) {
  constexpr Type type = sizeof(T) == 8 ? Type::f64 : Type::f32;
  for (const Sweep sweep : {Sweep::single_sweep, Sweep::double_sweep})
    for (const int bin_count : {2, 3, 4})
      expect_bits_of_the_builder<T>(seed, [&](Count columns) {
        return arithmetic::make_binned(Operation::sum, type, type, bin_count, sweep, columns);
      });
}

TEST(AtHand, ExactSumsOfDoubles) { expect_bits_of_exact<double>(53); }
TEST(AtHand, ExactSumsOfFloats) { expect_bits_of_exact<float>(59); }
TEST(AtHand, BinnedSumsOfDoubles) { expect_bits_of_binned<double>(71); }
TEST(AtHand, BinnedSumsOfFloats) { expect_bits_of_binned<float>(73); }

TEST(AtHand, OtherSumsAreTheBuilders) {
  const auto exact = [](Operation operation, Type input, Type result, Count rows) {
    return arithmetic::make_exact(operation, input, result, 9)->rows_at_hand()->spare_rows(rows);
  };
  const auto binned = [](Operation operation, Type input, Type result, Count rows) {
    return arithmetic::make_binned(operation, input, result, 3, Sweep::single_sweep, 9)
        ->rows_at_hand()
        ->spare_rows(rows);
  };
  for (const Count rows : {Count{0}, Count{1}, kernels::most_cascaded + 1}) {
    EXPECT_FALSE(exact(Operation::sum, Type::f64, Type::f64, rows)) << rows;
    EXPECT_FALSE(binned(Operation::sum, Type::f64, Type::f64, rows)) << rows;
  }
  EXPECT_FALSE(exact(Operation::mean, Type::f64, Type::f64, 4));
  EXPECT_FALSE(exact(Operation::abs_sum, Type::f64, Type::f64, 4));
  EXPECT_FALSE(exact(Operation::sum, Type::f32, Type::f64, 4));
  EXPECT_FALSE(exact(Operation::sum, Type::f64, Type::f32, 4));
  EXPECT_FALSE(binned(Operation::mean, Type::f64, Type::f64, 4));
  EXPECT_FALSE(binned(Operation::norm2, Type::f64, Type::f64, 4));
  EXPECT_FALSE(binned(Operation::sum, Type::f32, Type::f64, 4));
  EXPECT_FALSE(binned(Operation::sum, Type::f64, Type::f32, 4));
}

}  // namespace
}  // namespace steadfold::test::at_hand_test
