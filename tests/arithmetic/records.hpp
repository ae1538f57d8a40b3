// What the tests of partials share: rows of bytes, guarded memory, records with the rows they cover, watched operators.
// Shares nothing with src/ but the interfaces under test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "support/hex.hpp"

namespace steadfold {

/// For GoogleTest, which looks in the namespace of the type.
inline void PrintTo(Status status, std::ostream* out) { *out << "status " << static_cast<std::uint32_t>(status); }

}  // namespace steadfold

namespace steadfold::test {

using arithmetic::Block;
using arithmetic::Builder;
using arithmetic::PartialKind;
using order::Bytes;
using order::Count;
using order::Index;
using order::Interval;
using order::IntervalSet;

using Record = std::vector<std::byte>;

/// The library's name for a number type.
template <class T>
constexpr arithmetic::Type type_of = std::is_same_v<T, double>          ? arithmetic::Type::f64
                                     : std::is_same_v<T, float>         ? arithmetic::Type::f32
                                     : std::is_same_v<T, std::int32_t>  ? arithmetic::Type::i32
                                     : std::is_same_v<T, std::int64_t>  ? arithmetic::Type::i64
                                     : std::is_same_v<T, std::uint32_t> ? arithmetic::Type::u32
                                                                        : arithmetic::Type::u64;

inline testing::AssertionResult same(std::span<const std::byte> found, std::span<const std::byte> expected) {
  if (std::ranges::equal(found, expected)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "found    " << hex(found) << "\nexpected " << hex(expected);
}

/// Room for so many bytes, filled differently each time, before a guard that shows what is written past the end.
class Guarded {
 public:
  explicit Guarded(Bytes size) : size_(size), bytes_(size + guard, static_cast<std::byte>(fill_ += 2)) {
    std::fill(bytes_.begin() + static_cast<std::ptrdiff_t>(size), bytes_.end(), std::byte{0xC3});
  }
  std::span<std::byte> room() { return std::span(bytes_).first(size_); }
  std::byte* data() { return bytes_.data(); }
  bool intact() const {
    return std::ranges::all_of(std::span(bytes_).subspan(size_), [](std::byte b) { return b == std::byte{0xC3}; });
  }
  Record taken(Bytes size) {
    EXPECT_TRUE(intact()) << "written past the end of " << size_ << " bytes";
    EXPECT_LE(size, size_);
    return {bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(std::min(size, size_))};
  }

 private:
  static constexpr Bytes guard = 128;
  static inline unsigned char fill_ = 0x11;  // odd: never 0
  Bytes size_;
  std::vector<std::byte> bytes_;
};

/// Rows begin, begin + 1, ... of the whole job in memory, `stride` bytes apart.
struct Table {
  Index begin = 0;
  Count rows = 0;
  Bytes row_bytes = 0;
  Bytes stride = 0;
  std::vector<std::byte> bytes = {};

  const std::byte* row(Index i) const { return bytes.data() + (i - begin) * stride; }
  Block block(Index first, Count count) const { return {.first = row(first), .rows = count, .row_stride = stride}; }
};

inline Table random_table(std::mt19937_64& random, Index begin, Count rows, Bytes row_bytes, Bytes stride = 0) {
  Table table{.begin = begin, .rows = rows, .row_bytes = row_bytes, .stride = std::max(row_bytes, stride)};
  table.bytes.resize(rows * table.stride + 16);
  for (std::byte& byte : table.bytes) byte = static_cast<std::byte>(random());
  return table;
}

template <class T>
Table table_of(const std::vector<T>& elements, Index begin = 0, Count columns = 1) {
  Table table{.begin = begin, .rows = elements.size() / columns, .row_bytes = columns * sizeof(T)};
  table.stride = table.row_bytes;
  table.bytes.resize(elements.size() * sizeof(T) + 16);
  if (!elements.empty()) std::memcpy(table.bytes.data(), elements.data(), elements.size() * sizeof(T));
  return table;
}

/// A partial and the rows it covers.
struct Part {
  Record record;
  IntervalSet rows;
};

inline Status status_of(std::span<const std::byte> record) { return arithmetic::header_of(record).status; }

inline Record written(const PartialKind& kind, Builder& builder, const IntervalSet& rows) {
  Guarded out(kind.working_capacity(rows));
  Record record = out.taken(builder.write(out.room()));
  EXPECT_LE(record.size(), kind.capacity(rows));
  return record;
}

/// The partial of some rows of the table, pushed interval by interval.
inline Part built(const PartialKind& kind, Builder& builder, const Table& table, std::span<const Interval> intervals) {
  Part part;
  builder.clear();
  for (const Interval interval : intervals) {
    if (!part.rows.add(interval)) ADD_FAILURE() << "the test's intervals overlap";
    builder.push(interval.begin, table.block(interval.begin, interval.size()));
  }
  part.record = written(kind, builder, part.rows);
  return part;
}

inline Part built(const PartialKind& kind, const Table& table, std::vector<Interval> intervals) {
  return built(kind, *kind.builder(), table, intervals);
}

/// A partial in two pieces, head and values, which only happen to touch in memory.
inline arithmetic::Partial with_values_apart(const PartialKind& kind, const Record& record) {
  const auto head = std::span<const std::byte>(record).first(kind.values_apart()->head_bytes(record));
  return {head, record.data() + head.size()};
}

/// Both operands stay as they are; the result fits the capacity of the rows.
inline Part merged(const PartialKind& kind, const Part& left, const Part& right) {
  Part part{.record = {}, .rows = left.rows};
  for (const Interval interval : right.rows.intervals()) {
    if (!part.rows.add(interval)) ADD_FAILURE() << "the test's rows overlap";
  }
  const Record left_copy = left.record;
  const Record right_copy = right.record;
  Guarded out(kind.working_capacity(part.rows));
  part.record = out.taken(merge(kind, left.record, right.record, out.room()));
  EXPECT_LE(part.record.size(), kind.capacity(part.rows));
  EXPECT_TRUE(same(left.record, left_copy)) << "left was written";
  EXPECT_TRUE(same(right.record, right_copy)) << "right was written";
  return part;
}

/// Takes any two parts, in any order, until one is left.
inline Part merged_at_random(const PartialKind& kind, std::vector<Part> parts, std::mt19937_64& random) {
  while (parts.size() > 1) {
    std::swap(parts[random() % parts.size()], parts.back());
    const Part one = std::move(parts.back());
    parts.pop_back();
    Part& other = parts[random() % parts.size()];
    other = random() % 2 == 0 ? merged(kind, one, other) : merged(kind, other, one);
  }
  return parts.front();
}

/// The values of a whole partial, or nothing and the status that it has instead.
struct Finished {
  Status status;
  Record values;
};

inline Finished finished(const PartialKind& kind, const Record& record, Count count = arithmetic::unknown_count) {
  const Record copy = record;
  Guarded values(kind.value_bytes());
  Guarded spare(kind.value_bytes());
  Finished result{.status = kind.finish(record, count, values.data(), spare.data()), .values = {}};
  EXPECT_TRUE(spare.intact()) << "written past the end of the spare values";
  EXPECT_TRUE(same(record, copy)) << "the partial was written";
  result.values = values.taken(kind.value_bytes());
  return result;
}

/// Context of `mix`: what it is given and when it is to fail.
struct Watch {
  Bytes size = 0;  // of an element
  std::uint64_t calls = 0;
  std::uint64_t fail_at = 0;  // this call fails, counted from 1; 0: none does
  std::string fault = {};     // a promise of steadfold.h that was not kept
};

/// A new element from two: neither associative nor commutative, for any size.
inline void mix_element(const std::byte* left, const std::byte* right, std::byte* result, Bytes size) {
  for (Bytes i = 0; i < size; ++i) {
    const auto l = std::to_integer<unsigned>(left[i]);
    const auto next = std::to_integer<unsigned>(left[(i + 1) % size]);
    const auto r = std::to_integer<unsigned>(right[(i + 2) % size]);
    result[i] = static_cast<std::byte>(5 * l + 3 * (l >> 3) + 7 * next + (r << 1 ^ r >> 5) + 11 * i + 1);
  }
}

inline bool overlap(const std::byte* a, const std::byte* b, Bytes size) { return a < b + size && b < a + size; }

inline void watch_operands(Watch& watch, const std::byte* left, const std::byte* right, const std::byte* result,
                           std::size_t count) {
  const Bytes bytes = count * watch.size;
  const Bytes alignment = std::min<Bytes>(16, watch.size & (~watch.size + 1));
  if (count == 0) watch.fault = "a call with no elements";
  if (overlap(right, result, bytes)) watch.fault = "result overlaps right";
  if (left != result && overlap(left, result, bytes)) watch.fault = "result overlaps left without being it";
  for (const std::byte* operand : {left, right, result}) {
    if (reinterpret_cast<std::uintptr_t>(operand) % alignment != 0) watch.fault = "an operand is not aligned";
  }
}

/// A user operator on elements of any size, which works on a copy as steadfold.h asks.
inline int mix(const void* left, const void* right, void* result, std::size_t count, void* context) {
  auto& watch = *static_cast<Watch*>(context);
  const auto* l = static_cast<const std::byte*>(left);
  const auto* r = static_cast<const std::byte*>(right);
  auto* to = static_cast<std::byte*>(result);
  watch_operands(watch, l, r, to, count);
  if (++watch.calls == watch.fail_at) return 1;
  std::vector<std::byte> copy(watch.size);
  for (std::size_t i = 0; i < count * watch.size; i += watch.size) {
    mix_element(l + i, r + i, copy.data(), watch.size);
    std::memcpy(to + i, copy.data(), watch.size);
  }
  return 0;
}

inline arithmetic::Operator mixing(Watch& watch) {
  return {.apply = mix, .context = &watch, .element_bytes = watch.size};
}

template <class T>
std::string bits_of(T value) {
  if constexpr (sizeof(T) == 8) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    char text[17];
    std::snprintf(text, sizeof text, "%016llX", static_cast<unsigned long long>(bits));
    return text;
  } else {
    char text[9];
    std::snprintf(text, sizeof text, "%08X", static_cast<unsigned>(std::bit_cast<std::uint32_t>(value)));
    return text;
  }
}

template <class T>
T value_at(std::span<const std::byte> values, std::size_t i = 0) {
  T value;
  std::memcpy(&value, values.data() + i * sizeof(T), sizeof value);
  return value;
}

}  // namespace steadfold::test
