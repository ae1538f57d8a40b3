// Dot products of one vector with several others have the bits of separate dot products; calls of C over lists of
// arrays those of each array by itself. Seeds are printed.
#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <random>
#include <string>

#include "mpi/bits.hpp"
#include "steadfold/steadfold.hpp"
#include "support/hostile.hpp"

namespace steadfold::test::dots_test {
namespace {

using tests::are;
using tests::is;

/// Numbers of all sizes, now and then none.
double any_double(std::mt19937_64& random) {
  if (random() % 512 == 0) return std::bit_cast<double>(random());
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 300) - 200);
}

template <class T>
T any(std::mt19937_64& random) {
  if constexpr (detail::is_complex<T>)
    return {any<typename T::value_type>(random), any<typename T::value_type>(random)};
  else if constexpr (detail::is_narrow<T>)
    return {static_cast<std::uint16_t>(random() & 0xBFFF)};
  else
    return static_cast<T>(any_double(random));
}

template <class T>
std::vector<T> vector_of(std::size_t n, std::mt19937_64& random) {
  std::vector<T> x(n);
  for (T& each : x) each = any<T>(random);
  return x;
}

const std::vector<Method> methods = {exact(), binned(), binned({.bins = 2, .sweep = SF_DOUBLE_SWEEP})};

template <class T>
void expect_dots(std::size_t n, std::size_t k, std::uint64_t seed) {
  SCOPED_TRACE(std::to_string(n) + " elements, " + std::to_string(k) + " others, seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::vector<T> x = vector_of<T>(n, random);
  std::vector<std::vector<T>> ys;
  for (std::size_t j = 0; j < k; ++j) ys.push_back(j == 1 ? x : vector_of<T>(n, random));
  for (const Method& method : methods) {
    decltype(dots(x, ys)) wanted;
    decltype(wanted) conjugated;
    for (const auto& y : ys) {
      wanted.push_back(dot(x, y, method));
      conjugated.push_back(dotc(y, x, method));
    }
    for (const unsigned threads : {1U, 3U}) {
      EXPECT_TRUE(are(dots(x, ys, {.method = method, .threads = threads}), wanted));
      EXPECT_TRUE(are(dotcs(x, ys, {.method = method, .threads = threads}), conjugated));
    }
  }
}

TEST(Dots, HaveTheBitsOfSeparateOnes) {
  std::uint64_t seed = 1;
  for (const std::size_t n : {0U, 1U, 2U, 63U, 64U, 1023U, 1024U, 1025U, 5000U})
    for (const std::size_t k : {1U, 2U, 3U, 9U}) expect_dots<double>(n, k, seed++);
  for (const std::size_t n : {1U, 1025U, 3000U})
    for (const std::size_t k : {1U, 4U}) {
      expect_dots<float>(n, k, seed++);
      expect_dots<Float16>(n, k, seed++);
      expect_dots<std::complex<double>>(n, k, seed++);
      expect_dots<std::complex<float>>(n, k, seed++);
    }
}

TEST(Dots, TakeVectorsOfAnyKind) {
  const std::vector<double> x = {1, 2, 3};
  const std::array<double, 3> y = {4, 5, 6};
  const double z[] = {1e300, -1e300, 1};
  const std::vector<double> wanted = {14, 32, dot(x, std::span<const double>(z))};
  EXPECT_TRUE(are(dots(x, {x, y, z}), wanted));
  const std::vector<std::span<const double>> spans = {x, y, z};
  EXPECT_TRUE(are(dots(std::span(x), spans, exact()), wanted));
  EXPECT_TRUE(is(dots(x, {x}).front(), sum_squares(x)));
}

template <class Call>
void expect_refused(const Call& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "no error, wanted '" << text << "'";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), SF_INVALID_ARGUMENT) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(Dots, OfOtherSizesAreRefused) {
  const std::vector<double> x(5, 1.0);
  const std::vector<double> longer(6, 1.0);
  const std::vector<double> none;
  expect_refused([&] { dots(x, {x, longer}); }, "(5 and 6 elements), give vectors of the same size");
  expect_refused([&] { dots(x, {none, x}); }, "(5 and 0 elements)");
  expect_refused([&] { dots(none, {x}); }, "(0 and 5 elements)");
  expect_refused([&] { dots(x, {}); }, "no second vector");
  expect_refused([&] { dots(none, {}); }, "no second vector");
  EXPECT_TRUE(are(dots(none, {none, none}), std::vector<double>{0, 0}));
}

/// Arrays of one shape in a list, here with a gap between rows, not aligned, and with a mask.
struct List {
  static constexpr std::uint64_t rows = 40;
  static constexpr std::uint64_t columns = 37;
  static constexpr std::uint64_t width = columns * 8 + 5;

  explicit List(std::size_t count) {
    std::mt19937_64 random(7);
    for (std::size_t j = 0; j < count; ++j) {
      memory.emplace_back(rows * width + 8, std::byte{0xFF});
      elements.emplace_back();
      for (std::uint64_t i = 0; i < rows * columns; ++i) {
        const double x = any_double(random);
        std::memcpy(memory[j].data() + j % 8 + i / columns * width + i % columns * 8, &x, 8);
        elements[j].push_back(x);
      }
      places.push_back(memory[j].data() + j % 8);
    }
    for (std::uint64_t i = 0; i < rows * columns; ++i) mask.push_back(static_cast<std::uint8_t>(random() % 3));
    const std::array<std::uint64_t, 2> shape = {rows, columns};
    const std::array<std::int64_t, 2> strides = {static_cast<std::int64_t>(width), 8};
    arrays.x = Array<double>(nullptr, shape, strides).c_array();
    arrays.xs = places.data();
    arrays.x_count = count;
  }

  std::vector<double> reduced(sf_operation operation, sf_method method) {
    sf_call call = sf_call_default();
    call.operation = operation;
    call.method = method;
    call.arrays = &arrays;
    std::vector<double> results(places.size());
    EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, results.data()), SF_OK) << sf_error_text();
    return results;
  }
  template <class Op>
  std::vector<double> each(const Op& op) const {
    std::vector<double> results;
    for (const auto& x : elements) results.push_back(op(x));
    return results;
  }

  std::vector<std::vector<std::byte>> memory;
  std::vector<const void*> places;
  std::vector<std::vector<double>> elements;
  std::vector<std::uint8_t> mask;
  sf_arrays arrays = sf_arrays_default();
};

TEST(Lists, OfArraysAreReducedEachByItself) {
  for (const std::size_t count : {1U, 2U, 9U}) {
    List list(count);
    EXPECT_TRUE(are(list.reduced(SF_SUM, SF_TREE), list.each([](auto& x) { return sum(x, tree()); }))) << count;
    EXPECT_TRUE(are(list.reduced(SF_NORM2, SF_BINNED), list.each([](auto& x) { return norm2(x, binned()); })));
    EXPECT_TRUE(are(list.reduced(SF_NORMINF, SF_AUTOMATIC), list.each([](auto& x) { return norminf(x); })));
    const auto weights = list.elements.front();
    list.arrays.factors = Array<double>(weights.data(), {List::rows, List::columns}).c_array();
    EXPECT_TRUE(are(list.reduced(SF_DOT, SF_EXACT), list.each([&](auto& x) { return dot(x, weights); })));
    EXPECT_TRUE(
        are(list.reduced(SF_WEIGHTED_MEAN, SF_EXACT), list.each([&](auto& x) { return weighted_mean(x, weights); })));
    const auto alone = [&](auto& x) { return masked_sum(x, list.mask); };
    const auto where = Array<std::uint8_t>(list.mask.data(), {List::rows, List::columns}).c_array();
    list.arrays.factors = {};
    list.arrays.mask = where;
    EXPECT_TRUE(are(list.reduced(SF_SUM, SF_EXACT), list.each(alone))) << count;
  }
}

TEST(Lists, ThatCannotBeUsedAreRefused) {
  const auto refused = [](const auto& change, const std::string& text) {
    List list(3);
    change(list);
    sf_call call = sf_call_default();
    call.arrays = &list.arrays;
    std::vector<double> results(3);
    EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, results.data()), SF_INVALID_ARGUMENT);
    EXPECT_NE(std::string(sf_error_text()).find(text), std::string::npos) << sf_error_text();
  };
  refused([](List& list) { list.places[2] = nullptr; }, "the address of the data is null");
  refused([](List& list) { list.arrays.xs = nullptr; }, "the address of the data is null");
  refused([](List& list) { list.arrays.x_count = 0; }, "0 columns");
  refused([](List& list) { list.arrays.x.data = list.places[0]; }, "data of x and a list of 3 arrays");
  refused([](List& list) { list.arrays.kept = 1; }, "kept axes or labels");
  refused([](List& list) { list.arrays.groups = 2; }, "kept axes or labels");
}

}  // namespace
}  // namespace steadfold::test::dots_test
