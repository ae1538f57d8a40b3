// Every kind of partial that a call can ask for makes the same of rows that stand anywhere (padded, transposed,
// reversed, repeated, not aligned) as of the same rows one after the other, in however many pieces they come, whatever
// stands between them. Seeds are printed.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "arithmetic/ieee.hpp"
#include "arithmetic/rows/intake.hpp"
#include "plan/lifter.hpp"
#include "support/all_kinds.hpp"
#include "support/sanitized.hpp"
#include "support/simulated_job.hpp"
#include "support/strided.hpp"
#include "support/two_axes.hpp"

namespace steadfold::test::strided_test {
namespace {

using arithmetic::Block;
using arithmetic::Builder;
using arithmetic::Intake;
using arithmetic::Operands;
using arithmetic::Operation;
using arithmetic::RowShape;
using arithmetic::Strides;
using arithmetic::Sweep;
using arithmetic::Type;

template <class T>
void fill_with(std::mt19937_64& random, Memory& bytes, bool has_specials) {
  static const std::vector<T> specials = special_values<T>();
  for (Bytes at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    const bool is_special = has_specials && random() % 64 == 0;
    const T value = is_special ? specials[random() % specials.size()] : wide_value<T>(random);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
}

/// Numbers of wide exponents, so that any that is left out or counted twice shows; in some rows special values too.
Memory elements(std::mt19937_64& random, Type type, Bytes size) {
  Memory bytes(size);
  const bool has_specials = random() % 4 == 0;
  switch (type) {
    case Type::f64:
    case Type::cf64: fill_with<double>(random, bytes, has_specials); return bytes;
    case Type::f32:
    case Type::cf32: fill_with<float>(random, bytes, has_specials); return bytes;
    case Type::long_double:
      for (Bytes at = 0; at + sizeof(long double) <= size; at += sizeof(long double)) {
        const auto value = static_cast<long double>(wide_value<double>(random)) / 3;
        std::memcpy(bytes.data() + at, &value, sizeof value);
      }
      return bytes;
    default: break;
  }
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  if (type == Type::bf16 || type == Type::f16)  // neither infinite nor NaN
    for (Bytes at = 1; at < size; at += 2) bytes[at] &= std::byte{0xBF};
  if (type == Type::f128)  // exponents near each other
    for (Bytes at = 14; at < size; at += 16) {
      bytes[at] &= std::byte{0x1F};
      bytes[at + 1] = std::byte{0x40} | (bytes[at + 1] & std::byte{0x80});
    }
  return bytes;
}

/// Pushes of any number of rows; `take(first, count)`.
template <class Take>
void in_pieces(std::mt19937_64& random, Count rows, const Take& take) {
  for (Count done = 0, some = 0; done < rows; done += some) {
    some = 1 + random() % (rows - done);
    take(done, some);
  }
}

/// What a first sweep found out, if there is one; a partial's bytes, and the values that they come to.
struct Made {
  Memory surveyed;
  Memory record;
  Memory values;
};

class StridedKinds : public testing::TestWithParam<std::pair<Method, Sweep>> {
 protected:
  Made made(const Kind& kind, Builder& builder, Count rows, const Memory& surveyed) {
    Made result{.surveyed = surveyed,
                .record = Memory(kind.partial->working_capacity(order::IntervalSet({0, rows}))),
                .values = Memory(kind.partial->value_bytes())};
    Memory spare(result.values.size());
    result.record.resize(builder.write(result.record));
    EXPECT_EQ(kind.partial->finish(result.record, rows, result.values.data(), spare.data()), Status::ok);
    return result;
  }

  Made of_contiguous(const Kind& kind, const Block& block) {
    const auto builder = kind.partial->builder();
    Memory surveyed(kind.partial->survey_bytes());
    if (builder->surveyor() != nullptr) {
      builder->surveyor()->survey(0, block);
      builder->surveyor()->write_survey(surveyed);
      builder->surveyor()->expect(surveyed);
    }
    builder->clear();
    builder->push(0, block);
    return made(kind, *builder, block.rows, surveyed);
  }

  Made of_strided(const Kind& kind, Intake& intake, const Operands& data, Count rows, const Strides& strides) {
    Builder& builder = intake.builder();
    Memory surveyed(kind.partial->survey_bytes());
    if (builder.surveyor() != nullptr) {
      in_pieces(random_, rows, [&](Count first, Count count) {
        EXPECT_TRUE(stays_inside([&] { intake.survey(first, data.at(first, 0), count, strides); }));
      });
      builder.surveyor()->write_survey(surveyed);
      builder.surveyor()->expect(surveyed);
    }
    builder.clear();
    in_pieces(random_, rows, [&](Count first, Count count) {
      EXPECT_TRUE(stays_inside([&] { intake.push(first, data.at(first, 0), count, strides); }));
    });
    return made(kind, builder, rows, surveyed);
  }

  void expect_alone(const Kind& kind, Intake& intake, const Operands& data, Count rows, const Strides& strides,
                    const Memory& values) {
    Memory found(values.size());
    Memory spare(values.size());
    intake.builder().clear();
    intake.push(0, data, rows, strides);
    EXPECT_EQ(intake.builder().finish_alone(rows, found.data(), spare.data()), Status::ok) << kind.name();
    EXPECT_EQ(hex(found), hex(values)) << "alone";
  }

  /// Some columns of rows that have one more on either side.
  void expect_same(const Kind& kind, const Pitch& pitch, const Pitch& other, Count rows, const RowShape& whole) {
    const bool is_masked = whole.has_mask;
    const Count columns = kind.call.columns;
    const Count first = whole.columns > columns ? 1 : 0;
    const Side side = random_() % 2 == 0 ? Side::begin : Side::end;
    const Strided x(elements(random_, kind.call.type, rows * whole.row_bytes()), rows, whole.columns,
                    whole.element_bytes, pitch, side);
    Memory mask(rows);
    for (std::byte& byte : mask) byte = static_cast<std::byte>(random_() % 4);
    const Strided y(is_masked ? mask : elements(random_, kind.call.type, rows * whole.row_bytes()), rows,
                    is_masked ? 1 : whole.columns, is_masked ? 1 : whole.element_bytes, other, side);
    const Memory x_rows = x.copy(first, first + columns);
    const Memory y_rows = is_masked ? y.copy(0, 1) : y.copy(first, first + columns);
    const Made expected = of_contiguous(kind, {.first = x_rows.data(),
                                               .second = whole.has_factors ? y_rows.data() : nullptr,
                                               .mask = is_masked ? y_rows.data() : nullptr,
                                               .rows = rows,
                                               .row_stride = kind.row_bytes()});
    const Strides strides =
        two_axes(whole, {pitch.row, pitch.element}, is_masked ? Steps{} : Steps{other.row, other.element}, other.row);
    RowShape shape = whole;
    shape.columns = columns;
    Intake intake(kind.partial->builder(), shape);
    const Operands data{.first = x.begin(),
                        .second = whole.has_factors ? y.begin() : nullptr,
                        .mask = is_masked ? y.begin() : nullptr,
                        .row = 0,
                        .column = first};
    for (int again = 0; again < 2; ++again) {
      const Made found = of_strided(kind, intake, data, rows, strides);
      EXPECT_EQ(hex(found.surveyed), hex(expected.surveyed));
      EXPECT_EQ(hex(found.values), hex(expected.values));
      // Values on their way by other methods may be NaNs, whose bits no one promises.
      if (kind.call.method == Method::exact || kind.call.method == Method::binned) {
        EXPECT_EQ(hex(found.record), hex(expected.record));
      }
    }
    if (intake.builder().finishes_alone() && kind.partial->survey_bytes() == 0)
      expect_alone(kind, intake, data, rows, strides, expected.values);
  }

  std::mt19937_64 random_{20260715};
};

TEST_P(StridedKinds, HaveTheBitsOfContiguousOnes) {
  const auto& [method, sweep] = GetParam();
  const std::vector<Kind> kinds = kinds_of(method, sweep);
  EXPECT_GT(kinds.size(), 20u);
  for (const Kind& kind : kinds) {
    const Count rows_of_a_tile = 8192 / kind.row_bytes();
    for (const bool is_long : {false, true}) {
      const Count rows = is_long ? 2 * rows_of_a_tile + 1 + random_() % 99 : 1 + random_() % 70;
      RowShape whole = call::row_shape(call::describe(kind.call), kind.call.columns);
      whole.columns += random_() % 2 == 0 ? 0 : 2;
      const auto all = pitches(rows, whole.columns, whole.element_bytes);
      for (const Pitch& pitch : all) {
        if (random_() % (sanitized ? 12 : is_long ? 4 : 1) != 0) continue;
        Pitch other = all[random_() % all.size()];
        if (kind.is_masked()) other = {static_cast<std::ptrdiff_t>(random_() % 7) - 3, 0, "mask"};
        SCOPED_TRACE(testing::Message() << kind.name() << ": " << pitch.name << " and " << other.name << ", " << rows
                                        << " rows of " << whole.columns << " columns");
        expect_same(kind, pitch, other, rows, whole);
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, StridedKinds,
                         testing::Values(std::pair{Method::tree, Sweep::single_sweep},
                                         std::pair{Method::exact, Sweep::single_sweep},
                                         std::pair{Method::plain, Sweep::single_sweep},
                                         std::pair{Method::binned, Sweep::single_sweep},
                                         std::pair{Method::binned, Sweep::double_sweep}));

/// On several threads, in intervals that stand in any order in memory, against one thread on a contiguous copy.
TEST(StridedRows, AreLiftedByThreads) {
  std::mt19937_64 random(20260716);
  plan::ThreadPool pool;
  pool.resize(4);
  constexpr Count rows = 1300;
  const std::vector<Interval> intervals = {{700, 1300}, {0, 1}, {1, 690}, {690, 700}};
  for (const auto& [method, sweep] : {std::pair{Method::tree, Sweep::single_sweep},
                                      {Method::exact, Sweep::single_sweep},
                                      {Method::binned, Sweep::double_sweep}}) {
    for (const Operation operation : {Operation::sum, Operation::dot, Operation::masked_sum}) {
      if (method == Method::tree && operation != Operation::sum) continue;
      for (const Count columns : {1, 3}) {
        const Call call{
            .operation = operation, .method = method, .columns = columns, .rows = rows, .parameters = {.sweep = sweep}};
        const auto described = call::describe(call);
        const auto kind = call::make_kind(described, call::operator_of(described, call.user), columns);
        const RowShape shape = call::row_shape(described, columns);
        const Count second_columns = shape.has_mask ? 1 : columns;
        const Bytes second_bytes = shape.has_mask ? 1 : sizeof(double);
        const auto lifted = [&](const Operands& data, const Strides& strides, unsigned threads) {
          plan::Lifter lifter(*kind, shape);
          plan::StoredRows stored{.intervals = intervals, .data = data, .strides = strides};
          Memory surveyed(kind->survey_bytes());
          if (!surveyed.empty()) lifter.survey(stored, pool, threads, surveyed);
          stored.surveyed = surveyed;
          order::IntervalSet all;
          for (const Interval interval : intervals) EXPECT_TRUE(all.add(interval));
          Memory out(kind->working_capacity(all));
          out.resize(lifter.lift(stored, pool, threads, out));
          return hex(out);
        };
        const auto all = pitches(rows, columns, sizeof(double));
        for (const Pitch& pitch : all) {
          Pitch other = all[random() % all.size()];
          if (shape.has_mask) other = {static_cast<std::ptrdiff_t>(random() % 7) - 3, 0, "mask"};
          Memory numbers(rows * shape.row_bytes());  // no NaNs: records may hold any of them
          fill_with<double>(random, numbers, false);
          const Strided x(numbers, rows, columns, sizeof(double), pitch, Side::end);
          fill_with<double>(random, numbers, false);
          if (shape.has_mask)
            for (std::byte& byte : numbers) byte = static_cast<std::byte>(random() % 4);
          const Strided y(numbers, rows, second_columns, second_bytes, other, Side::end);
          const Memory x_rows = x.copy(0, columns);
          const Memory y_rows = y.copy(0, second_columns);
          const Strides strides = two_axes(shape, {pitch.row, pitch.element}, {other.row, other.element}, other.row);
          const auto operands = [&](const std::byte* first, const std::byte* beside) {
            return Operands{
                .first = first, .second = shape.has_mask ? nullptr : beside, .mask = shape.has_mask ? beside : nullptr};
          };
          const std::string expected = lifted(operands(x_rows.data(), y_rows.data()), Strides(shape), 1);
          for (const unsigned threads : {1U, 4U})
            EXPECT_EQ(lifted(operands(x.begin(), y.begin()), strides, threads), expected)
                << name_of(operation) << ", " << columns << " columns, " << pitch.name << " and " << other.name << ", "
                << threads << " threads";
          if (HasFailure()) return;
        }
      }
    }
  }
}

/// A control: with a wrong stride the same memory comes to other bits, by every method.
TEST(StridedRows, HaveOtherBitsByAWrongStride) {
  std::mt19937_64 random(20260717);
  constexpr Count rows = 90;
  constexpr Count columns = 3;
  const RowShape shape{.element_bytes = sizeof(double), .columns = columns};
  for (const Method method : {Method::tree, Method::exact, Method::binned, Method::plain}) {
    const Call call{.method = method, .columns = columns, .rows = rows};
    const auto described = call::describe(call);
    const auto kind = call::make_kind(described, call::operator_of(described, call.user), columns);
    Memory bytes(4 * rows * shape.row_bytes());
    fill_with<double>(random, bytes, false);
    const auto sums = [&](const Steps& by) {
      Intake intake(kind->builder(), shape);
      intake.push(0, {.first = bytes.data()}, rows, two_axes(shape, by));
      Memory values(kind->value_bytes());
      Memory spare(values.size());
      EXPECT_EQ(intake.builder().finish_alone(rows, values.data(), spare.data()), Status::ok);
      return hex(values);
    };
    const std::string expected = sums({48, 16});
    EXPECT_EQ(sums({48, 16}), expected);
    for (const Steps wrong : {Steps{48, 8}, {40, 16}, {56, 16}, {48, 24}, {24, 8}, {0, 16}})
      EXPECT_NE(sums(wrong), expected) << call::name_of(method) << ": " << wrong.row << ", " << wrong.element;
  }
}

}  // namespace
}  // namespace steadfold::test::strided_test
