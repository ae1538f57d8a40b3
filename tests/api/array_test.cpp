// Calls over arrays of any shape, strides and masks have the bits of calls over the same elements gathered one by one.
// What stands between the elements, and what a mask leaves out, are NaNs. Seeds are printed.
#include "steadfold/array.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/reference.hpp"
#include "steadfold/accumulator.hpp"
#include "steadfold/started.hpp"
#include "steadfold/team.hpp"
#include "support/array_cases.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::array_test {
namespace {

using tests::are;
using tests::is;

/// Of near exponents, so that any that is left out or counted twice shows.
double hostile_double(std::mt19937_64& random) {
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 40) - 80);
}
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// What `op` makes of each result's elements by themselves; those of no elements are `of_none`.
template <class T, class Op>
auto each_by_itself(const std::vector<std::vector<T>>& elements, const Op& op, const LocalOptions& options) {
  std::vector<decltype(op(elements[0], options))> results;
  for (const auto& some : elements) results.push_back(op(some, options));
  return results;
}
template <class T, class Op>
std::vector<T> each_pair(const std::vector<std::vector<T>>& x, const std::vector<std::vector<T>>& y, const Op& op,
                         const LocalOptions& options) {
  std::vector<T> results;
  for (std::size_t i = 0; i < x.size(); ++i) results.push_back(op(x[i], y[i], options));
  return results;
}

const std::vector<Method> sums_methods = {exact(), binned(), binned({.bins = 2, .sweep = SF_DOUBLE_SWEEP})};

template <class T, class M>
void expect_sums(std::mt19937_64& random, const ArrayCase<T, M>& made) {
  const Array<T> x = made.x.array();
  for (const bool is_masked : {false, true}) {
    const auto elements = made.elements(is_masked);
    const auto factors = made.factors_of(is_masked);
    const Axes axes = made.axes(is_masked);
    for (const Method& method : sums_methods) {
      const LocalOptions options{.method = method, .threads = static_cast<unsigned>(1 + random() % 3)};
      const LocalOptions alone{.method = method};
      EXPECT_TRUE(are(sum(x, axes, options), each_by_itself(elements, plus, alone)));
      EXPECT_TRUE(are(norm2(x, axes, options), each_by_itself(elements, norm2, alone)));
      EXPECT_TRUE(are(dot(x, made.factors.array(), axes, options), each_pair(elements, factors, dot, alone)));
      Axes weighted = axes;
      weighted.weights = made.factors.array();
      EXPECT_TRUE(are(sum(x, weighted, options), each_pair(elements, factors, dot, alone)));
      if constexpr (std::same_as<T, double>) {
        EXPECT_TRUE(are(abs_sum(x, axes, options), each_by_itself(elements, abs_sum, alone)));
        EXPECT_TRUE(are(norminf(x, axes, {.threads = options.threads}), each_by_itself(elements, norminf, {})));
      }
    }
  }
}

template <class T, class M, class Draw>
void expect_sums_of(std::uint64_t first_seed, const T& between, const Draw& draw) {
  for (std::uint64_t seed = first_seed; seed < first_seed + (sanitized ? 10 : 40); ++seed) {
    std::mt19937_64 random(seed);
    const ArrayCase<T, M> made(random, random_shape(random, random() % 6, seed % 10 == 0 ? 4000 : 150), between, draw);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << made.text());
    expect_sums(random, made);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Arrays, SumsOfDoubles) { expect_sums_of<double, std::uint8_t>(1, no_number, hostile_double); }
TEST(Arrays, SumsOfDoublesWithWideMasks) { expect_sums_of<double, std::int64_t>(1001, no_number, hostile_double); }
TEST(Arrays, SumsOfFloats) {
  expect_sums_of<float, std::int32_t>(2001, std::numeric_limits<float>::quiet_NaN(), [](std::mt19937_64& random) {
    return static_cast<float>(
        std::ldexp(static_cast<double>(random() % 20011) - 10005, static_cast<int>(random() % 60) - 30));
  });
}
TEST(Arrays, SumsOfComplexNumbers) {
  using Complex = std::complex<double>;
  for (std::uint64_t seed = 3001; seed < 3031; ++seed) {
    std::mt19937_64 random(seed);
    const ArrayCase<Complex, std::uint16_t> made(
        random, random_shape(random, random() % 4, 300), Complex(no_number, no_number),
        [](std::mt19937_64& from) { return Complex(hostile_double(from), hostile_double(from)); });
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << made.text());
    for (const bool is_masked : {false, true}) {
      const auto elements = made.elements(is_masked);
      EXPECT_TRUE(are(sum(made.x.array(), made.axes(is_masked)), each_by_itself(elements, plus, {})));
      EXPECT_TRUE(are(dot(made.x.array(), made.factors.array(), made.axes(is_masked)),
                      each_pair(elements, made.factors_of(is_masked), dot, {})));
      EXPECT_TRUE(are(dotc(made.x.array(), made.factors.array(), made.axes(is_masked)),
                      each_pair(elements, made.factors_of(is_masked), dotc, {})));
    }
  }
}

/// A mean divides by the elements that count; a kept index without any is a NaN where the mask has its axis.
TEST(Arrays, Means) {
  int without_elements = 0;
  for (std::uint64_t seed = 4001; seed < 4101; ++seed) {
    std::mt19937_64 random(seed);
    const ArrayCase<double, std::uint8_t> made(random, random_shape(random, random() % 5, 200), no_number,
                                               hostile_double);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << made.text());
    const auto elements = made.elements(true);
    std::vector<double> expected;
    bool is_any_empty = false;
    for (const auto& some : elements) {
      is_any_empty |= some.empty();
      expected.push_back(some.empty() ? std::numeric_limits<double>::quiet_NaN() : mean(some));
    }
    try {
      EXPECT_TRUE(are(mean(made.x.array(), made.axes(true)), expected));
      without_elements += is_any_empty ? 1 : 0;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), SF_EMPTY) << error.what();
      EXPECT_TRUE(std::ranges::all_of(elements, [](const auto& some) { return some.empty(); }));
    }
  }
  EXPECT_GT(without_elements, 3);
}

/// `tree` takes the elements of a result in C order, whatever the order in memory. The control: it matters.
/// Columns whose elements stand one after the other, on both sides of the number of rows from which each is reduced by
/// itself, and with gaps between columns.
template <class T>
void expect_long_columns(std::mt19937_64& random, std::size_t rows, std::size_t gap) {
  constexpr std::size_t columns = 5;
  std::vector<T> numbers(columns * (rows + gap), static_cast<T>(no_number));
  std::vector<std::vector<T>> apart(columns);
  std::vector<T> factors(rows);
  for (T& factor : factors) factor = static_cast<T>(hostile_double(random));
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r)
      apart[c].push_back(numbers[c * (rows + gap) + r] = static_cast<T>(hostile_double(random)));
  }
  const std::vector<std::vector<T>> same(columns, factors);
  const Array<T> x = Array<T>(numbers.data(), {columns, rows + gap}).section(1, 0, rows);
  const Axes kept{.keep = {0}};
  for (const Method& method : {tree(), exact(), binned(), plain()}) {
    const LocalOptions options{.method = method};
    EXPECT_TRUE(are(sum(x, kept, options), each_by_itself(apart, plus, options)));
    EXPECT_TRUE(are(sum(x.transposed(), {.keep = {1}}, options), each_by_itself(apart, plus, options)));
    if (method.id == SF_TREE || method.id == SF_PLAIN) continue;  // what follows is rounded once
    EXPECT_TRUE(are(mean(x, kept, options), each_by_itself(apart, mean, options)));
    EXPECT_TRUE(are(dot(x, Array<T>(factors.data(), {rows}), kept, options), each_pair(apart, same, dot, options)));
  }
  EXPECT_TRUE(are(max(x, kept), each_by_itself(apart, max, {})));
}

TEST(Arrays, ColumnsThatStandInRowsAreReducedOneByOne) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    for (const std::size_t rows : {15, 16, 511, 512, 5000}) {
      expect_long_columns<double>(random, rows, random() % 3);
      expect_long_columns<float>(random, rows, random() % 3);
    }
  }
}

TEST(Arrays, TreesAreInTheOrderOfTheIndices) {
  int differ = 0;
  for (std::uint64_t seed = 5001; seed < 5101; ++seed) {
    std::mt19937_64 random(seed);
    const ArrayCase<double, std::uint8_t> made(random, random_shape(random, 1 + random() % 5, 3000), 0.0,
                                               hostile_double);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << made.text());
    const LocalOptions options{.method = tree(), .threads = static_cast<unsigned>(1 + random() % 3)};
    auto elements = made.elements(false);
    const auto found = sum(made.x.array(), made.axes(false), options);
    EXPECT_TRUE(are(found, each_by_itself(elements, plus, {.method = tree()})));
    for (auto& some : elements) std::ranges::reverse(some);
    differ += are(found, each_by_itself(elements, plus, {.method = tree()})) ? 0 : 1;
  }
  EXPECT_GT(differ, 25);
}

TEST(Arrays, LeastAndGreatestAndIntegers) {
  for (std::uint64_t seed = 6001; seed < 6101; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [](std::mt19937_64& from) { return static_cast<std::int64_t>(from()); };
    const ArrayCase<std::int64_t, std::uint8_t> made(random, random_shape(random, random() % 5, 300), 7, draw);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << made.text());
    for (const bool is_masked : {false, true}) {
      const auto elements = made.elements(is_masked);
      if (std::ranges::any_of(elements, [](const auto& some) { return some.empty(); })) continue;
      const Array<std::int64_t> x = made.x.array();
      EXPECT_TRUE(are(min(x, made.axes(is_masked)), each_by_itself(elements, min, {})));
      EXPECT_TRUE(are(max(x, made.axes(is_masked)), each_by_itself(elements, max, {})));
      EXPECT_TRUE(are(sum(x, made.axes(is_masked)), each_by_itself(elements, plus, {})));
      EXPECT_TRUE(are(times(x, made.axes(is_masked)), each_by_itself(elements, times, {})));
    }
  }
}

/// Where a mask has a kept axis of its own, results of nothing are NaN, whatever the extent of that axis.
TEST(Arrays, NothingIsSelected) {
  const std::vector<double> x(6, 1.0);
  const std::vector<std::uint8_t> none(6, 0);
  for (const std::uint64_t kept : {1u, 2u}) {
    const Array<double> elements(x.data(), {3, kept});
    const Axes own = {.keep = {1}, .where = Array<std::uint8_t>(none.data(), {3, kept})};
    for (const double value : max(elements, own)) EXPECT_TRUE(std::isnan(value)) << kept;
    for (const double value : min(elements, own)) EXPECT_TRUE(std::isnan(value)) << kept;
    for (const double value : mean(elements, own)) EXPECT_TRUE(std::isnan(value)) << kept;
    for (const auto& value : max_location(elements, own)) EXPECT_EQ(value.index, ~std::uint64_t{0}) << kept;
    EXPECT_TRUE(are(sum(elements, own), std::vector<double>(kept, 0.0)));
  }
  const Axes shared = {.keep = {1},
                       .where = Array<std::uint8_t>(none.data(), {3, 1})};  // stretched along the kept axis
  EXPECT_THROW(max(Array<double>(x.data(), {3, 2}), shared), Error);
  EXPECT_THROW(max(Array<double>(x.data(), {3}), {.where = Array<std::uint8_t>(none.data(), {3})}), Error);
}

/// Without axes to keep, and what is like std::mdspan.
struct Like {
  using element_type = const double;
  const double* data;
  const double* data_handle() const { return data; }
  static std::size_t rank() { return 2; }
  std::size_t extent(std::size_t i) const { return i == 0 ? 3 : 4; }
  std::size_t stride(std::size_t i) const { return i == 0 ? 5 : 1; }
};

TEST(Arrays, OfAllShapesAreMade) {
  std::vector<double> numbers(64);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  const Array<double> rows(numbers.data(), {3, 5});
  EXPECT_TRUE(is(sum(rows), 105.0));
  EXPECT_TRUE(are(sum(rows, {.keep = {0}}), {10.0, 35.0, 60.0}));
  EXPECT_TRUE(are(sum(rows.transposed(), {.keep = {1}}), {10.0, 35.0, 60.0}));
  EXPECT_TRUE(are(sum(Array<double>::first_fastest(numbers.data(), {3, 5}), {.keep = {0}}), {30.0, 35.0, 40.0}));
  EXPECT_TRUE(are(sum(rows.section(1, 1, 3), {.keep = {0}}), {3.0, 13.0, 23.0}));
  EXPECT_TRUE(are(sum(Array<double>(Like{numbers.data()}), {.keep = {0}}), {6.0, 26.0, 46.0}));
  EXPECT_TRUE(are(sum(rows, {.keep = {0, 1}}), std::vector<double>(numbers.begin(), numbers.begin() + 15)));
  EXPECT_TRUE(is(sum(Array<double>(numbers.data() + 7, {})), 7.0));
  EXPECT_TRUE(is(sum(rows.section(0, 1, 1)), 0.0));
  EXPECT_TRUE(are(sum(rows.section(0, 1, 1), {.keep = {1}}), std::vector<double>(5, 0.0)));
  const Array<double> many(numbers.data(), {1, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 1, 2});
  EXPECT_TRUE(is(sum(many), 31.0 * 16));
  EXPECT_TRUE(are(sum(many, {.keep = {1}}), {15.0 * 8, 47.0 * 8}));
}

template <class Call>
void expect_refused(const Call& call, const std::string& text, sf_status status = SF_INVALID_ARGUMENT) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), status);
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(Arrays, AxesToKeepAscend) {
  const std::vector<double> x(6, 1.0);
  const Array<double> rows(x.data(), {2, 3});
  for (const std::vector<int>& keep : {std::vector{1, 0}, {0, 0}, {-1, 1}, {1, -1}})
    expect_refused([&] { sum(rows, {.keep = keep}); }, "the axes to keep are not in ascending order");
  for (const std::vector<int>& keep : {std::vector{2}, {-3}, {0, 2}})
    expect_refused([&] { sum(rows, {.keep = keep}); }, "an axis to keep does not exist");
  EXPECT_EQ(sum(rows, {.keep = {0, -1}}), x);
}

/// As dlpack.h lays it out.
struct DlTensor {
  void* data;
  struct {
    std::int32_t device_type, device_id;
  } device;
  std::int32_t ndim;
  struct {
    std::uint8_t code, bits;
    std::uint16_t lanes;
  } dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

TEST(Arrays, OfDlPackAreRead) {
  std::vector<double> x(40, no_number);
  std::int64_t shape[] = {3, 2};
  std::int64_t strides[] = {-4, 10};
  for (const int row : {0, 1, 2})
    for (const int column : {0, 1}) x[static_cast<std::size_t>(8 - 4 * row + 10 * column)] = 10 * row + column;
  DlTensor tensor{.data = x.data(),
                  .device = {1, 0},
                  .ndim = 2,
                  .dtype = {2, 64, 1},
                  .shape = shape,
                  .strides = strides,
                  .byte_offset = 8 * sizeof(double)};
  EXPECT_EQ(sum(Array<double>::of_dlpack(tensor), {.keep = {0}}), (std::vector<double>{1, 21, 41}));
  std::vector<std::int32_t> whole = {1, 2, 3, 4, 5, 6};
  DlTensor integers{.data = whole.data(),
                    .device = {3, 0},
                    .ndim = 2,
                    .dtype = {0, 32, 1},
                    .shape = shape,
                    .strides = nullptr,
                    .byte_offset = 0};
  EXPECT_EQ(sum(Array<std::int32_t>::of_dlpack(integers), {.keep = {1}}), (std::vector<std::int32_t>{9, 12}));
  EXPECT_THROW(Array<float>::of_dlpack(tensor), Error);
  EXPECT_THROW(Array<std::int64_t>::of_dlpack(tensor), Error);
  EXPECT_THROW(Array<std::uint32_t>::of_dlpack(integers), Error);
  integers.dtype.lanes = 2;
  EXPECT_THROW(Array<std::int64_t>::of_dlpack(integers), Error);
  tensor.device.device_type = 2;
  EXPECT_THROW(Array<double>::of_dlpack(tensor), Error);
}

TEST(Arrays, ThatDoNotFitAreRefused) {
  const std::vector<double> numbers(24);
  const std::vector<char> bytes(24, 1);
  const std::vector<float> floats(24);
  const Array<double> x(numbers.data(), {2, 3, 4});
  expect_refused([&] { sum(x, {.keep = {3}}); }, "an axis to keep does not exist (the elements have 3 axes)");
  expect_refused([&] { sum(x, {.keep = {-4}}); }, "an axis to keep does not exist");
  expect_refused([&] { sum(x, {.where = Array<char>(bytes.data(), {3})}); },
                 "a mask of shape (3) for elements of shape (2, 3, 4)");
  expect_refused(
      [&] {
        sum(x, {.where = Array<char>(bytes.data(), {1, 2, 3, 4})});
      },
      "a mask of 4 axes for elements of 3");
  expect_refused([&] { sum(x, {.where = Array<float>(floats.data(), {4})}); },
                 "a mask with elements of 4 bytes of type f32");
  expect_refused([&] { dot(x, Array<double>(numbers.data(), {4, 3}), {.keep = {0}}); }, "factors of shape (4, 3)");
  const Array<double> vector(numbers.data(), {4}), of_one(numbers.data(), {1});
  const std::string differ = "the factors of a dot product differ in size (4 and 1 elements), give vectors of the same";
  expect_refused([&] { dot(vector, of_one); }, differ);
  expect_refused([&] { dotc(vector, of_one, {.keep = {0}}); }, differ);
  expect_refused([&] { covariance(vector, of_one); }, differ);
  expect_refused([&] { weighted_mean(vector, of_one); }, differ);
  expect_refused([&] { sum(vector, {.weights = of_one}); }, differ);
  expect_refused([&] { mean(vector, {.weights = of_one}); }, differ);
  expect_refused([&] { ProductAccumulator<double>().add(vector, {.weights = of_one}); }, differ);
  Bundle bundle;
  bundle.dot(vector, of_one, {});
  const Team team(1);
  expect_refused([&] { bundle.bind(team[0]); }, differ);
  expect_refused([&] { ArrayPlan plan(dot, vector, of_one, {}, team[0]); }, differ);
  expect_refused([&] { start(dot, vector, of_one, {}, team[0]).get(); }, differ);
  expect_refused([&] { sum(x, {.weights = Array<float>(floats.data(), {4})}); },
                 "the factors and the elements have different types");
  expect_refused([&] { norm2(x, {.weights = Array<double>(numbers.data(), {4})}); },
                 "factors for norm2 (the operation takes no factors)");
  expect_refused([&] { sum(x, {.where = Array<char>(bytes.data(), {4})}, {.method = tree()}); },
                 "the tree has no place for rows that the mask leaves out", SF_UNSUPPORTED);
  expect_refused([&] { Array<double>(numbers.data(), std::vector<std::uint64_t>(16, 1)); }, "16 axes");
  const std::vector<std::uint64_t> shape = {10, 20};
  for (const std::vector<std::int64_t>& strides : {std::vector<std::int64_t>{160}, {1600, 160, 8}, {}})
    expect_refused([&] { Array<double>(numbers.data(), shape, strides); },
                   std::to_string(strides.size()) + " strides for a shape of 2 axes");
  expect_refused([&] { static_cast<void>(x.section(1, 2, 4)); }, "section 2 to 4 of axis 1");
  expect_refused([&] { sum(Array<double>(nullptr, {3})); }, "the address of the data is null (3 rows are to be read)");
  expect_refused(
      [&] {
        sum(Array<double>(numbers.data(), {1u << 31, 1u << 31, 1u << 31}));
      },
      "no memory holds as many");
  sf_arrays arrays{.size = sizeof(sf_arrays), .x = x.c_array(), .factors = {}, .mask = {}, .kept = 0};
  sf_call call = sf_call_default();
  call.arrays = &arrays;
  double result = 0;
  EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, &result), SF_OK) << sf_error_text();
  arrays.x.device = 1;
  EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, &result), SF_UNSUPPORTED);
  arrays.x.device = 0;
  arrays.x.axis_count = 16;
  EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, &result), SF_INVALID_ARGUMENT);
  arrays.x.axis_count = 3;
  call.operation = SF_MASKED_SUM;
  EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, &result), SF_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace steadfold::test::array_test
