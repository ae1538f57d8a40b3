// The most that sums of integers must hold between their carries: terms of one sign, each as large as a word takes, so
// many that a word would overflow if it were carried half as often. Against integers of 128 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "arithmetic/binned/binned.hpp"
#include "arithmetic/binned/bins.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"
#include "support/targets.hpp"

namespace steadfold::arithmetic::carries_test {
namespace {

/// The double that puts most into a word: 53 bits, moved by 31 before they are cut into digits of 32.
constexpr double heaviest = 0x1.FFFFFFFFFFFFFp1;

/// `count` times `heaviest`, rounded once by the conversion.
double heaviest_times(Count count) {
  const Int128 mantissa = (Int128{1} << 53) - 1;
  return std::ldexp(static_cast<double>(mantissa * static_cast<Int128>(count)), -51);
}

void expect_bits(double found, double expected) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(expected)) << found << ", " << expected;
}

class Carries : public test::EveryTarget {};

TEST_P(Carries, ComeBeforeAWordOfTheAccumulatorOverflows) {
  for (const double sign : {1.0, -1.0}) {
    const double x = sign * heaviest;
    for (const Count count : {2047u, 2048u, 2049u, 4096u, 5000u, 100000u}) {
      Accumulator<double, 1> sum(GetParam());
      sum.add_rows(reinterpret_cast<const std::byte*>(&x), nullptr, count, 0);  // the same element again and again
      expect_bits(sum.rounded<double>(), sign * heaviest_times(count));
    }
  }
}

/// Blocks that fit no exponent range come first, so that exponent ranges are not looked for where the heavy ones
/// follow.
TEST_P(Carries, ComeBeforeDigitsOverflow) {
  constexpr Count hostile_rows = Count{64} * kernels::extraction_block;
  constexpr Count heavy_rows = Count{40} * kernels::extraction_block;
  for (const double sign : {1.0, -1.0}) {
    std::vector<double> x(hostile_rows + heavy_rows, sign * heaviest);
    for (Count i = 0; i < hostile_rows; ++i) x[i] = (i % 4 < 2 ? 0x1p900 : 0x1p-900) * (i % 2 == 0 ? 1 : -1);
    Accumulator<double, 1> sum(GetParam());
    sum.add_rows(reinterpret_cast<const std::byte*>(x.data()), nullptr, x.size(), sizeof(double));
    expect_bits(sum.rounded<double>(), sign * heaviest_times(heavy_rows));
  }
}

STEADFOLD_EVERY_TARGET(Carries);

/// Ties at half a quantum of the top bin leave the largest slice there is, 2^39 quanta, to the bin below: of 2^24 of
/// them a sum in 64 bits has no place.
TEST(CarriesOfBins, ComeBeforeASumOfSlicesOverflows) {
  constexpr Count rows = (Count{1} << 24) + 64;
  for (const float sign : {1.0F, -1.0F}) {
    const float largest = 0x1p44F;  // its bin counts multiples of 2^6
    const std::vector<float> halves(rows, sign * 0x1p5F);
    const auto kind = make_binned(Operation::sum, Type::f32, Type::f64, 3, Sweep::single_sweep, 1);
    const auto builder = kind->builder();
    const auto push = [&](const float& first, Count count) {
      builder->push(0,
                    {.first = reinterpret_cast<const std::byte*>(&first), .rows = count, .row_stride = sizeof(float)});
    };
    push(largest, 1);
    push(halves[0], rows);
    std::vector<std::byte> record(kind->capacity({}));
    record.resize(builder->write(record));
    double found = 0;
    ASSERT_EQ(kind->finish(record, rows + 1, reinterpret_cast<std::byte*>(&found), nullptr), Status::ok);
    expect_bits(found, 0x1p44 + static_cast<double>(sign) * 0x1p5 * static_cast<double>(rows));
  }
}

/// What a round put into second words does not reach the next one, whose first sweep finds the same largest terms.
TEST(CarriesOfBins, EndWithTheirRound) {
  constexpr Count columns = 2;
  const float largest[columns] = {0x1p44F, 0x1p44F};
  const float halves[columns] = {0x1p5F, -0x1p5F};
  const auto block = [](const float* row, Count count) {
    return Block{.first = reinterpret_cast<const std::byte*>(row), .rows = count, .row_stride = 0};
  };
  const auto kind = make_binned(Operation::sum, Type::f32, Type::f64, 3, Sweep::double_sweep, columns);
  const auto builder = kind->builder();
  for (const Count rows : {(Count{1} << 24) + 64, Count{1}}) {
    std::vector<std::byte> surveyed(kind->survey_bytes()), record(kind->capacity({}));
    builder->clear();
    builder->surveyor()->survey(0, block(largest, 1));
    builder->surveyor()->write_survey(surveyed);
    builder->surveyor()->expect(surveyed);
    builder->clear();
    builder->push(0, block(largest, 1));
    builder->push(1, block(halves, rows));
    record.resize(builder->write(record));
    double found[columns] = {};
    ASSERT_EQ(kind->finish(record, rows + 1, reinterpret_cast<std::byte*>(found), nullptr), Status::ok);
    for (Count i = 0; i < columns; ++i)
      expect_bits(found[i], 0x1p44 + static_cast<double>(halves[i]) * static_cast<double>(rows));
  }
}

/// The top bin's sum is half way between two doubles, but for the last bit of the lowest bin, 160 bits below its first.
TEST(CarriesOfBins, LeaveTheLastBitToDecide) {
  for (const int sign : {1, -1}) {
    Bins bins;
    bins.sums = {sign * ((Int128{1} << 53) + 1), 0, 0, sign};
    const double found = rounded<double>(not_minus_zero, 2, leading(bins, 4, 0));
    expect_bits(found, sign * (0x1p53 + 2) * 0x1p120);
    bins.sums[3] = -sign;
    expect_bits(rounded<double>(not_minus_zero, 2, leading(bins, 4, 0)), sign * 0x1p173);
  }
}

/// Ten columns, pushed as rows or one column at a time. One of them has only zeros behind its first term. In a second
/// round larger terms come in the end, for some, and move what there is down by a bin or two.
TEST(CarriesOfBins, ComeInEveryColumn) {
  constexpr Count rows = (Count{1} << 24) + 64;
  constexpr Count columns = 10;
  std::vector<float> largest(columns, 0x1p44F);
  std::vector<float> halves(columns, 0x1p5F);
  for (Count i = 0; i < columns; i += 3) halves[i] = -halves[i];
  halves[4] = 0;
  std::vector<float> larger(columns, 1.0F);
  larger[1] = larger[9] = 0x1p84F;
  larger[2] = -0x1p126F;
  const auto block = [](const std::vector<float>& row, Count first, Count count) {
    return Block{.first = reinterpret_cast<const std::byte*>(&row[first]), .rows = count, .row_stride = 0};
  };
  std::vector<std::vector<std::byte>> records;
  for (const bool one_by_one : {false, true}) {
    const auto kind = make_binned(Operation::sum, Type::f32, Type::f64, 3, Sweep::single_sweep, columns);
    const auto builder = kind->builder();
    const auto push = [&](const std::vector<float>& row, Count count) {
      if (!one_by_one) builder->push(0, block(row, 0, count));
      for (Count i = 0; i < columns && one_by_one; ++i) builder->columns()->column(i).push(0, block(row, i, count));
    };
    for (const bool has_larger : {false, true, false}) {
      builder->clear();
      push(largest, 1);
      push(halves, rows);
      if (has_larger) push(larger, 1);
      std::vector<std::byte> record(kind->capacity({}));
      record.resize(builder->write(record));
      if (has_larger) {
        records.push_back(record);
        continue;
      }
      std::vector<double> found(columns);
      ASSERT_EQ(kind->finish(record, rows + 1, reinterpret_cast<std::byte*>(found.data()), nullptr), Status::ok);
      for (Count i = 0; i < columns; ++i)
        expect_bits(found[i], 0x1p44 + static_cast<double>(halves[i]) * static_cast<double>(rows));
    }
  }
  EXPECT_EQ(records[0], records[1]);
}

}  // namespace
}  // namespace steadfold::arithmetic::carries_test
