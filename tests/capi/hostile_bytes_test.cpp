// Bytes of accumulators that come from outside, files and messages: bits, counts and lengths are changed, ends cut off
// or drawn out, two put together, and checksums made right again. Each is refused with a text, or is an accumulator
// that has these bytes and can be used. Nothing behind them is read, and no memory allocated that they do not stand
// for. Every byte by itself: arithmetic/exact_state_bytes_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "steadfold/steadfold_accumulator.h"
#include "support/allocations.hpp"
#include "support/fenced.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::hostile_bytes_test {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;
using Shape = sf_accumulator_shape;

constexpr std::uint64_t seed = 61;
constexpr int case_count = sanitized ? 1000 : 8000;
constexpr std::size_t most_allocated = std::size_t{1} << 20;

// Where a file has what.
constexpr std::size_t rows_at = 16;
constexpr std::size_t special_at = 32;  // of the first column, and so on
constexpr std::size_t lowest_at = 33;
constexpr std::size_t count_at = 34;
constexpr std::size_t negative_at = 35;
constexpr std::size_t digits_at = 36;
constexpr std::size_t sum_bytes = 4;
constexpr std::size_t shortest_file = digits_at + sum_bytes;
constexpr std::size_t column_bytes = 12;  // at least

// A message.
constexpr std::size_t columns_at = 16;
constexpr std::size_t message_head_bytes = 32;

constexpr std::array<Shape, 7> shapes = {{{SF_F64, SF_ELEMENTS, 1},
                                          {SF_F64, SF_PRODUCTS, 1},
                                          {SF_F32, SF_ELEMENTS, 1},
                                          {SF_F32, SF_PRODUCTS, 1},
                                          {SF_F64, SF_ELEMENTS, 3},
                                          {SF_F32, SF_PRODUCTS, 4},
                                          {SF_F32, SF_ELEMENTS, 37}}};

struct Free {
  void operator()(sf_accumulator* accumulator) const { sf_accumulator_free(accumulator); }
};
using Handle = std::unique_ptr<sf_accumulator, Free>;

std::string said() { return sf_error_text(); }

template <class T, std::size_t count>
T one_of(const std::array<T, count>& all, Random& random) {
  return all[random() % count];
}

// --- accumulators, and their bytes -----------------------------------------------------------------------------------

Handle make(const Shape& shape) {
  sf_accumulator* made = nullptr;
  EXPECT_EQ(sf_accumulator_create(shape.type, shape.terms, shape.columns, &made), SF_OK) << said();
  return Handle(made);
}

template <class T>
std::vector<T> some_terms(std::size_t count, Random& random) {
  constexpr int top = std::numeric_limits<T>::max_exponent;
  std::vector<T> terms(count);
  for (T& each : terms) {
    const auto fraction = static_cast<T>(static_cast<int>(random() % 2001) - 1000) / 1024;
    each = std::ldexp(fraction, static_cast<int>(random() % (2 * top)) - top);
    if (random() % 30 == 0) each = std::numeric_limits<T>::infinity();
    if (random() % 30 == 0) each = T{-0.0};
  }
  return terms;
}

/// One with terms of every size, in a third of the cases doubled for as long as there is room.
Handle make_some(const Shape& shape, Random& random) {
  Handle made = make(shape);
  const std::uint64_t rows = random() % 6;
  const auto doubles = some_terms<double>(rows * shape.columns, random);
  const auto floats = some_terms<float>(rows * shape.columns, random);
  const void* const terms =
      shape.type == SF_F64 ? static_cast<const void*>(doubles.data()) : static_cast<const void*>(floats.data());
  EXPECT_EQ(sf_accumulator_add(made.get(), terms, rows, 1), SF_OK) << said();
  const std::uint64_t doublings = random() % 3 == 0 ? random() % 80 : 0;
  for (std::uint64_t i = 0; i < doublings; ++i) sf_accumulator_merge(made.get(), made.get());
  return made;
}

Bytes file_of(const sf_accumulator* accumulator) {
  std::uint64_t size = 0;
  EXPECT_EQ(sf_accumulator_write(accumulator, nullptr, 0, &size), SF_OK) << said();
  Bytes bytes(size);
  EXPECT_EQ(sf_accumulator_write(accumulator, bytes.data(), size, &size), SF_OK) << said();
  return bytes;
}

Bytes message_of(const sf_accumulator* accumulator) {
  Bytes bytes(sf_accumulator_packed_size(accumulator));
  EXPECT_EQ(sf_accumulator_pack(accumulator, bytes.data(), bytes.size()), SF_OK) << said();
  return bytes;
}

/// The bytes where memory ends with them.
std::byte* at_the_edge(Fenced& room, const Bytes& bytes) {
  auto* const place = room.array<std::byte>(bytes.size(), Side::end);
  std::ranges::copy(bytes, place);
  return place;
}

constexpr std::size_t room_bytes = std::size_t{1} << 14;

// --- changes ---------------------------------------------------------------------------------------------------------

constexpr std::array<std::uint8_t, 7> hostile_bytes = {0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF};

/// What overflows where it is added to something, multiplied, or taken for a size.
constexpr std::array<std::uint64_t, 11> hostile_words = {0,
                                                         1,
                                                         std::uint64_t{1} << 31,
                                                         (std::uint64_t{1} << 32) - 1,
                                                         std::uint64_t{1} << 48,
                                                         (std::uint64_t{1} << 61) + 1,
                                                         std::uint64_t{1} << 62,
                                                         (std::uint64_t{1} << 63) - 1,
                                                         std::uint64_t{1} << 63,
                                                         (std::uint64_t{1} << 63) + 1,
                                                         ~std::uint64_t{0}};

/// Little-endian, as far as there are bytes.
void set_word(Bytes& bytes, std::size_t at, std::uint64_t word) {
  for (std::size_t i = 0; i < sizeof word && at + i < bytes.size(); ++i)
    bytes[at + i] = static_cast<std::byte>(word >> (8 * i) & 0xFF);
}

/// Changes bytes somewhere, in half of the cases where counts stand; `other` is another accumulator's.
void change(Bytes& bytes, const Bytes& other, Random& random) {
  if (bytes.empty()) return;
  const bool is_in_front = random() % 2 == 0;
  const std::size_t at = random() % (is_in_front ? std::min(bytes.size(), shortest_file) : bytes.size());
  switch (random() % 6) {
    case 0: bytes[at] ^= static_cast<std::byte>(1U << random() % 8); break;
    case 1: bytes[at] = static_cast<std::byte>(one_of(hostile_bytes, random)); break;
    case 2: set_word(bytes, is_in_front ? at / 8 * 8 : at, one_of(hostile_words, random)); break;
    case 3: bytes.resize(at); break;
    case 4: bytes.resize(bytes.size() + 1 + at % 40, static_cast<std::byte>(one_of(hostile_bytes, random))); break;
    default:
      bytes.resize(at);
      if (at < other.size()) bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(at), other.end());
  }
}

/// CRC-32 bit by bit.
void mend(Bytes& file) {
  if (file.size() < sum_bytes) return;
  std::uint32_t rest = ~std::uint32_t{0};
  for (std::size_t i = 0; i + sum_bytes < file.size(); ++i) {
    rest ^= std::to_integer<std::uint32_t>(file[i]);
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) * 0xEDB88320U);
  }
  for (std::size_t i = 0; i < sum_bytes; ++i)
    file[file.size() - sum_bytes + i] = static_cast<std::byte>(~rest >> (8 * i) & 0xFF);
}

/// The first column says how many digits it has, and has them, however many.
void claim_digits(Bytes& file, Random& random) {
  constexpr std::array<std::size_t, 8> ends = {0, 1, 67, 68, 69, 134, 136, 255};
  if (file.size() < shortest_file) return;
  const std::size_t count = one_of(ends, random);
  file[lowest_at] = static_cast<std::byte>(random() % 4 == 0 ? random() & 0xFF : 0);
  file[count_at] = static_cast<std::byte>(count);
  file[negative_at] = static_cast<std::byte>(random() % 2);
  file.resize(digits_at);
  for (std::size_t i = 0; i < count * sizeof(std::uint32_t); ++i)
    file.push_back(static_cast<std::byte>(random() & 0xFF));
  file.resize(file.size() + sum_bytes);
}

Bytes hostile_file(const Bytes& whole, const Bytes& other, Random& random) {
  Bytes bytes = whole;
  for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes)
    random() % 6 == 0 ? claim_digits(bytes, random) : change(bytes, other, random);
  if (random() % 10 != 0) mend(bytes);
  return bytes;
}

Bytes hostile_message(const Bytes& whole, const Bytes& other, Random& random) {
  Bytes bytes = whole;
  for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) change(bytes, other, random);
  return bytes;
}

/// Runs body(random) for every case, up to the first that fails.
template <class Body>
void for_each_case(const Body& body) {
  std::printf("seed %llu, %d cases\n", static_cast<unsigned long long>(seed), case_count);
  for (int number = 0; number < case_count && !testing::Test::HasFailure(); ++number) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", case " + std::to_string(number));
    Random random(seed + static_cast<std::uint64_t>(number));
    body(random);
  }
}

// --- files -----------------------------------------------------------------------------------------------------------

/// What the bytes are, if they are anything; else the handle given stays what it was.
Handle read(Fenced& room, const Bytes& bytes, const Handle& given) {
  const std::byte* const place = at_the_edge(room, bytes);
  sf_accumulator* made = given.get();
  sf_status status = SF_OK;
  const std::size_t largest = largest_allocation([&] { status = sf_accumulator_read(place, bytes.size(), &made); });
  EXPECT_LT(largest, most_allocated);
  if (status == SF_OK) return Handle(made);
  EXPECT_EQ(status, SF_INVALID_ARGUMENT) << said();
  EXPECT_EQ(made, given.get());
  EXPECT_NE(said().find(" ("), std::string::npos) << said();
  return nullptr;
}

void expect_results(const Handle& made, const Shape& shape) {
  std::vector<double> values(shape.columns);
  std::vector<sf_order> orders(shape.columns);
  for (const sf_operation operation : {SF_SUM, SF_MEAN, SF_NORM2}) {
    for (const sf_type type : {SF_F64, SF_F32}) {
      const sf_status status = sf_accumulator_round(made.get(), operation, type, values.data());
      EXPECT_TRUE(status == SF_OK || status == SF_EMPTY || status == SF_UNSUPPORTED) << said();
    }
  }
  EXPECT_EQ(sf_accumulator_compare(made.get(), made.get(), orders.data()), SF_OK) << said();
  for (const sf_order order : orders) EXPECT_TRUE(order == SF_EQUAL || order == SF_UNORDERED);
}

/// A full one is not changed, and not merged into another; any other comes back to its bytes.
void expect_changes(const Handle& made, const Shape& shape, const Bytes& bytes) {
  const sf_status due = sf_accumulator_negate(made.get());
  EXPECT_TRUE(due == SF_OK || (due == SF_UNSUPPORTED && said().find("is full") != std::string::npos)) << said();
  EXPECT_EQ(sf_accumulator_negate(made.get()), due) << said();
  const std::vector<double> doubles(shape.columns, 1);
  const std::vector<float> floats(shape.columns, 1);
  const void* const ones =
      shape.type == SF_F64 ? static_cast<const void*>(doubles.data()) : static_cast<const void*>(floats.data());
  EXPECT_EQ(sf_accumulator_add(made.get(), ones, 1, 1), due) << said();
  EXPECT_EQ(sf_accumulator_subtract(made.get(), ones, 1, 1), due) << said();
  EXPECT_EQ(file_of(made.get()), bytes);
  const Handle into = make(shape);
  const Bytes nothing = file_of(into.get());
  EXPECT_EQ(sf_accumulator_merge(into.get(), made.get()), due) << said();
  EXPECT_EQ(file_of(into.get()), due == SF_OK ? bytes : nothing);
}

void expect_usable(const Handle& made, const Bytes& bytes) {
  EXPECT_EQ(file_of(made.get()), bytes);
  Shape shape{};
  ASSERT_EQ(sf_accumulator_describe(made.get(), &shape, nullptr), SF_OK);
  ASSERT_LE(shape.columns, bytes.size() / column_bytes);
  expect_results(made, shape);
  expect_changes(made, shape, bytes);
}

TEST(HostileBytes, FilesAreAccumulatorsOrRefused) {
  Fenced room(room_bytes);
  const Handle given = make(shapes[0]);
  int read_count = 0;
  for_each_case([&](Random& random) {
    const Handle whole = make_some(one_of(shapes, random), random);
    const Handle other = make_some(one_of(shapes, random), random);
    const Bytes bytes = hostile_file(file_of(whole.get()), file_of(other.get()), random);
    const Handle made = read(room, bytes, given);
    if (made == nullptr) return;
    ++read_count;
    expect_usable(made, bytes);
  });
  EXPECT_GT(read_count, case_count / 20);
  EXPECT_LT(read_count, case_count - case_count / 20);
}

/// Cut off anywhere, or with more digits than there are bytes of, though the checksum is right.
TEST(HostileBytes, NothingIsReadBehindAFile) {
  Fenced room(room_bytes);
  const Handle given = make(shapes[0]);
  for (const Shape& shape : shapes) {
    const Handle made = make(shape);
    const std::vector<double> doubles(shape.columns, 1);
    const std::vector<float> floats(shape.columns, 1);
    const bool is_double = shape.type == SF_F64;
    ASSERT_EQ(is_double ? sf_accumulator_add(made.get(), doubles.data(), 1, 1)
                        : sf_accumulator_add(made.get(), floats.data(), 1, 1),
              SF_OK);
    const Bytes whole = file_of(made.get());
    for (std::size_t size = 0; size < whole.size(); ++size) {
      Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      mend(bytes);
      EXPECT_EQ(read(room, bytes, given), nullptr) << size;
    }
    for (unsigned more = 1; more < 8; ++more) {
      Bytes bytes = whole;
      const std::size_t last = whole.size() - sum_bytes - sizeof(std::uint32_t) - 2;  // how many digits it has: one
      ASSERT_EQ(bytes[last], std::byte{1});
      bytes[last] = static_cast<std::byte>(1 + more);
      mend(bytes);
      EXPECT_EQ(read(room, bytes, given), nullptr) << more;
    }
  }
}

/// NaN, infinity and -infinity have a bit each; others say nothing.
TEST(HostileBytes, SpecialsThatThereAreNoneOfAreRefused) {
  Fenced room(room_bytes);
  const Handle given = make(shapes[0]);
  const Bytes none = file_of(given.get());
  for (unsigned bit = 0; bit < 8; ++bit) {
    Bytes bytes = none;
    bytes[special_at] = static_cast<std::byte>(1U << bit);
    mend(bytes);
    EXPECT_EQ(read(room, bytes, given) != nullptr, bit < 3) << bit;
  }
}

/// More rows than can be counted, in either direction, and a sum that leaves no bit for another one.
TEST(HostileBytes, FullFilesAreReadAndNotMerged) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  Fenced room(room_bytes);
  const Handle given = make(shapes[0]);
  std::vector<Bytes> full;
  for (const std::uint64_t rows : {most, 2 * most, 0 - most, ~std::uint64_t{0} >> 1}) {
    full.push_back(file_of(given.get()));
    set_word(full.back(), rows_at, rows);
  }
  for (const bool is_negative : {false, true}) {
    full.push_back(file_of(given.get()));
    full.back().resize(shortest_file + sizeof(std::uint32_t));
    full.back()[lowest_at] = std::byte{67};
    full.back()[count_at] = std::byte{1};
    full.back()[negative_at] = is_negative ? std::byte{1} : std::byte{0};
    full.back()[digits_at + 3] = is_negative ? std::byte{0xBF} : std::byte{0x40};
  }
  for (Bytes& bytes : full) {
    mend(bytes);
    const Handle made = read(room, bytes, given);
    ASSERT_NE(made, nullptr) << said();
    EXPECT_EQ(sf_accumulator_negate(made.get()), SF_UNSUPPORTED);
    expect_usable(made, bytes);
    EXPECT_EQ(sf_accumulator_assign(given.get(), made.get()), SF_OK) << said();
    EXPECT_EQ(file_of(given.get()), bytes);
    EXPECT_EQ(sf_accumulator_clear(given.get()), SF_OK);
  }
}

// --- messages --------------------------------------------------------------------------------------------------------

/// A sum of two messages of one size, which end where memory does.
class Merging {
 public:
  Bytes merged(const Bytes& from, const Bytes& into) {
    const std::byte* const left = at_the_edge(from_, from);
    std::byte* const right = at_the_edge(into_, into);
    sf_accumulator_merge_packed(left, right, into.size());
    return {right, right + into.size()};
  }

 private:
  Fenced from_{room_bytes};
  Fenced into_{room_bytes};
};

/// Whether the accumulator becomes what the bytes say; else it stays as it was.
bool unpack(Fenced& room, const Bytes& bytes, const Handle& into) {
  const Bytes before = file_of(into.get());
  const std::byte* const place = at_the_edge(room, bytes);
  const sf_status status = sf_accumulator_unpack(into.get(), place, bytes.size());
  if (status == SF_OK) {
    EXPECT_EQ(message_of(into.get()), bytes);
    return true;
  }
  EXPECT_EQ(status, SF_INVALID_ARGUMENT) << said();
  const std::string text = said();
  EXPECT_NE(text.find(" ("), std::string::npos) << text;
  EXPECT_EQ(file_of(into.get()), before);
  sf_set_error_text(text.c_str());
  return false;
}

TEST(HostileBytes, MessagesAreAccumulatorsOrRefused) {
  Fenced room(room_bytes);
  Merging merging;
  int read_count = 0;
  for_each_case([&](Random& random) {
    const Shape shape = one_of(shapes, random);
    const Handle whole = make_some(shape, random);
    const Handle other = make_some(shape, random);
    const Bytes good = message_of(other.get());
    const Bytes bytes = hostile_message(message_of(whole.get()), good, random);
    const bool is_read = unpack(room, bytes, other);
    read_count += is_read ? 1 : 0;
    const bool is_damaged = !is_read && said().find("the message is damaged") != std::string::npos;
    Bytes fitting = good;
    fitting.resize(bytes.size());
    const Bytes sum = merging.merged(bytes, fitting);
    if (bytes.size() >= message_head_bytes) {
      EXPECT_EQ(merging.merged(fitting, bytes), sum);
    }
    if (!is_damaged) return;
    EXPECT_FALSE(unpack(room, sum, other));
    EXPECT_FALSE(unpack(room, merging.merged(sum, good), other));
  });
  EXPECT_GT(read_count, case_count / 20);
  EXPECT_LT(read_count, case_count - case_count / 20);
}

/// Shorter than a head, too.
TEST(HostileBytes, NothingIsReadBehindAMessage) {
  Fenced room(room_bytes);
  Merging merging;
  for (const Shape& shape : shapes) {
    const Handle made = make(shape);
    const Bytes whole = message_of(made.get());
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(unpack(room, bytes, made)) << size;
      const Bytes sum = merging.merged(bytes, bytes);
      EXPECT_EQ(sum == bytes, size < message_head_bytes) << size;
    }
  }
}

/// Columns of 2^61 and more take as many bytes as fewer do, modulo 2^64.
TEST(HostileBytes, ColumnsWhoseBytesOverflowAreNone) {
  Fenced room(room_bytes);
  Merging merging;
  for (const Shape& shape : shapes) {
    const Handle made = make(shape);
    for (std::uint64_t times = 1; times < 8; ++times) {
      Bytes bytes = message_of(made.get());
      set_word(bytes, columns_at, shape.columns + (times << 61));
      EXPECT_FALSE(unpack(room, bytes, made));
      EXPECT_FALSE(unpack(room, merging.merged(bytes, bytes), made));
      EXPECT_NE(said().find("the message is damaged"), std::string::npos) << said();
    }
  }
}

}  // namespace
}  // namespace steadfold::test::hostile_bytes_test
