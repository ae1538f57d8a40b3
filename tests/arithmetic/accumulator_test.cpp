// The long accumulator against MPFR on hostile data, and at every boundary where rounding changes its mind.
// Bits are compared as integers, never with a tolerance; every case names its seed on failure.
#include "arithmetic/superaccumulator/accumulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#ifdef STEADFOLD_HAVE_MPFR
#include "arithmetic/mpfr.hpp"
#endif

namespace steadfold::arithmetic::accumulator_test {
namespace {

constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t canonical_nan = 0x7FF8000000000000;

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

template <class Result>
testing::AssertionResult same_bits(Result actual, Result expected) {
  if (bits(actual) == bits(expected)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << std::hex << "bits " << bits(actual) << ", expected " << bits(expected);
}

/// One term: x, or x y.
template <class Element, int factors>
void add(Accumulator<Element, factors>& accumulator, Element x, Element y = {}) {
  accumulator.add_rows(reinterpret_cast<const std::byte*>(&x), reinterpret_cast<const std::byte*>(&y), 1, sizeof x);
}

template <class Element>
Accumulator<Element, 1> sum_of(const std::vector<Element>& data) {
  Accumulator<Element, 1> accumulator;
  for (const Element x : data) add(accumulator, x);
  return accumulator;
}

template <class Element>
Accumulator<Element, 2> dot_of(const std::vector<Element>& x, const std::vector<Element>& y) {
  Accumulator<Element, 2> accumulator;
  for (std::size_t i = 0; i < x.size(); ++i) add(accumulator, x[i], y[i]);
  return accumulator;
}

template <class Result = double, class Element = double>
Result sum(const std::vector<Element>& data) {
  return sum_of<Element>(data).template rounded<Result>();
}

double nan_of(std::uint64_t payload) { return std::bit_cast<double>(0x7FF0000000000000 | payload); }

TEST(Accumulator, HasTheDigitsThatTheFormatsNeed) {
  EXPECT_EQ((Accumulator<float, 1>::digit_count), 11);
  EXPECT_EQ((Accumulator<float, 2>::digit_count), 20);
  EXPECT_EQ((Accumulator<double, 1>::digit_count), 68);
  EXPECT_EQ((Accumulator<double, 2>::digit_count), 134);
}

TEST(Accumulator, SumsWhatPlainAdditionLoses) {
  EXPECT_TRUE(same_bits(sum<double>({1e60, 1.0, -1e60}), 1.0));
  EXPECT_TRUE(same_bits(sum<double>({largest, largest, -largest}), largest));
  EXPECT_TRUE(same_bits(sum<double>({-largest, -largest, largest}), -largest));
  EXPECT_TRUE(same_bits(sum<double>({largest, smallest, -largest}), smallest));
  EXPECT_TRUE(same_bits(sum<double>(std::vector<double>(1000, smallest)), 1000 * smallest));
  EXPECT_TRUE(same_bits(sum<double>(std::vector<double>(1000, -smallest)), -1000 * smallest));
  EXPECT_TRUE(same_bits(sum<double>({0.1, 0.2, -0.3}), 0x1p-55));
}

TEST(Accumulator, KeepsTheRulesOfZero) {
  EXPECT_TRUE(same_bits(sum<double>({}), 0.0));
  EXPECT_TRUE(same_bits(sum<double>({-0.0}), -0.0));
  EXPECT_TRUE(same_bits(sum<double>({-0.0, -0.0, -0.0}), -0.0));
  EXPECT_TRUE(same_bits(sum<double>({-0.0, 0.0}), 0.0));
  EXPECT_TRUE(same_bits(sum<double>({0.0}), 0.0));
  EXPECT_TRUE(same_bits(sum<double>({1.0, -1.0}), 0.0));
  EXPECT_TRUE(same_bits(sum<double>({-1.0, -0.0, 1.0}), 0.0));
  EXPECT_TRUE(same_bits(sum<float>({-0.0, -0.0}), -0.0F));
  EXPECT_TRUE(same_bits(sum<float>({-smallest}), -0.0F));  // not zero before it is rounded
  EXPECT_TRUE(same_bits(dot_of<double>({-0.0}, {1.0}).rounded<double>(), -0.0));
  EXPECT_TRUE(same_bits(dot_of<double>({-0.0, 3.0}, {1.0, -0.0}).rounded<double>(), -0.0));
  EXPECT_TRUE(same_bits(dot_of<double>({-0.0, -3.0}, {1.0, -0.0}).rounded<double>(), 0.0));
  EXPECT_TRUE(same_bits(dot_of<double>({smallest}, {-smallest}).rounded<double>(), -0.0));
  EXPECT_TRUE(same_bits(dot_of<double>({-0.0}, {-0.0}).rounded_root<double>(), 0.0));
  EXPECT_TRUE(same_bits(dot_of<double>({}, {}).rounded_root<double>(), 0.0));
}

TEST(Accumulator, KeepsTheRulesOfInfinityAndNan) {
  const double nan = std::bit_cast<double>(canonical_nan);
  EXPECT_TRUE(same_bits(sum<double>({1.0, infinity, -largest}), infinity));
  EXPECT_TRUE(same_bits(sum<double>({-infinity, largest, largest}), -infinity));
  EXPECT_TRUE(same_bits(sum<double>({infinity, 1.0, -infinity}), nan));
  EXPECT_TRUE(same_bits(sum<float>({infinity, -infinity}), std::bit_cast<float>(std::uint32_t{0x7FC00000})));
  for (const std::uint64_t payload : {1ULL, 0x7FF8DEAD0000BEEFULL, 0x800000000000F00DULL, 0x8008000000000000ULL}) {
    EXPECT_TRUE(same_bits(sum<double>({1.0, nan_of(payload), infinity}), nan)) << std::hex << payload;
    EXPECT_TRUE(same_bits(dot_of<double>({1.0, nan_of(payload)}, {2.0, 0.0}).rounded<double>(), nan));
    EXPECT_TRUE(same_bits(dot_of<double>({1.0, infinity}, {2.0, nan_of(payload)}).rounded<double>(), nan));
  }
  EXPECT_TRUE(same_bits(dot_of<double>({infinity}, {0.0}).rounded<double>(), nan));
  EXPECT_TRUE(same_bits(dot_of<double>({-0.0}, {infinity}).rounded<double>(), nan));
  EXPECT_TRUE(same_bits(dot_of<double>({infinity, 1.0}, {-smallest, 1.0}).rounded<double>(), -infinity));
  EXPECT_TRUE(same_bits(dot_of<double>({-infinity}, {-infinity}).rounded<double>(), infinity));
  EXPECT_TRUE(same_bits(dot_of<double>({-infinity}, {-infinity}).rounded_root<double>(), infinity));
}

TEST(Accumulator, RoundsTiesToEvenWhereTheResultOverflows) {
  const double half = 0x1p970;  // half the distance from the largest double to 2^1024
  EXPECT_TRUE(same_bits(sum<double>({largest, half}), infinity));
  EXPECT_TRUE(same_bits(sum<double>({largest, half, -smallest}), largest));
  EXPECT_TRUE(same_bits(sum<double>({-largest, -half}), -infinity));
  EXPECT_TRUE(same_bits(sum<double>({-largest, -half, smallest}), -largest));
  const double previous = std::nextafter(largest, 0.0);
  EXPECT_TRUE(same_bits(sum<double>({previous, half}), previous));  // its last bit is 0
  EXPECT_TRUE(same_bits(sum<double>({previous, half, smallest}), largest));
  const double float_largest = std::numeric_limits<float>::max();
  EXPECT_TRUE(same_bits(sum<float>({float_largest, 0x1p103}), std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(same_bits(sum<float>({float_largest, 0x1p103, -smallest}), std::numeric_limits<float>::max()));
}

TEST(Accumulator, RoundsTiesToEvenAtTheSmallestSubnormal) {
  const auto dot = [](double x, double tie, double push) {
    return dot_of<double>({x, tie, push}, {1.0, 0x1p-538, smallest}).rounded<double>();
  };
  const double half = 0x1p-537;  // times 2^-538: half of the smallest subnormal
  EXPECT_TRUE(same_bits(dot(0.0, half, 0.0), 0.0));
  EXPECT_TRUE(same_bits(dot(0.0, -half, 0.0), -0.0));
  EXPECT_TRUE(same_bits(dot(0.0, half, smallest), smallest));
  EXPECT_TRUE(same_bits(dot(0.0, half, -smallest), 0.0));
  EXPECT_TRUE(same_bits(dot(0.0, half / 2, smallest), 0.0));
  EXPECT_TRUE(same_bits(dot(smallest, half, 0.0), 2 * smallest));
  EXPECT_TRUE(same_bits(dot(smallest, half, -smallest), smallest));
  EXPECT_TRUE(same_bits(sum<float>({0x1p-150}), 0.0F));
  EXPECT_TRUE(same_bits(sum<float>({0x1p-150, smallest}), 0x1p-149F));
  EXPECT_TRUE(same_bits(sum<float>({0x1p-150, -smallest}), 0.0F));
}

/// x plus half a unit in the last place, exactly, a little more and a little less, for x at every exponent.
TEST(Accumulator, RoundsTiesToEvenAtEveryExponent) {
  std::mt19937_64 random(1);
  for (std::uint64_t biased = 0; biased < 2047; ++biased) {
    for (const std::uint64_t mantissa : {std::uint64_t{0}, std::uint64_t{1}, random() >> 12, ~std::uint64_t{0} >> 12}) {
      const std::uint64_t below = biased << 52 | mantissa;
      const double x = std::bit_cast<double>(below);
      const double above = std::bit_cast<double>(below + 1);
      const double even = (below & 1) == 0 ? x : above;
      const double half = biased < 2 ? 0x1p-537 : std::ldexp(1.0, static_cast<int>(biased) - 1076);
      const double rest = biased < 2 ? 0x1p-538 : 1.0;
      for (const double sign : {1.0, -1.0}) {
        const auto dot = [&](double push) {
          return dot_of<double>({sign * x, sign * half, sign * push}, {1.0, rest, smallest}).rounded<double>();
        };
        ASSERT_TRUE(same_bits(dot(0.0), sign * even)) << "biased exponent " << biased;
        ASSERT_TRUE(same_bits(dot(smallest), sign * above)) << "biased exponent " << biased;
        ASSERT_TRUE(same_bits(dot(-smallest), sign * x)) << "biased exponent " << biased;
      }
    }
  }
}

/// The processor converts one double to float as the accumulator does.
TEST(Accumulator, RoundsToFloatAsTheProcessorDoes) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000000; ++i) {
    const std::uint64_t biased = 1023 - 160 + random() % 300;
    std::uint64_t mantissa = random() >> 12;
    if (i % 2 == 0) mantissa = (mantissa & ~std::uint64_t{0x1FFFFFFF}) | (0x0FFFFFFF + random() % 3);  // about a tie
    const double x = std::bit_cast<double>((random() & 1) << 63 | biased << 52 | mantissa);
    ASSERT_TRUE(same_bits(sum<float>({x}), static_cast<float>(x))) << "seed 2, case " << i;
  }
}

/// Norms that are a double, one and a half of its last places, and a little more: a^2 + b^2 = c^2 with c of 54 bits.
TEST(Accumulator, RoundsTheRootAtTies) {
  std::mt19937_64 random(3);
  int ties = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t u = (std::uint64_t{1} << 26) + (random() & 0x3FFFFFF);
    const std::uint64_t v = (u - random() % (u / 2)) | 1;
    const std::uint64_t a = u * u - v * v;
    const std::uint64_t b = 2 * u * v;
    const std::uint64_t c = u * u + v * v;
    if (v >= u || (u & 1) != 0 || a >= std::uint64_t{1} << 53 || c >> 53 != 1) continue;
    ++ties;
    ASSERT_EQ(c & 1, 1U);
    const auto x = static_cast<double>(a);
    const auto y = static_cast<double>(b);  // even and below 2^54
    const auto above = static_cast<double>(c + 1);
    const auto even = static_cast<double>((c & 2) == 0 ? c - 1 : c + 1);
    ASSERT_TRUE(same_bits(dot_of<double>({x, y}, {x, y}).rounded_root<double>(), even)) << "seed 3, case " << i;
    ASSERT_TRUE(same_bits(dot_of<double>({x, y, smallest}, {x, y, smallest}).rounded_root<double>(), above));
  }
  EXPECT_GT(ties, 100);
}

/// Digit ranges that hold a square of 54 bits, times a power of 4, and one unit more or less at any distance below.
TEST(Accumulator, RoundsTheRootBesideTies) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t tie = std::uint64_t{1} << 53 | (i < 1000 ? 0 : random() >> 11) | 1;
    const std::uint64_t root = i % 8 == 0 ? (std::uint64_t{1} << 55) : tie;  // or a power of 2
    const auto shift = static_cast<unsigned>(random() % 31) + 1;
    const Uint128 square = Uint128{root} * root;
    std::array<std::int64_t, 16> words{};
    for (unsigned digit = 0; digit < 5; ++digit) {
      const Uint128 high = digit == 0 ? 0 : square >> (32 * digit - shift);
      words[10 + digit] = static_cast<std::uint32_t>(digit == 0 ? square << shift : high);
    }
    const int change = static_cast<int>(random() % 3) - 1;
    const auto distance = static_cast<unsigned>(random() % 321);
    words[distance / 32] += change * (std::int64_t{1} << (distance % 32));
    DigitRange range;
    make_digit_range(words, 0, range);
    // The square stands at 2^(320 + shift): an even exponent gives the root at 2^0.
    const double result = rounded_root<double>(no_flags, 1, leading(range, -320 - static_cast<int>(shift)));
    const std::uint64_t even = (root & 2) == 0 ? root - 1 : root + 1;
    const std::uint64_t expected = (root & 1) == 0 ? root : change == 0 ? even : change > 0 ? root + 1 : root - 1;
    ASSERT_TRUE(same_bits(result, static_cast<double>(expected))) << "seed 6, case " << i;
  }
}

/// A tie at any bit of a digit, and a push off it at any distance.
TEST(Accumulator, SeesThePushOffATieAtAnyDistance) {
  for (int exponent = 200; exponent < 232; ++exponent) {
    const double x = std::ldexp(1.0, exponent);
    for (int below = exponent - 54; below > exponent - 300; --below) {
      const double push = std::ldexp(1.0, below);
      const double tie = std::ldexp(1.0, exponent - 53);
      ASSERT_TRUE(same_bits(sum<double>({x, tie, push}), std::nextafter(x, infinity))) << exponent << ' ' << below;
      ASSERT_TRUE(same_bits(sum<double>({-x, -tie, -push}), std::nextafter(-x, -infinity))) << exponent << ' ' << below;
      ASSERT_TRUE(same_bits(sum<double>({x, tie, -push}), x)) << exponent << ' ' << below;
    }
  }
}

TEST(Accumulator, FindsTheRootOfEverySquare) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 200000; ++i) {
    const double x = std::bit_cast<double>(random());
    if (!std::isfinite(x)) continue;
    ASSERT_TRUE(same_bits(dot_of<double>({x}, {x}).rounded_root<double>(), std::fabs(x))) << "seed 4, case " << i;
    ASSERT_TRUE(same_bits(dot_of<double>({x}, {x}).rounded_root<float>(), static_cast<float>(std::fabs(x))));
  }
  EXPECT_TRUE(same_bits(dot_of<double>({largest, largest}, {largest, largest}).rounded_root<double>(), infinity));
  EXPECT_TRUE(same_bits(dot_of<double>({smallest, smallest}, {smallest, smallest}).rounded_root<double>(), smallest));
}

TEST(Accumulator, DoesNotLookAtTheRoundingMode) {
  const std::vector<double> data = {0.1, 1e30, -0x1p-1070, 3e-200, -1e30};
  const double expected[] = {sum<double>(data), dot_of<double>(data, data).rounded_root<double>(), sum<float>(data)};
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const double actual[] = {sum<double>(data), dot_of<double>(data, data).rounded_root<double>(), sum<float>(data)};
    ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(actual[i], expected[i])) << "mode " << mode << ", value " << i;
  }
}

TEST(Accumulator, RoundsMeansOnce) {
  const auto mean = [](const std::vector<double>& data) { return sum_of(data).rounded_mean<double>(); };
  EXPECT_TRUE(same_bits(mean({1, 2, 3}), 2.0));
  EXPECT_TRUE(same_bits(mean({1, 0, 0}), 1.0 / 3));
  EXPECT_TRUE(same_bits(mean({largest, largest, largest}), largest));  // the sum by itself is too large
  EXPECT_TRUE(same_bits(mean({largest, -largest}), 0.0));
  EXPECT_TRUE(same_bits(mean({smallest, 0}), 0.0));  // a half, to even
  EXPECT_TRUE(same_bits(mean({-smallest, 0}), -0.0));
  EXPECT_TRUE(same_bits(mean({smallest, smallest, 0}), smallest));  // two thirds
  EXPECT_TRUE(same_bits(mean({smallest, 0, 0}), 0.0));
  EXPECT_TRUE(same_bits(mean({3 * smallest, 0}), 2 * smallest));  // three halves, to even
  EXPECT_TRUE(same_bits(mean({-0.0, -0.0}), -0.0));
  EXPECT_TRUE(same_bits(mean({-0.0, 0.0}), 0.0));
  EXPECT_TRUE(same_bits(mean({infinity, 1}), infinity));
  EXPECT_EQ(bits(mean({infinity, -infinity})), canonical_nan);
  EXPECT_EQ(bits(mean({nan_of(5), 1})), canonical_nan);
  // The sum rounded first would be a tie that the rest decides: (2^53 + 1 + 2^-60) / 2 is above the half.
  EXPECT_TRUE(same_bits(mean({0x1p54, 2.0, 0x1p-60, 0.0}), 0x1p52 + 1));
  // A third of 3 (2^53 + 1) 2^72 + 1, which has 127 bits: of what is above the tie the quotient has no digit.
  EXPECT_TRUE(same_bits(mean({0x3p125, 0x3p72, 1.0}), 0x1p125 + 0x1p73));
  EXPECT_TRUE(same_bits(mean({-0x3p125, -0x3p72, -1.0}), -0x1p125 - 0x1p73));
  EXPECT_TRUE(same_bits(mean({0x3p125, 0x3p72, 0.0}), 0x1p125));  // the control: the tie
}

TEST(Accumulator, DividesByAnyNumberOfRows) {
  DigitRange range;
  const std::array<std::int64_t, 1> one = {1};
  make_digit_range(one, 0, range);  // the sum 1
  for (const Count rows : {Count{1}, Count{3}, (Count{1} << 32) + 1, (Count{1} << 53) + 1, ~Count{0} >> 1, ~Count{0}}) {
    const long double quotient = 1.0L / static_cast<long double>(rows);  // 64 bits, so that no tie is hidden
    EXPECT_TRUE(same_bits(rounded_mean<double>(no_flags, rows, leading(range, 0)), static_cast<double>(quotient)))
        << rows;
  }
}

TEST(Accumulator, IsReusedAfterClear) {
  Accumulator<double, 1> accumulator;
  for (const double x : {largest, -smallest, nan_of(1), infinity}) {
    add(accumulator, x);
    accumulator.clear();
    EXPECT_EQ(accumulator.rows(), 0U);
    EXPECT_TRUE(same_bits(accumulator.rounded<double>(), 0.0));
    add(accumulator, -0.0);
    EXPECT_TRUE(same_bits(accumulator.rounded<double>(), -0.0));
    add(accumulator, 3.0);
    EXPECT_TRUE(same_bits(accumulator.rounded<double>(), 3.0));
    accumulator.clear();
  }
}

#ifdef STEADFOLD_HAVE_MPFR

/// Data of one kind: anything, close exponents, cancelling pairs, subnormals and zeros, huge values, special values.
template <class Element>
std::vector<Element> hostile(std::mt19937_64& random, std::size_t count, int kind) {
  using Limits = std::numeric_limits<Element>;
  using Bits = decltype(bits(Element{}));
  const auto anything = [&] { return std::bit_cast<Element>(static_cast<Bits>(random())); };
  std::vector<Element> data;
  while (data.size() < count) {
    Element x = anything();
    int exponent = 0;
    if (!std::isfinite(x)) {
      if (kind == 5 && random() % 4 == 0) data.push_back(x);
      continue;
    }
    switch (kind) {
      case 0: break;
      case 1: x = std::ldexp(std::frexp(x, &exponent), static_cast<int>(random() % 8)); break;
      case 2: break;
      case 3:
        x = random() % 4 == 0 ? std::copysign(Element{0}, x) : std::ldexp(x / Limits::max(), Limits::min_exponent);
        break;
      case 4: x = std::copysign(random() % 3 == 0 ? Limits::max() : Limits::max() / 2, x); break;
      default: break;
    }
    data.push_back(x);
    if (kind == 2 && random() % 8 != 0) data.push_back(-x);
    if (kind == 2 && random() % 16 == 0) data.push_back(std::ldexp(x, -60));
    if (kind == 5 && random() % 64 == 0) data.push_back(random() % 2 == 0 ? Limits::infinity() : -Limits::infinity());
  }
  std::shuffle(data.begin(), data.end(), random);
  return data;
}

template <class Element, class Result>
void expect_sum(const std::vector<Element>& data) {
  reference::ExactSum expected;
  for (const Element x : data) expected.add(x);
  EXPECT_TRUE(same_bits(sum_of(data).template rounded<Result>(), expected.template rounded<Result>()));
}

template <class Element, class Result>
void expect_mean(const std::vector<Element>& data) {
  if (data.empty()) return;
  reference::ExactSum expected;
  for (const Element x : data) expected.add(x);
  EXPECT_TRUE(
      same_bits(sum_of(data).template rounded_mean<Result>(), expected.template divided_by<Result>(data.size())));
}

template <class Element, class Result>
void expect_dot(const std::vector<Element>& x, const std::vector<Element>& y) {
  reference::ExactSum expected;
  for (std::size_t i = 0; i < x.size(); ++i) expected.add_product(x[i], y[i]);
  EXPECT_TRUE(same_bits(dot_of(x, y).template rounded<Result>(), expected.template rounded<Result>()));
}

template <class Element, class Result>
void expect_norm(const std::vector<Element>& x) {
  reference::ExactSum expected;
  for (const Element each : x) expected.add_product(each, each);
  EXPECT_TRUE(same_bits(dot_of(x, x).template rounded_root<Result>(), expected.template rounded_root<Result>()));
}

template <class Element>
void expect_all_on_hostile_data() {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    for (int kind = 0; kind < 6; ++kind) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " kind " << kind);
      std::mt19937_64 random(seed);
      const std::size_t count = seed < 8 ? seed - 1 : random() % 200;
      const std::vector<Element> x = hostile<Element>(random, count, kind);
      std::vector<Element> y = hostile<Element>(random, x.size(), static_cast<int>(random() % 6));
      y.resize(x.size());
      expect_sum<Element, double>(x);
      expect_sum<Element, float>(x);
      expect_mean<Element, double>(x);
      expect_mean<Element, float>(x);
      expect_dot<Element, double>(x, y);
      expect_dot<Element, float>(x, y);
      expect_norm<Element, double>(x);
      expect_norm<Element, float>(x);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(AccumulatorReference, AgreesOnHostileDoubles) { expect_all_on_hostile_data<double>(); }
TEST(AccumulatorReference, AgreesOnHostileFloats) { expect_all_on_hostile_data<float>(); }

/// The products of two doubles about the smallest subnormal and about overflow, alone and in sums of few.
TEST(AccumulatorReference, AgreesOnProductsAtTheEndsOfTheRange) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    SCOPED_TRACE(testing::Message() << "seed 5 case " << i);
    std::vector<double> x;
    std::vector<double> y;
    const int target = i % 2 == 0 ? -1074 : 1023;
    for (std::uint64_t terms = random() % 4 + 1; terms > 0; --terms) {
      const int exponent = static_cast<int>(random() % 900) + (i % 2 == 0 ? -1000 : 100);
      const auto mantissa = [&] { return 1.0 + static_cast<double>(random() >> (12 + random() % 50)) * 0x1p-52; };
      x.push_back(std::ldexp(random() % 2 == 0 ? mantissa() : -mantissa(), exponent));
      y.push_back(std::ldexp(mantissa(), target - exponent + static_cast<int>(random() % 5) - 3));
    }
    expect_dot<double, double>(x, y);
    if (testing::Test::HasFailure()) return;
  }
}

/// More terms than a word can take before its carry, all with the most bits in it, and the same in strides.
template <class Element, int factors>
void expect_many(std::size_t count, Element x) {
  SCOPED_TRACE(testing::Message() << count << " times " << x);
  const std::vector<Element> data(count, x);
  const auto* bytes = reinterpret_cast<const std::byte*>(data.data());
  Accumulator<Element, factors> accumulator;
  accumulator.add_rows(bytes, bytes, count, sizeof x);
  reference::ExactSum expected;
  factors == 1 ? expected.add(x) : expected.add_product(x, x);
  expected.multiply(count);
  EXPECT_EQ(accumulator.rows(), count);
  EXPECT_TRUE(same_bits(accumulator.template rounded<double>(), expected.rounded<double>()));

  Accumulator<Element, factors> halves;  // 0 stride: the same element again and again
  halves.add_rows(bytes, bytes, count / 2, 0);
  halves.add_rows(bytes, bytes, count - count / 2, 0);
  EXPECT_TRUE(same_bits(halves.template rounded<double>(), expected.rounded<double>()));
}

TEST(AccumulatorReference, AgreesOnManyTerms) {
  for (const std::size_t count : {1023UL, 1024UL, 1025UL, 2047UL, 2048UL, 2049UL, 100000UL, (1UL << 20) + 7}) {
    for (int bit = 0; bit<32; bit += count> 3000 ? 31 : 1) {
      const double x = std::ldexp(0x1.FFFFFFFFFFFFFp0, bit);
      expect_many<double, 1>(count, x);
      expect_many<double, 1>(count, -x);
      expect_many<double, 2>(count, x);
      expect_many<float, 1>(count, -std::ldexp(0x1.FFFFFEp0F, bit));
      expect_many<float, 2>(count, std::ldexp(0x1.FFFFFEp0F, bit));
    }
    expect_many<double, 1>(count, largest);
    expect_many<double, 1>(count, -smallest);
  }
}

TEST(AccumulatorReference, AgreesOnManyHostileTerms) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::vector<double> data = hostile<double>(random, (1U << 16) + 11 * seed, static_cast<int>(seed - 1));
    expect_sum<double, double>(data);
    expect_norm<double, double>(data);
  }
}

#endif

}  // namespace
}  // namespace steadfold::arithmetic::accumulator_test
