// Every kind of partial that a call can ask for: its builder reads the rows it is given and nothing around them, writes
// within its room, does not mind in how many pushes they come, and once cleared is as good as new. Equal data give
// equal bytes, whatever stood in the memory before. Merges and finishes in pieces of columns give the same bytes.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "arithmetic/tree/tree.hpp"
#include "support/all_kinds.hpp"
#include "support/fenced.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::kinds_test {
namespace {

using arithmetic::Block;
using arithmetic::Builder;
using arithmetic::Operation;
using arithmetic::Sweep;
using arithmetic::Type;

/// Records stand on 16-byte boundaries, as those of messages do; a fence is up to 15 bytes behind them.
struct alignas(16) Word {
  std::byte bytes[16];
};

class KindsOfPartials : public testing::TestWithParam<std::pair<Method, Sweep>> {
 protected:
  /// Rows of random bytes, special values and what is no number among them, `stride` apart, at a fence.
  Block block_of(const Kind& kind, Count rows, Bytes stride, Side side) {
    const Bytes bytes = rows == 0 ? 0 : (rows - 1) * stride + kind.row_bytes();
    const bool is_dot = arithmetic::has_factors(kind.call.operation);
    auto* const first = first_.array<std::byte>(bytes, side);
    auto* const second = second_.array<std::byte>(is_dot ? bytes : 0, side);
    auto* const mask = mask_.array<std::byte>(rows, side);
    for (Bytes i = 0; i < bytes; ++i) first[i] = static_cast<std::byte>(random_());
    for (Bytes i = 0; is_dot && i < bytes; ++i) second[i] = static_cast<std::byte>(random_() % 4);
    for (Count i = 0; i < rows; ++i) mask[i] = static_cast<std::byte>(random_() % 4);
    return {.first = first,
            .second = is_dot ? second : nullptr,
            .mask = kind.is_masked() ? mask : nullptr,
            .rows = rows,
            .row_stride = stride};
  }

  /// Gives the bytes that hold no bits of a number another content: the 80 bits of the x87 stand in 12 or 16 bytes.
  void change_unused(const Kind& kind, const Block& block) {
    constexpr Bytes used = std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);
    if (kind.call.type != Type::long_double) return;
    for (Count row = 0; row < block.rows; ++row) {
      for (Bytes i = 0; i < kind.row_bytes(); ++i) {
        auto* const at = const_cast<std::byte*>(block.first) + row * block.row_stride + i;
        if (i % sizeof(long double) >= used) *at = static_cast<std::byte>(random_());
      }
    }
  }

  Memory surveyed(const Kind& kind, Builder& builder, const Block& block) {
    Memory found(kind.partial->survey_bytes());
    EXPECT_TRUE(stays_inside([&] { builder.surveyor()->survey(0, block); })) << "a survey";
    builder.surveyor()->write_survey(found);
    return found;
  }

  /// Pushed at once, or `first` rows before the others.
  Memory built(const Kind& kind, Builder& builder, const Block& block, Side side, Count first = 0) {
    builder.clear();
    Block rest = block;
    if (first > 0) {
      Block some = block;
      some.rows = first;
      rest.rows -= first;
      rest.first += first * block.row_stride;
      if (rest.second != nullptr) rest.second += first * block.row_stride;
      if (rest.mask != nullptr) rest.mask += first;
      EXPECT_TRUE(stays_inside([&] { builder.push(0, some); })) << "a push of " << first;
    }
    EXPECT_TRUE(stays_inside([&] { builder.push(first, rest); })) << "a push";
    const Bytes room = kind.partial->working_capacity(order::IntervalSet({0, block.rows}));
    auto* const out = reinterpret_cast<std::byte*>(out_.array<Word>((room + sizeof(Word) - 1) / sizeof(Word), side));
    std::memset(out, static_cast<int>(random_() % 256), room);
    Bytes size = 0;
    EXPECT_TRUE(stays_inside([&] { size = builder.write({out, room}); })) << "a write";
    EXPECT_LE(size, room);
    return {out, out + size};
  }

  Memory finished(const Kind& kind, const Memory& record, Count rows, Side side) {
    const Bytes bytes = kind.partial->value_bytes();
    auto* const values = out_.array<std::byte>(bytes, side);
    auto* const spare = spare_.array<std::byte>(bytes, side);
    std::memset(values, 0, bytes);
    EXPECT_TRUE(stays_inside([&] { kind.partial->finish(record, rows, values, spare); })) << "a finish";
    return {values, values + bytes};
  }

  /// One builder for all, and a new one each time.
  void expect_as_new(const Kind& kind) {
    const auto used = kind.partial->builder();
    for (const Count rows : {0u, 1u, 40u, 2u, 70u, 1u, 5u, 33u}) {
      for (const Side side : {Side::begin, Side::end}) {
        const Bytes stride = kind.row_bytes() + (random_() % 2 == 0 ? 0 : 16);
        const Block block = block_of(kind, rows, stride, side);
        const auto fresh = kind.partial->builder();
        if (kind.partial->survey_bytes() > 0) {
          const Memory expected = surveyed(kind, *fresh, block);
          EXPECT_EQ(hex(surveyed(kind, *used, block)), hex(expected)) << rows << " rows surveyed";
          fresh->surveyor()->expect(expected);
          used->surveyor()->expect(expected);
        }
        const Memory expected = built(kind, *fresh, block, side);
        change_unused(kind, block);
        EXPECT_EQ(hex(built(kind, *used, block, side)), hex(expected)) << rows << " rows";
        const std::string values = hex(finished(kind, expected, rows, side));
        for (const Count first : {Count{1}, rows / 2}) {
          if (first == 0 || first >= rows) continue;
          const Memory in_two = built(kind, *used, block, side, first);
          EXPECT_EQ(hex(finished(kind, in_two, rows, side)), values) << first << " and " << rows - first << " rows";
        }
        const bool refuses_null = kind.is_masked() || kind.call.method == Method::exact;
        if (refuses_null || kind.call.method == Method::binned)
          used->push(0, {.first = nullptr, .second = nullptr, .rows = 1, .row_stride = stride});  // fails
        if (HasFailure()) return;
      }
    }
  }

  /// The record of rows first, first + 1, ...
  Memory record_of(const Kind& kind, Index first, const Block& block) {
    const auto builder = kind.partial->builder();
    if (kind.partial->survey_bytes() > 0) builder->surveyor()->expect(Memory(kind.partial->survey_bytes()));
    builder->push(first, block);
    Memory record(kind.partial->working_capacity(order::IntervalSet({first, first + block.rows})));
    record.resize(builder->write(record));
    return record;
  }

  /// The record of these rows, all of them zeros.
  static Memory written(const Kind& kind, const order::IntervalSet& rows) {
    const auto builder = kind.partial->builder();
    if (kind.partial->survey_bytes() > 0) builder->surveyor()->expect(Memory(kind.partial->survey_bytes()));
    const Memory zeros(1000 * kind.row_bytes());
    for (const order::Interval each : rows.intervals())
      builder->push(each.begin, {.first = zeros.data(),
                                 .second = zeros.data(),
                                 .mask = zeros.data(),
                                 .rows = each.size(),
                                 .row_stride = kind.row_bytes()});
    Memory record(kind.partial->working_capacity(rows));
    record.resize(builder->write(record));
    return record;
  }

  /// Merged in so many calls, none of which writes what it need not.
  Memory merged(const Kind& kind, const Memory& left, const Memory& right, Count rows, Count most, int& calls) {
    Memory out(kind.partial->working_capacity(order::IntervalSet({0, rows})), std::byte{0x5A});
    arithmetic::Pieces pieces{.most = most};
    Bytes size = 0;
    calls = 0;
    do {
      size = kind.partial->merge_piece(left, right, {out}, pieces).head.size();
      ++calls;
    } while (pieces.more);
    out.resize(size);
    return out;
  }

  Memory finished_in_pieces(const Kind& kind, const Memory& record, Count rows, Count most, int& calls) {
    Memory values(kind.partial->value_bytes());
    Memory spare(values.size());
    arithmetic::Pieces pieces{.most = most};
    Status status = Status::ok;
    calls = 0;
    do {
      status = kind.partial->finish_piece(record, rows, values.data(), spare.data(), pieces);
      ++calls;
    } while (pieces.more);
    values.push_back(static_cast<std::byte>(status));
    return values;
  }

  /// Two records whose rows are [0, cut) and [cut, rows), in any order.
  void expect_pieces(const Kind& kind, Count cut, Count rows) {
    const Memory lower = record_of(kind, 0, block_of(kind, cut, kind.row_bytes(), Side::begin));
    const Memory upper = record_of(kind, cut, block_of(kind, rows - cut, kind.row_bytes(), Side::begin));
    for (const auto& [left, right] : {std::pair{lower, upper}, {upper, lower}}) {
      int merges = 0;
      int finishes = 0;
      const Memory whole = merged(kind, left, right, rows, ~Count{0}, merges);
      EXPECT_EQ(merges, 1);
      const Memory values = finished_in_pieces(kind, whole, rows, ~Count{0}, finishes);
      for (Count most = 1; most < kind.call.columns; ++most) {
        EXPECT_EQ(hex(merged(kind, left, right, rows, most, merges)), hex(whole)) << most << " columns per piece";
        EXPECT_EQ(hex(finished_in_pieces(kind, whole, rows, most, finishes)), hex(values)) << most;
        const bool are_of_groups = kind.call.method == Method::exact || kind.call.method == Method::binned;
        const bool has_pieces = !kind.is_masked() && cut > 0 && cut < rows &&
                                arithmetic::status_of(whole) == Status::ok &&
                                kind.call.columns > (are_of_groups ? (most + 7) / 8 * 8 : most);
        EXPECT_TRUE(merges > 1 || !has_pieces) << most << " columns per piece";
      }
    }
  }

 private:
  std::mt19937_64 random_{71};
  Fenced first_{Bytes{1} << 14};
  Fenced second_{Bytes{1} << 14};
  Fenced mask_{Bytes{1} << 14};
  Fenced out_{Bytes{1} << 16};
  Fenced spare_{Bytes{1} << 12};
};

TEST_P(KindsOfPartials, StayInsideTheirMemoryAndAreAsNewOnceCleared) {
  const auto& [method, sweep] = GetParam();
  const std::vector<Kind> kinds = kinds_of(method, sweep);
  EXPECT_GT(kinds.size(), 20u);
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.name());
    expect_as_new(kind);
    if (HasFailure()) return;
  }
}

TEST_P(KindsOfPartials, MergeAndFinishInPieces) {
  const auto& [method, sweep] = GetParam();
  for (const Kind& kind : kinds_of(method, sweep)) {
    SCOPED_TRACE(kind.name());
    if (kind.partial->piece_columns() == 0 || kind.call.columns == 1) continue;
    for (const Count cut : {0u, 1u, 2u, 3u, 5u, 8u, 13u})
      for (const Count more : {0u, 1u, 2u, 3u, 8u, 11u}) expect_pieces(kind, cut, cut + more);
    if (HasFailure()) return;
  }
}

/// However rows are dealt to partials, and whichever of these come first: what schedules count on that merge in the
/// order of arrival. Not all partials are merged: that takes what all rows take.
TEST_P(KindsOfPartials, MergeInTheRoomOfTheirPartsInAnyOrder) {
  constexpr std::size_t parts = 4;
  const auto& [method, sweep] = GetParam();
  std::mt19937_64 random(13);
  Count larger = 0;  // merged partials that would not have fitted where all rows do
  for (const Kind& kind : kinds_of(method, sweep)) {
    SCOPED_TRACE(kind.name());
    const arithmetic::PartialKind& partial = *kind.partial;
    for (int deal = 0; deal < 40; ++deal) {
      std::array<order::IntervalSet, parts> dealt;
      Index end = random() % 3;
      for (int piece = 0; piece < 14; ++piece) {
        const Index next =
            end + std::array<Count, 4>{1, 7, 8, 1 + random() % 20}[deal % 4 == 0 ? piece % 2 : random() % 4];
        dealt[deal % 3 == 0 ? static_cast<std::size_t>(piece) % (parts - 1) : random() % parts].add({end, next});
        end = next;
      }
      dealt[parts - 1].add({end, end + 1});
      const Bytes all = partial.working_capacity(order::IntervalSet({0, end + 1}));
      Bytes room = 0;
      for (const auto& rows : dealt) room += partial.working_capacity(rows);
      if (partial.has_fixed_size()) room = all;
      std::array<std::size_t, parts> order{};
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::shuffle(order, random);
      Memory merged = written(kind, dealt[order[0]]);
      for (std::size_t i = 1; i + 1 < parts; ++i) {
        Memory out(room);
        const Bytes size = arithmetic::merge(partial, merged, written(kind, dealt[order[i]]), out);
        ASSERT_EQ(arithmetic::status_of(std::span(out).first(size)), Status::ok) << "deal " << deal << ", merge " << i;
        out.resize(size);
        larger += size > all ? 1 : 0;
        merged = std::move(out);
      }
    }
  }
  EXPECT_EQ(larger > 0, method == Method::tree);
}

/// Partials of several intervals are merged at once, also where the intervals of both touch.
TEST(PiecesOfTrees, AreForSingleIntervals) {
  const auto& op = arithmetic::built_in(Operation::sum, Type::f64);
  const auto kind = arithmetic::make_tree(op, most_columns);
  const std::vector<double> rows = {1e16, 1, -1e16, 3, 5, 7, 1e-3, 2, 4, 6, 8, 0.5};
  const auto record = [&](std::initializer_list<Index> indices) {
    const auto builder = kind->builder();
    for (const Index i : indices)
      builder->push(i, {.first = std::as_bytes(std::span(rows)).data() + i * 24, .rows = 1, .row_stride = 24});
    Memory bytes(1024);
    bytes.resize(builder->write(bytes));
    return bytes;
  };
  const Memory left = record({0, 2});
  const Memory right = record({1, 3});
  Memory whole(1024);
  whole.resize(kind->merge(left, right, {whole}).head.size());
  Memory pieces_out(1024);
  arithmetic::Pieces pieces{.most = 1};
  pieces_out.resize(kind->merge_piece(left, right, {pieces_out}, pieces).head.size());
  EXPECT_FALSE(pieces.more);
  EXPECT_EQ(hex(pieces_out), hex(whole));
  EXPECT_EQ(arithmetic::status_of(whole), Status::ok);
}

INSTANTIATE_TEST_SUITE_P(Methods, KindsOfPartials,
                         testing::Values(std::pair{Method::tree, Sweep::single_sweep},
                                         std::pair{Method::exact, Sweep::single_sweep},
                                         std::pair{Method::plain, Sweep::single_sweep},
                                         std::pair{Method::binned, Sweep::single_sweep},
                                         std::pair{Method::binned, Sweep::double_sweep}));

}  // namespace
}  // namespace steadfold::test::kinds_test
