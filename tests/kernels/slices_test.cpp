// Slices against their definition, of which they are multiples: every count to 300, every operation, bins of any place,
// on every target; sums of as many terms as are allowed before a carry.
#include "kernels/slices.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "support/targets.hpp"

namespace steadfold::test::slices_test {
namespace {

using kernels::Target;
using kernels::TermForm;
using order::Count;

constexpr int width = 40;

/// Bins at 2^unit, 2^(unit + 40), ..., the lowest last.
std::array<double, 4> extractors_of(int unit, int bin_count) {
  std::array<double, 4> extractors{};
  for (int bin = 0; bin < bin_count; ++bin)
    extractors[static_cast<std::size_t>(bin)] = std::ldexp(1.5, unit + width * (bin_count - 1 - bin) + 52);
  return extractors;
}

/// In quanta of 2^unit, ties to even.
std::int64_t rounded(double x, int unit) { return static_cast<std::int64_t>(std::nearbyint(std::ldexp(x, -unit))); }

template <class T>
std::vector<T> values(std::mt19937_64& random, Count count, int top) {
  std::vector<T> x(count);
  for (T& each : x) {
    const auto sign = random() % 2 == 0 ? 1.0 : -1.0;
    const double whole = static_cast<double>(random() >> 11) * (random() % 8 == 0 ? 0 : sign);
    each = static_cast<T>(std::ldexp(whole, top - 54 - static_cast<int>(random() % 130)));
    if (random() % 8 == 0) each = static_cast<T>(std::ldexp(sign, top - 1 - static_cast<int>(random() % 90)));  // ties
  }
  return x;
}

template <class T>
void expect_slices(Target target, TermForm form, int bin_count, std::mt19937_64& random, Count count) {
  const int unit = -60 - static_cast<int>(random() % 40);
  const int top = form == TermForm::square ? (unit + width * bin_count - 1) / 2 - 4 : unit + width * bin_count - 1;
  const double scale = form == TermForm::square ? 8.0 : 1.0;
  const std::size_t offset = random() % 3;
  const auto x = values<T>(random, count + offset, form == TermForm::product ? top / 2 : top);
  const auto y = values<T>(random, count + offset, form == TermForm::product ? top - top / 2 : top);
  std::array<std::int64_t, 5> sums = {3, 3, 3, 3, 3};
  std::array<std::int64_t, 5> expected = sums;
  std::uint64_t largest = 0;
  for (std::size_t i = offset; i < x.size(); ++i) {
    double term = x[i];
    if (form == TermForm::product) term *= static_cast<double>(y[i]);
    largest = std::max(largest, std::bit_cast<std::uint64_t>(std::abs(term)));
    if (form == TermForm::square) term *= scale * scale * term;
    double above = 0;
    for (int bin = 0; bin < bin_count; ++bin) {
      const int quantum = unit + width * (bin_count - 1 - bin);
      const auto slice = rounded(term - above, quantum);
      expected[static_cast<std::size_t>(bin)] += slice;
      above += std::ldexp(static_cast<double>(slice), quantum);
    }
  }
  const auto extractors = extractors_of(unit, bin_count);
  const auto add = kernels::add_slices<T>(target, form, bin_count);
  EXPECT_EQ(add(x.data() + offset, y.data() + offset, count, scale, extractors.data(), sums.data()), largest);
  EXPECT_EQ(sums, expected) << count << " terms, " << bin_count << " bins, unit 2^" << unit;
  EXPECT_EQ(kernels::add_slices<T>(target, form, 0)(x.data() + offset, y.data() + offset, count, 1, nullptr, nullptr),
            largest);
}

class Slices : public EveryTarget {};

TEST_P(Slices, AreMultiplesOfTheBinsQuanta) {
  std::mt19937_64 random(21);
  for (Count count = 0; count <= 300; ++count) {
    for (const TermForm form : {TermForm::element, TermForm::product, TermForm::square}) {
      for (const int bin_count : {2, 3, 4}) {
        expect_slices<double>(GetParam(), form, bin_count, random, count);
        expect_slices<float>(GetParam(), form, bin_count, random, count);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Slices, OfNaNsAndInfinitiesAreTold) {
  constexpr std::uint64_t infinity = 0x7FF0000000000000;
  for (Count count = 1; count < 40; ++count) {
    std::vector<double> x(count, 1.0);
    for (Count at = 0; at < count; ++at) {
      for (const double special : {HUGE_VAL, -HUGE_VAL, std::bit_cast<double>(infinity + 1), -std::nan("7")}) {
        x[at] = special;
        const auto largest = kernels::add_slices<double>(GetParam(), TermForm::element, 0);
        EXPECT_GE(largest(x.data(), nullptr, count, 1, nullptr, nullptr), infinity);
        x[at] = 1.0;
      }
    }
  }
}

/// All terms are the largest slice there is, 2^39 quanta.
TEST_P(Slices, Of2To23TermsFitBeforeACarry) {
  const auto extractors = extractors_of(0, 2);
  for (const double term : {0x1p39, -0x1p39}) {
    const std::vector<double> block(1 << 13, term);
    std::array<std::int64_t, 2> sums{};
    for (int i = 0; i < 1 << 10; ++i) {
      kernels::add_slices<double>(GetParam(), TermForm::element, 2)(block.data(), nullptr, block.size(), 1,
                                                                    extractors.data(), sums.data());
    }
    EXPECT_EQ(sums[0], 0);
    EXPECT_EQ(sums[1], std::copysign(1.0, term) * 0x1p62);
  }
}

TEST_P(Slices, AreTakenByAnotherFunctionThanTheReference) {
  const auto of = [](Target target) { return kernels::add_slices<double>(target, TermForm::element, 3); };
  EXPECT_EQ(of(GetParam()) == of(Target::scalar), GetParam() == Target::scalar);
}

STEADFOLD_EVERY_TARGET(Slices);

}  // namespace
}  // namespace steadfold::test::slices_test
