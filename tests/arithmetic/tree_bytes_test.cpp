// Records that should not be: overlaps, gaps, other calls, too little room, bytes that nobody wrote. A status, no
// crash.
#include <gtest/gtest.h>

#include <cstdlib>

#include "arithmetic/records.hpp"
#include "arithmetic/tree/tree.hpp"
#include "order/recursion.hpp"

namespace steadfold::test::tree_bytes_test {
namespace {

using arithmetic::make_tree;
using arithmetic::Operator;
using arithmetic::unknown_count;

class TreeBytes : public testing::Test {
 protected:
  Part part(std::vector<Interval> intervals) { return built(*kind_, table_, std::move(intervals)); }

  /// In a room of any size, whatever the operands say.
  Record merged_into(Bytes room, const Record& left, const Record& right) {
    Guarded out(room);
    return out.taken(merge(*kind_, left, right, out.room()));
  }

  Watch watch_{.size = 4};
  Operator op_ = mixing(watch_);
  std::unique_ptr<PartialKind> kind_ = make_tree(op_, 3);
  Table table_ = [] {
    std::mt19937_64 random(1);
    return random_table(random, 0, 200, 12);
  }();
};

TEST_F(TreeBytes, OverlappingBlocksAreReported) {
  const auto builder = kind_->builder();
  const auto status = [&](std::vector<Interval> blocks) {
    builder->clear();
    for (const Interval block : blocks) builder->push(block.begin, table_.block(block.begin, block.size()));
    Guarded out(4096);
    return status_of(out.taken(builder->write(out.room())));
  };
  EXPECT_EQ(status({{0, 5}, {4, 8}}), Status::overlap);
  EXPECT_EQ(status({{4, 8}, {0, 5}}), Status::overlap);
  EXPECT_EQ(status({{0, 9}, {3, 4}}), Status::overlap);
  EXPECT_EQ(status({{3, 4}, {0, 9}}), Status::overlap);
  EXPECT_EQ(status({{3, 4}, {3, 4}}), Status::overlap);
  EXPECT_EQ(status({{0, 9}, {20, 30}, {9, 11}, {10, 12}}), Status::overlap);
  EXPECT_EQ(status({{0, 9}, {20, 30}, {9, 9}, {25, 25}, {9, 20}}), Status::ok);
}

TEST_F(TreeBytes, OverlappingPartialsAreReported) {
  for (Index a = 0; a < 12; ++a) {
    for (Index b = a + 1; b <= 12; ++b) {
      for (Index c = 0; c < 12; ++c) {
        for (Index d = c + 1; d <= 12; ++d) {
          const bool overlaps = a < d && c < b;
          const Record record = merged_into(4096, part({{a, b}}).record, part({{c, d}}).record);
          ASSERT_EQ(status_of(record), overlaps ? Status::overlap : Status::ok) << a << b << c << d;
          if (overlaps) {
            ASSERT_EQ(record.size(), sizeof(Header));
          }
        }
      }
    }
  }
  EXPECT_EQ(status_of(merged_into(4096, part({{0, 3}, {9, 12}}).record, part({{3, 5}, {11, 13}}).record)),
            Status::overlap);
  EXPECT_EQ(status_of(merged_into(4096, part({{0, 3}, {9, 12}}).record, part({{3, 9}, {20, 21}}).record)), Status::ok);
}

TEST_F(TreeBytes, RowsThatAreNotAllAreReported) {
  const auto status = [&](std::vector<Interval> rows, Count count) {
    return finished(*kind_, part(std::move(rows)).record, count).status;
  };
  for (const Count count : {Count{5}, unknown_count}) {
    EXPECT_EQ(status({{0, 5}}, count), Status::ok);
    EXPECT_EQ(status({{1, 5}}, count), Status::gap);
    EXPECT_EQ(status({{0, 2}, {3, 5}}, count), Status::gap);
  }
  EXPECT_EQ(status({{0, 5}}, 6), Status::gap);
  EXPECT_EQ(status({{0, 5}}, 4), Status::overlap);
  EXPECT_EQ(status({{0, 5}}, 0), Status::overlap);
  EXPECT_EQ(status({}, 5), Status::gap);
  EXPECT_EQ(status({}, 0), Status::empty);
  EXPECT_EQ(status({}, unknown_count), Status::empty);
}

TEST_F(TreeBytes, StatusesMeetAsTheWorseAndDigestsMustAgree) {
  const Part left = part({{0, 5}});
  const Part right = part({{5, 9}});
  const auto merged_status = [&](Header a, Header b) {
    Record l = left.record;
    Record r = right.record;
    arithmetic::set_header(l, a);
    arithmetic::set_header(r, b);
    const Record record = merged_into(4096, l, r);
    if (status_of(record) != Status::ok) {
      EXPECT_EQ(record.size(), sizeof(Header));
    }
    return status_of(record);
  };
  EXPECT_EQ(merged_status({}, {}), Status::ok);
  EXPECT_EQ(merged_status({.digest = 1}, {.digest = 2}), Status::mismatch);
  for (const Status status : {Status::empty, Status::gap, Status::operator_failed, Status::internal}) {
    EXPECT_EQ(merged_status({.status = status}, {}), status);
    EXPECT_EQ(merged_status({}, {.status = status}), status);
    EXPECT_EQ(merged_status({.status = status}, {.status = Status::overlap}), std::max(status, Status::overlap));
    Record failed = left.record;
    arithmetic::set_header(failed, {.status = status});
    EXPECT_EQ(finished(*kind_, failed).status, status);
    failed.resize(sizeof(Header));
    EXPECT_EQ(status_of(merged_into(4096, failed, right.record)), status);
    EXPECT_EQ(finished(*kind_, failed).status, status);
  }
}

/// Siblings are merged by a way of their own, in one piece or in two.
TEST_F(TreeBytes, DigestsOfSiblingsMustAgree) {
  for (const Count size : {1u, 4u}) {
    Part left = part({{0, size}});
    Part right = part({{size, 2 * size}});
    for (const std::uint64_t digest : {1u, 2u}) {
      arithmetic::set_header(left.record, {.digest = 1});
      arithmetic::set_header(right.record, {.digest = digest});
      const Status expected = digest == 1 ? Status::ok : Status::mismatch;
      EXPECT_EQ(status_of(merged_into(4096, left.record, right.record)), expected);
      EXPECT_EQ(status_of(merged_into(4096, right.record, left.record)), expected);

      const auto apart = [&](const Record& record) { return with_values_apart(*kind_, record); };
      Guarded head(128);
      Guarded values(kind_->value_bytes());
      EXPECT_EQ(status_of(kind_->merge(apart(left.record), apart(right.record), {head.room(), values.room()}).head),
                expected);
      const auto merged =
          kind_->values_apart()->merge_to_result(apart(left.record), apart(right.record), head.room(), values.data());
      EXPECT_EQ(merged.has_value(), digest == 1);
    }
  }
}

TEST_F(TreeBytes, TooLittleRoomIsReported) {
  const Part left = part({{1, 30}, {40, 50}});
  const Part right = part({{30, 40}, {60, 70}});
  const Part both = merged(*kind_, left, right);
  const auto builder = kind_->builder();
  builder->push(0, table_.block(0, 50));
  builder->push(100, table_.block(100, 50));
  for (Bytes room = sizeof(Header); room < 2000; ++room) {
    const Record record = merged_into(room, left.record, right.record);
    if (room >= kind_->working_capacity(both.rows)) {
      ASSERT_TRUE(same(record, both.record));
    } else if (status_of(record) != Status::ok) {
      ASSERT_EQ(status_of(record), Status::transport_failed) << room;
      ASSERT_EQ(record.size(), sizeof(Header));
    }
    Guarded out(room);
    const Record built_record = out.taken(builder->write(out.room()));
    if (status_of(built_record) != Status::ok) {
      ASSERT_EQ(status_of(built_record), Status::transport_failed) << room;
    }
  }
}

TEST_F(TreeBytes, EveryTruncationAndEveryExtensionIsReported) {
  const Part good = part({{100, 120}});
  for (const auto& rows : {std::vector<Interval>{}, {{0, 7}}, {{1, 30}, {40, 50}}}) {
    const Record whole = part(rows).record;
    for (Bytes size = 0; size < whole.size() + 40; ++size) {
      if (size == whole.size()) continue;
      Record bytes = whole;
      bytes.resize(size);
      EXPECT_EQ(finished(*kind_, bytes).status, Status::transport_failed) << size << " of " << whole.size();
      EXPECT_EQ(status_of(merged_into(4096, bytes, good.record)), Status::transport_failed) << size;
      EXPECT_EQ(status_of(merged_into(4096, good.record, bytes)), Status::transport_failed) << size;
    }
  }
}

/// Bytes changed at random behind the header; what comes out either says so or is a record again.
TEST_F(TreeBytes, CorruptionNeverCrashes) {
  const std::uint64_t rounds = std::getenv("STEADFOLD_FULL") != nullptr ? 2000000 : 60000;
  const std::vector<Part> parts = {part({{0, 7}}), part({{1, 30}, {40, 50}}), part({{30, 40}, {50, 60}, {70, 71}}),
                                   part({}), part({{64, 128}})};
  std::mt19937_64 random(5);
  std::uint64_t reported = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 5, round " << round);
    Record bytes = parts[random() % parts.size()].record;
    for (std::uint64_t i = random() % 4; i < 4; ++i) {
      // Mostly the counts and the table of intervals: they are what leads a reader astray.
      const Bytes behind = bytes.size() - sizeof(Header);
      const Bytes at =
          sizeof(Header) + (random() % 3 == 0 ? random() % 16 : behind - 1 - random() % std::min(behind, Bytes{48}));
      bytes[at] =
          random() % 2 == 0 ? static_cast<std::byte>(random()) : (random() % 2 == 0 ? std::byte{0xFF} : std::byte{0});
    }
    if (random() % 8 == 0) bytes.resize(sizeof(Header) + random() % (bytes.size() + 8));
    const Record& other = parts[random() % parts.size()].record;
    const Record merged_record = random() % 2 == 0 ? merged_into(random() % 1000 + 16, bytes, other)
                                                   : merged_into(random() % 1000 + 16, other, bytes);
    const Status status = status_of(merged_record);
    ASSERT_LE(status, Status::internal);
    if (status != Status::ok) {
      ++reported;
    } else {
      ASSERT_NE(finished(*kind_, merged_record).status, Status::transport_failed) << hex(bytes);
    }
    ASSERT_LE(finished(*kind_, bytes, random() % 2 == 0 ? unknown_count : random() % 60).status, Status::internal);
  }
  EXPECT_GT(reported, rounds / 2);
  EXPECT_EQ(watch_.fault, "");
}

/// Records of rows at the ends of the 64-bit range, which no test could hold as rows.
TEST_F(TreeBytes, RecordsOfHugeIntervals) {
  constexpr Index top = Index{1} << 63;
  constexpr Index most = ~Index{0};
  std::mt19937_64 random(6);
  const auto record_of = [&](Interval interval) {
    const Count nodes = reference::nodes_from_left(interval.begin, interval.end).size();
    Record record(32 + 16 + nodes * 12);
    for (Bytes i = 32 + 16; i < record.size(); ++i) record[i] = static_cast<std::byte>(random());
    const std::uint32_t interval_count[2] = {1, 0};
    const std::uint64_t node_count = nodes;
    std::memcpy(record.data() + 16, interval_count, sizeof interval_count);
    std::memcpy(record.data() + 24, &node_count, sizeof node_count);
    std::memcpy(record.data() + 32, &interval, sizeof interval);
    return Part{record, IntervalSet(interval)};
  };
  for (const Index cut : {Index{1}, Index{12345}, top / 2, top - 1, top, top + 1, most - 1}) {
    SCOPED_TRACE(testing::Message() << "cut at " << cut);
    const Part left = record_of({0, cut});
    const Part right = record_of({cut, most});
    const Part both = merged(*kind_, left, right);
    EXPECT_EQ(status_of(both.record), Status::ok);
    EXPECT_EQ(both.record.size(), kind_->capacity(IntervalSet({0, most})));
    EXPECT_TRUE(same(merged(*kind_, right, left).record, both.record));
    EXPECT_EQ(finished(*kind_, both.record, most).status, Status::ok);
    EXPECT_EQ(finished(*kind_, both.record, most - 1).status, Status::overlap);
  }
}

}  // namespace
}  // namespace steadfold::test::tree_bytes_test
