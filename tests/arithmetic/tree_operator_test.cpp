// What the tree asks of a user operator: the result may be left's memory, never right's; failure is reported, never
// lost.
#include <gtest/gtest.h>

#include "arithmetic/records.hpp"
#include "arithmetic/tree/tree.hpp"
#include "order/recursion.hpp"

namespace steadfold::test::tree_operator_test {
namespace {

using arithmetic::make_tree;
using arithmetic::Operator;

struct Matrix {
  double at[4];
};

Matrix product(const Matrix& a, const Matrix& b) {
  return {{a.at[0] * b.at[0] + a.at[1] * b.at[2], a.at[0] * b.at[1] + a.at[1] * b.at[3],
           a.at[2] * b.at[0] + a.at[3] * b.at[2], a.at[2] * b.at[1] + a.at[3] * b.at[3]}};
}

/// As steadfold.h asks: the whole product is there before the result is written.
int careful(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<Matrix*>(result)[i] =
        product(static_cast<const Matrix*>(left)[i], static_cast<const Matrix*>(right)[i]);
  }
  return 0;
}

/// Reads left after it wrote part of the result, which may be the same memory: the hazard that steadfold.h warns of.
int naive(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  const auto* a = static_cast<const double*>(left);
  const auto* b = static_cast<const double*>(right);
  auto* to = static_cast<double*>(result);
  for (std::size_t i = 0; i < count; ++i, a += 4, b += 4, to += 4) {
    to[0] = a[0] * b[0] + a[1] * b[2];
    to[1] = a[0] * b[1] + a[1] * b[3];
    to[2] = a[2] * b[0] + a[3] * b[2];
    to[3] = a[2] * b[1] + a[3] * b[3];
  }
  return 0;
}

/// Reads its right operand while it writes the result: wrong only if these were one memory, which never happens.
int naive_about_right(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  const auto* b = static_cast<const double*>(right);
  auto* to = static_cast<double*>(result);
  for (std::size_t i = 0; i < count; ++i, b += 4, to += 4) {
    const Matrix a = static_cast<const Matrix*>(left)[i];
    to[0] = a.at[0] * b[0] + a.at[1] * b[2];
    to[1] = a.at[0] * b[1] + a.at[1] * b[3];
    to[2] = a.at[2] * b[0] + a.at[3] * b[2];
    to[3] = a.at[2] * b[1] + a.at[3] * b[3];
  }
  return 0;
}

std::vector<Matrix> random_matrices(std::mt19937_64& random, std::size_t count) {
  std::vector<Matrix> matrices(count);
  for (Matrix& m : matrices) {
    for (double& x : m.at) x = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-62;
  }
  return matrices;
}

Record product_of(Operator op, const Table& table, const std::vector<Interval>& cuts, Count columns = 1) {
  op.element_bytes = sizeof(Matrix);
  const auto kind = make_tree(op, columns);
  Part whole;
  for (const Interval cut : cuts)
    whole = merged(*kind, whole.record.empty() ? built(*kind, table, {}) : whole, built(*kind, table, {cut}));
  return finished(*kind, whole.record, table.rows).values;
}

TEST(MatrixProduct, IsThatOfTheRecursion) {
  std::mt19937_64 random(1);
  for (const std::size_t n : {1u, 2u, 3u, 8u, 21u, 64u, 100u}) {
    const auto matrices = random_matrices(random, n);
    const Matrix expected = reference::tree(matrices, product);
    const Record bytes = table_of(std::vector<Matrix>{expected}).bytes;
    for (const auto& cuts : {std::vector<Interval>{{0, n}}, {{0, n / 3}, {n / 3, n}}, {{n / 2, n}, {0, n / 2}}}) {
      const Table table = table_of(matrices);
      const auto right = std::span(bytes).first(sizeof expected);
      EXPECT_TRUE(same(product_of({.apply = careful}, table, cuts), right)) << n;
      EXPECT_TRUE(same(product_of({.apply = naive_about_right}, table, cuts), right)) << n;
    }
  }
}

TEST(MatrixProduct, BreaksWhereItReadsLeftAfterWritingTheResult) {
  std::mt19937_64 random(2);
  const Table table = table_of(random_matrices(random, 64));
  const std::vector<Interval> all = {{0, 64}};
  EXPECT_FALSE(same(product_of({.apply = naive}, table, all), product_of({.apply = careful}, table, all)))
      << "the hazard is gone: tell the users";
}

// --- operators that fail ---------------------------------------------------------------------------------------------

class Failing : public testing::TestWithParam<Count> {
 protected:
  /// How often `work` calls the operator; then fails each of those calls in turn and looks at the status.
  template <class Work, class Again>
  void fail_every_call(const Work& work, const Again& again) {
    watch_.calls = watch_.fail_at = 0;
    ASSERT_EQ(work(), Status::ok);
    const std::uint64_t calls = watch_.calls;
    ASSERT_GT(calls, 0u);
    for (std::uint64_t call = 1; call <= calls; ++call) {
      SCOPED_TRACE(testing::Message() << "call " << call << " of " << calls);
      watch_.calls = 0;
      watch_.fail_at = call;
      EXPECT_EQ(work(), Status::operator_failed);
      EXPECT_EQ(watch_.calls, call) << "called again after it failed";
      watch_.fail_at = 0;
      again();
    }
    EXPECT_EQ(watch_.fault, "");
  }

  Watch watch_{.size = 12};
  Operator op_ = mixing(watch_);
  std::unique_ptr<PartialKind> kind_ = make_tree(op_, GetParam());
  Table table_ = [] {
    std::mt19937_64 random(3);
    return random_table(random, 0, 200, 12 * GetParam());
  }();
};

TEST_P(Failing, ShowsInTheBuiltPartial) {
  const std::vector<Interval> all = {{0, 100}};
  const Record expected = built(*kind_, table_, all).record;
  const auto builder = kind_->builder();
  fail_every_call(
      [&] {
        const Part part = built(*kind_, *builder, table_, all);
        if (status_of(part.record) != Status::ok) {
          EXPECT_EQ(part.record.size(), sizeof(Header));
        }
        return status_of(part.record);
      },
      [&] { EXPECT_TRUE(same(built(*kind_, *builder, table_, all).record, expected)) << "not as good as new"; });
}

/// More is pushed after the failure, touching it or not, and nothing is lost or broken.
TEST_P(Failing, IsNotForgottenByLaterBlocks) {
  const auto builder = kind_->builder();
  for (const auto& blocks : {std::vector<Interval>{{0, 9}, {9, 20}, {20, 33}}, {{0, 9}, {40, 90}, {9, 20}}}) {
    watch_.calls = 0;
    watch_.fail_at = 2;
    EXPECT_EQ(status_of(built(*kind_, *builder, table_, blocks).record), Status::operator_failed);
  }
}

/// Two runs meet in `write`.
TEST_P(Failing, ShowsWhereBlocksMeet) {
  const auto builder = kind_->builder();
  watch_.calls = watch_.fail_at = 0;
  builder->push(31, table_.block(31, 2));
  builder->push(0, table_.block(0, 31));
  const std::uint64_t before = watch_.calls;
  watch_.fail_at = before + 1;
  EXPECT_EQ(status_of(written(*kind_, *builder, IntervalSet({0, 33}))), Status::operator_failed);
}

TEST_P(Failing, ShowsInTheMergedPartial) {
  const Part left = built(*kind_, table_, {{0, 31}, {65, 90}});
  const Part right = built(*kind_, table_, {{31, 65}, {90, 127}});
  fail_every_call(
      [&] {
        const Part part = merged(*kind_, left, right);
        if (status_of(part.record) != Status::ok) {
          EXPECT_EQ(part.record.size(), sizeof(Header));
        }
        return status_of(part.record);
      },
      [] {});
}

TEST_P(Failing, ShowsInTheResult) {
  const Part all = built(*kind_, table_, {{0, 127}});
  fail_every_call([&] { return finished(*kind_, all.record).status; }, [] {});
}

INSTANTIATE_TEST_SUITE_P(Columns, Failing, testing::Values(1, 3));

}  // namespace
}  // namespace steadfold::test::tree_operator_test
