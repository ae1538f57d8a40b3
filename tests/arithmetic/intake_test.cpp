// Rows that stand anywhere reach a builder as they would row after row: which are taken where they stand, how the
// others are copied, and that user operators on elements of odd sizes see the same, aligned.
// tests/plan/strided_test.cpp has every kind of the library.
#include "arithmetic/rows/intake.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "arithmetic/plain.hpp"
#include "arithmetic/records.hpp"
#include "arithmetic/tree/tree.hpp"
#include "support/sanitized.hpp"
#include "support/strided.hpp"
#include "support/two_axes.hpp"

namespace steadfold::test::intake_test {
namespace {

using arithmetic::Intake;
using arithmetic::Operands;
using arithmetic::RowShape;
using arithmetic::Strides;

std::vector<std::byte> random_bytes(std::mt19937_64& random, Bytes size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// What goes with the elements.
enum class Second { none, factors, mask };

Steps steps_of(const Pitch& pitch) { return {pitch.row, pitch.element}; }

TEST(Strides, SayWhatIsTakenWhereItStands) {
  const RowShape three{.element_bytes = 8, .columns = 3};
  EXPECT_TRUE(Strides(three).are_direct());
  EXPECT_TRUE(two_axes(three, {32, 8}).are_direct());
  EXPECT_TRUE(two_axes(three, {0, 8}).are_direct());
  EXPECT_FALSE(two_axes(three, {28, 8}).are_direct());
  EXPECT_FALSE(two_axes(three, {-24, 8}).are_direct());
  EXPECT_FALSE(two_axes(three, {24, -8}).are_direct());
  EXPECT_FALSE(two_axes(three, {24, 0}).are_direct());
  EXPECT_FALSE(two_axes(three, {8, 80}).are_direct());
  const RowShape one{.element_bytes = 8, .columns = 1};
  EXPECT_TRUE(two_axes(one, {40, 0}).are_direct());
  EXPECT_TRUE(two_axes({.element_bytes = 12, .columns = 1}, {16, 0}).are_direct());
  EXPECT_FALSE(two_axes({.element_bytes = 12, .columns = 1}, {18, 0}).are_direct());
  const RowShape factors{.element_bytes = 8, .columns = 3, .has_factors = true};
  EXPECT_TRUE(Strides(factors).are_direct());
  EXPECT_TRUE(two_axes(factors, {40, 8}, {40, 8}).are_direct());
  EXPECT_FALSE(two_axes(factors, {40, 8}, {24, 8}).are_direct());
  EXPECT_FALSE(two_axes(factors, {24, 8}, {24, 16}).are_direct());
  const RowShape masked{.element_bytes = 8, .columns = 3, .has_mask = true};
  EXPECT_TRUE(Strides(masked).are_direct());
  EXPECT_TRUE(two_axes(masked, {40, 8}, {}, 1).are_direct());
  EXPECT_FALSE(two_axes(masked, {24, 8}, {}, 2).are_direct());
  EXPECT_FALSE(two_axes(masked, {24, 8}, {}, 0).are_direct());
}

/// Notes the rows that it is given, and whether those of the push before were still there.
class Notes final : public Builder {
 public:
  Notes(const RowShape& shape, Record& first, Record& second) : shape_(shape), first_(first), second_(second) {}

  void clear() override {}
  void push(Index begin, const Block& block) override {
    EXPECT_EQ(begin, rows_);
    rows_ += block.rows;
    EXPECT_TRUE(same(rows_of(last_), last_rows_)) << "the rows before were written over";
    const Record rows = rows_of(block);
    first_.insert(first_.end(), rows.begin(), rows.end());
    for (Count i = 0; shape_.has_factors && i < block.rows; ++i) {
      const std::byte* const row = block.second + i * block.row_stride;
      second_.insert(second_.end(), row, row + shape_.row_bytes());
    }
    if (shape_.has_mask) second_.insert(second_.end(), block.mask, block.mask + block.rows);
    last_ = block;
    last_rows_ = rows;
    most_rows_ = std::max(most_rows_, block.rows);
  }
  Bytes write(std::span<std::byte> /*out*/) override { return 0; }

  Count most_rows() const { return most_rows_; }

 private:
  Record rows_of(const Block& block) const {
    Record rows;
    for (Count i = 0; i < block.rows; ++i) {
      const std::byte* const row = block.first + i * block.row_stride;
      rows.insert(rows.end(), row, row + shape_.row_bytes());
    }
    return rows;
  }

  RowShape shape_;
  Record& first_;
  Record& second_;
  Block last_;
  Record last_rows_;
  Count rows_ = 0;
  Count most_rows_ = 0;
};

/// Every element size that is copied in a way of its own, and others; rows from one element to more than a tile.
TEST(Intakes, GiveBuildersTheRowsInPiecesThatStayUntilTheNext) {
  constexpr std::uint64_t seed = 20260713;
  std::mt19937_64 random(seed);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  int tried = 0;
  for (const Bytes element_bytes : {1, 2, 3, 4, 8, 12, 16, 24, 40}) {
    for (const Count columns : {1, 2, 5, 1500}) {
      for (const Second second : {Second::none, Second::factors, Second::mask}) {
        const RowShape shape{.element_bytes = element_bytes,
                             .columns = columns,
                             .has_factors = second == Second::factors,
                             .has_mask = second == Second::mask};
        const Count tile = std::max<Count>(8192 / shape.row_bytes(), 1);
        const Count rows = std::min<Count>(2 * tile + 1 + random() % (tile + 2), 9000);
        const auto all = pitches(rows, columns, element_bytes);
        for (const Pitch& pitch : all) {
          if (sanitized && ++tried % 4 != 0) continue;
          const bool is_masked = second == Second::mask;
          Pitch other = all[random() % all.size()];
          if (is_masked) other = {static_cast<std::ptrdiff_t>(random() % 7) - 3, 0, "a mask"};
          SCOPED_TRACE(testing::Message() << pitch.name << " and " << other.name << ", " << rows << " x " << columns
                                          << " of " << element_bytes << " bytes");
          const Side side = random() % 2 == 0 ? Side::begin : Side::end;
          const Strided x(random_bytes(random, rows * shape.row_bytes()), rows, columns, element_bytes, pitch, side);
          const Count other_columns = is_masked ? 1 : columns;
          const Bytes other_bytes = is_masked ? 1 : element_bytes;
          const Strided y(random_bytes(random, rows * other_columns * other_bytes), rows, other_columns, other_bytes,
                          other, side);
          Record first;
          Record factors;
          auto notes = std::make_unique<Notes>(shape, first, factors);
          const Notes& seen = *notes;
          Intake intake(std::move(notes), shape);
          const Strides strides = two_axes(shape, steps_of(pitch), is_masked ? Steps{} : steps_of(other), other.row);
          const Operands data{
              .first = x.begin(), .second = is_masked ? nullptr : y.begin(), .mask = is_masked ? y.begin() : nullptr};
          const Count cut = random() % rows;
          intake.push(0, data, cut, strides);
          intake.push(cut, data.at(cut, 0), rows - cut, strides);
          ASSERT_TRUE(same(first, x.copy(0, columns)));
          if (second != Second::none) {
            ASSERT_TRUE(same(factors, y.copy(0, other_columns)));
          }
          if (!strides.are_direct()) {
            EXPECT_LE(seen.most_rows(), tile);
          }
          if (HasFailure()) return;
        }
      }
    }
  }
}

/// The operator, which is no associative one, checks that what it is given is aligned as it was promised.
TEST(Intakes, GiveUserOperatorsTheSameElements) {
  std::mt19937_64 random(20260714);
  Count different = 0;
  Count compared = 0;
  for (const Bytes element_bytes : {1, 2, 3, 4, 8, 12, 16, 24, 40}) {
    for (const Count columns : {1, 2, 5}) {
      const Count rows = 1 + random() % 700;
      Watch watch{.size = element_bytes};
      const arithmetic::Operator op = mixing(watch);
      const RowShape shape{.element_bytes = element_bytes, .columns = columns};
      for (const bool is_tree : {true, false}) {
        const auto kind = is_tree ? arithmetic::make_tree(op, columns) : arithmetic::make_plain(op, columns);
        for (const Pitch& pitch : pitches(rows, columns, element_bytes)) {
          SCOPED_TRACE(testing::Message() << pitch.name << ", " << rows << " x " << columns << " of " << element_bytes
                                          << " bytes by " << (is_tree ? "tree" : "plain"));
          const Strided x(random_bytes(random, rows * shape.row_bytes()), rows, columns, element_bytes, pitch,
                          Side::end);
          const Table table{
              .rows = rows, .row_bytes = shape.row_bytes(), .stride = shape.row_bytes(), .bytes = x.copy(0, columns)};
          const Record expected = built(*kind, table, {{0, rows}}).record;
          const auto found = [&](const Steps& by) {
            Intake intake(kind->builder(), shape);
            const Strides strides = two_axes(shape, by);
            const Operands data{.first = x.begin()};
            const Count cut = random() % rows;
            intake.push(0, data, cut, strides);
            intake.push(cut, data.at(cut, 0), rows - cut, strides);
            return written(*kind, intake.builder(), IntervalSet({0, rows}));
          };
          EXPECT_TRUE(same(found(steps_of(pitch)), expected));
          EXPECT_EQ(watch.fault, "");
          if (HasFailure()) return;
          if (rows < 3 || std::abs(pitch.row) <= 1) continue;  // a control: rows one byte nearer to each other
          const bool is_up = pitch.row > 0;
          different += found({pitch.row - (is_up ? 1 : -1), pitch.element}) != expected ? 1 : 0;
          watch.fault.clear();
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 500u);
  EXPECT_GT(different, compared * 9 / 10);
}

}  // namespace
}  // namespace steadfold::test::intake_test
