// Elements that are converted where they lie: 16-bit formats, results wider than the elements, and complex numbers, by
// every layout and schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/calls/every_schedule.hpp"
#include "mpi/operators.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"

namespace steadfold::tests::converted_types_test {
namespace {

class ConvertedTypesTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("converted_types_test", 20240229)};
};

/// What 16 bits stand for, by the definition of their fields; `exponent_bits` of them are the exponent.
float number_of(std::uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int field = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int whole = field == 0 ? fraction : fraction + (1 << fraction_bits);
  const double size = std::ldexp(whole, std::max(field, 1) - bias - fraction_bits);
  return static_cast<float>((bits & 0x8000) != 0 ? -size : size);
}

template <class To, class From>
std::vector<To> converted(const std::vector<From>& x) {
  return {x.begin(), x.end()};
}

/// By the definition, every operation rounded, none fused.
template <class T>
std::complex<T> complex_product(const std::complex<T>& x, const std::complex<T>& y) {
  const T a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  const T ac = a * c, bd = b * d, ad = a * d, bc = b * c;
  return {ac - bd, ad + bc};
}

std::complex<double> exact_complex_dot(const std::vector<std::complex<double>>& x) {
  reference::ExactSum real, imaginary;
  for (const auto& each : x) {
    real.add_product(each.real(), each.real());
    real.add_product(-each.imag(), each.imag());
    imaginary.add_product(each.real(), each.imag());
    imaginary.add_product(each.imag(), each.real());
  }
  return {real.rounded<double>(), imaginary.rounded<double>()};
}

double exact_complex_norm2(const std::vector<std::complex<double>>& x) {
  reference::ExactSum squares;
  for (const auto& each : x) {
    squares.add_product(each.real(), each.real());
    squares.add_product(each.imag(), each.imag());
  }
  return squares.rounded_root<double>();
}

template <class T>
T tree_sum_of(const std::vector<T>& x) {
  return x.empty() ? T{0} : tree_of(x, add);
}

/// Elements that are converted where they lie: what travels is that of the wider ones. Against the tree over numbers
/// that were converted here, and exact sums of products that are written down here.
TEST_F(ConvertedTypesTest, TravelAsTheWiderOnes) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, world.count() - 1, world.count(),
                              world.count() + 1, std::size_t{64}, std::size_t{65}, std::size_t{2049}}) {
    std::vector<Float16> halves(n);
    std::vector<Bfloat16> brains(n);
    std::vector<float> wide_halves;
    std::vector<float> wide_brains;
    for (Float16& each : halves) {
      each.bits = static_cast<std::uint16_t>(random() & 0xBFFF);  // finite, subnormal ones among them
      wide_halves.push_back(number_of(each.bits, 5));
    }
    for (Bfloat16& each : brains) {
      each.bits = static_cast<std::uint16_t>((random() & 0x83FF) + 0x3E00);
      wide_brains.push_back(number_of(each.bits, 8));
    }
    const std::vector<float> floats = elements<float>(n, random);
    const std::vector<double> real = elements<double>(n, random);
    const std::vector<double> imaginary = elements<double>(n, random);
    std::vector<std::complex<double>> complex;
    for (std::size_t i = 0; i < n; ++i) complex.emplace_back(real[i], imaginary[i]);
    for (const auto& layout : sorts_of_layouts(n, world.count(), random)) {
      const auto& mine = layout.ownership[world.index()];
      const Options options{.method = tree(), .layout = layout_on(world, layout.ownership)};
      const Options exactly{.method = exact()};
      const std::string what = std::to_string(n) + ", " + layout.name;
      const auto expect = [&](const auto& wanted, const Options& by, const auto& call) {
        expect_by_every_schedule(world, wanted, by, what, call);
      };
      const auto half = [&](const Options& by) { return sum(pick(halves, mine), world.comm, by); };
      const auto wider = [&](const Options& by) { return sum<double>(pick(halves, mine), world.comm, by); };
      const auto brain = [&](const Options& by) { return sum(pick(brains, mine), world.comm, by); };
      expect(tree_sum_of(wide_halves), options, half);
      expect(reference::exact_sum(std::span<const float>(wide_halves)), exactly, half);
      expect(tree_sum_of(converted<double>(wide_halves)), options, wider);
      expect(tree_sum_of(wide_brains), options, brain);
      expect(reference::exact_sum(std::span<const float>(wide_brains)), exactly, brain);
      expect(reference::exact_dot(std::span<const float>(wide_halves), std::span<const float>(wide_halves)), exactly,
             [&](const Options& by) { return dot(pick(halves, mine), pick(halves, mine), world.comm, by); });
      expect(tree_sum_of(converted<double>(floats)), options,
             [&](const Options& by) { return sum<double>(pick(floats, mine), world.comm, by); });
      expect(std::complex<double>(tree_sum_of(real), tree_sum_of(imaginary)), options,
             [&](const Options& by) { return sum(pick(complex, mine), world.comm, by); });
      expect(exact_complex_dot(complex), exactly,
             [&](const Options& by) { return dot(pick(complex, mine), pick(complex, mine), world.comm, by); });
      expect(exact_complex_norm2(complex), exactly,
             [&](const Options& by) { return norm2(pick(complex, mine), world.comm, by); });
    }
  }
  std::vector<std::complex<float>> factors;
  for (int rank = 0; rank < world.size; ++rank)
    factors.emplace_back(1.0F + number<float>(random, -3, -2), static_cast<float>(rank) / 3);
  const std::complex<float> wanted =
      reference::tree(std::span<const std::complex<float>>(factors),
                      [](const auto& x, const auto& y) { return complex_product(x, y); });
  std::vector<std::complex<float>> buffer(5, factors[world.index()]);
  allreduce(std::span(buffer), times, world.comm);
  for (const auto& each : buffer) EXPECT_TRUE(is(each, wanted));
}

}  // namespace
}  // namespace steadfold::tests::converted_types_test
