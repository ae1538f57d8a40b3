// Long doubles whose unused bytes are full of rubbish, and binary128: what comes out has zeros there, canonical NaNs,
// and is what the compiler's own arithmetic gives.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "arithmetic/operator.hpp"
#include "arithmetic/plain.hpp"
#include "arithmetic/records.hpp"
#include "arithmetic/tree/tree.hpp"

namespace steadfold::test::extended_test {
namespace {

using arithmetic::Operation;
using arithmetic::Operator;
using arithmetic::Type;

using Long = long double;
constexpr Bytes used = std::numeric_limits<Long>::digits == 64 ? 10 : sizeof(Long);  // the x87's 80 bits, or all
constexpr std::byte rubbish{0xA7};

/// The bytes of a number, with `filler` in those that hold no bit of it.
Record bytes_of(Long x, std::byte filler) {
  Record bytes(sizeof x, filler);
  std::memcpy(bytes.data(), &x, used);
  return bytes;
}

Record bytes_of(const std::vector<Long>& values, std::byte filler) {
  Record all;
  for (const Long x : values) {
    const Record one = bytes_of(x, filler);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

constexpr Long infinity = std::numeric_limits<Long>::infinity();
const Long nan = std::numeric_limits<Long>::quiet_NaN();

Long combined(Operation operation, Long a, Long b) {
  if (operation == Operation::sum) return a + b;
  if (operation == Operation::product) return a * b;
  if (__builtin_isnan(a) || __builtin_isnan(b)) return nan;
  const bool a_is_less = a == b ? __builtin_signbit(a) != 0 : a < b;
  return a_is_less == (operation == Operation::min) ? a : b;
}

constexpr std::array<Operation, 4> operations = {Operation::sum, Operation::product, Operation::min, Operation::max};

std::unique_ptr<PartialKind> kind_of(Operation operation, bool tree) {
  const Operator& op = arithmetic::built_in(operation, Type::long_double);
  return tree ? arithmetic::make_tree(op, 1) : arithmetic::make_plain(op, 1);
}

/// The value of these rows, by a builder, or by one part each that are merged.
Record value_of(const PartialKind& kind, const std::vector<Long>& rows, bool in_parts) {
  Table table{.begin = 0, .rows = rows.size(), .row_bytes = sizeof(Long), .stride = sizeof(Long)};
  table.bytes = bytes_of(rows, rubbish);
  if (!in_parts) return finished(kind, built(kind, table, {{0, rows.size()}}).record).values;
  Part all = built(kind, table, {{0, 1}});
  for (Index i = 1; i < rows.size(); ++i) all = merged(kind, all, built(kind, table, {{i, i + 1}}));
  return finished(kind, all.record).values;
}

TEST(LongDouble, ResultsHaveZerosInTheirUnusedBytes) {
  const std::vector<Long> values = {1.5L, -0.0L, 0.0L, 0x1p-60L, -3.0L, infinity, -infinity, nan, -nan};
  for (const Operation operation : operations) {
    for (const bool tree : {true, false}) {
      const auto kind = kind_of(operation, tree);
      for (const Long a : values) {
        const Long alone = __builtin_isnan(a) ? nan : a;
        EXPECT_TRUE(same(value_of(*kind, {a}, false), bytes_of(alone, std::byte{0}))) << name_of(operation);
        for (const Long b : values) {
          Long expected = combined(operation, a, b);
          if (__builtin_isnan(expected)) expected = nan;
          for (const bool in_parts : {false, true})
            EXPECT_TRUE(same(value_of(*kind, {a, b}, in_parts), bytes_of(expected, std::byte{0})))
                << name_of(operation) << " of " << a << " and " << b << (in_parts ? ", merged" : "");
        }
      }
    }
  }
}

TEST(LongDouble, ResultsOfNothingHaveThemToo) {
  for (const auto& [operation, expected] : {std::pair{Operation::sum, 0.0L}, {Operation::product, 1.0L}}) {
    const Operator& op = arithmetic::built_in(operation, Type::long_double);
    Record values(3 * sizeof(Long), rubbish);
    ASSERT_EQ(arithmetic::value_of_nothing(op, values.data(), 3), Status::ok);
    EXPECT_TRUE(same(values, bytes_of({expected, expected, expected}, std::byte{0})));
  }
}

/// Without an alignment, as rows of a record may stand.
TEST(LongDouble, BytesAreClearedWhereverTheyStand) {
  const Operator& op = arithmetic::built_in(Operation::max, Type::long_double);
  for (const std::size_t offset : {0, 1, 8, 15}) {
    Record memory(offset, rubbish);
    const Record values = bytes_of({2.0L, -nan, 5.0L}, rubbish);
    memory.insert(memory.end(), values.begin(), values.end());
    memory.push_back(rubbish);
    op.canonicalise(memory.data() + offset, 3);
    EXPECT_TRUE(same(std::span(memory).subspan(offset, 3 * sizeof(Long)), bytes_of({2.0L, nan, 5.0L}, std::byte{0})));
    EXPECT_EQ(memory.back(), rubbish);
    EXPECT_TRUE(same(std::span(memory).first(offset), Record(offset, rubbish)));
  }
}

}  // namespace
}  // namespace steadfold::test::extended_test
