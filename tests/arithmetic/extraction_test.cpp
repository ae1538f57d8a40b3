// Accumulators with the kernels of every target against the reference, digit by digit, and against MPFR: data that fits
// an exponent range, data that moves between exponent ranges, data that fits none, and products at both ends of the
// range.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "arithmetic/ieee.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"
#ifdef STEADFOLD_HAVE_MPFR
#include "arithmetic/mpfr.hpp"
#endif
#include "support/targets.hpp"

namespace steadfold::test::extraction_test {
namespace {

using arithmetic::Accumulator;
using kernels::Target;
using order::Count;

using Random = std::mt19937_64;

/// How element i of a vector is made.
struct Data {
  std::string name;
  std::function<double(Random&, Count)> element;
};

/// About as a normal distribution has it: the sum of the draw's four quarters, each of them even in [-0.5, 0.5).
double scaled(Random& random, int exponent) {
  const std::uint64_t drawn = random();
  double sum = -2.0 + std::ldexp(static_cast<double>(random() >> 32), -48);
  for (int quarter = 0; quarter < 4; ++quarter)
    sum += std::ldexp(static_cast<double>(drawn >> 16 * quarter & 0xFFFF), -16);
  return std::ldexp(sum, exponent);
}

int within(Random& random, int binades) { return static_cast<int>(random() % static_cast<unsigned>(binades)); }

const std::vector<Data>& all_data() {
  static const std::vector<Data> all = {
      {"normal", [](Random& r, Count) { return scaled(r, 0); }},
      {"one sign, as large as they get", [](Random& r, Count) { return std::ldexp(1.0 + scaled(r, -9), 0); }},
      {"all the same", [](Random&, Count) { return -0x1.FFFFFFFFFFFFFp0; }},
      {"33 binades", [](Random& r, Count) { return scaled(r, within(r, 25)); }},
      {"60 binades", [](Random& r, Count) { return scaled(r, within(r, 60)); }},
      {"120 binades", [](Random& r, Count) { return scaled(r, within(r, 120)); }},
      {"all binades", [](Random& r, Count) { return scaled(r, within(r, 2090) - 1070); }},
      {"cancelling",
       [](Random& r, Count i) { return (i % 2 == 0 ? 1 : -1) * std::ldexp(1.0, within(r, 3) + 50) + 0x1p-2; }},
      {"subnormal", [](Random& r, Count) { return scaled(r, -1060); }},
      {"near the smallest normal", [](Random& r, Count) { return scaled(r, -1022 + within(r, 30)); }},
      {"near overflow", [](Random& r, Count) { return std::ldexp(r() % 2 == 0 ? -1.75 : 1.5, 1023); }},
      {"large", [](Random& r, Count) { return scaled(r, 1005); }},
      {"a block here, a block there", [](Random& r, Count i) { return scaled(r, i / 1024 % 2 == 0 ? 300 : -300); }},
      {"rising", [](Random& r, Count i) { return scaled(r, static_cast<int>(i / 100) % 900); }},
      {"spikes", [](Random& r, Count) { return r() % 3000 == 0 ? 0x1p500 : scaled(r, 0); }},
      {"a small one in many", [](Random& r, Count) { return r() % 700 == 0 ? 0x1p-90 : scaled(r, 0); }},
      {"zeros of both signs", [](Random& r, Count) { return r() % 2 == 0 ? 0.0 : -0.0; }},
      {"minus zeros", [](Random&, Count) { return -0.0; }},
      {"many zeros", [](Random& r, Count) { return r() % 10 == 0 ? scaled(r, 0) : -0.0; }},
      {"integers", [](Random& r, Count) { return static_cast<double>(static_cast<std::int64_t>(r() % 2001) - 1000); }},
      {"now and then infinite",
       [](Random& r, Count) { return r() % 5000 == 0 ? std::numeric_limits<double>::infinity() : scaled(r, 0); }},
      {"now and then no number", [](Random& r, Count) { return r() % 5000 == 0 ? std::nan("") : scaled(r, 0); }},
      {"20 binades", [](Random& r, Count) { return scaled(r, within(r, 10)); }},
  };
  return all;
}

template <class Element>
std::vector<Element> made(const Data& data, Random& random, Count count) {
  std::vector<Element> x(count);
  for (Count i = 0; i < count; ++i) x[i] = static_cast<Element>(data.element(random, i));
  return x;
}

template <class Element, int factors>
struct Sum {
  Accumulator<Element, factors> all;

  Sum(Target target, const Element* x, const Element* y, Count count, Count first_block) : all(target) {
    const Count first = std::min(first_block, count);
    add(x, y, first);
    add(x + first, y + first, count - first);
  }
  void add(const Element* x, const Element* y, Count count) {
    all.add_rows(reinterpret_cast<const std::byte*>(x), reinterpret_cast<const std::byte*>(y), count, sizeof(Element));
  }
  std::vector<std::uint32_t> digits() const {
    arithmetic::DigitRange range;
    all.digit_range(range);
    std::vector<std::uint32_t> found = {static_cast<std::uint32_t>(range.lowest),
                                        static_cast<std::uint32_t>(range.negative), all.flags()};
    found.insert(found.end(), range.digits.begin(), range.digits.begin() + range.count);
    return found;
  }
};

class Extraction : public EveryTarget {
 protected:
  template <class Element, int factors>
  void expect_reference(const Data& data, const Data& other, std::uint64_t seed) {
    Random random(seed);
    for (const Count count : {1, 3, 31, 32, 33, 63, 65, 100, 1000, 1023, 1024, 1025, 2049, 5000, 70000}) {
      if (count == 70000 && (data.name.size() + seed) % 3 != 0) continue;  // other data each time
      const auto x = made<Element>(data, random, count + 8);
      const auto y = made<Element>(other, random, count + 8);
      const Count offset = random() % 8;
      const Count first_block = random() % 3 == 0 ? random() % (count + 1) : count;
      const Sum<Element, factors> expected(Target::scalar, &x[offset], &y[offset], count, count);
      const Sum<Element, factors> found(GetParam(), &x[offset], &y[offset], count, first_block);
      ASSERT_EQ(found.digits(), expected.digits())
          << data.name << " by " << other.name << ", " << count << " from " << offset << ", seed " << seed;
      expect_alone<Element, factors>(&x[offset], &y[offset], count, expected);
    }
  }

 private:
  /// Rows that come alone, whose digits are not added if an exponent range holds them.
  template <class Element, int factors>
  void expect_alone(const Element* x, const Element* y, Count count, const Sum<Element, factors>& expected) {
    Accumulator<Element, factors> alone(GetParam());
    arithmetic::Leading sum;
    if (!alone.sum_or_add(reinterpret_cast<const std::byte*>(x), reinterpret_cast<const std::byte*>(y), count, sum))
      sum = alone.leading();
    const arithmetic::Leading all = expected.all.leading();
    ASSERT_EQ(std::tie(sum.negative, sum.sticky, sum.exponent, sum.bits),
              std::tie(all.negative, all.sticky, all.exponent, all.bits));
    ASSERT_EQ(alone.flags(), expected.all.flags());
    ASSERT_EQ(alone.rows(), count);
  }
};

TEST_P(Extraction, HoldSumsOfDoubles) {
  for (const Data& data : all_data()) expect_reference<double, 1>(data, data, 21);
}
TEST_P(Extraction, HoldSumsOfFloats) {
  for (const Data& data : all_data()) expect_reference<float, 1>(data, data, 22);
}
TEST_P(Extraction, HoldProductsOfDoubles) {
  for (std::size_t i = 0; i < all_data().size(); ++i) {
    expect_reference<double, 2>(all_data()[i], all_data()[i], 23);
    expect_reference<double, 2>(all_data()[i], all_data()[(7 * i + 3) % all_data().size()], 24);
  }
}
TEST_P(Extraction, HoldProductsOfFloats) {
  for (std::size_t i = 0; i < all_data().size(); ++i)
    expect_reference<float, 2>(all_data()[i], all_data()[(5 * i + 2) % all_data().size()], 25);
}

/// The reference drops signs beforehand.
template <class Element>
void expect_absolute(Target target, const Data& data, std::uint64_t seed) {
  Random random(seed);
  for (const Count count : {1, 31, 32, 33, 1000, 1024, 1025, 5000}) {
    const auto x = made<Element>(data, random, count + 8);
    const Count offset = random() % 8;
    auto positive = x;
    for (Element& each : positive) each = std::abs(each);
    const Sum<Element, 1> expected(Target::scalar, &positive[offset], nullptr, count, count);
    Sum<Element, 1> found(target, nullptr, nullptr, 0, 0);
    found.all = Accumulator<Element, 1>(target, arithmetic::Signs::dropped);
    found.add(&x[offset], nullptr, count);
    ASSERT_EQ(found.digits(), expected.digits())
        << data.name << ", " << count << " from " << offset << ", seed " << seed;
  }
}

TEST_P(Extraction, HoldAbsoluteValues) {
  for (const Data& data : all_data()) {
    expect_absolute<double>(GetParam(), data, 29);
    expect_absolute<float>(GetParam(), data, 30);
  }
}

TEST_P(Extraction, LoseNothingOfProductsAtTheEndsOfTheRange) {
  const double small = std::ldexp(1 + 0x1p-52, -530);
  const std::vector<std::pair<double, double>> hostile = {{small, small},
                                                          {0x1p600, 0x1p600},
                                                          {0x1p600, -0x1p600},
                                                          {0x1p-1074, 0x1p-1074},
                                                          {0x1p-1074, 0x1.8p1023},
                                                          {0x1.FFFFFFFFFFFFFp-480, 0x1.FFFFFFFFFFFFFp-480},
                                                          {0x1.FFFFFFFFFFFFFp-481, -0x1.FFFFFFFFFFFFFp-480}};
  for (const auto& [a, b] : hostile) {
    for (const bool with_zeros : {false, true}) {
      std::vector<double> x(2000, a), y(2000, b);
      if (with_zeros)
        for (std::size_t i = 0; i < x.size(); i += 3) x[i] = 0;
      const Sum<double, 2> expected(Target::scalar, x.data(), y.data(), x.size(), x.size());
      const Sum<double, 2> found(GetParam(), x.data(), y.data(), x.size(), x.size());
      ASSERT_EQ(found.digits(), expected.digits()) << a << " * " << b;
    }
  }
}

/// Products by 2^-35 beside a product by 1: each leaves half a unit and its rounding error, nearly another half, to the
/// third level, all with one sign, which is the most that levels below the second can be given.
TEST_P(Extraction, HoldProductsThatLoseTheMostOnOneSide) {
  Random random(29);
  double a = 0, b = 0;
  const auto loses_the_most = [&] {
    const double product = a * b;
    const double error = std::fma(a, b, -product);
    return product < 0x1p-34 && std::fmod(product, 0x1p-85) == 0x1p-87 && error > 0.95 * 0x1p-88;
  };
  do {
    a = std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, -35);
    b = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
  } while (!loses_the_most());
  std::vector<double> x(5000, a), y(5000, b);
  for (std::size_t i = 0; i < x.size(); i += kernels::extraction_block) x[i] = y[i] = 1;
  const Sum<double, 2> expected(Target::scalar, x.data(), y.data(), x.size(), x.size());
  const Sum<double, 2> found(GetParam(), x.data(), y.data(), x.size(), x.size());
  EXPECT_EQ(found.digits(), expected.digits());
}

/// Products between 2 and 4, or 0. Only the product at `place` is between 2^exponent and 2^(exponent + 1).
struct NearProducts {
  static constexpr int top = kernels::level_top_for(1);
  static constexpr int lowest = top - kernels::level_step;  // the least magnitude that few levels hold
  std::vector<double> x, y;

  /// `is_long`: the product has 105 bits, otherwise it has 53.
  NearProducts(Count count, Count place, int exponent, bool is_long, bool is_sparse) : x(count, 1.5 + 0x1p-52), y(x) {
    if (is_sparse)
      for (Count i = 0; i < count; i += 3) (i % 2 == 0 ? x : y)[i] = 0;
    x[place] = is_long ? std::ldexp(-1.5 - 0x1p-52, exponent - 1) : std::ldexp(1 + 0x1p-52, exponent);
    y[place] = is_long ? 1.5 + 0x1p-52 : 1;
  }
  Sum<double, 2> sum(Target target) const { return {target, x.data(), y.data(), x.size(), x.size()}; }
  /// The number of products that the kernel adds.
  Count added(kernels::AddByExtraction add) const {
    std::array<std::int64_t, kernels::most_levels> sums{};
    return add(x.data(), y.data(), x.size(), top, sums.data());
  }
};

TEST_P(Extraction, HoldNearProductsInFewLevels) {
  const auto add = kernels::add_by_extraction(GetParam(), kernels::ExtractedTerms::products_of_doubles, 3);
  for (const Count count : {Count{37}, Count{512}, Count{800}}) {
    for (Count place = 0; place < count; place += count < 100 ? 1 : 31) {
      for (const int kind : {0, 1, 2, 3}) {
        for (const int below : {0, 1, 400}) {
          const NearProducts products(count, place, NearProducts::lowest - below, kind % 2 == 0, kind / 2 == 0);
          ASSERT_EQ(products.sum(GetParam()).digits(), products.sum(Target::scalar).digits())
              << count << " at " << place << ", " << below << " below the least";
          if (add == nullptr) continue;
          const Count before = place / 512 * 512;  // the products of the blocks before
          ASSERT_EQ(products.added(add), below == 0 ? count : before) << place << ", " << below << " below";
        }
      }
    }
  }
}

/// Two large products that cancel: the sums leave their binades between them, and come back.
TEST_P(Extraction, RefuseProductsThatAreTooLargeForAWhile) {
  for (const int exponent : {12, 60, 500}) {
    for (const Count apart : {4, 8, 16}) {
      NearProducts products(5000, 3000, exponent, false, false);
      products.x[3000 + apart] = -products.x[3000];
      products.y[3000 + apart] = 1;
      ASSERT_EQ(products.sum(GetParam()).digits(), products.sum(Target::scalar).digits()) << exponent << ", " << apart;
    }
  }
}

/// After a product that few levels do not hold, only some products get more levels.
TEST_P(Extraction, TryFewLevelsAgain) {
  const NearProducts products(40000, 700, NearProducts::lowest - 20, true, false);
  arithmetic::ExponentRangeFinder finder(kernels::ExtractedTerms::products_of_doubles, GetParam());
  std::vector<Count> counts;
  for (Count done = 0; done < products.x.size(); done += counts.back()) {
    counts.push_back(finder.add(&products.x[done], &products.y[done], products.x.size() - done).count);
    if (counts.back() == 0) return;  // the target has no kernel
  }
  ASSERT_EQ(counts.size(), 4u);  // the last call ends at its most products
  EXPECT_EQ(counts[1], 2 * kernels::extraction_block);
}

#ifdef STEADFOLD_HAVE_MPFR
TEST_P(Extraction, RoundAsMpfrDoes) {
  for (const Data& data : all_data()) {
    if (data.name.starts_with("now and then")) continue;
    Random random(26);
    const auto x = made<double>(data, random, 5000);
    reference::ExactSum sum;
    reference::ExactSum dot;
    for (const double element : x) {
      sum.add(element);
      dot.add_product(element, element);
    }
    const Sum<double, 1> found(GetParam(), x.data(), nullptr, x.size(), x.size());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(found.all.rounded<double>()),
              std::bit_cast<std::uint64_t>(sum.rounded<double>()))
        << data.name;
    const Sum<double, 2> product(GetParam(), x.data(), x.data(), x.size(), x.size());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(product.all.rounded<double>()),
              std::bit_cast<std::uint64_t>(dot.rounded<double>()))
        << data.name;
  }
}
#endif

/// Proves which way was taken: what fits exponent ranges is not added one by one, and the other way round.
TEST_P(Extraction, AreUsedWhereTheyFit) {
  Random random(27);
  const auto near = made<double>(all_data()[0], random, 5000);
  const auto far = made<double>(all_data()[6], random, 5000);
  arithmetic::ExponentRangeFinder finder(kernels::ExtractedTerms::doubles, GetParam());
  EXPECT_EQ(finder.add(near.data(), nullptr, near.size()).count, GetParam() == Target::scalar ? 0 : near.size());
  EXPECT_EQ(finder.add(far.data(), nullptr, far.size()).count, 0u);
}

STEADFOLD_EVERY_TARGET(Extraction);

/// The control: plain addition does depend on the order of these data.
TEST(ExtractionControl, PlainSumsDiffer) {
  Random random(28);
  const auto x = made<double>(all_data()[0], random, 5000);
  double up = 0, down = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    up += x[i];
    down += x[x.size() - 1 - i];
  }
  EXPECT_NE(std::bit_cast<std::uint64_t>(up), std::bit_cast<std::uint64_t>(down));
}

}  // namespace
}  // namespace steadfold::test::extraction_test
