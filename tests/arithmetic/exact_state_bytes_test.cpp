// Bytes of kept sums: every damaged byte and every length is refused or a state, whose bytes it is; messages merge in
// any order to the same bytes, faults included.
#include "arithmetic/exact/state_bytes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "support/hex.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::exact_state_bytes_test {
namespace {

using namespace steadfold::arithmetic;  // NOLINT(google-build-using-namespace)

using Bytes = std::vector<std::byte>;
using State = std::unique_ptr<ExactState>;
using Random = std::mt19937_64;
constexpr std::uint64_t seed = 21;

constexpr std::array<StateShape, 6> shapes = {
    {{Type::f64, 1, 1}, {Type::f64, 2, 1}, {Type::f32, 1, 1}, {Type::f32, 2, 1}, {Type::f64, 1, 3}, {Type::f32, 2, 4}}};

template <class T>
void add_some(ExactState& state, std::size_t rows, Random& random) {
  std::vector<T> x(rows * state.shape().columns);
  for (T& each : x) {
    const int exponent = static_cast<int>(random() % 200) - 100;
    each = static_cast<T>(std::ldexp(static_cast<double>(random() % 2001) - 1000, exponent));
    if (random() % 50 == 0) each = random() % 2 == 0 ? T{-0.0} : std::numeric_limits<T>::infinity();
  }
  state.add(reinterpret_cast<const std::byte*>(x.data()), nullptr, rows,
            random() % 3 == 0 ? Way::taken_away : Way::added);
}

State some_state(const StateShape& shape, Random& random) {
  State state = ExactState::make(shape);
  const std::size_t rows = random() % 20;
  shape.type == Type::f64 ? add_some<double>(*state, rows, random) : add_some<float>(*state, rows, random);
  return state;
}

Bytes file(const ExactState& state) {
  Bytes out(file_bytes(state));
  write_file(state, out);
  return out;
}

Bytes message(const ExactState& state) {
  Bytes out(message_bytes(state.shape()), std::byte{0xEE});
  write_message(state, out);
  return out;
}

/// The state that the bytes are, whose bytes are these again; null with a text if they are none. The bytes end where
/// their memory does.
State read(const Bytes& bytes) {
  const auto exact = std::make_unique<std::byte[]>(bytes.size());
  std::ranges::copy(bytes, exact.get());
  std::string wrong;
  State state = read_file({exact.get(), bytes.size()}, wrong);
  EXPECT_EQ(state == nullptr, !wrong.empty());
  if (state != nullptr) {
    EXPECT_EQ(test::hex(file(*state)), test::hex(bytes));
  }
  return state;
}

/// CRC-32 bit by bit.
void mend(Bytes& bytes) {
  std::uint32_t rest = 0xFFFFFFFF;
  for (const std::byte byte : std::span(bytes).first(bytes.size() - 4)) {
    rest ^= std::to_integer<std::uint32_t>(byte);
    for (int i = 0; i < 8; ++i) rest = rest >> 1 ^ ((rest & 1) * 0xEDB88320u);
  }
  for (std::size_t i = 0; i < 4; ++i) bytes[bytes.size() - 4 + i] = static_cast<std::byte>(~rest >> (8 * i) & 0xFF);
}

TEST(KeptBytes, ComeBack) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  for (const StateShape& shape : shapes) {
    EXPECT_NE(read(file(*ExactState::make(shape))), nullptr);
    for (int i = 0; i < 50; ++i) {
      const State state = some_state(shape, random);
      const State back = read(file(*state));
      ASSERT_NE(back, nullptr);
      EXPECT_EQ(back->shape(), shape);
      EXPECT_EQ(back->rows(), state->rows());
    }
  }
}

TEST(KeptBytes, EveryDamagedByteIsRefused) {
  Random random(seed);
  for (const StateShape& shape : shapes) {
    const Bytes whole = file(*some_state(shape, random));
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (unsigned flip = 1; flip < 256; ++flip) {
        Bytes bytes = whole;
        bytes[at] ^= static_cast<std::byte>(flip);
        ASSERT_EQ(read(bytes), nullptr) << "byte " << at << " xor " << flip;
      }
    }
    for (std::size_t size = 0; size < whole.size(); ++size)
      ASSERT_EQ(read(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))), nullptr) << size;
    Bytes longer = whole;
    longer.push_back({});
    ASSERT_EQ(read(longer), nullptr);
  }
}

/// With a checksum that is right: what is read is what would be written, and everything else is refused.
TEST(KeptBytes, ForgedOnesAreStatesOrRefused) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  std::size_t states = 0;
  std::size_t refused = 0;
  const auto count = [&](const Bytes& bytes) { ++(read(bytes) == nullptr ? refused : states); };
  for (const StateShape& shape : shapes) {
    const Bytes whole = file(*some_state(shape, random));
    for (std::size_t at = 0; at + 4 < whole.size(); ++at) {
      for (unsigned flip = 1; flip < 256; flip += sanitized ? 13 : 1) {
        Bytes bytes = whole;
        bytes[at] ^= static_cast<std::byte>(flip);
        mend(bytes);
        count(bytes);
      }
    }
    for (std::size_t size = 4; size < whole.size(); ++size) {
      Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      mend(bytes);
      ASSERT_EQ(read(bytes), nullptr) << size;
    }
    for (int i = 0; i < 2000; ++i) {
      Bytes bytes = whole;
      for (int changes = 0; changes < 4; ++changes)
        bytes[random() % bytes.size()] = static_cast<std::byte>(random() & 0xFF);
      mend(bytes);
      count(bytes);
    }
  }
  EXPECT_GT(states, 1000u);
  EXPECT_GT(refused, 1000u);
}

void expect_refusal(Bytes bytes, std::size_t at, unsigned value, const std::string& part) {
  bytes[at] = static_cast<std::byte>(value);
  mend(bytes);
  std::string wrong;
  EXPECT_EQ(read_file(bytes, wrong), nullptr) << part;
  EXPECT_NE(wrong.find(part), std::string::npos) << wrong;
}

TEST(KeptBytes, RefusalsSayWhy) {
  const Bytes whole = file(*ExactState::make(shapes[0]));
  expect_refusal(whole, 0, 'X', "do not begin with SFAC");
  expect_refusal(whole, 4, 2, "bits version 2 (this library reads version 1)");
  expect_refusal(whole, 6, 7, "no accumulator has these bytes");
  expect_refusal(whole, 7, 3, "no accumulator has these bytes");
  expect_refusal(whole, 15, 0xFF, "no accumulator has these bytes");  // 2^63 columns and more
  std::string wrong;
  EXPECT_EQ(read_file({}, wrong), nullptr);
  EXPECT_NE(wrong.find("0 bytes, but the shortest accumulator has 40"), std::string::npos) << wrong;
}

/// Of -2^2175 there is a state, of -2^2175 - 1 and of 2^2175 none: nor of more digits.
TEST(KeptBytes, AtTheEndOfTheDigits) {
  const auto of_digit_range = [](unsigned lowest, unsigned negative, const std::vector<std::uint32_t>& digits) {
    Bytes bytes = file(*ExactState::make(shapes[0]));
    bytes.resize(24 + 8 + 1);
    for (const unsigned number : {lowest, static_cast<unsigned>(digits.size()), negative})
      bytes.push_back(static_cast<std::byte>(number));
    for (const std::uint32_t digit : digits)
      for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(digit >> (8 * i) & 0xFF));
    bytes.resize(bytes.size() + 4);
    mend(bytes);
    return read(bytes) != nullptr;
  };
  EXPECT_TRUE(of_digit_range(67, 0, {0x7FFFFFFF}));
  EXPECT_FALSE(of_digit_range(67, 0, {0x80000000}));
  EXPECT_TRUE(of_digit_range(67, 1, {0x80000000}));
  EXPECT_FALSE(of_digit_range(67, 1, {0x7FFFFFFF}));
  EXPECT_FALSE(of_digit_range(66, 1, {0xFFFFFFFF, 0x7FFFFFFF}));
  EXPECT_FALSE(of_digit_range(68, 0, {1}));
  EXPECT_FALSE(of_digit_range(68, 1, {}));
  EXPECT_TRUE(of_digit_range(67, 1, {}));
  EXPECT_FALSE(of_digit_range(3, 0, {0, 1})) << "a digit that could be left out";
  EXPECT_FALSE(of_digit_range(3, 0, {1, 0}));
  EXPECT_FALSE(of_digit_range(3, 1, {1, 0xFFFFFFFF}));
  EXPECT_FALSE(of_digit_range(3, 0, {}));
}

// --- messages --------------------------------------------------------------------------------------------------------

TEST(KeptMessages, MergeAsStatesDo) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  for (const StateShape& shape : shapes) {
    for (int round = 0; round < 30; ++round) {
      const State a = some_state(shape, random);
      const State b = some_state(shape, random);
      Bytes ab = message(*b);
      merge_messages(message(*a), ab);
      Bytes ba = message(*a);
      merge_messages(message(*b), ba);
      const State sum = a->copy();
      sum->merge(*b, Way::added);
      ASSERT_EQ(test::hex(ab), test::hex(message(*sum)));
      ASSERT_EQ(test::hex(ba), test::hex(ab));
      State read = some_state(shape, random);
      std::string wrong;
      ASSERT_TRUE(read_message(ab, *read, wrong)) << wrong;
      ASSERT_EQ(test::hex(file(*read)), test::hex(file(*sum)));
    }
  }
}

/// Faults and rubbish among them: (a + b) + c = a + (b + c) and a + b = b + a.
TEST(KeptMessages, FaultsAreAssociative) {
  Random random(seed);
  const StateShape one = {Type::f64, 1, 1};
  const std::size_t size = message_bytes(one);
  std::vector<Bytes> all = {message(*some_state(one, random)), message(*some_state(one, random))};
  Bytes other = all[0];
  other[8] = std::byte{1};  // of floats, whose messages have another size
  all.push_back(other);
  all.emplace_back(size);
  Bytes fault = all[0];
  merge_messages(Bytes(size, std::byte{7}), fault);
  all.push_back(fault);
  const auto merged = [](const Bytes& from, Bytes into) {
    merge_messages(from, into);
    return into;
  };
  for (const Bytes& a : all) {
    for (const Bytes& b : all) {
      EXPECT_EQ(merged(a, b), merged(b, a));
      for (const Bytes& c : all) EXPECT_EQ(merged(merged(a, b), c), merged(a, merged(b, c)));
    }
  }
}

/// A column of floats has 8 words, one of doubles 37: 37 columns of the one and 8 of the other are messages of one
/// size.
TEST(KeptMessages, OfOtherShapesAreFaults) {
  Random random(seed);
  const StateShape floats = {Type::f32, 1, 37};
  const StateShape doubles = {Type::f64, 1, 8};
  ASSERT_EQ(message_bytes(floats), message_bytes(doubles));
  const Bytes a = message(*some_state(floats, random));
  const Bytes b = message(*some_state(doubles, random));
  const auto merged = [](const Bytes& from, Bytes into) {
    merge_messages(from, into);
    return into;
  };
  EXPECT_EQ(merged(a, b), merged(b, a));
  EXPECT_EQ(merged(merged(a, b), a), merged(a, b));
  EXPECT_EQ(merged(merged(a, a), b), merged(a, merged(a, b)));
  const Bytes damaged(a.size(), std::byte{1});
  EXPECT_EQ(merged(merged(a, b), damaged), merged(a, merged(b, damaged)));
  const State state = some_state(floats, random);
  const Bytes before = file(*state);
  std::string wrong;
  EXPECT_FALSE(read_message(merged(a, b), *state, wrong));
  EXPECT_NE(wrong.find("different shapes were merged"), std::string::npos) << wrong;
  EXPECT_FALSE(read_message(b, *state, wrong));
  EXPECT_NE(wrong.find("another shape"), std::string::npos) << wrong;
  EXPECT_FALSE(read_message(merged(a, damaged), *state, wrong));
  EXPECT_NE(wrong.find("the message is damaged"), std::string::npos) << wrong;
  EXPECT_EQ(file(*state), before);
}

TEST(KeptMessages, DamagedOnesAreStatesOrRefused) {
  Random random(seed);
  for (const StateShape& shape : shapes) {
    const Bytes whole = message(*some_state(shape, random));
    const State state = ExactState::make(shape);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const unsigned flip : {1u, 0x80u, 0xFFu}) {
        const auto bytes = std::make_unique<std::byte[]>(whole.size());
        std::ranges::copy(whole, bytes.get());
        bytes[at] ^= static_cast<std::byte>(flip);
        std::string wrong;
        const bool is_read = read_message({bytes.get(), whole.size()}, *state, wrong);
        EXPECT_EQ(is_read, wrong.empty());
        Bytes other = whole;
        merge_messages({bytes.get(), whole.size()}, other);
      }
    }
    std::string wrong;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const auto bytes = std::make_unique<std::byte[]>(size);
      std::copy_n(whole.begin(), size, bytes.get());
      EXPECT_FALSE(read_message({bytes.get(), size}, *state, wrong)) << size;
      merge_messages(whole, {bytes.get(), size});
    }
  }
}

/// NaN, infinity and -infinity have a bit each; others say nothing.
TEST(KeptMessages, OfSpecialsThatThereAreNoneOfAreRefused) {
  for (const StateShape& shape : shapes) {
    const State state = ExactState::make(shape);
    const Bytes none = message(*state);
    for (unsigned bit = 0; bit < 64; ++bit) {
      Bytes bytes = none;
      const std::uint64_t special = std::uint64_t{1} << bit;
      std::memcpy(bytes.data() + 32 + 8, &special, sizeof special);  // of column 0
      std::string wrong;
      EXPECT_EQ(read_message(bytes, *state, wrong), bit < 3) << "bit " << bit << ": " << wrong;
    }
  }
}

/// The message of the negative of every column, counters aside: -x = ~x + 1, by words.
Bytes complement(Bytes message, Count columns) {
  const std::size_t words = (message.size() - 32) / 8 / columns;
  for (std::size_t column = 0; column < columns; ++column) {
    std::uint64_t carry = 1;
    for (std::size_t i = 2; i < words; ++i) {
      std::byte* const at = message.data() + 32 + 8 * (column * words + i);
      std::uint64_t word = 0;
      std::memcpy(&word, at, sizeof word);
      word = ~word + carry;
      carry = carry != 0 && word == 0 ? 1 : 0;
      std::memcpy(at, &word, sizeof word);
    }
  }
  return message;
}

/// The largest states there are, from as many ranks as there may be: the sum is refused where it is read, but no bit of
/// it is lost.
TEST(KeptMessages, HoldTheSumOfManyRanks) {
  for (const StateShape& shape : shapes) {
    for (const int sign : {1, -1}) {
      State state = ExactState::make(shape);
      const std::vector<float> floats(shape.columns, static_cast<float>(sign) * std::numeric_limits<float>::max());
      const std::vector<double> doubles(shape.columns, sign * std::numeric_limits<double>::max());
      state->add(shape.type == Type::f32 ? reinterpret_cast<const std::byte*>(floats.data())
                                         : reinterpret_cast<const std::byte*>(doubles.data()),
                 nullptr, 1, Way::added);
      for (int doublings = 0; state->has_room() && doublings < 2000; ++doublings) {
        state->merge(*state, Way::added);
        state->set_rows(1);
      }
      ASSERT_FALSE(state->has_room());
      Bytes sum = message(*state);
      for (int i = 0; i < 31; ++i) merge_messages(Bytes(sum), sum);
      std::string wrong;
      const State into = ExactState::make(shape);
      EXPECT_FALSE(read_message(sum, *into, wrong));
      EXPECT_NE(wrong.find("column 0 of the packed accumulator holds no sum"), std::string::npos) << wrong;
      Bytes rest = complement(sum, shape.columns);
      merge_messages(message(*state), rest);
      merge_messages(sum, rest);
      ASSERT_TRUE(read_message(rest, *into, wrong)) << wrong;
      for (Count column = 0; column < shape.columns; ++column)
        EXPECT_EQ(into->compare(*state, column), Comparison::equal);
    }
  }
}

}  // namespace
}  // namespace steadfold::test::exact_state_bytes_test
