// The exact partial: any splitting, any merge tree, any schedule of words gives the same value and the same bytes.
// Bits are compared as integers, never with a tolerance; every case names its seed on failure.
#include "arithmetic/exact.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#ifdef STEADFOLD_HAVE_MPFR
#include "arithmetic/mpfr.hpp"
#endif

namespace steadfold::arithmetic {
namespace {

using Record = std::vector<std::byte>;
using Words = std::vector<std::int64_t>;

constexpr ExactOperation operations[] = {ExactOperation::sum, ExactOperation::abs_sum, ExactOperation::dot,
                                         ExactOperation::sum_squares, ExactOperation::norm2};
constexpr ExactType types[] = {ExactType::f32, ExactType::f64};
constexpr std::uint64_t test_digest = 0xFEDCBA9876543210;

std::string hex(const Record& record) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string text;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(record[i]);
    if (i % 4 == 0 && i > 0) text += ' ';
    text += digits[byte / 16];
    text += digits[byte % 16];
  }
  return text;
}

template <class Element>
constexpr ExactType type_of = std::is_same_v<Element, float> ? ExactType::f32 : ExactType::f64;

Status status_of(const Record& record) { return header_of(record).status; }

Record with_digest(Record record, std::uint64_t digest) {
  Header header = header_of(record);
  header.digest = digest;
  set_header(record, header);
  return record;
}

Record written(const PartialKind& kind, Builder& builder) {
  Record out(kind.capacity({}));
  out.resize(builder.write(out));
  return with_digest(out, test_digest);
}

Record merged(const PartialKind& kind, const Record& left, const Record& right) {
  Record out(kind.capacity({}));
  out.resize(merge(kind, left, right, out));
  return out;
}

Record finished(const PartialKind& kind, const Record& record, Count count = unknown_count) {
  Record values(kind.value_bytes());
  Record spare(kind.value_bytes());
  EXPECT_EQ(kind.finish(record, count, values.data(), spare.data()), Status::ok);
  return values;
}

/// Both factors of a product sum: `columns` elements per row, all bit patterns but for few special values.
template <class Element>
struct Data {
  std::vector<Element> first;
  std::vector<Element> second;
  Count columns = 1;

  Count rows() const { return first.size() / columns; }
  Block block(Count begin, Count count) const {
    const auto at = [&](const std::vector<Element>& from) {
      return reinterpret_cast<const std::byte*>(from.data()) + begin * columns * sizeof(Element);
    };
    return {.first = at(first), .second = at(second), .rows = count, .row_stride = columns * sizeof(Element)};
  }
};

template <class Element>
Element hostile(std::mt19937_64& random, bool special) {
  using Bits = std::conditional_t<sizeof(Element) == 8, std::uint64_t, std::uint32_t>;
  using Limits = std::numeric_limits<Element>;
  const auto x = std::bit_cast<Element>(static_cast<Bits>(random()));
  switch (random() % 8) {
    case 0: return std::copysign(Element{0}, x);
    case 1: return std::copysign(Limits::denorm_min() * static_cast<Element>(random() % 1000), x);
    case 2: return std::copysign(Limits::max(), x);
    case 3: return std::copysign(Element{1} + Limits::epsilon(), x);
    case 4:
      if (special && random() % 8 == 0) return random() % 2 == 0 ? x * Limits::infinity() : Limits::quiet_NaN();
      [[fallthrough]];
    default: return std::isfinite(x) ? x : Element{0};
  }
}

/// Half of the rows cancel the other half, but for the second factors.
template <class Element>
Data<Element> hostile_data(std::mt19937_64& random, Count rows, Count columns, bool special) {
  Data<Element> data{.first = {}, .second = {}, .columns = columns};
  for (Count i = 0; i < rows * columns; ++i) {
    data.first.push_back(hostile<Element>(random, special));
    data.second.push_back(random() % 4 == 0 ? hostile<Element>(random, special) : Element{1});
    if (i > 2 && random() % 2 == 0) data.first.back() = -data.first[random() % i];
  }
  return data;
}

template <class Element>
bool same_bytes(const std::vector<Element>& a, const std::vector<Element>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

/// Splits the rows into parts, each of contiguous rows in blocks of any size.
template <class Element>
std::vector<Record> split(const PartialKind& kind, const Data<Element>& data, std::mt19937_64& random, Count parts) {
  std::vector<Count> cuts{0, data.rows()};
  while (cuts.size() < parts + 1) cuts.push_back(random() % (data.rows() + 1));
  std::sort(cuts.begin(), cuts.end());
  const std::unique_ptr<Builder> builder = kind.builder();
  std::vector<Record> records;
  for (std::size_t part = 0; part + 1 < cuts.size(); ++part) {
    builder->clear();
    for (Count begin = cuts[part]; begin < cuts[part + 1];) {
      const Count count = std::min(random() % 50 + 1, cuts[part + 1] - begin);
      builder->push(begin, data.block(begin, count));
      begin += count;
    }
    records.push_back(written(kind, *builder));
  }
  return records;
}

template <class Element>
Record whole(const PartialKind& kind, const Data<Element>& data) {
  const std::unique_ptr<Builder> builder = kind.builder();
  builder->push(0, data.block(0, data.rows()));
  return written(kind, *builder);
}

/// Merges two records at random places until one is left.
Record merged_at_random(const PartialKind& kind, std::vector<Record> records, std::mt19937_64& random) {
  while (records.size() > 1) {
    std::swap(records[random() % records.size()], records.back());
    const Record right = std::move(records.back());
    records.pop_back();
    Record& left = records[random() % records.size()];
    left = merged(kind, left, right);
  }
  return records.front();
}

Words words_of(const PartialKind& kind, const Record& record) {
  Words words(kind.added_words()->word_count(), 0x5555);
  kind.added_words()->to_words(record, words);
  return words;
}

void add(Words& to, const Words& by) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    ASSERT_FALSE(__builtin_add_overflow(to[i], by[i], &to[i])) << "word " << i;
  }
}

Record from_words(const PartialKind& kind, const Words& sums, std::uint32_t rank_count,
                  std::uint64_t digest = test_digest) {
  Record out(kind.capacity({}));
  out.resize(kind.added_words()->from_words(sums, rank_count, digest, out));
  return out;
}

Record added_as_words(const PartialKind& kind, const std::vector<Record>& records) {
  Words sums(kind.added_words()->word_count(), 0);
  for (const Record& record : records) add(sums, words_of(kind, record));
  return from_words(kind, sums, static_cast<std::uint32_t>(records.size()));
}

template <class Element, class Test>
void for_every_kind(const Test& test) {
  for (const ExactOperation operation : operations) {
    for (const ExactType result : types) {
      for (const Count columns : {1U, 2U, 5U, 130U}) {
        const auto kind = make_exact(operation, type_of<Element>, result, columns);
        SCOPED_TRACE(testing::Message() << "operation " << static_cast<int>(operation) << ", " << sizeof(Element)
                                        << "-byte elements, result " << static_cast<int>(result) << ", columns "
                                        << columns);
        test(*kind, columns);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

template <class Element>
void expect_same_from_any_splitting() {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    for_every_kind<Element>([seed](const PartialKind& kind, Count columns) {
      std::mt19937_64 random(seed);
      const auto data = hostile_data<Element>(random, columns > 5 ? random() % 20 : random() % 400, columns, seed > 20);
      const Data<Element> copy = data;
      const Record expected = whole(kind, data);
      const std::vector<Record> records = split(kind, data, random, random() % 64 + 1);
      for (int tree = 0; tree < 3; ++tree) {
        EXPECT_EQ(hex(merged_at_random(kind, records, random)), hex(expected));
      }
      EXPECT_EQ(hex(added_as_words(kind, records)), hex(expected));
      EXPECT_EQ(hex(finished(kind, expected, data.rows())), hex(finished(kind, expected)));
      EXPECT_TRUE(same_bytes(data.first, copy.first) && same_bytes(data.second, copy.second));
    });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Exact, IsTheSameFromAnySplittingOfDoubles) { expect_same_from_any_splitting<double>(); }
TEST(Exact, IsTheSameFromAnySplittingOfFloats) { expect_same_from_any_splitting<float>(); }

/// The control: on such data plain addition depends on the splitting.
TEST(Exact, WhereThePlainSumVaries) {
  std::mt19937_64 random(1);
  std::vector<double> data(1000);
  for (double& x : data) x = std::ldexp(static_cast<double>(random()) - 0x1p63, static_cast<int>(random() % 80));
  std::set<std::uint64_t> plain;
  std::set<std::string> exact;
  const auto kind = make_exact(ExactOperation::sum, ExactType::f64, ExactType::f64, 1);
  for (const std::size_t parts : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 16U, 40U}) {
    double sum = 0;
    std::vector<Record> records;
    for (std::size_t part = 0; part < parts; ++part) {
      const Data<double> share{.first = {data.begin() + static_cast<std::ptrdiff_t>(part * data.size() / parts),
                                         data.begin() + static_cast<std::ptrdiff_t>((part + 1) * data.size() / parts)},
                               .second = {},
                               .columns = 1};
      sum += std::accumulate(share.first.begin(), share.first.end(), 0.0);
      records.push_back(whole(*kind, share));
    }
    plain.insert(std::bit_cast<std::uint64_t>(sum));
    exact.insert(hex(finished(*kind, merged_at_random(*kind, records, random))));
  }
  EXPECT_GT(plain.size(), 3U);
  EXPECT_EQ(exact.size(), 1U);
}

TEST(Exact, HasANeutralElement) {
  for_every_kind<double>([](const PartialKind& kind, Count columns) {
    std::mt19937_64 random(7);
    const Record neutral = written(kind, *kind.builder());
    EXPECT_EQ(neutral.size(), 24 + 4 * columns);
    EXPECT_EQ(hex(finished(kind, neutral, 0)), hex(Record(kind.value_bytes())));
    for (const Count rows : {Count{0}, Count{1}, Count{20}}) {
      const Record record = whole(kind, hostile_data<double>(random, rows, columns, true));
      EXPECT_EQ(hex(merged(kind, neutral, record)), hex(record));
      EXPECT_EQ(hex(merged(kind, record, neutral)), hex(record));
      EXPECT_EQ(hex(added_as_words(kind, {neutral, record, neutral})), hex(record));
    }
  });
}

TEST(Exact, RecordsOfOneColumnAreSmall) {
  const auto kind = make_exact(ExactOperation::sum, ExactType::f64, ExactType::f64, 1);
  const auto size = [&](std::vector<double> data) { return whole(*kind, Data<double>{std::move(data), {}, 1}).size(); };
  EXPECT_EQ(size({0.0}), 28U);
  EXPECT_EQ(size({1.0}), 32U);
  EXPECT_EQ(size({-1.0}), 32U);
  EXPECT_EQ(size({0x1p-50, -0x1p-50}), 28U);
  EXPECT_EQ(size({std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()}), 28 + 4 * 66U);
  EXPECT_EQ(kind->capacity({}), 28 + 4 * 68U);
}

TEST(Exact, BuilderKeepsNothingOverClear) {
  for_every_kind<double>([](const PartialKind& kind, Count columns) {
    std::mt19937_64 random(8);
    const auto builder = kind.builder();
    for (int round = 0; round < 10; ++round) {
      const auto data = hostile_data<double>(random, random() % 30, columns, true);
      builder->clear();
      builder->push(0, data.block(0, data.rows()));
      const Record first = written(kind, *builder);
      EXPECT_EQ(hex(first), hex(whole(kind, data)));
      EXPECT_EQ(hex(first), hex(written(kind, *builder)));  // and writing changes nothing
    }
  });
}

TEST(Exact, TakesRowsAtAnyStrideAndAlignment) {
  std::mt19937_64 random(9);
  const auto data = hostile_data<double>(random, 300, 3, false);
  const auto kind = make_exact(ExactOperation::dot, ExactType::f64, ExactType::f64, 3);
  constexpr Bytes stride = 41;
  Record memory[2] = {Record(301 * stride), Record(301 * stride)};
  for (Count row = 0; row < 300; ++row) {
    std::memcpy(&memory[0][1 + row * stride], &data.first[3 * row], 24);
    std::memcpy(&memory[1][1 + row * stride], &data.second[3 * row], 24);
  }
  const auto builder = kind->builder();
  builder->push(0, {.first = &memory[0][1], .second = &memory[1][1], .rows = 300, .row_stride = stride});
  EXPECT_EQ(hex(written(*kind, *builder)), hex(whole(*kind, data)));
}

TEST(Exact, ReportsGapsAndOverlapsByTheirCount) {
  const auto kind = make_exact(ExactOperation::sum, ExactType::f64, ExactType::f64, 1);
  const Record record = whole(*kind, Data<double>{{1.0, 2.0, 3.0}, {}, 1});
  double value = 0;
  auto* bytes = reinterpret_cast<std::byte*>(&value);
  EXPECT_EQ(kind->finish(record, 4, bytes, nullptr), Status::gap);
  EXPECT_EQ(kind->finish(record, 2, bytes, nullptr), Status::overlap);
  EXPECT_EQ(kind->finish(record, 3, bytes, nullptr), Status::ok);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(6.0));
  EXPECT_EQ(kind->finish(merged(*kind, record, record), unknown_count, bytes, nullptr), Status::ok);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(12.0));
}

TEST(Exact, ReportsAMissingFactor) {
  const auto kind = make_exact(ExactOperation::dot, ExactType::f64, ExactType::f64, 1);
  const double x = 1.0;
  const auto builder = kind->builder();
  builder->push(0, {.first = reinterpret_cast<const std::byte*>(&x), .second = nullptr, .rows = 1, .row_stride = 8});
  EXPECT_EQ(status_of(written(*kind, *builder)), Status::invalid_argument);
  builder->clear();
  builder->push(0, {});
  EXPECT_EQ(status_of(written(*kind, *builder)), Status::ok);
}

/// Statuses of parts, in both directions and over both paths.
TEST(Exact, StatusesMeetByTheLarger) {
  const auto kind = make_exact(ExactOperation::sum, ExactType::f64, ExactType::f64, 1);
  const Record good = whole(*kind, Data<double>{{1.0}, {}, 1});
  const auto failed = [](Status status) {
    Record record(sizeof(Header));
    write_failure(record, Header{.digest = test_digest}, status);
    return record;
  };
  for (unsigned a = 0; a <= static_cast<unsigned>(Status::internal); ++a) {
    for (unsigned b = 1; b <= static_cast<unsigned>(Status::internal); ++b) {
      const Record left = a == 0 ? good : failed(static_cast<Status>(a));
      const Record right = failed(static_cast<Status>(b));
      const Record expected = failed(static_cast<Status>(std::max(a, b)));
      EXPECT_EQ(hex(merged(*kind, left, right)), hex(expected));
      EXPECT_EQ(hex(merged(*kind, right, left)), hex(expected));
      EXPECT_EQ(hex(added_as_words(*kind, {good, left, good, right})), hex(expected));
      EXPECT_EQ(kind->finish(expected, 1, nullptr, nullptr), static_cast<Status>(std::max(a, b)));
    }
  }
}

/// One rank among many with a digest that differs in one bit, or in all of them.
TEST(Exact, EveryDifferenceOfDigestsIsSeen) {
  const auto kind = make_exact(ExactOperation::sum, ExactType::f32, ExactType::f32, 1);
  const Record record = whole(*kind, Data<float>{{1.0F}, {}, 1});
  std::mt19937_64 random(10);
  for (const std::uint32_t ranks : {2U, 3U, 8U, 1000U, 1U << 20, 0x7FFFFFFFU}) {
    for (int bit = 0; bit < 65; ++bit) {
      const std::uint64_t digest = bit == 0 ? ~std::uint64_t{0} : random();
      const std::uint64_t other = bit == 64 ? ~digest : digest ^ std::uint64_t{1} << bit;
      Words same = words_of(*kind, with_digest(record, digest));
      for (std::int64_t& word : same) word *= ranks - 1;
      Words sums = words_of(*kind, with_digest(record, other));
      add(sums, same);
      EXPECT_EQ(status_of(from_words(*kind, sums, ranks, digest)), Status::mismatch) << ranks << " ranks, bit " << bit;
      EXPECT_EQ(status_of(from_words(*kind, sums, ranks, other)), Status::mismatch);
      add(same, words_of(*kind, with_digest(record, digest)));
      EXPECT_EQ(status_of(from_words(*kind, same, ranks, digest)), Status::ok);
    }
  }
  EXPECT_EQ(status_of(merged(*kind, record, with_digest(record, 1))), Status::mismatch);
}

/// As many ranks as there may be, all with the same extreme data: no word overflows, and doubling agrees.
TEST(Exact, WordsOfAllRanksFit) {
  constexpr std::uint32_t ranks = 0x7FFFFFFF;
  for (const ExactOperation operation : operations) {
    const auto kind = make_exact(operation, ExactType::f64, ExactType::f64, 1);
    for (const double x : {std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(), 0x1p-1000,
                           0x1.FFFFFFFFFFFFFp5}) {
      for (const double y : {1.0, -1.0, std::numeric_limits<double>::max(), -0x1p-1050}) {
        const Record record = whole(*kind, Data<double>{{y * x, x, -x, -y}, {y, -x, y, x}, 1});
        Words sums = words_of(*kind, record);
        for (std::int64_t& word : sums) ASSERT_FALSE(__builtin_mul_overflow(word, std::int64_t{ranks}, &word));
        Record expected = record;  // 2^31 - 1 is 30 times doubled and one added
        for (int i = 0; i < 30; ++i) expected = merged(*kind, merged(*kind, expected, expected), record);
        EXPECT_EQ(hex(from_words(*kind, sums, ranks)), hex(expected));
      }
    }
  }
}

/// 2^61 rows of the largest double reach the top digit with its sign, and come back.
TEST(Exact, HoldsAsManyRowsAsThereMayBe) {
  const auto kind = make_exact(ExactOperation::sum, ExactType::f64, ExactType::f64, 1);
  const auto doubled = [&](double x) {
    Record record = whole(*kind, Data<double>{{x}, {}, 1});
    for (int i = 0; i < 61; ++i) record = merged(*kind, record, record);
    EXPECT_EQ(hex(added_as_words(*kind, {record})), hex(record));
    return record;
  };
  const Record minus = doubled(-std::numeric_limits<double>::max());
  const Record plus = doubled(std::numeric_limits<double>::max());
  const Record one = whole(*kind, Data<double>{{1.0}, {}, 1});
  const Record values = finished(*kind, merged(*kind, minus, merged(*kind, one, plus)));
  EXPECT_EQ(hex(values), hex(finished(*kind, one)));
  Words sums = words_of(*kind, minus);
  add(sums, words_of(*kind, plus));
  add(sums, words_of(*kind, one));
  EXPECT_EQ(hex(finished(*kind, from_words(*kind, sums, 3))), hex(values));
}

/// Digits that no rows can make, in a record that is well formed: their sum does not fit.
TEST(Exact, SumsBeyondTheWidthAreRefused) {
  const auto kind = make_exact(ExactOperation::sum, ExactType::f32, ExactType::f64, 1);
  for (const int negative : {0, 1}) {
    Record record(32, static_cast<std::byte>(negative == 0 ? 0xFF : 0x01));
    set_header(record, Header{});
    record[24] = std::byte{8};   // flags
    record[25] = std::byte{10};  // lowest digit, the highest of 11
    record[26] = std::byte{1};   // digits
    record[27] = static_cast<std::byte>(negative);
    EXPECT_EQ(status_of(merged(*kind, record, whole(*kind, Data<float>{{}, {}, 1}))), Status::mismatch);
    EXPECT_EQ(status_of(merged(*kind, record, with_digest(whole(*kind, Data<float>{{}, {}, 1}), 0))), Status::ok);
    EXPECT_EQ(status_of(merged(*kind, record, record)), Status::transport_failed);
  }
}

/// Memory of exactly the size, so that a sanitizer sees every step outside.
struct Exactly {
  explicit Exactly(const Record& record) : size(record.size()), bytes(new std::byte[record.size()]) {
    if (size > 0) std::memcpy(bytes.get(), record.data(), size);
  }
  std::span<const std::byte> span() const { return {bytes.get(), size}; }
  std::size_t size;
  std::unique_ptr<std::byte[]> bytes;
};

/// Runs everything that reads a record; how many found a fault.
int read_everywhere(const PartialKind& kind, const Record& record, const Record& good, std::size_t room) {
  const Exactly broken(record);
  const std::unique_ptr<std::byte[]> out(new std::byte[room]);
  int faults = 0;
  const auto written_to_out = [&](Bytes size) {
    ASSERT_LE(size, room);
    if (size >= sizeof(Header) && header_of({out.get(), size}).status != Status::ok) ++faults;
  };
  written_to_out(merge(kind, broken.span(), good, {out.get(), room}));
  written_to_out(merge(kind, good, broken.span(), {out.get(), room}));
  Words words(kind.added_words()->word_count());
  kind.added_words()->to_words(broken.span(), words);
  written_to_out(kind.added_words()->from_words(words, 1, 0, {out.get(), room}));
  Record values(kind.value_bytes());
  if (kind.finish(broken.span(), unknown_count, values.data(), values.data()) != Status::ok) ++faults;
  return faults;
}

TEST(Exact, TruncatedRecordsAreRefused) {
  for_every_kind<double>([](const PartialKind& kind, Count columns) {
    if (columns > 5) return;
    std::mt19937_64 random(11);
    const Record good = whole(kind, hostile_data<double>(random, 10, columns, false));
    for (std::size_t size = 0; size < good.size(); ++size) {
      const Record record(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(read_everywhere(kind, record, good, kind.capacity({})), 4) << size << " bytes of " << good.size();
    }
    Record longer = good;
    longer.resize(good.size() + 1);
    EXPECT_EQ(read_everywhere(kind, longer, good, kind.capacity({})), 4);
  });
}

/// What does not fit says so, and nothing is written beyond.
TEST(Exact, SmallBuffersAreRefused) {
  std::mt19937_64 random(12);
  const auto kind = make_exact(ExactOperation::dot, ExactType::f64, ExactType::f64, 3);
  const auto data = hostile_data<double>(random, 10, 3, false);
  const auto builder = kind->builder();
  builder->push(0, data.block(0, 10));
  const Record good = written(*kind, *builder);
  const Record sum = merged(*kind, good, good);
  const Words words = words_of(*kind, good);
  for (std::size_t room = 0; room <= sum.size(); ++room) {
    const std::unique_ptr<std::byte[]> memory(new std::byte[room]);
    const std::span<std::byte> out(memory.get(), room);
    const auto expect = [&](Bytes size, const Record& expected) {
      if (room >= expected.size()) {
        EXPECT_EQ(hex(with_digest(Record(memory.get(), memory.get() + size), test_digest)), hex(expected));
      } else if (room >= sizeof(Header)) {
        EXPECT_EQ(size, sizeof(Header));
        EXPECT_EQ(header_of(out).status, Status::transport_failed);
      } else {
        EXPECT_EQ(size, 0U);
      }
    };
    expect(merge(*kind, good, good, out), sum);
    expect(builder->write(out), good);
    expect(kind->added_words()->from_words(words, 1, test_digest, out), good);
  }
}

TEST(Exact, CorruptRecordsAreReadWithoutHarm) {
  int faults = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for_every_kind<double>([&](const PartialKind& kind, Count columns) {
      if (columns > 5) return;
      std::mt19937_64 random(seed);
      const Record good = whole(kind, hostile_data<double>(random, random() % 10, columns, true));
      for (int round = 0; round < 20; ++round) {
        Record record = good;
        for (std::uint64_t i = random() % 4; i > 0; --i) {
          record[random() % record.size()] = static_cast<std::byte>(random() % 3 == 0 ? random() : random() % 4 * 85);
        }
        if (random() % 4 == 0) record.resize(random() % (record.size() + 8));
        faults += read_everywhere(kind, record, good, random() % 2 == 0 ? kind.capacity({}) : random() % 200);
      }
      Record noise(random() % 100);
      for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
      if (noise.size() >= sizeof(Header)) set_header(noise, Header{.digest = test_digest});
      faults += read_everywhere(kind, noise, good, kind.capacity({}));
      Words words(kind.added_words()->word_count());
      for (std::int64_t& word : words) word = static_cast<std::int64_t>(random());
      from_words(kind, words, static_cast<std::uint32_t>(random()));
    });
  }
  EXPECT_GT(faults, 1000);
}

#ifdef STEADFOLD_HAVE_MPFR

template <class Element, class Result>
Record reference_values(ExactOperation operation, const Data<Element>& data) {
  Record values;
  for (Count column = 0; column < data.columns; ++column) {
    reference::ExactSum sum;
    for (Count row = 0; row < data.rows(); ++row) {
      const Element x = data.first[row * data.columns + column];
      const Element y = data.second[row * data.columns + column];
      if (sums_products(operation))
        sum.add_product(x, operation == ExactOperation::dot ? y : x);
      else
        sum.add(operation == ExactOperation::abs_sum ? std::abs(x) : x);
    }
    const auto result = operation == ExactOperation::norm2 ? sum.rounded_root<Result>() : sum.rounded<Result>();
    const auto* bytes = reinterpret_cast<const std::byte*>(&result);
    values.insert(values.end(), bytes, bytes + sizeof result);
  }
  return values;
}

template <class Element, class Result>
void expect_reference_values(std::uint64_t seed) {
  for (const ExactOperation operation : operations) {
    for (const Count columns : {1U, 3U, 140U}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", operation " << static_cast<int>(operation) << ", "
                                      << columns << " columns, from " << sizeof(Element) << " to " << sizeof(Result)
                                      << " bytes");
      std::mt19937_64 random(seed);
      const auto kind = make_exact(operation, type_of<Element>, type_of<Result>, columns);
      const auto data = hostile_data<Element>(random, random() % (columns > 5 ? 8 : 100), columns, seed % 2 == 0);
      const Record record = merged_at_random(*kind, split(*kind, data, random, random() % 10 + 1), random);
      EXPECT_EQ(hex(finished(*kind, record, data.rows())), hex(reference_values<Element, Result>(operation, data)));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(ExactReference, AgreesForEveryTypeAndOperation) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    expect_reference_values<double, double>(seed);
    expect_reference_values<double, float>(seed);
    expect_reference_values<float, double>(seed);
    expect_reference_values<float, float>(seed);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ExactReference, AgreesOnAMillionRows) {
  std::mt19937_64 random(13);
  const auto data = hostile_data<double>(random, (1U << 20) + 3, 1, false);
  for (const ExactOperation operation : {ExactOperation::sum, ExactOperation::dot}) {
    const auto kind = make_exact(operation, ExactType::f64, ExactType::f64, 1);
    const Record record = merged_at_random(*kind, split(*kind, data, random, 5), random);
    EXPECT_EQ(hex(record), hex(whole(*kind, data)));
    EXPECT_EQ(hex(finished(*kind, record)), hex(reference_values<double, double>(operation, data)));
  }
}

#endif

}  // namespace
}  // namespace steadfold::arithmetic
