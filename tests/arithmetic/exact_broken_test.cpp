// Exact records that are cut short, corrupt or given too little room: refused, and never read or written beyond.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <span>

#include "exact_records.hpp"

namespace steadfold::arithmetic::exact_broken_test {
namespace {

using namespace exact_records;

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
  const auto kind = make_exact(Operation::dot, Type::f64, Type::f64, 3);
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

}  // namespace
}  // namespace steadfold::arithmetic::exact_broken_test
