// Accumulators to which arrays are added have the bytes of those to which the same elements are added that were
// gathered one by one, whatever the strides, the mask and the number of threads. Between elements, and where a mask
// leaves them out, are NaNs. Seeds are printed.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "steadfold/accumulator.hpp"
#include "support/array_cases.hpp"
#include "support/hostile.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::accumulator_arrays_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Of all sizes, and -0.0, which accumulators count; now and then infinite.
template <class T>
T any_number(std::mt19937_64& random) {
  if (random() % 16 == 0) return T(-0.0);
  if (random() % 4000 == 0) return static_cast<T>(infinity);
  return static_cast<T>(
      std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 120) - 120));
}

/// Columns of elements as rows.
template <class T>
std::vector<T> rows_of(const std::vector<std::vector<T>>& columns) {
  std::vector<T> rows;
  for (std::size_t row = 0; row < columns.front().size(); ++row)
    for (const auto& column : columns) rows.push_back(column[row]);
  return rows;
}

/// Adds the array to an accumulator that is not empty, and takes it away again.
template <class Sum, class T, class M, class AddRows>
void expect_same(const ArrayCase<T, M>& made, const Axes& axes, bool is_masked, const AddRows& add_rows) {
  const auto columns = made.elements(is_masked);
  for (const unsigned threads : {1u, 3u}) {
    Sum before(columns.size());
    before.add(std::vector<T>(2 * columns.size(), T(1.25)));
    Sum sum = before;
    sum.add(made.x.array(), axes, threads);
    Sum gathered = before;
    add_rows(gathered, rows_of(columns));
    EXPECT_EQ(sum.bytes(), gathered.bytes()) << threads << " threads";
    EXPECT_EQ(sum.rows(), static_cast<std::int64_t>(2 + columns.front().size()));
    Sum apart(columns.size());
    apart.subtract(made.x.array(), axes, threads);
    Sum rows_apart(columns.size());
    add_rows(rows_apart, rows_of(columns));
    EXPECT_EQ(apart.bytes(), (-rows_apart).bytes()) << threads << " threads, subtracted";
  }
}

template <class T, class M>
void expect_case(std::mt19937_64& random, std::uint64_t most) {
  const ArrayCase<T, M> made(random, random_shape(random, random() % 6, most), static_cast<T>(nan), any_number<T>);
  SCOPED_TRACE(made.text());
  for (const bool is_masked : {false, true}) {
    Axes axes = made.axes(is_masked);
    if (is_masked && made.mask_has_kept_axis()) {
      Accumulator<T> a(made.elements(false).size());
      a.add(std::vector<T>(a.columns(), T(7)));
      const auto before = a.bytes();
      EXPECT_THROW(a.add(made.x.array(), axes), Error);
      EXPECT_EQ(a.bytes(), before);
      continue;
    }
    const auto add = [](auto& sum, const std::vector<T>& rows) { sum.add(rows); };
    expect_same<Accumulator<T>>(made, axes, is_masked, add);
    expect_same<ProductAccumulator<T>>(made, axes, is_masked, add);
    axes.weights = made.factors.array();
    const std::vector<T> factors = rows_of(made.factors_of(is_masked));
    expect_same<ProductAccumulator<T>>(made, axes, is_masked,
                                       [&](auto& sum, const std::vector<T>& rows) { sum.add_products(rows, factors); });
  }
}

TEST(AccumulatorsOfArrays, HaveTheBytesOfRows) {
  for (std::uint64_t seed = 1; seed <= (sanitized ? 12 : 60); ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::uint64_t most = seed % 10 == 0 ? 20000 : 200;
    switch (seed % 4) {
      case 0: expect_case<double, bool>(random, most); break;
      case 1: expect_case<float, std::uint16_t>(random, most); break;
      case 2: expect_case<float, std::int32_t>(random, most); break;
      default: expect_case<double, std::int64_t>(random, most);
    }
    if (HasFailure()) return;
  }
}

/// A field with a halo that is on three levels, of the ocean alone, weighted by areas that all levels have.
TEST(AccumulatorsOfArrays, OfAField) {
  constexpr std::uint64_t levels = 3, rows = 40, columns = 30;
  std::vector<double> field = hostile(levels * rows * columns, 1);
  std::vector<double> area = hostile(rows * columns, 2);
  std::vector<unsigned char> ocean(rows * columns);
  ProductAccumulator<double> heat(levels);
  std::vector<double> x, y;
  for (std::uint64_t i = 0; i < rows * columns; ++i) {
    const bool is_inside = i / columns > 0 && i / columns < rows - 1 && i % columns > 0 && i % columns < columns - 1;
    ocean[i] = i % 7 < 4 ? static_cast<unsigned char>(1 + i % 200) : 0;
    for (std::uint64_t level = 0; level < levels; ++level) {
      if (is_inside && ocean[i] != 0) {
        x.push_back(field[level * rows * columns + i]);
        y.push_back(area[i]);
      } else {
        field[level * rows * columns + i] = level == 0 ? nan : infinity;
      }
    }
  }
  heat.add_products(x, y);
  const auto inside = [](const auto& array, int axis) {
    return array.section(axis, 1, array.shape()[static_cast<std::size_t>(axis)] - 1)
        .section(axis + 1, 1, array.shape()[static_cast<std::size_t>(axis) + 1] - 1);
  };
  const Array<double> all = inside(Array<double>(field.data(), {levels, rows, columns}), 1);
  const Axes axes{.keep = {0},
                  .where = inside(Array<unsigned char>(ocean.data(), {rows, columns}), 0),
                  .weights = inside(Array<double>(area.data(), {rows, columns}), 0)};
  for (const unsigned threads : {0u, 1u, 2u, 7u}) {
    ProductAccumulator<double> of_arrays(levels);
    of_arrays.add(all, axes, threads);
    EXPECT_EQ(of_arrays.bytes(), heat.bytes()) << threads;
    of_arrays.subtract(all, axes, threads);
    EXPECT_EQ(of_arrays.bytes(), ProductAccumulator<double>(levels).bytes());
  }
}

TEST(AccumulatorsOfArrays, OfNoRows) {
  Accumulator<double> a(2);
  const double x[4] = {nan, nan, nan, nan};
  a.add(Array<double>(x, {0, 2}), {.keep = {1}});
  a.add(Array<double>(nullptr, {2, 0}), {.keep = {0}}, 3);
  const bool nothing[2] = {};
  a.add(Array<double>(x, {2, 2}), {.keep = {1}, .where = Array<bool>(nothing, {2, 1})});
  EXPECT_EQ(a.bytes(), Accumulator<double>(2).bytes());
}

/// Refused with this status and text, and as it was.
template <class T, sf_terms terms>
void expect_refused(Accumulator<T, terms>& a, const sf_arrays* arrays, sf_status status, const std::string& text) {
  const auto before = a.bytes();
  for (const auto function : {sf_accumulator_add_arrays, sf_accumulator_subtract_arrays}) {
    EXPECT_EQ(function(a.get(), arrays, 1), status);
    EXPECT_NE(std::string(sf_error_text()).find(text), std::string::npos) << sf_error_text();
  }
  EXPECT_EQ(a.bytes(), before);
}

TEST(AccumulatorsOfArrays, RefuseWhatTheyCannotTake) {
  const std::vector<double> x(24, 1.5);
  const std::vector<float> narrow(24, 1.5f);
  const std::vector<std::int32_t> labels(24, 0);
  const Array<double> array(x.data(), {4, 6});
  const sf_array given = array.c_array();
  Accumulator<double> a(6);
  a.add(x);
  expect_refused(a, nullptr, SF_INVALID_ARGUMENT, "no arrays");
  const sf_arrays right{.size = sizeof(sf_arrays), .x = given, .kept = 2};
  EXPECT_EQ(sf_accumulator_add_arrays(nullptr, &right, 1), SF_INVALID_ARGUMENT);
  sf_arrays wrong{.size = sizeof(sf_arrays), .x = given, .kept = 1};
  expect_refused(a, &wrong, SF_INVALID_ARGUMENT,
                 "4 results for the kept axes (the accumulator holds 6 sums of doubles)");
  wrong = right;
  wrong.x.data = nullptr;
  expect_refused(a, &wrong, SF_INVALID_ARGUMENT, "the address of the data is null");
  wrong = right;
  wrong.x = Array<float>(narrow.data(), {4, 6}).c_array();
  expect_refused(a, &wrong, SF_INVALID_ARGUMENT, "elements of type f32");
  wrong = right;
  wrong.kept = 4;
  expect_refused(a, &wrong, SF_INVALID_ARGUMENT, "an axis to keep does not exist");
  wrong = right;
  wrong.factors = given;
  expect_refused(a, &wrong, SF_INVALID_ARGUMENT, "make an accumulator of products");
  wrong = right;
  wrong.mask = Array<std::int32_t>(labels.data(), {6}).c_array();
  expect_refused(a, &wrong, SF_UNSUPPORTED, "a mask that differs between 6 columns");
  wrong.mask = Array<std::int32_t>(labels.data(), {5, 1}).c_array();
  expect_refused(a, &wrong, SF_INVALID_ARGUMENT, "a mask of shape (5, 1) for elements of shape (4, 6)");
  wrong.mask = Array<std::int32_t>(nullptr, {4, 1}).c_array();
  expect_refused(a, &wrong, SF_INVALID_ARGUMENT, "the mask is null");
  wrong = right;
  wrong.labels = Array<std::int32_t>(labels.data(), {4, 1}).c_array();
  wrong.groups = 1;
  expect_refused(a, &wrong, SF_UNSUPPORTED, "labels for an accumulator (1 groups");
  wrong = right;
  const void* const list[] = {x.data()};
  wrong.xs = list;
  wrong.x_count = 1;
  expect_refused(a, &wrong, SF_UNSUPPORTED, "a list of 1 arrays");
  ProductAccumulator<double> products(6);
  products.add(x);
  wrong = right;
  wrong.factors = Array<double>(x.data(), {3}).c_array();
  expect_refused(products, &wrong, SF_INVALID_ARGUMENT, "factors of shape (3)");
  wrong.factors = Array<double>(nullptr, {6}).c_array();
  expect_refused(products, &wrong, SF_INVALID_ARGUMENT, "the second factor");
}

/// Full: an array is refused too, and changes nothing.
TEST(AccumulatorsOfArrays, RefuseWhatHasNoRoom) {
  Accumulator<double> a;
  a += std::numeric_limits<double>::max();
  try {
    for (int doublings = 0; doublings < 200; ++doublings) a += a;
  } catch (const Error&) {
  }
  const double one = 1;
  const sf_arrays arrays{.size = sizeof(sf_arrays), .x = Array<double>(&one, {1}).c_array()};
  expect_refused(a, &arrays, SF_UNSUPPORTED, "the accumulator is full");
}

}  // namespace
}  // namespace steadfold::test::accumulator_arrays_test
