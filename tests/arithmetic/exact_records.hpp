// What the tests of the exact partial share: hostile elements, their records however they are split and merged, and the
// records as words.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "arithmetic/exact/exact.hpp"

namespace steadfold::arithmetic::exact_records {

using Record = std::vector<std::byte>;
using Words = std::vector<std::int64_t>;

inline constexpr Operation operations[] = {Operation::sum, Operation::abs_sum, Operation::dot, Operation::sum_squares,
                                           Operation::norm2};
inline constexpr Type types[] = {Type::f32, Type::f64};
inline constexpr std::uint64_t test_digest = 0xFEDCBA9876543210;

inline std::string hex(const Record& record) {
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
constexpr Type type_of = std::is_same_v<Element, float> ? Type::f32 : Type::f64;

inline Status status_of(const Record& record) { return header_of(record).status; }

inline Record with_digest(Record record, std::uint64_t digest) {
  Header header = header_of(record);
  header.digest = digest;
  set_header(record, header);
  return record;
}

inline Record written(const PartialKind& kind, Builder& builder) {
  Record out(kind.capacity({}));
  out.resize(builder.write(out));
  return with_digest(out, test_digest);
}

inline Record merged(const PartialKind& kind, const Record& left, const Record& right) {
  Record out(kind.capacity({}));
  out.resize(merge(kind, left, right, out));
  return out;
}

inline Record finished(const PartialKind& kind, const Record& record, Count count = unknown_count) {
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
inline Record merged_at_random(const PartialKind& kind, std::vector<Record> records, std::mt19937_64& random) {
  while (records.size() > 1) {
    std::swap(records[random() % records.size()], records.back());
    const Record right = std::move(records.back());
    records.pop_back();
    Record& left = records[random() % records.size()];
    left = merged(kind, left, right);
  }
  return records.front();
}

inline Words words_of(const PartialKind& kind, const Record& record) {
  Words words(kind.added_words()->word_count(), 0x5555);
  kind.added_words()->to_words(record, words);
  return words;
}

inline void add(Words& to, const Words& by) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    ASSERT_FALSE(__builtin_add_overflow(to[i], by[i], &to[i])) << "word " << i;
  }
}

inline Record from_words(const PartialKind& kind, const Words& sums, std::uint32_t rank_count,
                         std::uint64_t digest = test_digest) {
  Record out(kind.capacity({}));
  out.resize(kind.added_words()->from_words(sums, rank_count, digest, out));
  return out;
}

inline Record added_as_words(const PartialKind& kind, const std::vector<Record>& records) {
  Words sums(kind.added_words()->word_count(), 0);
  for (const Record& record : records) add(sums, words_of(kind, record));
  return from_words(kind, sums, static_cast<std::uint32_t>(records.size()));
}

template <class Element, class Test>
void for_every_kind(const Test& test) {
  for (const Operation operation : operations) {
    for (const Type result : types) {
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

}  // namespace steadfold::arithmetic::exact_records
