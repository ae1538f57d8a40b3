// Every kind of partial that a call can ask for: its builder reads the rows it is given and nothing around them, writes
// within its room, does not mind in how many pushes they come, and once cleared is as good as new. Equal data give
// equal bytes, whatever stood in the memory before. Merges and finishes in pieces of columns give the same bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "arithmetic/tree.hpp"
#include "collective/all_kinds.hpp"
#include "collective/simulated_job.hpp"
#include "support/fenced.hpp"

namespace steadfold::test {
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
    const Bytes mask_bytes = kind.is_masked() ? rows : bytes;
    auto* const first = first_.array<std::byte>(bytes, side);
    auto* const second = second_.array<std::byte>(mask_bytes, side);
    for (Bytes i = 0; i < bytes; ++i) first[i] = static_cast<std::byte>(random_());
    for (Bytes i = 0; i < mask_bytes; ++i) second[i] = static_cast<std::byte>(random_() % 4);
    const bool has_second = kind.is_masked() || kind.call.operation == Operation::dot;
    return {.first = first, .second = has_second ? second : nullptr, .rows = rows, .row_stride = stride};
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
    EXPECT_TRUE(stays_inside([&] { builder.surveyor()->survey(block); })) << "a survey";
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
      if (rest.second != nullptr) rest.second += first * (kind.is_masked() ? 1 : block.row_stride);
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

  /// Merged in so many calls, none of which writes what it need not.
  Memory merged(const Kind& kind, const Memory& left, const Memory& right, Count rows, Count most, int& calls) {
    Memory out(kind.partial->working_capacity(order::IntervalSet({0, rows})), std::byte{0x5A});
    arithmetic::Pieces pieces{.most = most};
    Bytes size = 0;
    calls = 0;
    do {
      size = kind.partial->in_pieces()->merge_piece(left, right, {out}, pieces).head.size();
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
      status = kind.partial->in_pieces()->finish_piece(record, rows, values.data(), spare.data(), pieces);
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
        const bool has_pieces =
            !kind.is_masked() && cut > 0 && cut < rows && arithmetic::status_of(whole) == Status::ok;
        EXPECT_TRUE(merges > 1 || !has_pieces) << most << " columns per piece";
      }
    }
  }

 private:
  std::mt19937_64 random_{71};
  Fenced first_{Bytes{1} << 14};
  Fenced second_{Bytes{1} << 14};
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
    if (kind.partial->in_pieces() == nullptr || kind.call.columns == 1) continue;
    for (const Count cut : {0u, 1u, 2u, 3u, 5u, 8u, 13u})
      for (const Count more : {0u, 1u, 2u, 3u, 8u, 11u}) expect_pieces(kind, cut, cut + more);
    if (HasFailure()) return;
  }
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
  pieces_out.resize(kind->in_pieces()->merge_piece(left, right, {pieces_out}, pieces).head.size());
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
}  // namespace steadfold::test
