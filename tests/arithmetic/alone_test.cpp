// Values without a partial against those of the partial, bit for bit: every kind that offers them, every length to 70
// and some longer ones, ordinary and hostile data, with builders that are used again and again in both ways.
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "arithmetic/binned/binned.hpp"
#include "arithmetic/converted.hpp"
#include "arithmetic/exact/exact.hpp"
#include "arithmetic/ieee.hpp"
#include "arithmetic/plain.hpp"
#include "arithmetic/records.hpp"
#include "arithmetic/tree/tree.hpp"

namespace steadfold::test::alone_test {
namespace {

using arithmetic::Operation;
using arithmetic::Sweep;
using arithmetic::Type;
using arithmetic::unknown_count;

struct Kind {
  std::string name;
  Count columns;
  std::unique_ptr<PartialKind> kind;
};

template <class T>
std::vector<Kind> kinds_of(Count columns) {
  constexpr Type type = type_of<T>;
  constexpr Type exact_type = sizeof(T) == 8 ? Type::f64 : Type::f32;
  std::vector<Kind> kinds;
  const auto add = [&](std::string name, std::unique_ptr<PartialKind> kind) {
    kinds.push_back({std::move(name) + " of " + std::to_string(columns) + " columns", columns, std::move(kind)});
  };
  for (const Operation operation : {Operation::sum, Operation::product, Operation::min, Operation::max}) {
    add("tree", arithmetic::make_tree(arithmetic::built_in(operation, type), columns));
    add("plain", arithmetic::make_plain(arithmetic::built_in(operation, type), columns));
  }
  for (const Type result : {Type::f32, Type::f64})
    for (const auto operation :
         {Operation::sum, Operation::mean, Operation::abs_sum, Operation::sum_squares, Operation::norm2})
      add("exact " + std::to_string(static_cast<int>(operation)),
          arithmetic::make_exact(operation, exact_type, result, columns));
  for (const Type result : {Type::f32, Type::f64})
    for (const Operation operation : {Operation::sum, Operation::mean, Operation::sum_squares, Operation::norm2})
      for (const int bins : {2, 3, 4})
        add("binned in " + std::to_string(bins) + " " + std::to_string(static_cast<int>(operation)),
            arithmetic::make_binned(operation, type, result, bins, Sweep::single_sweep, columns));
  return kinds;
}

enum class Data { near, wide, special, zeros, tiny };
constexpr Data all_data[] = {Data::near, Data::wide, Data::special, Data::zeros, Data::tiny};

template <class T>
std::vector<T> elements(Data data, std::mt19937_64& random, Count count) {
  const std::vector<T> special = special_values<T>();
  std::vector<T> x(count);
  for (T& each : x) {
    switch (data) {
      case Data::near: each = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53 - 0.25); break;
      case Data::wide: each = wide_value<T>(random); break;
      case Data::special: each = special[random() % special.size()]; break;
      case Data::zeros: each = random() % 4 == 0 ? T{0} : -T{0}; break;
      case Data::tiny: each = std::numeric_limits<T>::denorm_min() * static_cast<T>(random() % 1000); break;
    }
  }
  return x;
}

/// One round of a builder, which gets the first `cut` rows by themselves, ended in either way.
Finished ended(const Kind& kind, Builder& builder, const Table& table, Count cut, Count element_count, bool alone) {
  builder.clear();
  if (cut > 0) builder.push(0, table.block(0, cut));
  if (cut < table.rows) builder.push(cut, table.block(cut, table.rows - cut));
  if (!alone) {
    const IntervalSet rows(Interval{0, table.rows});
    return finished(*kind.kind, written(*kind.kind, builder, rows), element_count);
  }
  Guarded values(kind.kind->value_bytes());
  Guarded spare(kind.kind->value_bytes());
  const Status status = builder.finish_alone(element_count, values.data(), spare.data());
  EXPECT_TRUE(spare.intact()) << "written past the end of the spare values";
  return {status, values.taken(kind.kind->value_bytes())};
}

void expect_same(const Kind& kind, Builder& builder, const Table& table, std::mt19937_64& random) {
  for (const Count element_count : {unknown_count, table.rows, table.rows + 1}) {
    const Finished wanted = ended(kind, *kind.kind->builder(), table, table.rows, element_count, false);
    const Count cut = random() % 4 == 0 ? random() % (table.rows + 1) : table.rows;
    const Finished found = ended(kind, builder, table, cut, element_count, random() % 4 != 0);
    ASSERT_EQ(found.status, wanted.status) << kind.name << ", rows: " << table.rows;
    if (wanted.status != Status::ok) continue;
    ASSERT_TRUE(same(found.values, wanted.values)) << kind.name << ", rows: " << table.rows;
  }
}

template <class T>
void expect_all() {
  std::mt19937_64 random(41);
  for (const Count columns : {Count{1}, Count{3}}) {
    for (const Kind& kind : kinds_of<T>(columns)) {
      const std::unique_ptr<Builder> builder = kind.kind->builder();
      ASSERT_TRUE(builder->finishes_alone()) << kind.name;
      std::vector<Count> counts = {100, 1000, 1023, 4096, 5000};
      for (Count rows = 0; rows <= 70; ++rows) counts.push_back(rows);
      for (const Count rows : counts) {
        const Data data = all_data[random() % std::size(all_data)];
        expect_same(kind, *builder, table_of(elements<T>(data, random, rows * columns), 0, columns), random);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Alone, ValuesOfDoublesAreThoseOfThePartial) { expect_all<double>(); }
TEST(Alone, ValuesOfFloatsAreThoseOfThePartial) { expect_all<float>(); }

/// Exponent ranges and double-doubles that fitted the last round are tried on the next, which may be larger or smaller.
TEST(Alone, RoundsOfOtherMagnitudesAreIndependent) {
  std::mt19937_64 random(42);
  for (const Kind& kind : kinds_of<double>(1)) {
    const std::unique_ptr<Builder> builder = kind.kind->builder();
    for (int round = 0; round < 200; ++round) {
      std::vector<double> x = elements<double>(Data::near, random, 1 + random() % 200);
      const int exponent = round % 3 == 0 ? static_cast<int>(random() % 1600) - 800 : 0;
      for (double& each : x) each = std::ldexp(each, exponent);
      expect_same(kind, *builder, table_of(x), random);
      if (HasFatalFailure()) return;
    }
  }
}

/// A few rows within ever more binades, wherever bins and formats begin and end: two doubles hold their sum or do not,
/// terms are rounded to the lowest bin or are not.
TEST(Alone, FewRowsWithinSomeBinades) {
  std::mt19937_64 random(44);
  for (const Kind& kind : kinds_of<double>(1)) {
    const std::unique_ptr<Builder> builder = kind.kind->builder();
    for (int round = 0; round < 600; ++round) {
      const int lowest = static_cast<int>(random() % 2040) - 1070;
      const std::uint64_t binades = 1 + random() % 100;
      std::vector<double> x(1 + random() % 70);
      for (double& each : x)
        each =
            std::ldexp(static_cast<double>(random() | 1) - 0x1p63, lowest + static_cast<int>(random() % binades) - 63);
      expect_same(kind, *builder, table_of(x), random);
      if (HasFatalFailure()) return;
    }
  }
}

/// Their sum as a double is half way between two floats. They stand side by side, or apart.
TEST(Alone, FewFloatsAreRoundedOnce) {
  const auto kind = arithmetic::make_exact(Operation::sum, Type::f32, Type::f32, 1);
  for (const Count apart : {1, 2}) {
    constexpr float terms[] = {1, 0x1p-24F, 0x1.000002p-40F, -0x1p-40F};  // the last two leave 2^-63
    std::vector<float> x(4 * apart, 100.0F);
    for (Count i = 0; i < 4; ++i) x[i * apart] = terms[i];
    const auto builder = kind->builder();
    builder->push(
        0, {.first = reinterpret_cast<const std::byte*>(x.data()), .rows = 4, .row_stride = apart * sizeof(float)});
    float found = 0;
    ASSERT_EQ(builder->finish_alone(4, reinterpret_cast<std::byte*>(&found), nullptr), Status::ok);
    EXPECT_EQ(found, 0x1.000002p0F) << apart;
  }
}

/// Converted elements come in several blocks.
TEST(Alone, ValuesOfConvertedElements) {
  std::mt19937_64 random(43);
  const auto conversion = arithmetic::conversion(Operation::sum, Type::f32, Type::f64, false);
  ASSERT_TRUE(conversion.has_value());
  const Kind kind{"converted tree", 1,
                  arithmetic::make_converted(arithmetic::make_tree(arithmetic::built_in(Operation::sum, Type::f64), 1),
                                             *conversion, Type::f32, 1)};
  const std::unique_ptr<Builder> builder = kind.kind->builder();
  for (Count rows = 0; rows < 5000; rows += 1 + rows / 8)
    expect_same(kind, *builder, table_of(elements<float>(Data::wide, random, rows)), random);
}

}  // namespace
}  // namespace steadfold::test::alone_test
