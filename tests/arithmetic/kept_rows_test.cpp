// Partials that are the rows themselves come to the bits of `exact` and `binned`, from any splitting, merged in any
// order, in one piece and with rows apart, whole and piece by piece. Broken ones are refused.
#include "arithmetic/exact/kept_rows.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "arithmetic/binned/binned.hpp"
#include "arithmetic/exact/exact.hpp"
#include "arithmetic/records.hpp"
#include "support/hostile_terms.hpp"

namespace steadfold::test::kept_rows_test {
namespace {

using arithmetic::most_kept_rows;
using arithmetic::Operation;
using arithmetic::Partial;
using arithmetic::Pieces;
using arithmetic::Type;

/// Rows of columns that are hard to add up, each with a trouble of its own.
template <class T>
Table hostile_table(std::uint64_t seed, Count rows, Count columns) {
  HostileTerms<T> hostile(seed);
  std::vector<T> elements(rows * columns);
  for (Count column = 0; column < columns; ++column) {
    const std::vector<T> terms = hostile.of(rows, troubles[column % std::size(troubles)]);
    for (Count row = 0; row < rows; ++row) elements[row * columns + column] = terms[row];
  }
  return table_of(elements, 0, columns);
}

/// What partials of digits or bins come to.
template <class T>
Record due(const Table& table, Count columns, int bin_count) {
  constexpr Type exact_type = sizeof(T) == 8 ? Type::f64 : Type::f32;
  const auto kind = bin_count == 0 ? arithmetic::make_exact(Operation::sum, exact_type, exact_type, columns)
                                   : arithmetic::make_binned(arithmetic::Operation::sum, type_of<T>, type_of<T>,
                                                             bin_count, arithmetic::Sweep::single_sweep, columns);
  return finished(*kind, built(*kind, table, {{0, table.rows}}).record).values;
}

/// Parts of one to three rows.
std::vector<Part> cut(const PartialKind& kind, const Table& table, std::mt19937_64& random) {
  std::vector<Part> parts;
  for (Index begin = 0; begin < table.rows;) {
    const Index end = std::min<Index>(begin + 1 + random() % 3, table.rows);
    parts.push_back(built(kind, table, {{begin, end}}));
    begin = end;
  }
  parts.push_back(built(kind, table, {}));  // of a rank without rows
  return parts;
}

template <class T>
void expect_bits_from_any_splitting(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (const int bin_count : {0, 2, 3, 4}) {
    for (Count rows = 2; rows <= most_kept_rows; ++rows) {
      const Count columns = 9 + random() % 600;
      const auto kind = arithmetic::make_kept_rows(type_of<T>, bin_count, columns);
      const Table table = hostile_table<T>(random(), rows, columns);
      const Part all = merged_at_random(*kind, cut(*kind, table, random), random);
      const Finished found = finished(*kind, all.record, rows);
      ASSERT_EQ(found.status, Status::ok);
      ASSERT_TRUE(same(found.values, due<T>(table, columns, bin_count))) << rows << " rows, " << bin_count << " bins";
    }
  }
}

TEST(KeptRows, DoublesComeToTheSameBits) { expect_bits_from_any_splitting<double>(79); }
TEST(KeptRows, FloatsComeToTheSameBits) { expect_bits_from_any_splitting<float>(83); }

TEST(KeptRows, MayStandApartAndGoPieceByPiece) {
  constexpr Count columns = 700;
  const auto kind = arithmetic::make_kept_rows(arithmetic::Type::f64, 0, columns);
  const Table table = hostile_table<double>(89, 5, columns);
  const Part left = built(*kind, table, {{0, 2}});
  const Part right = built(*kind, table, {{2, 5}});
  const Record whole = merged(*kind, left, right).record;
  const Record values = due<double>(table, columns, 0);
  for (const Count most : {Count{1}, Count{64}, Count{699}, Count{1000}}) {
    Pieces merges{.most = most};
    Guarded head(kind->capacity({}));
    Guarded rows(5 * kind->value_bytes());
    Partial all;
    Count calls = 0;
    do {
      all = kind->merge_piece(with_values_apart(*kind, left.record), with_values_apart(*kind, right.record),
                              {head.room(), rows.room()}, merges);
      calls += 1;
    } while (merges.more);
    EXPECT_EQ(calls, (columns + most - 1) / most);
    Record record(all.head.begin(), all.head.end());
    record.insert(record.end(), all.values, all.values + kind->values_apart()->values_bytes(all.head));
    ASSERT_TRUE(same(record, whole)) << most;
    ASSERT_TRUE(head.intact() && rows.intact());
    Pieces finishes{.most = most};
    Guarded out(kind->value_bytes());
    do {
      ASSERT_EQ(kind->finish_piece(all, 5, out.data(), nullptr, finishes), Status::ok);
    } while (finishes.more);
    ASSERT_TRUE(same(out.taken(kind->value_bytes()), values)) << most;
  }
}

TEST(KeptRows, OnesThatAreNotWholeAreRefused) {
  constexpr Count columns = 9;
  const auto kind = arithmetic::make_kept_rows(arithmetic::Type::f64, 0, columns);
  const Table table = hostile_table<double>(97, most_kept_rows + 1, columns);
  const Record two = built(*kind, table, {{0, 2}}).record;
  EXPECT_EQ(finished(*kind, two, 3).status, Status::gap);
  EXPECT_EQ(finished(*kind, two, 1).status, Status::overlap);
  EXPECT_EQ(finished(*kind, built(*kind, table, {{0, 1}}).record).status, Status::transport_failed);
  EXPECT_EQ(finished(*kind, built(*kind, table, {{0, table.rows}}).record).status, Status::transport_failed);
  for (Bytes size = 0; size <= two.size() + 1; ++size) {
    if (size == two.size()) continue;
    Record broken = two;
    broken.resize(size);
    EXPECT_EQ(finished(*kind, broken).status, Status::transport_failed) << size;
    Guarded out(kind->capacity(IntervalSet({0, 4})));
    const Record of_both = out.taken(merge(*kind, two, broken, out.room()));
    EXPECT_EQ(status_of(of_both), Status::transport_failed) << size;
  }
  Record none = built(*kind, table, {}).record;
  const std::uint64_t claimed = std::uint64_t{1} << 61;  // whose bytes are 0 modulo 2^64
  std::memcpy(none.data() + sizeof(Header), &claimed, sizeof claimed);
  EXPECT_EQ(finished(*kind, none).status, Status::transport_failed);
  Guarded of_claimed(kind->capacity(IntervalSet({0, 4})));
  EXPECT_EQ(status_of(of_claimed.taken(merge(*kind, two, none, of_claimed.room()))), Status::transport_failed);
  for (Bytes room = 0; room < kind->capacity(IntervalSet({0, 4})); ++room) {
    Guarded out(room);
    const Record of_both = out.taken(merge(*kind, two, two, out.room()));
    EXPECT_EQ(status_of(of_both), Status::transport_failed) << room;
  }
  const auto builder = kind->builder();
  builder->push(0, {.first = nullptr, .rows = 1, .row_stride = kind->value_bytes()});
  Guarded out(kind->capacity(IntervalSet({0, 1})));
  EXPECT_EQ(status_of(out.taken(builder->write(out.room()))), Status::invalid_argument);
}

}  // namespace
}  // namespace steadfold::test::kept_rows_test
