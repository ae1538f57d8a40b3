// Large integers against 128-bit ones, and against themselves. Seeds are printed.
#include "arithmetic/superaccumulator/natural.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace steadfold::test::natural_test {
namespace {

using arithmetic::DigitRange;
using arithmetic::Leading;
using arithmetic::Natural;
using arithmetic::Uint128;

DigitRange digit_range_of(Uint128 value, int lowest = 0, bool negative = false) {
  std::vector<std::int64_t> words;
  for (; value != 0; value >>= 32) words.push_back(static_cast<std::uint32_t>(value));
  if (negative)
    for (std::int64_t& word : words) word = -word;
  DigitRange range;
  make_digit_range(words, lowest, range);
  return range;
}

/// Where digit ranges end in zeros, so that the divisor's lowest digit is not always the first.
Natural as_natural(Uint128 value) { return Natural(digit_range_of(value)); }

/// The quotient's first bits by 128-bit division: exact where `value` is the dividend of `divisor`.
void expect_quotient(const Leading& found, Uint128 value, Uint128 divisor) {
  const Uint128 whole = value / divisor;
  ASSERT_NE(whole, 0U);
  const int spare = arithmetic::zeros_before(whole);
  EXPECT_EQ(found.exponent, 127 - spare);
  EXPECT_TRUE(found.bits >> spare == whole);
  // The bits behind the whole part, one by one.
  Uint128 rest = value % divisor;
  for (int i = spare; i-- > 0;) {
    rest <<= 1;
    const bool bit = rest >= divisor;
    if (bit) rest -= divisor;
    EXPECT_EQ((found.bits >> i & 1) != 0, bit) << i;
  }
  EXPECT_EQ(found.sticky, rest != 0);
  EXPECT_FALSE(found.negative);
}

Uint128 random_bits(std::mt19937_64& random, std::uint64_t bits) {
  const Uint128 all = Uint128{random()} << 64 | random();
  return bits == 0 ? 0 : all >> (128 - bits);
}

TEST(Naturals, AreDividedAsSmallIntegersAre) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const Uint128 divisor =
        seed % 5 == 0 ? Uint128{1 + random() % 1000} << random() % 100 : random_bits(random, 1 + random() % 126) | 1;
    // Every third quotient is a whole number, every other third ends in few bits.
    Uint128 value = random_bits(random, 127) | Uint128{1} << 126;
    if (seed % 3 == 1) value = value / divisor * divisor;
    if (value < divisor) continue;
    const Natural natural(digit_range_of(value));
    expect_quotient(natural.divided_by(as_natural(divisor), 0), value, divisor);
    expect_quotient(Natural(digit_range_of(value, 0, true)).divided_by(as_natural(divisor), 0), value, divisor);
    if (testing::Test::HasFailure()) return;
  }
}

/// Long dividends and divisors, of digits with which estimates of a quotient's digit are often wrong: with the quotient
/// found, quotient * divisor <= dividend < (quotient + 1) * divisor.
TEST(Naturals, AreDividedInLongDigits) {
  constexpr std::uint32_t hostile[] = {0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF};
  for (std::uint64_t seed = 1; seed <= 20000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto number = [&](std::size_t most) {
      std::vector<std::int64_t> words(1 + random() % most);
      for (std::int64_t& word : words)
        word = random() % 4 == 0 ? static_cast<std::uint32_t>(random()) : hostile[random() % std::size(hostile)];
      words.back() |= 1;
      DigitRange range;
      make_digit_range(words, static_cast<int>(random() % 7), range);
      return Natural(range);
    };
    const Natural divisor = number(seed % 3 == 0 ? 3 : 60);
    const Natural dividend = seed % 5 == 0 ? divisor.times(number(4)) : number(60);
    const Leading found = dividend.divided_by(divisor, 0);
    const int last = found.exponent - 127 + 32 * 1000, place = last / 32 - 1000;  // not negative before it is divided
    const std::uint64_t bit = std::uint64_t{1} << last % 32;
    const Natural below = divisor.times(Natural(digit_range_of(found.bits, place)).times(bit));
    const Natural above = below.plus(divisor.times(Natural(digit_range_of(1, place)).times(bit)));
    EXPECT_EQ(found.bits >> 127, 1U);
    EXPECT_FALSE(dividend < below);
    EXPECT_TRUE(dividend < above);
    EXPECT_EQ(found.sticky, below < dividend);
    if (testing::Test::HasFailure()) return;
  }
}

/// What follows the 128 bits decides, however far behind it stands.
TEST(Naturals, SayWhetherABitFollows) {
  const Uint128 half = (Uint128{1} << 53 | 1) << 70;  // the middle between two doubles
  for (const int behind : {0, 3, 40, 120}) {
    std::vector<std::int64_t> words(static_cast<std::size_t>(behind) + 6);
    for (int i = 0; i < 4; ++i)
      words[static_cast<std::size_t>(behind + 2 + i)] = static_cast<std::uint32_t>(half >> (32 * i));
    DigitRange range;
    make_digit_range(words, 0, range);
    EXPECT_FALSE(Natural(range).divided_by(Natural(1), 0).sticky);
    words[0] = 1;
    make_digit_range(words, 0, range);
    EXPECT_TRUE(Natural(range).divided_by(Natural(1), 0).sticky);
  }
}

TEST(Naturals, AreMultipliedAddedAndSubtracted) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto a = static_cast<std::uint64_t>(random_bits(random, 1 + random() % 63)) | 1;
    const auto b = static_cast<std::uint64_t>(random_bits(random, 1 + random() % 63)) | 1;
    const int lowest = static_cast<int>(random() % 60);
    const Uint128 large = std::max(a, b);
    const Uint128 small = std::min(a, b);
    const auto shifted = [&](Leading leading, int digits) {
      leading.exponent -= 32 * digits;
      return leading;
    };
    const Natural natural(digit_range_of(large, lowest));
    expect_quotient(shifted(natural.times(a).divided_by(Natural(1), 0), lowest), large * a, 1);
    expect_quotient(shifted(natural.times(natural).divided_by(Natural(1), 0), 2 * lowest), large * large, 1);
    const Natural other(digit_range_of(small, lowest / 2));
    expect_quotient(shifted(natural.times(other).divided_by(Natural(1), 0), lowest + lowest / 2), large * small, 1);
    expect_quotient(shifted(natural.plus(natural).divided_by(Natural(1), 0), lowest), large + large, 1);
    EXPECT_TRUE(natural.plus(other).minus(other).minus(natural).zero());
    EXPECT_TRUE(other.plus(natural).minus(natural).minus(other).zero());
    EXPECT_TRUE(natural.plus(Natural()).minus(natural).zero() && Natural().plus(natural).minus(natural).zero());
    EXPECT_TRUE(natural < natural.plus(Natural(1)) && Natural() < natural);
    EXPECT_FALSE(natural.plus(Natural(1)) < natural || natural < natural || natural < Natural());
    EXPECT_TRUE(natural.minus(natural).zero());
    EXPECT_TRUE(natural.times(0).zero());
    if (large == small) continue;
    const Natural difference = natural.minus(Natural(digit_range_of(small, lowest)));
    expect_quotient(shifted(difference.divided_by(Natural(1), 0), lowest), large - small, 1);
    // Digits that do not meet.
    const Natural apart = Natural(digit_range_of(large, 3)).minus(Natural(digit_range_of(small, 0)));
    const Leading top = apart.divided_by(Natural(1), 0);
    const int bits = 127 - arithmetic::zeros_before(large);
    EXPECT_TRUE(top.exponent == 96 + bits || (top.exponent == 95 + bits && (large & (large - 1)) == 0));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace steadfold::test::natural_test
