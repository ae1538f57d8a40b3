// Types that are not combined as they are: bfloat16 and half, results wider than the elements, complex numbers. Oracles
// take the formats apart by themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/inputs.hpp"
#include "mpi/operators.hpp"
#include "mpi/reference.hpp"
#include "steadfold/steadfold.hpp"

namespace steadfold::tests::types_test {
namespace {

constexpr std::size_t sizes[] = {0, 1, 2, 3, 10, 511, 1023, 1024, 1025, 2047, 2048, 2049, 4097, 10007};

/// What a format with so many bits of exponent and fraction says, from its definition.
double value_of(unsigned bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int fields = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
  const double sign = (bits >> (exponent_bits + fraction_bits) & 1) != 0 ? -1 : 1;
  if (fields == (1 << exponent_bits) - 1)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (fields == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), fields - bias - fraction_bits);
}
double value_of(Bfloat16 x) { return value_of(x.bits, 8, 7); }
double value_of(Float16 x) { return value_of(x.bits, 5, 10); }
double value_of(float x) { return x; }

template <class To, class T>
std::vector<To> values_of(const std::vector<T>& x) {
  std::vector<To> values;
  for (const T each : x) values.push_back(static_cast<To>(value_of(each)));
  return values;
}

/// All patterns but NaN and infinities; some cancel.
template <class T>
std::vector<T> numbers(std::size_t n, Random& random) {
  std::vector<T> x(n);
  for (T& each : x) {
    do each.bits = static_cast<std::uint16_t>(random());
    while (!std::isfinite(value_of(each)));
    if (random() % 4 == 0) each.bits = x[random() % n].bits ^ 0x8000u;
  }
  return x;
}

template <class T>
class NarrowTest : public testing::Test {
 protected:
  Random random{20240610};
};
using NarrowTypes = testing::Types<Bfloat16, Float16>;
TYPED_TEST_SUITE(NarrowTest, NarrowTypes);

/// Every pattern is a column of its own.
template <class T, class Result>
void expect_every_pattern(sf_method method) {
  std::vector<T> x(1 << 16);
  for (unsigned bits = 0; bits < x.size(); ++bits) x[bits].bits = static_cast<std::uint16_t>(bits);
  sf_call call = sf_call_default();
  call.type = detail::type_of<T>();
  call.result_type = detail::type_of<Result>();
  call.method = method;
  call.columns = x.size();
  call.rows = 1;
  std::vector<Result> found(x.size());
  ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, found.data()), SF_OK) << sf_error_text();
  for (std::size_t bits = 0; bits < x.size(); ++bits)
    ASSERT_TRUE(is(found[bits], reference::canonical(static_cast<Result>(value_of(x[bits]))))) << hex(x[bits].bits);
}

TYPED_TEST(NarrowTest, EveryPatternIsReadExactly) {
  for (const sf_method method : {SF_TREE, SF_EXACT, SF_PLAIN}) {
    expect_every_pattern<TypeParam, float>(method);
    expect_every_pattern<TypeParam, double>(method);
  }
}

template <class Result, class T>
void expect_sums(const std::vector<T>& x) {
  const std::vector<Result> values = values_of<Result>(x);
  const std::vector<double> doubles = values_of<double>(x);
  const Result by_tree = x.empty() ? Result{0} : tree_of(values, add);
  reference::ExactSum sum_of;
  for (const double each : doubles) sum_of.add(each);
  for (const unsigned threads : {1U, 3U}) {
    EXPECT_TRUE(is(sum<Result>(x, {.method = tree(), .threads = threads}), by_tree)) << x.size();
    EXPECT_TRUE(is(sum<Result>(x, {.method = exact(), .threads = threads}), sum_of.rounded<Result>())) << x.size();
    EXPECT_TRUE(is(sum<Result>(x, {.threads = threads}), sum_of.rounded<Result>())) << x.size();
  }
  Result running = x.empty() ? Result{0} : values[0];
  for (std::size_t i = 1; i < x.size(); ++i) running += values[i];
  EXPECT_TRUE(is(sum<Result>(x, plain()), running)) << x.size();
}

TYPED_TEST(NarrowTest, Sums) {
  for (const std::size_t n : sizes) {
    const std::vector<TypeParam> x = numbers<TypeParam>(n, this->random);
    const std::vector<TypeParam> before = x;
    expect_sums<float>(x);
    expect_sums<double>(x);
    EXPECT_TRUE(is(sum(x), sum<float>(x)));
    EXPECT_TRUE(is(sum(x, tree()), sum<float>(x, tree())));
    EXPECT_TRUE(are(x, before)) << "the input changed";
  }
}

TYPED_TEST(NarrowTest, EverythingElse) {
  for (const std::size_t n : sizes) {
    if (n == 0) continue;
    const std::vector<TypeParam> x = numbers<TypeParam>(n, this->random);
    const std::vector<TypeParam> y = numbers<TypeParam>(n, this->random);
    const std::vector<float> a = values_of<float>(x);
    const std::vector<float> b = values_of<float>(y);
    EXPECT_TRUE(is(dot(x, y), reference::exact_dot(std::span<const float>(a), std::span<const float>(b)))) << n;
    EXPECT_TRUE(is(norm2(x), reference::exact_norm2(std::span<const float>(a)))) << n;
    EXPECT_TRUE(is(sum_squares(x), dot(a, a))) << n;
    EXPECT_TRUE(is(mean(x), mean(a))) << n;
    for (const Method method : {exact(), binned(), tree()})
      EXPECT_TRUE(is(abs_sum(x, method), abs_sum(a, method))) << n;
    std::vector<std::uint8_t> mask(n);
    for (auto& byte : mask) byte = static_cast<std::uint8_t>(this->random() % 2);
    EXPECT_TRUE(is(masked_sum(x, mask), masked_sum(a, mask))) << n;
    EXPECT_TRUE(is(steadfold::min(x), tree_of(a, lesser))) << n;
    EXPECT_TRUE(is(steadfold::max(x), tree_of(a, greater))) << n;
    EXPECT_TRUE(is(reduce(x, times), tree_of(a, multiply))) << n;
    EXPECT_TRUE(is(reduce(x, to<double>(times)), tree_of(values_of<double>(x), multiply))) << n;
  }
  EXPECT_TRUE(is(sum(std::vector<TypeParam>()), 0.0F));
  EXPECT_THROW(mean(std::vector<TypeParam>()), Error);
  EXPECT_THROW(steadfold::min(std::vector<TypeParam>()), Error);
}

/// Binned sums of the converted elements.
TYPED_TEST(NarrowTest, BinnedSums) {
  for (const std::size_t n : sizes) {
    const std::vector<TypeParam> x = numbers<TypeParam>(n, this->random);
    const std::vector<float> values = values_of<float>(x);
    for (const Method method : {binned(), binned({.bins = 2, .sweep = SF_DOUBLE_SWEEP})}) {
      EXPECT_TRUE(is(sum(x, method), sum(values, method))) << n;
      EXPECT_TRUE(is(sum(x, {.method = method, .threads = 3}), sum(values, method))) << n;
      EXPECT_TRUE(is(dot(x, x, method), dot(values, values, method))) << n;
      EXPECT_TRUE(is(norm2(x, method), norm2(values, method))) << n;
    }
  }
}

/// Rows that do not lie densely, and more columns than a tile holds.
TYPED_TEST(NarrowTest, Columns) {
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{3000, 3}, {7, 5000}, {1, 9000}}) {
    const std::vector<TypeParam> x = numbers<TypeParam>(rows * columns, this->random);
    for (const sf_method method : {SF_TREE, SF_EXACT}) {
      sf_call call = sf_call_default();
      call.type = detail::type_of<TypeParam>();
      call.result_type = SF_F64;
      call.method = method;
      call.columns = columns;
      call.rows = rows;
      std::vector<double> found(columns);
      ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, found.data()), SF_OK) << sf_error_text();
      for (std::size_t c = 0; c < columns; c += 1 + columns / 50) {
        std::vector<TypeParam> column;
        for (std::size_t r = 0; r < rows; ++r) column.push_back(x[r * columns + c]);
        EXPECT_TRUE(is(found[c], sum<double>(column, Method{method}))) << c;
      }
    }
  }
}

class TypesTest : public testing::Test {
 protected:
  Random random{20240611};
};

TEST_F(TypesTest, ResultsWiderThanTheElements) {
  for (const std::size_t n : sizes) {
    expect_sums<double>(elements<float>(n, random));
    const std::vector<std::int32_t> small = elements<std::int32_t>(n, random);
    std::int64_t wanted = 0;
    for (const std::int32_t each : small) wanted += each;
    EXPECT_EQ(sum<std::int64_t>(small), wanted);
    EXPECT_EQ(sum<std::int64_t>(small, tree()), wanted);
  }
  EXPECT_EQ(sum<std::uint64_t>(std::vector<std::uint32_t>{4000000000U, 4000000000U}), 8000000000U);
  const std::vector<float> floats = {3e38F, 3e38F};
  EXPECT_TRUE(is(sum<double>(floats, tree()), static_cast<double>(3e38F) * 2));
}

// --- complex numbers -------------------------------------------------------------------------------------------------

template <class T>
using Numbers = std::vector<std::complex<T>>;

template <class T>
Numbers<T> complex_numbers(std::size_t n, Random& random) {
  const std::vector<T> parts = elements<T>(2 * n, random);
  Numbers<T> x;
  for (std::size_t i = 0; i < n; ++i) x.emplace_back(parts[2 * i], parts[2 * i + 1]);
  return x;
}

/// Numbers of size 1 or so: products of many neither overflow nor vanish.
template <class T>
Numbers<T> unit_numbers(std::size_t n, Random& random) {
  Numbers<T> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(std::polar(T{1}, static_cast<T>(random() % 100000) / 10000));
  return x;
}

template <class T>
std::vector<T> parts_of(const Numbers<T>& x, bool imaginary) {
  std::vector<T> parts;
  for (const auto& each : x) parts.push_back(imaginary ? each.imag() : each.real());
  return parts;
}

/// As the documents have it; std::complex repairs infinities.
inline constexpr auto multiply_complex = []<class T>(const std::complex<T>& x, const std::complex<T>& y) {
  return std::complex<T>(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
};

template <class T>
std::complex<T> exact_dot(const Numbers<T>& x, const Numbers<T>& y) {
  reference::ExactSum real;
  reference::ExactSum imaginary;
  for (std::size_t i = 0; i < x.size(); ++i) {
    real.add_product(x[i].real(), y[i].real());
    real.add_product(-x[i].imag(), y[i].imag());
    imaginary.add_product(x[i].real(), y[i].imag());
    imaginary.add_product(x[i].imag(), y[i].real());
  }
  return {real.template rounded<T>(), imaginary.template rounded<T>()};
}

template <class T>
Numbers<T> conjugated(Numbers<T> x) {
  for (auto& each : x) each = std::conj(each);
  return x;
}

template <class T>
void expect_complex(Random& random) {
  for (const std::size_t n : sizes) {
    const Numbers<T> x = complex_numbers<T>(n, random);
    const Numbers<T> y = complex_numbers<T>(n, random);
    const std::vector<T> real = parts_of(x, false);
    const std::vector<T> imaginary = parts_of(x, true);
    using Complex = std::complex<T>;
    for (const unsigned threads : {1U, 4U}) {
      EXPECT_TRUE(is(sum(x, {.threads = threads}), Complex(sum(real), sum(imaginary)))) << n;
      EXPECT_TRUE(
          is(sum(x, {.method = tree(), .threads = threads}), Complex(sum(real, tree()), sum(imaginary, tree()))))
          << n;
      EXPECT_TRUE(is(dot(x, y, {.threads = threads}), exact_dot(x, y))) << n;
      EXPECT_TRUE(is(dotc(x, y, {.threads = threads}), exact_dot(conjugated(x), y))) << n;
      EXPECT_TRUE(is(dotc(x, y, {.method = binned(), .threads = threads}), dot(conjugated(x), y, binned()))) << n;
      EXPECT_TRUE(is(dotc(real, imaginary, {.threads = threads}), dot(real, imaginary))) << n;
      if (n == 0) continue;
      EXPECT_TRUE(is(mean(x, {.threads = threads}), Complex(mean(real), mean(imaginary)))) << n;
      const Numbers<T> around = unit_numbers<T>(n, random);
      const Complex product = tree_of(around, multiply_complex);
      EXPECT_TRUE(std::isfinite(product.real()) && product != Complex());
      EXPECT_TRUE(is(reduce(around, times, {.threads = threads}), product)) << n;
    }
    std::vector<T> both = real;
    both.insert(both.end(), imaginary.begin(), imaginary.end());
    EXPECT_TRUE(is(norm2(x), reference::exact_norm2(std::span<const T>(both)))) << n;
    EXPECT_TRUE(is(sum_squares(x), dot(both, both))) << n;
  }
  EXPECT_TRUE(is(reduce(Numbers<T>(), times), std::complex<T>(1, 0)));
}

TEST_F(TypesTest, ComplexDoubles) { expect_complex<double>(random); }
TEST_F(TypesTest, ComplexFloats) { expect_complex<float>(random); }

TEST_F(TypesTest, ComplexFloatsToDoubles) {
  const Numbers<float> x = complex_numbers<float>(3001, random);
  Numbers<double> wide(x.begin(), x.end());
  EXPECT_TRUE(is(sum<std::complex<double>>(x, tree()), sum(wide, tree())));
  EXPECT_TRUE(is(sum<std::complex<double>>(x), sum(wide)));
  EXPECT_TRUE(is(reduce(x, to<std::complex<double>>(times)), reduce(wide, times)));
}

/// a c - b d of products that cancel but for their last bits: a plain dot has none of them right.
TEST_F(TypesTest, ComplexDotsAreRoundedOnce) {
  const double e = 0x1p-30;
  const Numbers<double> x = {{1 + e, 1}, {0x1p+600, 0x1p+600}};
  const Numbers<double> y = {{1 + e, 1 + 2 * e}, {0x1p+600, 0x1p+600}};
  const auto found = dot(x, y);
  EXPECT_TRUE(is(found.real(), e * e));
  EXPECT_TRUE(is(found.imag(), std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(is(dot(x, y), exact_dot(x, y)));
}

TEST_F(TypesTest, ComplexNumbersThatAreNone) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Numbers<double> x = {{infinity, 0}};
  const Numbers<double> y = {{1, 0}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(is(dot(x, y), std::complex<double>(infinity, nan)));  // infinity times 0i
  EXPECT_TRUE(is(dotc(x, y), std::complex<double>(infinity, nan)));
  EXPECT_TRUE(is(dotc(Numbers<double>{{0, 0.0}}, Numbers<double>{{-1, 1}}), std::complex<double>(0.0, 0.0)));
  EXPECT_TRUE(is(dotc(Numbers<double>{{0, 0.0}}, Numbers<double>{{-1, -1}}), std::complex<double>(-0.0, 0.0)));
  EXPECT_TRUE(is(norm2(Numbers<double>{{nan, 1}}), nan));
  EXPECT_TRUE(
      is(reduce(Numbers<double>{{infinity, 0}, {1, 1}, {-infinity, 1}}, times), std::complex<double>(-infinity, nan)));
  EXPECT_TRUE(is(sum(Numbers<double>{{-0.0, -0.0}, {-0.0, 0.0}}, tree()), std::complex<double>(-0.0, 0.0)));
}

// --- long double and binary128 ---------------------------------------------------------------------------------------

/// Numbers of one format have one pattern each, but for NaN; bytes in between may hold anything.
template <class T>
bool same_number(const T& a, const T& b) {
  const bool nan = a != a && b != b;
  return nan || (a == b && (__builtin_signbit(a) != 0) == (__builtin_signbit(b) != 0));
}

template <class T>
void expect_extended(Random& random) {
  for (const std::size_t n : sizes) {
    if (n == 0) continue;
    std::vector<T> x;
    for (const double each : elements<double>(n, random)) x.push_back(static_cast<T>(each) / 3);
    const auto lesser_of = [](const T& a, const T& b) { return b < a ? b : a; };
    for (const unsigned threads : {1U, 3U}) {
      EXPECT_TRUE(same_number(sum(x, {.threads = threads}), tree_of(x, add))) << n;
      EXPECT_TRUE(same_number(sum(x, {.method = tree(), .threads = threads}), tree_of(x, add))) << n;
      EXPECT_TRUE(same_number(steadfold::min(x, {.threads = threads}), tree_of(x, lesser_of))) << n;
    }
    EXPECT_TRUE(same_number(reduce(x, times), tree_of(x, multiply))) << n;
  }
  const T infinity = static_cast<T>(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(same_number(sum(std::vector<T>()), T{0}));
  EXPECT_TRUE(same_number(reduce(std::vector<T>(), times), T{1}));
  EXPECT_TRUE(same_number(steadfold::min(std::vector<T>{0, -T{0}, 0}), -T{0}));
  EXPECT_TRUE(same_number(steadfold::max(std::vector<T>{-T{0}, 0, -T{0}}), T{0}));
  const T nan = sum(std::vector<T>{infinity, 1, -infinity});
  EXPECT_TRUE(nan != nan);
  EXPECT_FALSE(__builtin_signbit(nan));
  EXPECT_TRUE(same_number(steadfold::max(std::vector<T>{1, nan, 2}), nan));
}

TEST_F(TypesTest, LongDoubles) {
  expect_extended<long double>(random);
  const std::vector<double> x = elements<double>(5000, random);
  const std::vector<long double> wide(x.begin(), x.end());
  EXPECT_TRUE(same_number(sum<long double>(x), sum(wide)));
  EXPECT_THROW(sum(wide, exact()), Error);
  EXPECT_THROW(min_location(x, {.method = tree()}), Error);
}

#if defined(__SIZEOF_FLOAT128__)
TEST_F(TypesTest, Binary128) { expect_extended<Float128>(random); }
#endif

// --- results of calls in C that say no type of theirs
// -----------------------------------------------------------------

/// `expected` is what a call with this type alone writes: neither more nor less.
template <class T, class Result>
void expect_as_type(sf_operation operation, sf_type type, T each, Result expected) {
  const std::vector<T> x(4, each);
  struct {
    Result result;
    std::uint64_t behind = 0x5a5a5a5a5a5a5a5a;
  } room{};
  sf_call call = sf_call_default();
  call.operation = operation;
  call.type = type;
  call.rows = x.size();
  ASSERT_EQ(sf_reduce_local(&call, x.data(), x.data(), &room.result), SF_OK) << sf_error_text() << " of " << type;
  EXPECT_EQ(room.behind, 0x5a5a5a5a5a5a5a5a) << operation << " of " << type;
  EXPECT_EQ(room.result, expected) << operation << " of " << type;
}

TEST_F(TypesTest, ACallOfCSetsTheTypeAlone) {
  expect_as_type(SF_SUM, SF_F64, 0.1, 0.4);
  expect_as_type(SF_SUM, SF_F32, 0.1f, 0.4f);
  expect_as_type(SF_PRODUCT, SF_F32, 2.0f, 16.0f);
  expect_as_type(SF_DOT, SF_F32, 3.0f, 36.0f);
  expect_as_type(SF_MEAN, SF_F32, 3.0f, 3.0f);
  expect_as_type(SF_SUM, SF_I32, std::int32_t{-3}, std::int32_t{-12});
  expect_as_type(SF_MAX, SF_I64, std::int64_t{-3}, std::int64_t{-3});
  expect_as_type(SF_SUM, SF_U32, std::uint32_t{3}, std::uint32_t{12});
  expect_as_type(SF_MIN, SF_U64, std::uint64_t{3}, std::uint64_t{3});
  expect_as_type(SF_SUM, SF_F16, Float16{0x3e00}, 6.0f);  // 1.5
  expect_as_type(SF_MIN, SF_BF16, Bfloat16{0x3fc0}, 1.5f);
  expect_as_type(SF_SUM, SF_COMPLEX_F32, std::complex<float>(1, -2), std::complex<float>(4, -8));
  expect_as_type(SF_NORM2, SF_COMPLEX_F64, std::complex<double>(0, 3), 6.0);
  expect_as_type(SF_SUM_SQUARES, SF_COMPLEX_F32, std::complex<float>(0, 3), 36.0f);
  expect_as_type(SF_SUM, SF_LONG_DOUBLE, 0.5L, 2.0L);
  sf_statistics statistics{};
  const std::vector<float> x = {1, 2, 4};
  sf_call call = sf_call_default();
  call.operation = SF_STATISTICS;
  call.type = SF_F32;
  call.rows = x.size();
  call.layout = SF_RANK_ORDER;
  ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, &statistics), SF_OK) << sf_error_text();
  EXPECT_EQ(statistics.max, 4.0);
  call.result_type = SF_F32;
  ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, &statistics), SF_OK) << sf_error_text();
  EXPECT_EQ(statistics.mean, static_cast<double>(7 / 3.0F)) << "rounded to a float";
}

/// What a client of the first release says: its default was a double.
TEST_F(TypesTest, ResultsOfDoublesAreAskedForAsBefore) {
  const std::vector<float> x(4, 0.1f);
  double result = 0;
  sf_call call = sf_call_default();
  call.type = SF_F32;
  call.result_type = SF_F64;
  call.method = SF_EXACT;
  call.rows = x.size();
  ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, &result), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(result, 4.0 * static_cast<double>(0.1f)));
  call.type = SF_AS_TYPE;
  EXPECT_EQ(sf_reduce_local(&call, x.data(), nullptr, &result), SF_INVALID_ARGUMENT) << "it is no type of elements";
}

// --- what is not offered ---------------------------------------------------------------------------------------------

void expect_unsupported(sf_operation operation, sf_method method, sf_type type, sf_type result_type) {
  const std::vector<double> x(8);
  std::vector<double> result(8);
  sf_call call = sf_call_default();
  call.operation = operation;
  call.method = method;
  call.type = type;
  call.result_type = result_type;
  call.rows = 2;
  EXPECT_EQ(sf_reduce_local(&call, x.data(), x.data(), result.data()), SF_UNSUPPORTED)
      << operation << " " << method << " " << type << " " << result_type;
  EXPECT_NE(std::string(sf_error_text()).find(" is not supported ("), std::string::npos) << sf_error_text();
}

TEST_F(TypesTest, CombinationsThatAreNotOffered) {
  for (const sf_method method : {SF_AUTOMATIC, SF_TREE, SF_PLAIN, SF_EXACT}) {
    for (const sf_type narrow : {SF_BF16, SF_F16}) {
      expect_unsupported(SF_SUM, method, narrow, narrow);
      expect_unsupported(SF_SUM, method, narrow, SF_I32);
      expect_unsupported(SF_MIN_LOCATION, method, narrow, SF_F32);
    }
    expect_unsupported(SF_MIN, method, SF_COMPLEX_F64, SF_COMPLEX_F64);
    expect_unsupported(SF_MAX_LOCATION, method, SF_COMPLEX_F64, SF_COMPLEX_F64);
    expect_unsupported(SF_SUM, method, SF_COMPLEX_F64, SF_F64);
    expect_unsupported(SF_NORM2, method, SF_COMPLEX_F64, SF_COMPLEX_F64);
    expect_unsupported(SF_SUM, method, SF_F64, SF_COMPLEX_F64);
  }
  expect_unsupported(SF_SUM, SF_EXACT, SF_LONG_DOUBLE, SF_LONG_DOUBLE);
  expect_unsupported(SF_DOT, SF_AUTOMATIC, SF_LONG_DOUBLE, SF_LONG_DOUBLE);
  expect_unsupported(SF_MIN_LOCATION, SF_AUTOMATIC, SF_LONG_DOUBLE, SF_LONG_DOUBLE);
  expect_unsupported(SF_SUM, SF_TREE, SF_F64, SF_F32);
  expect_unsupported(SF_SUM, SF_TREE, SF_COMPLEX_F64, SF_COMPLEX_F32);
  expect_unsupported(SF_SUM, SF_TREE, SF_I64, SF_I32);
}

}  // namespace
}  // namespace steadfold::tests::types_test
