// Accumulators as users have them: the bits of sf::sum and its like, on hostile data, whatever the order, the splitting
// and the number of threads; misuse in C; bytes damaged in every place; no allocation.
#include "steadfold/accumulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <compare>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "support/hostile.hpp"

namespace steadfold::test::accumulator_test {
namespace {

thread_local std::size_t allocations = 0;
thread_local std::size_t fails_after = 0;  // so many allocations; 0: never

}  // namespace
}  // namespace steadfold::test::accumulator_test

// The library's, too, end here.
[[gnu::noinline]] void* operator new(std::size_t size) {
  namespace here = steadfold::test::accumulator_test;
  if (++here::allocations == here::fails_after) throw std::bad_alloc();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace steadfold::test::accumulator_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
using test::bits;

const std::vector<std::vector<double>>& hostile_inputs() {
  static const std::vector<std::vector<double>> all = {
      {},
      {-0.0},
      {0.0, -0.0},
      std::vector<double>(100, -0.0),
      {1, 0x1p-53, 0x1p-1074},
      {largest, largest, -largest},
      {largest, largest},
      {smallest, -largest, largest},
      {0x1p53, 1, -0x1p53},
      {infinity, 1},
      {-infinity, largest},
      {infinity, -infinity},
      {nan, 1},
      {1e308, -1e308, 1e-308, -0.0},
      hostile(3, 1),
      hostile(33, 2),
      hostile(5000, 3),
  };
  return all;
}

template <class T>
std::vector<T> as(const std::vector<double>& x) {
  std::vector<T> y;
  for (const double each : x) y.push_back(static_cast<T>(each));
  return y;
}

template <class T>
void expect_the_bits_of_calls() {
  for (const std::vector<double>& input : hostile_inputs()) {
    const auto x = as<T>(input);
    Accumulator<T> a;
    a += x;
    EXPECT_EQ(bits(a.sum()), bits(sf::sum(x, {.method = sf::exact()}))) << x.size();
    EXPECT_EQ(bits(a.template sum<double>()), bits(sf::sum<double>(x, {.method = sf::exact()})));
    if (!x.empty()) {
      EXPECT_EQ(bits(a.mean()), bits(sf::mean(x)));
    }
    ProductAccumulator<T> squares;
    squares.add_products(x, x);
    EXPECT_EQ(bits(squares.sum()), bits(sf::sum_squares(x)));
    EXPECT_EQ(bits(squares.norm2()), bits(sf::norm2(x)));
    std::vector<T> y = x;
    std::ranges::reverse(y);
    ProductAccumulator<T> products;
    products.add_products(x, y);
    EXPECT_EQ(bits(products.sum()), bits(sf::dot(x, y)));
    ProductAccumulator<T> elements;
    elements += x;
    EXPECT_EQ(bits(elements.sum()), bits(a.sum()));
    EXPECT_EQ(a.rows(), static_cast<std::int64_t>(x.size()));
  }
}

TEST(Accumulators, HaveTheBitsOfCalls) {
  expect_the_bits_of_calls<double>();
  expect_the_bits_of_calls<float>();
}

TEST(Accumulators, KeepNoOrder) {
  const auto x = hostile(3000, 5);
  Accumulator<double> whole;
  whole += x;
  Accumulator<double> backwards;
  for (std::size_t i = x.size(); i-- > 0;) backwards += x[i];
  EXPECT_EQ(backwards.bytes(), whole.bytes());
  Accumulator<double> first;
  first.add(std::span(x).first(1234));
  Accumulator<double> second;
  second.add(std::span(x).subspan(1234));
  EXPECT_EQ((second + first).bytes(), whole.bytes());
  for (const unsigned threads : {0u, 2u, 3u, 7u}) {
    const auto many = hostile(50000, threads);
    Accumulator<double> one;
    one.add(many);
    Accumulator<double> by_threads;
    by_threads.add(many, threads);
    EXPECT_EQ(by_threads.bytes(), one.bytes());
    by_threads.subtract(many, threads);
    EXPECT_EQ(by_threads.bytes(), Accumulator<double>().bytes());
    ProductAccumulator<double> squares;
    squares.add_products(many, many, threads);
    squares.subtract_products(many, many);
    EXPECT_EQ(squares.bytes(), ProductAccumulator<double>().bytes());
  }
  double by_loop = 0;
  double by_other_loop = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    by_loop += x[i];
    by_other_loop += x[x.size() - 1 - i];
  }
  EXPECT_NE(bits(by_loop), bits(by_other_loop)) << "the control";
}

/// Whatever the caller's rounding is.
TEST(Accumulators, InAnyEnvironment) {
  const auto x = hostile(3000, 6);
  Accumulator<double> due;
  due += x;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    Accumulator<double> a;
    a += x;
    a += x[0];
    a -= x[0];
    const double sum = a.sum();
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(a.bytes(), due.bytes());
    EXPECT_EQ(bits(sum), bits(due.sum()));
  }
}

TEST(Accumulators, OfSeveralColumns) {
  constexpr std::size_t columns = 30;
  const auto x = hostile(columns * 77, 8);
  Accumulator<double> a(columns);
  a.add(std::span(x).first(columns * 70));
  for (std::size_t row = 70; row < 77; ++row) a += std::span(x).subspan(row * columns, columns);
  EXPECT_EQ(a.rows(), 77);
  const auto sums = a.sums();
  const auto means = a.means<float>();
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> column;
    for (std::size_t row = 0; row < 77; ++row) column.push_back(x[row * columns + c]);
    EXPECT_EQ(bits(sums[c]), bits(sf::sum(column)));
    Accumulator<double> alone;
    alone += column;
    EXPECT_EQ(bits(means[c]), bits(alone.mean<float>()));
  }
  EXPECT_THROW(a += 1.0, Error);
  EXPECT_THROW(a += std::span(x).first(31), Error);
  EXPECT_THROW((void)a.sum(), Error);
  EXPECT_THROW((void)(a <=> a), Error);
  EXPECT_THROW(a += Accumulator<double>(29), Error);
  EXPECT_EQ(a.rows(), 77);
}

TEST(Accumulators, AreValues) {
  Accumulator<double> a;
  a += 1.5;
  Accumulator<double> b = a;
  b += 0x1p-200;
  EXPECT_EQ(a.sum(), 1.5);
  EXPECT_TRUE(b > a);
  EXPECT_FALSE(b == a);
  EXPECT_TRUE(-b < -a);
  a = b;
  EXPECT_TRUE(a == b);
  Accumulator<double> c = std::move(b);
  EXPECT_EQ(c.rows(), 2);
  b = std::move(c);
  EXPECT_TRUE(a == b);
  b -= a;
  EXPECT_EQ(b.bytes(), Accumulator<double>().bytes());
  EXPECT_EQ((-a).rows(), -2);
  EXPECT_EQ((-a + a).bytes(), b.bytes());
  EXPECT_EQ((a - a - a).bytes(), (-a).bytes());
  EXPECT_THROW((void)(-a).mean(), Error);
  EXPECT_THROW((void)b.mean(), Error);
  a += nan;
  EXPECT_EQ(a <=> a, std::partial_ordering::unordered);
  EXPECT_FALSE(a == a);
  a.clear();
  EXPECT_EQ(a.bytes(), b.bytes());
  ProductAccumulator<double> p;
  p.add_products(std::vector{3.0}, std::vector{-1.0});
  EXPECT_EQ(bits(p.norm2()), 0x7FF8000000000000u);
  EXPECT_THROW(p.add_products(std::vector{3.0}, std::vector<double>{}), Error);
}

TEST(Accumulators, AreWrittenAndRead) {
  for (const std::vector<double>& input : hostile_inputs()) {
    Accumulator<double> a;
    a += input;
    const auto bytes = a.bytes();
    auto loaded = Accumulator<double>::load(bytes);
    EXPECT_EQ(loaded.bytes(), bytes);
    EXPECT_EQ(bits(loaded.sum()), bits(a.sum()));
    loaded += 5;
    a += 5;
    EXPECT_EQ(loaded.bytes(), a.bytes());
    EXPECT_THROW(Accumulator<float>::load(bytes), Error);
    EXPECT_THROW(ProductAccumulator<double>::load(bytes), Error);
    Accumulator<double> packed;
    packed += 17;
    packed.unpack(a.packed());
    EXPECT_EQ(packed.bytes(), a.bytes());
  }
}

/// The bytes end where their memory does.
TEST(Accumulators, DamagedBytesAreRefused) {
  Accumulator<float> a(3);
  a.add(as<float>(hostile(300, 9)));
  const auto whole = a.bytes();
  const auto expect_refusal = [](const std::vector<std::byte>& bytes) {
    const auto exact = std::make_unique<std::byte[]>(bytes.size());
    std::ranges::copy(bytes, exact.get());
    sf_accumulator* made = nullptr;
    EXPECT_EQ(sf_accumulator_read(exact.get(), bytes.size(), &made), SF_INVALID_ARGUMENT);
    EXPECT_EQ(made, nullptr);
    EXPECT_NE(std::string(sf_error_text()).find(" ("), std::string::npos) << sf_error_text();
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned flip : {1u, 0x10u, 0x80u, 0xFFu}) {
      auto bytes = whole;
      bytes[at] ^= static_cast<std::byte>(flip);
      expect_refusal(bytes);
    }
    expect_refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at)});
  }
}

// --- the C functions
// --------------------------------------------------------------------------------------------------

struct Free {
  void operator()(sf_accumulator* accumulator) const { sf_accumulator_free(accumulator); }
};
using Handle = std::unique_ptr<sf_accumulator, Free>;

Handle make(sf_type type, sf_terms terms, std::uint64_t columns) {
  sf_accumulator* made = nullptr;
  EXPECT_EQ(sf_accumulator_create(type, terms, columns, &made), SF_OK) << sf_error_text();
  return Handle(made);
}

/// The call was refused, and the text says so.
void expect(sf_status found, sf_status due, const std::string& part) {
  EXPECT_EQ(found, due);
  EXPECT_NE(std::string(sf_error_text()).find(part), std::string::npos) << sf_error_text();
}

/// A value that the enumeration does not have. Sanitizers would report it here.
template <class Enumeration>
__attribute__((no_sanitize("undefined"))) Enumeration number(unsigned value) {
  Enumeration result;
  static_assert(sizeof result == sizeof value);
  std::memcpy(&result, &value, sizeof result);
  return result;
}

TEST(AccumulatorsInC, AreNotMadeOfAnything) {
  sf_accumulator* made = nullptr;
  expect(sf_accumulator_create(SF_F64, SF_ELEMENTS, 1, nullptr), SF_INVALID_ARGUMENT, "cannot be returned");
  expect(sf_accumulator_create(SF_F64, SF_ELEMENTS, 0, &made), SF_INVALID_ARGUMENT, "0 columns");
  expect(sf_accumulator_create(SF_F64, SF_ELEMENTS, UINT64_MAX, &made), SF_INVALID_ARGUMENT,
         "columns (an accumulator has");
  for (const sf_type type : {SF_I32, SF_U64, SF_BYTES, SF_BF16, SF_F16, SF_COMPLEX_F64, SF_LONG_DOUBLE, SF_FLOAT128})
    expect(sf_accumulator_create(type, SF_ELEMENTS, 1, &made), SF_UNSUPPORTED, "are not supported");
  expect(sf_accumulator_create(number<sf_type>(99), SF_ELEMENTS, 1, &made), SF_INVALID_ARGUMENT, "type 99 is unknown");
  expect(sf_accumulator_create(SF_F64, number<sf_terms>(99), 1, &made), SF_INVALID_ARGUMENT, "terms 99 are unknown");
  EXPECT_EQ(made, nullptr);
  sf_accumulator_free(nullptr);
}

TEST(AccumulatorsInC, RefuseNull) {
  const Handle a = make(SF_F64, SF_PRODUCTS, 1);
  double x = 1;
  std::uint64_t size = 0;
  sf_order order = SF_EQUAL;
  sf_accumulator* made = nullptr;
  const std::string none = "no accumulator (the pointer is null)";
  expect(sf_accumulator_copy(nullptr, &made), SF_INVALID_ARGUMENT, none);
  expect(sf_accumulator_copy(a.get(), nullptr), SF_INVALID_ARGUMENT, "cannot be returned");
  expect(sf_accumulator_describe(nullptr, nullptr, nullptr), SF_INVALID_ARGUMENT, none);
  EXPECT_EQ(sf_accumulator_describe(a.get(), nullptr, nullptr), SF_OK);
  expect(sf_accumulator_clear(nullptr), SF_INVALID_ARGUMENT, none);
  expect(sf_accumulator_assign(nullptr, a.get()), SF_INVALID_ARGUMENT, none);
  expect(sf_accumulator_assign(a.get(), nullptr), SF_INVALID_ARGUMENT, none);
  expect(sf_accumulator_add(nullptr, &x, 1, 1), SF_INVALID_ARGUMENT, none);
  expect(sf_accumulator_add(a.get(), nullptr, 1, 1), SF_INVALID_ARGUMENT, "no elements");
  EXPECT_EQ(sf_accumulator_add(a.get(), nullptr, 0, 1), SF_OK);
  expect(sf_accumulator_subtract(a.get(), nullptr, 1, 1), SF_INVALID_ARGUMENT, "no elements");
  expect(sf_accumulator_add_products(a.get(), &x, nullptr, 1, 1), SF_INVALID_ARGUMENT, "no elements");
  expect(sf_accumulator_subtract_products(a.get(), nullptr, &x, 1, 1), SF_INVALID_ARGUMENT, "no elements");
  expect(sf_accumulator_merge(a.get(), nullptr), SF_INVALID_ARGUMENT, none);
  expect(sf_accumulator_unmerge(nullptr, a.get()), SF_INVALID_ARGUMENT, none);
  expect(sf_accumulator_negate(nullptr), SF_INVALID_ARGUMENT, none);
  expect(sf_accumulator_compare(a.get(), nullptr, &order), SF_INVALID_ARGUMENT, none);
  expect(sf_accumulator_compare(a.get(), a.get(), nullptr), SF_INVALID_ARGUMENT, "cannot be returned");
  expect(sf_accumulator_round(a.get(), SF_SUM, SF_F64, nullptr), SF_INVALID_ARGUMENT, "cannot be returned");
  expect(sf_accumulator_round(nullptr, SF_SUM, SF_F64, &x), SF_INVALID_ARGUMENT, none);
  expect(sf_accumulator_write(a.get(), &x, 8, nullptr), SF_INVALID_ARGUMENT, "cannot be returned");
  expect(sf_accumulator_write(a.get(), nullptr, 8, &size), SF_INVALID_ARGUMENT, "cannot be returned");
  expect(sf_accumulator_read(nullptr, 8, &made), SF_INVALID_ARGUMENT, "no bytes");
  expect(sf_accumulator_read(&x, 8, nullptr), SF_INVALID_ARGUMENT, "cannot be returned");
  EXPECT_EQ(sf_accumulator_packed_size(nullptr), 0u);
  expect(sf_accumulator_pack(a.get(), nullptr, 8), SF_INVALID_ARGUMENT, "cannot be returned");
  expect(sf_accumulator_unpack(a.get(), nullptr, 8), SF_INVALID_ARGUMENT, "no packed accumulator");
  sf_accumulator_merge_packed(nullptr, &x, 8);
  sf_accumulator_merge_packed(&x, nullptr, 8);
  sf_accumulator_merge_packed(&x, &x, 8);
  EXPECT_EQ(made, nullptr);
}

TEST(AccumulatorsInC, RefuseWhatDoesNotFit) {
  const Handle a = make(SF_F64, SF_ELEMENTS, 2);
  const std::array<double, 2> x = {1, 2};
  ASSERT_EQ(sf_accumulator_add(a.get(), x.data(), 1, 1), SF_OK);
  std::array<double, 2> values{};
  for (const Handle& other :
       {make(SF_F32, SF_ELEMENTS, 2), make(SF_F64, SF_PRODUCTS, 2), make(SF_F64, SF_ELEMENTS, 3)}) {
    std::array<sf_order, 3> orders{};
    expect(sf_accumulator_merge(a.get(), other.get()), SF_INVALID_ARGUMENT, "different shapes (2 sums of doubles, and");
    expect(sf_accumulator_unmerge(a.get(), other.get()), SF_INVALID_ARGUMENT, "different shapes");
    expect(sf_accumulator_assign(a.get(), other.get()), SF_INVALID_ARGUMENT, "different shapes");
    expect(sf_accumulator_compare(a.get(), other.get(), orders.data()), SF_INVALID_ARGUMENT, "different shapes");
  }
  expect(sf_accumulator_add_products(a.get(), x.data(), x.data(), 1, 1), SF_INVALID_ARGUMENT,
         "make an accumulator of products");
  expect(sf_accumulator_add(a.get(), x.data(), UINT64_MAX, 1), SF_INVALID_ARGUMENT, "no memory holds as much");
  for (const std::uint32_t threads : {4097u, 1u << 31, UINT32_MAX}) {
    const sf_arrays arrays = sf_arrays_default();
    const std::string text = std::to_string(threads) + " threads (the number of threads is out of range";
    expect(sf_accumulator_add(a.get(), x.data(), 1, threads), SF_INVALID_ARGUMENT, text);
    expect(sf_accumulator_subtract_arrays(a.get(), &arrays, threads), SF_INVALID_ARGUMENT, text);
  }
  expect(sf_accumulator_round(a.get(), SF_NORM2, SF_F64, values.data()), SF_UNSUPPORTED, "is not supported");
  expect(sf_accumulator_round(a.get(), SF_MAX, SF_F64, values.data()), SF_UNSUPPORTED, "is not supported");
  expect(sf_accumulator_round(a.get(), SF_SUM, SF_F16, values.data()), SF_UNSUPPORTED, "are not supported");
  ASSERT_EQ(sf_accumulator_subtract(a.get(), x.data(), 1, 1), SF_OK);
  expect(sf_accumulator_round(a.get(), SF_MEAN, SF_F64, values.data()), SF_EMPTY, "there are 0 rows");
  std::uint64_t size = 0;
  ASSERT_EQ(sf_accumulator_write(a.get(), nullptr, 0, &size), SF_OK);
  std::vector<std::byte> bytes(size);
  expect(sf_accumulator_write(a.get(), bytes.data(), size - 1, &size), SF_INVALID_ARGUMENT, "room for");
  EXPECT_EQ(size, bytes.size());
  const std::uint64_t packed = sf_accumulator_packed_size(a.get());
  bytes.resize(packed + 8);
  expect(sf_accumulator_pack(a.get(), bytes.data(), packed + 8), SF_INVALID_ARGUMENT, "bytes for a packed");
  expect(sf_accumulator_unpack(a.get(), bytes.data(), packed - 1), SF_INVALID_ARGUMENT, "bytes for a packed");
  expect(sf_accumulator_unpack(a.get(), bytes.data(), packed), SF_INVALID_ARGUMENT, "the message is damaged");
}

/// Doubled until there is no room: refused then, and as it was.
TEST(AccumulatorsInC, RefuseWhatHasNoRoom) {
  Accumulator<double> a;
  a += largest;
  a -= 0.0;  // no row in all
  int doublings = 0;
  try {
    for (; doublings < 200; ++doublings) a += a;
  } catch (const Error& full) {
    EXPECT_EQ(full.status(), SF_UNSUPPORTED);
  }
  EXPECT_GE(doublings, 72);
  EXPECT_LT(doublings, 200);
  const auto before = a.bytes();
  EXPECT_THROW(a += 1, Error);
  EXPECT_THROW(a += hostile(5000, 1), Error);
  EXPECT_THROW(a.add(hostile(5000, 1), 3), Error);
  EXPECT_THROW(a -= a, Error);
  EXPECT_THROW((void)-a, Error);
  EXPECT_EQ(a.bytes(), before);
  EXPECT_EQ(a.sum(), infinity);
  EXPECT_EQ(Accumulator<double>::load(before).bytes(), before);
}

/// An addition that finds no memory for a copy of some rows leaves no trace of the others.
TEST(AccumulatorsInC, StayAsTheyAreWithoutMemory) {
  const auto x = hostile(3000, 6);
  const std::vector<unsigned char> mask(1500, 1);
  const Array<double> second = Array<double>(x.data(), {1500, 2}).section(1, 1, 2);
  Accumulator<double> a;
  a += x;
  const auto before = a.bytes();
  std::size_t failed = 0;
  for (bool is_added = false; !is_added && failed < 100; failed += is_added ? 0 : 1) {
    const Axes axes{.where = Array<unsigned char>(mask.data(), {1500, 1})};
    const sf_arrays arrays = detail::arrays_of(second.c_array(), {}, axes);
    allocations = 0;
    fails_after = failed + 1;
    is_added = sf_accumulator_add_arrays(a.get(), &arrays, 1) == SF_OK;
    fails_after = 0;
    EXPECT_EQ(a.bytes() == before, !is_added) << "allocation " << failed;
  }
  EXPECT_GT(failed, 3u);
  EXPECT_LT(failed, 100u);
}

TEST(AccumulatorsInC, AllocateNothing) {
  const auto x = hostile(3000, 4);
  const Handle a = make(SF_F64, SF_PRODUCTS, 3);
  const Handle b = make(SF_F64, SF_PRODUCTS, 3);
  std::vector<std::byte> packed(sf_accumulator_packed_size(a.get()));
  std::vector<std::byte> sum(packed.size());
  std::array<double, 3> values{};
  std::array<sf_order, 3> orders{};
  allocations = 0;
  const Handle another = make(SF_F64, SF_ELEMENTS, 1);
  EXPECT_GT(allocations, 0u) << "the control";
  allocations = 0;
  for (int i = 0; i < 10; ++i) {
    sf_accumulator_add(a.get(), x.data(), 1000, 1);
    sf_accumulator_add(a.get(), x.data(), 1, 1);
    sf_accumulator_add_products(b.get(), x.data(), x.data(), 1000, 1);
    sf_accumulator_subtract(a.get(), x.data(), 999, 1);
    sf_accumulator_merge(a.get(), b.get());
    sf_accumulator_unmerge(b.get(), a.get());
    sf_accumulator_negate(b.get());
    sf_accumulator_compare(a.get(), b.get(), orders.data());
    sf_accumulator_round(a.get(), SF_SUM, SF_F64, values.data());
    sf_accumulator_pack(a.get(), packed.data(), packed.size());
    sf_accumulator_pack(b.get(), sum.data(), sum.size());
    sf_accumulator_merge_packed(packed.data(), sum.data(), sum.size());
    sf_accumulator_unpack(b.get(), sum.data(), sum.size());
    sf_accumulator_assign(a.get(), b.get());
    sf_accumulator_clear(b.get());
  }
  EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace steadfold::test::accumulator_test
