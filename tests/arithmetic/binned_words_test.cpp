// Binned partials by double sweep as words that are added up: they stand for the record that merges write, byte for
// byte, however many ranks bring words. Bits are compared as integers; seeds are printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "arithmetic/binned/binned.hpp"
#include "arithmetic/binned/bins.hpp"
#include "arithmetic/exact_records.hpp"
#include "support/sanitized.hpp"

namespace steadfold::arithmetic::binned_words_test {
namespace {

using namespace exact_records;

constexpr Operation binned_operations[] = {Operation::sum, Operation::mean, Operation::dot, Operation::sum_squares,
                                           Operation::norm2};
constexpr std::uint32_t most_ranks = 0x7FFFFFFF;

template <class Element>
constexpr Type binned_type = std::is_same_v<Element, float> ? Type::f32 : Type::f64;

template <class Element>
std::unique_ptr<PartialKind> kind_of(Operation operation, int bin_count, Count columns,
                                     Sweep sweep = Sweep::double_sweep) {
  return make_binned(operation, binned_type<Element>, binned_type<Element>, bin_count, sweep, columns);
}

/// Every column has exponents of its own, so bin ranges differ from column to column. Some rows cancel others.
template <class Element>
Data<Element> columns_apart(std::mt19937_64& random, Count rows, Count columns, bool special) {
  using Limits = std::numeric_limits<Element>;
  Data<Element> data{.first = {}, .second = {}, .columns = columns};
  std::vector<int> lowest(columns);
  for (int& each : lowest)
    each = Limits::min_exponent + static_cast<int>(random() % (Limits::max_exponent - Limits::min_exponent - 100));
  for (Count i = 0; i < rows * columns; ++i) {
    Element x = hostile<Element>(random, special);
    if (x != 0 && std::isfinite(x)) {
      int exponent = 0;
      x = std::ldexp(std::frexp(x, &exponent), lowest[i % columns] + static_cast<int>(random() % 100));
    }
    data.first.push_back(i >= columns && random() % 4 == 0 ? -data.first[i - columns] : x);
    data.second.push_back(random() % 4 == 0 ? hostile<Element>(random, special) : Element{1});
  }
  return data;
}

Record survey_of(Builder& builder, const PartialKind& kind, const Block& block) {
  Record found(kind.survey_bytes());
  builder.surveyor()->survey(0, block);
  builder.surveyor()->write_survey(found);
  return found;
}

/// The records of ranks that hold contiguous rows, some of them none, after a first sweep over all rows.
template <class Element>
std::vector<Record> records_of_ranks(const PartialKind& kind, const Data<Element>& data, std::mt19937_64& random,
                                     Count ranks) {
  std::vector<Count> cuts{0, data.rows()};
  while (cuts.size() < ranks + 1) cuts.push_back(random() % 3 == 0 ? cuts.back() : random() % (data.rows() + 1));
  std::ranges::sort(cuts);
  std::vector<Record> records;
  const auto builder = kind.builder();
  const Record surveyed = survey_of(*builder, kind, data.block(0, data.rows()));
  builder->surveyor()->expect(surveyed);
  for (std::size_t rank = 0; rank + 1 < cuts.size(); ++rank) {
    builder->clear();
    builder->push(cuts[rank], data.block(cuts[rank], cuts[rank + 1] - cuts[rank]));
    records.push_back(written(kind, *builder));
  }
  return records;
}

template <class Element>
void expect_merged_record(Operation operation, int bin_count, Count columns, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto kind = kind_of<Element>(operation, bin_count, columns);
  const auto once = kind_of<Element>(operation, bin_count, columns, Sweep::single_sweep);
  const auto data = columns_apart<Element>(random, random() % (columns > 9 ? 20 : 300), columns, seed % 2 == 0);
  for (const Count ranks : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 64U}) {
    SCOPED_TRACE(testing::Message() << name_of(operation) << ", " << sizeof(Element) << "-byte elements, " << bin_count
                                    << " bins, columns " << columns << ", rows " << data.rows() << ", ranks " << ranks
                                    << ", seed " << seed);
    const auto records = records_of_ranks(*kind, data, random, ranks);
    const Record found = added_as_words(*kind, records);
    EXPECT_EQ(hex(found), hex(merged_at_random(*kind, records, random)));
    EXPECT_EQ(hex(found), hex(whole(*once, data)));
    if (operation == Operation::mean && data.rows() == 0) continue;
    EXPECT_EQ(hex(finished(*kind, found)), hex(finished(*once, whole(*once, data))));
  }
}

TEST(BinnedWords, StandForTheRecordOfEveryMerge) {
  for (std::uint64_t seed = 1; seed <= (test::sanitized ? 3 : 12); ++seed) {
    for (const Operation operation : binned_operations) {
      for (const int bin_count : {2, 3, 4}) {
        for (const Count columns : {Count{1}, Count{2}, Count{5}, Count{130}}) {
          expect_merged_record<double>(operation, bin_count, columns, seed);
          expect_merged_record<float>(operation, bin_count, columns, seed);
          if (HasFailure()) return;
        }
      }
    }
  }
}

/// One rank has the special value, the others have none, whichever rank that is.
TEST(BinnedWords, KeepTheSpecialValuesOfASingleRank) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto kind = kind_of<double>(Operation::sum, 3, 1);
  const auto record_of = [&](const std::vector<double>& x) {
    return whole(*kind, Data<double>{.first = x, .second = x, .columns = 1});
  };
  const auto value_of = [&](const Record& record) {
    double value = 0;
    std::memcpy(&value, finished(*kind, record).data(), sizeof value);
    return std::bit_cast<std::uint64_t>(value);
  };
  constexpr std::uint64_t quiet_nan = 0x7FF8000000000000;
  constexpr std::uint64_t minus_zero = 0x8000000000000000;
  const std::pair<std::vector<double>, std::uint64_t> cases[] = {
      {{nan}, quiet_nan},       {{inf}, 0x7FF0000000000000}, {{-inf}, 0xFFF0000000000000},
      {{inf, -inf}, quiet_nan}, {{-0.0}, minus_zero},        {{0.0}, 0},
      {{}, minus_zero}};
  for (const Count ranks : {1U, 2U, 3U, 5U, 8U}) {
    for (Count special = 0; special < ranks; ++special) {
      for (const auto& [x, due] : cases) {
        std::vector<Record> records(ranks, record_of(std::vector<double>{-0.0}));
        records[special] = record_of(x);
        const std::uint64_t found = value_of(added_as_words(*kind, records));
        EXPECT_EQ(found, ranks == 1 && x.empty() ? 0 : due) << ranks << " ranks, on " << special;
      }
    }
  }
  const std::uint64_t both = value_of(added_as_words(*kind, {record_of({inf}), record_of({}), record_of({-inf})}));
  EXPECT_EQ(both, quiet_nan);
}

/// What merging says: the worst status, and no content.
TEST(BinnedWords, OfFailedRanksHaveTheWorstStatus) {
  const auto kind = kind_of<double>(Operation::sum, 2, 3);
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  const Record good = whole(*kind, Data<double>{.first = x, .second = x, .columns = 3});
  const auto failed_with = [&](Status status) {
    Record header(sizeof(Header));
    set_header(header, {.status = status, .digest = test_digest});
    return header;
  };
  for (auto first = Status::empty; first <= Status::internal; first = static_cast<Status>(int(first) + 1)) {
    for (auto second = Status::ok; second <= Status::internal; second = static_cast<Status>(int(second) + 1)) {
      const Record other = second == Status::ok ? good : failed_with(second);
      const Record found = added_as_words(*kind, {good, failed_with(first), other, good});
      EXPECT_EQ(status_of(found), worse(first, second));
      EXPECT_EQ(found.size(), sizeof(Header));
    }
  }
}

TEST(BinnedWords, OfDifferentCallsAreAMismatch) {
  const auto kind = kind_of<double>(Operation::sum, 2, 1);
  const std::vector<double> x = {1, 2};
  const Record record = whole(*kind, Data<double>{.first = x, .second = x, .columns = 1});
  for (int bit = 0; bit < 64; ++bit) {
    const Record other = with_digest(record, test_digest ^ std::uint64_t{1} << bit);
    EXPECT_EQ(status_of(added_as_words(*kind, {record, other, record})), Status::mismatch) << bit;
  }
}

/// The words of so many ranks that all bring the same.
Words times(const Words& words, std::int64_t ranks) {
  Words product = words;
  for (std::int64_t& word : product) EXPECT_FALSE(__builtin_mul_overflow(word, ranks, &word)) << "overflow";
  return product;
}

/// Rows that changed between the two sweeps, say, on one rank and in one column.
TEST(BinnedWords, OfDifferentBinRangesAreAMismatch) {
  const auto kind = kind_of<double>(Operation::sum, 3, 4);
  const auto record_of = [&](double third) {
    const std::vector<double> x = {1, 0x1p300, third, 0};
    return whole(*kind, Data<double>{.first = x, .second = x, .columns = 4});
  };
  const Words same = words_of(*kind, record_of(1));
  for (const double third : {0x1p60, 0x1p100, 0x1p1000, 0x1p-60, 0x1p-1000}) {
    const Words other = words_of(*kind, record_of(third));
    for (const std::uint32_t ranks : {2U, 3U, 8U, 1000U, most_ranks}) {
      Words sums = times(same, ranks - 1);
      EXPECT_EQ(status_of(from_words(*kind, times(same, ranks), ranks)), Status::ok);
      add(sums, other);
      EXPECT_EQ(status_of(from_words(*kind, sums, ranks)), Status::mismatch) << third << ", " << ranks << " ranks";
    }
  }
  // 1 more and 1 less: the sum of the tops is that of equal ones.
  const Words up = words_of(*kind, record_of(0x1p40));
  const Words down = words_of(*kind, record_of(0x1p-40));
  Words sums = times(same, 3);
  add(sums, up);
  add(sums, down);
  EXPECT_EQ(status_of(from_words(*kind, sums, 5)), Status::mismatch);
}

/// A record of one column, written by hand.
struct ByHand {
  Count rows;
  int top;
  std::vector<Int128> bins;

  Record record() const {
    const bool has_one_word = rows < Count{1} << 24;
    Record out(sizeof(Header) + sizeof rows + (has_one_word ? 8 * bins.size() + 2 : 16 * bins.size() + 8));
    set_header(out, {.digest = test_digest});
    std::memcpy(out.data() + sizeof(Header), &rows, sizeof rows);
    const std::size_t top_at = has_one_word ? 24 + 8 * bins.size() : 24;
    out[top_at] = static_cast<std::byte>(top);
    out[top_at + 1] = std::byte{not_minus_zero};
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
      const auto low = static_cast<std::int64_t>(bins[bin]);
      if (has_one_word)
        std::memcpy(out.data() + 24 + 8 * bin, &low, sizeof low);
      else
        std::memcpy(out.data() + 32 + 16 * bin, &bins[bin], sizeof bins[bin]);
    }
    return out;
  }
};

/// As many ranks as there may be, with as many rows as there may be, and bins as full as they can be: no word
/// overflows, and no digit is lost.
TEST(BinnedWords, OfFullBinsOnTheMostRanksFit) {
  constexpr Count most_rows = Count{1} << 55;
  constexpr Count rows = most_rows / most_ranks;
  const Int128 full = static_cast<Int128>(rows) << 39;
  for (const int bin_count : {2, 3, 4}) {
    const auto kind = kind_of<double>(Operation::sum, bin_count, 1);
    for (const Int128 sum : {full, -full, full - 1, 1 - full, Int128{-1}, Int128{1}, Int128{0xFFFFFFFF}}) {
      ByHand one{.rows = rows, .top = 20, .bins = std::vector<Int128>(static_cast<std::size_t>(bin_count), sum)};
      const Words words = words_of(*kind, one.record());
      for (const std::uint32_t ranks : {1U, 2U, most_ranks}) {
        ByHand all = one;
        all.rows *= ranks;
        for (Int128& bin : all.bins) bin *= ranks;
        EXPECT_EQ(hex(from_words(*kind, times(words, ranks), ranks)), hex(all.record())) << ranks << " ranks";
      }
    }
  }
}

/// Low bins that reach far beyond the top one.
TEST(BinnedWords, FullLowBinsAreRounded) {
  const auto kind = kind_of<double>(Operation::sum, 3, 1);
  const Int128 full = Int128{1} << 94;
  const ByHand all{.rows = Count{1} << 55, .top = 20, .bins = {1, full, -full}};
  double sum = 0;
  ASSERT_EQ(kind->finish(all.record(), all.rows, reinterpret_cast<std::byte*>(&sum), nullptr), Status::ok);
  EXPECT_EQ(sum, std::ldexp(1 - 0x1p-40, 134 - 1074 + 40 * 18)) << "of 2^134 - 2^94 + 2^80 quanta";
}

/// Bins have one word up to 2^24 - 1 rows, else two, whatever the merges were.
TEST(BinnedWords, OfManyRowsTakeTwoWordsPerBin) {
  constexpr Count many = Count{1} << 24;
  std::vector<double> row(11);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = -0x1.8p-3 * static_cast<double>(i + 1);
  for (const Count columns : {1U, 11U}) {
    for (const int bin_count : {2, 3, 4}) {
      const auto kind = kind_of<double>(Operation::sum, bin_count, columns);
      const auto pushed = [&](Count rows) {
        const auto builder = kind->builder();
        builder->push(0, {.first = reinterpret_cast<const std::byte*>(row.data()), .rows = rows, .row_stride = 0});
        return written(*kind, *builder);
      };
      // Sanitizers take a minute for rows that are pushed, so all kinds but the first get most rows from merges there.
      const Count most_pushed = test::sanitized && (columns > 1 || bin_count > 2) ? many / 256 : many;
      const auto record_of = [&](Count rows) {
        Record record = pushed(std::min(rows, most_pushed));
        const Record full = record;
        for (Count have = most_pushed; have < rows; have += most_pushed)
          record = merged(*kind, record, rows - have < most_pushed ? pushed(rows - have) : full);
        return record;
      };
      const Record few = record_of(many - 1);
      const Record one = record_of(1);
      const Record all = record_of(many);
      EXPECT_EQ(few.size(), 24 + columns * (8 * static_cast<std::size_t>(bin_count) + 2));
      EXPECT_EQ(all.size(), 24 + columns * (16 * static_cast<std::size_t>(bin_count) + 8));
      EXPECT_EQ(hex(merged(*kind, few, one)), hex(all));
      EXPECT_EQ(hex(merged(*kind, one, few)), hex(all));
      EXPECT_EQ(hex(merged(*kind, merged(*kind, all, one), all)), hex(merged(*kind, merged(*kind, one, all), all)));
      EXPECT_EQ(hex(added_as_words(*kind, {few, one})), hex(all));
      for (const auto& [record, rows] : {std::pair(&all, many), std::pair(&few, many - 1)}) {
        std::vector<double> sums(columns);
        kind->finish(*record, rows, reinterpret_cast<std::byte*>(sums.data()), nullptr);
        for (Count i = 0; i < columns; ++i) EXPECT_EQ(sums[i], row[i] * static_cast<double>(rows));
      }
    }
  }
}

TEST(BinnedWords, OfMoreRowsThanFitAreRefused) {
  constexpr Count most_rows = Count{1} << 55;
  const auto kind = kind_of<double>(Operation::sum, 2, 1);
  const auto record_of = [](Count rows) { return ByHand{.rows = rows, .top = 20, .bins = {1, 1}}.record(); };
  EXPECT_EQ(status_of(added_as_words(*kind, {record_of(most_rows)})), Status::ok);
  EXPECT_EQ(status_of(added_as_words(*kind, {record_of(most_rows / 2), record_of(most_rows / 2)})), Status::ok);
  EXPECT_EQ(status_of(added_as_words(*kind, {record_of(most_rows + 1)})), Status::unsupported);
  EXPECT_EQ(status_of(added_as_words(*kind, {record_of(most_rows), record_of(1)})), Status::unsupported);
  EXPECT_EQ(status_of(added_as_words(*kind, {record_of(~Count{0}), record_of(1)})), Status::unsupported);
}

TEST(BinnedWords, OfDamagedRecordsFail) {
  constexpr std::size_t highest_byte = std::endian::native == std::endian::little ? 7 : 0;  // of a bin's sum
  const auto kind = kind_of<double>(Operation::sum, 3, 2);
  const std::vector<double> x = {1.0, 2.0, 3.0, 4.0};
  const Record good = whole(*kind, Data<double>{.first = x, .second = x, .columns = 2});
  const auto damaged = [&](std::size_t at, unsigned value) {
    Record bad = good;
    bad[at] = static_cast<std::byte>(value);
    return bad;
  };
  const Record bad[] = {damaged(72, 1),  // tops
                        damaged(73, 53),
                        damaged(74, 16),  // flags
                        damaged(75, 32),
                        damaged(24 + highest_byte, 0x40),
                        {good.begin(), good.end() - 1},
                        {good.begin(), good.begin() + 16}};
  for (const Record& each : bad) {
    constexpr std::ptrdiff_t head_words = 14;
    const Words failed = words_of(*kind, each);
    EXPECT_EQ(std::count(failed.begin() + head_words, failed.end(), 0), std::ssize(failed) - head_words);
    const Record found = added_as_words(*kind, {good, each, good});
    EXPECT_EQ(status_of(found), Status::transport_failed);
    EXPECT_EQ(found.size(), sizeof(Header));
  }
  const Words words = words_of(*kind, good);
  for (std::size_t room = 0; room < good.size(); ++room) {
    Record out(room);
    const Bytes size = kind->added_words()->from_words(words, 1, test_digest, out);
    EXPECT_EQ(size, room < sizeof(Header) ? 0 : sizeof(Header));
  }
  Record out(good.size());
  const auto too_few = std::span(words).first(words.size() - 1);
  out.resize(kind->added_words()->from_words(too_few, 1, test_digest, out));
  EXPECT_EQ(status_of(out), Status::transport_failed);
}

/// Whatever the words are, nothing is read or written elsewhere, and the partial can be finished or is refused.
TEST(BinnedWords, OfAnyBitsDoNoHarm) {
  std::mt19937_64 random(11);
  for (const int bin_count : {2, 3, 4}) {
    const auto kind = kind_of<double>(Operation::norm2, bin_count, 3);
    for (int again = 0; again < 2000; ++again) {
      Words words(kind->added_words()->word_count(), 0);
      for (std::int64_t& word : words)
        if (random() % 2 == 0) word = static_cast<std::int64_t>(random() >> random() % 64);
      if (random() % 2 == 0) std::fill(words.begin() + 1, words.begin() + 14, 0);
      const Record found = from_words(*kind, words, static_cast<std::uint32_t>(random() >> (32 + random() % 32)), 0);
      Record values(kind->value_bytes());
      const Status status = kind->finish(found, unknown_count, values.data(), nullptr);
      EXPECT_TRUE(status == Status::ok || found.size() == sizeof(Header) || status == Status::transport_failed);
    }
  }
}

TEST(BinnedWords, AreNotOfferedBySingleSweep) {
  for (const Operation operation : binned_operations) {
    EXPECT_EQ(kind_of<double>(operation, 3, 1, Sweep::single_sweep)->added_words(), nullptr);
    EXPECT_NE(kind_of<double>(operation, 3, 1, Sweep::double_sweep)->added_words(), nullptr);
  }
}

}  // namespace
}  // namespace steadfold::arithmetic::binned_words_test
