// Groups of an array's elements by labels, and what names rows (locations, statistics) under masks: each result is that
// of its elements gathered one by one. What stands between the elements, and what a mask leaves out, are NaNs. Seeds
// are printed.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "mpi/bits.hpp"
#include "steadfold/array.hpp"
#include "steadfold/steadfold.hpp"
#include "support/array_cases.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::groups_test {
namespace {

// Those of 8 and 16 bits have no sign for the library.
static_assert(detail::is_array_of_labels<Array<std::int32_t>>);
static_assert(detail::is_array_of_labels<Array<std::uint8_t>>);
static_assert(!detail::is_array_of_labels<Array<std::int16_t>>);
static_assert(!detail::is_array_of_labels<Array<double>>);

using tests::are;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

double hostile_double(std::mt19937_64& random) {
  if (random() % 50 == 0) return random() % 2 == 0 ? 0.0 : -0.0;
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 40) - 80);
}

/// The elements of one result, their factors, and which rows of the whole job they are.
struct Some {
  std::vector<double> x, y;
  std::vector<std::uint64_t> rows;
};

/// An array with labels that may be stretched to it; some elements belong to no group, and some groups have none.
template <class Label>
struct Grouped {
  Grouped(std::mt19937_64& random, const Indices& shape, std::uint64_t most_groups)
      : made(random, shape, no_number, hostile_double),
        groups(1 + random() % std::max<std::uint64_t>(std::min(most_groups, 300 / kept()), 1)),
        label_shape(stretchable(random, shape)),
        labels(random, label_shape, Label(0)) {
    visit_all(label_shape, [&](const Indices& at) {
      const std::uint64_t drawn = random() % (groups + 1);
      if constexpr (std::is_signed_v<Label>)
        labels.set(at, drawn == groups ? static_cast<Label>(-1 - static_cast<int>(random() % 3)) : Label(drawn));
      else
        labels.set(at, static_cast<Label>(drawn % groups));
    });
  }

  /// How many indices of the axes that are kept.
  std::uint64_t kept() const {
    std::uint64_t count = 1;
    for (std::size_t axis = 0; axis < made.shape.size(); ++axis)
      if (made.keeps(axis)) count *= made.shape[axis];
    return count;
  }
  std::vector<Some> gathered(bool is_masked, bool is_grouped) const {
    std::vector<Some> all(kept() * (is_grouped ? groups : 1));
    visit_all(made.shape, [&](const Indices& at) {
      std::uint64_t result = 0;
      std::uint64_t row = 0;
      for (std::size_t axis = 0; axis < made.shape.size(); ++axis) {
        std::uint64_t& index = made.keeps(axis) ? result : row;
        index = index * made.shape[axis] + at[axis];
      }
      const Label label = is_grouped ? labels.at(at) : Label(0);
      if ((is_masked && made.mask.at(at) == 0) || (std::is_signed_v<Label> && label < Label(0))) return;
      Some& some = all[static_cast<std::uint64_t>(label) * kept() + result];
      some.x.push_back(made.x.at(at));
      some.y.push_back(made.factors.at(at));
      some.rows.push_back(row);
    });
    return all;
  }
  Axes axes(bool is_masked, bool is_grouped) const {
    Axes axes = made.axes(is_masked);
    if (!is_grouped) return axes;
    axes.labels = labels.array();
    axes.groups = groups;
    return axes;
  }
  std::string text() const {
    return made.text() + ", labels " + text_of(label_shape) + ", " + std::to_string(groups) + " groups";
  }

  ArrayCase<double, std::uint8_t> made;
  std::uint64_t groups;
  Indices label_shape;
  Placed<Label> labels;
};

template <class Reduce>
auto each(const std::vector<Some>& all, const Reduce& reduce) {
  std::vector<decltype(reduce(all[0]))> results;
  for (const Some& some : all) results.push_back(reduce(some));
  return results;
}

/// The rows are those of the whole job, not of the elements gathered.
Located<double> at_row(Located<double> found, const Some& some) {
  found.index = some.rows[found.index];
  return found;
}
constexpr Located<double> nowhere{no_number, std::numeric_limits<std::uint64_t>::max()};
Statistics at_rows(Statistics found, const Some& some) {
  if (found.count == 0) return found;
  found.min_index = some.rows[found.min_index];
  found.max_index = some.rows[found.max_index];
  return found;
}

template <class T>
testing::AssertionResult are_located(const std::vector<T>& found, const std::vector<T>& expected) {
  if (found.size() != expected.size()) return testing::AssertionFailure() << found.size() << " results";
  for (std::size_t i = 0; i < found.size(); ++i)
    if (std::memcmp(&found[i], &expected[i], sizeof(T)) != 0) return testing::AssertionFailure() << "result " << i;
  return testing::AssertionSuccess();
}

/// Results of nothing are NaNs where every result has rows of its own; else the call is empty.
template <class Call, class Expected, class Are>
void expect_or_empty(bool is_empty, const Call& call, const Expected& expected, const Are& are_equal) {
  try {
    EXPECT_TRUE(are_equal(call(), expected));
    EXPECT_FALSE(is_empty);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), SF_EMPTY) << error.what();
    EXPECT_TRUE(is_empty);
  }
}

template <class Label>
void expect_all(std::mt19937_64& random, const Grouped<Label>& grouped) {
  const Array<double> x = grouped.made.x.array();
  const Array<double> y = grouped.made.factors.array();
  const auto equal = [](const auto& a, const auto& b) { return are(a, b); };
  const auto located = [](const auto& a, const auto& b) { return are_located(a, b); };
  for (const bool is_masked : {false, true}) {
    for (const bool is_grouped : {true, false}) {
      SCOPED_TRACE(testing::Message() << (is_masked ? "masked" : "") << (is_grouped ? " grouped" : ""));
      const auto all = grouped.gathered(is_masked, is_grouped);
      const Axes axes = grouped.axes(is_masked, is_grouped);
      const bool has_own_rows = is_grouped || (is_masked && grouped.made.mask_has_own_results());
      const bool is_empty = !has_own_rows && std::ranges::all_of(all, [](const Some& some) { return some.x.empty(); });
      const LocalOptions options{.threads = static_cast<unsigned>(1 + random() % 3)};
      for (const Method& method : {exact(), binned(), binned({.bins = 2, .sweep = SF_DOUBLE_SWEEP})}) {
        const LocalOptions by{.method = method, .threads = options.threads};
        EXPECT_TRUE(are(sum(x, axes, by), each(all, [&](const Some& some) { return sum(some.x, {method}); })));
        EXPECT_TRUE(are(dot(x, y, axes, by), each(all, [&](const Some& s) { return dot(s.x, s.y, {method}); })));
      }
      if (is_grouped) {
        const LocalOptions by{.method = tree(), .threads = options.threads};
        EXPECT_TRUE(are(sum(x, axes, by), each(all, [&](const Some& some) { return sum(some.x, {tree()}); })));
        EXPECT_TRUE(are(dot(x, y, axes, by), each(all, [&](const Some& s) { return dot(s.x, s.y, {tree()}); })));
        EXPECT_TRUE(are(norm2(x, axes, by), each(all, [&](const Some& some) { return norm2(some.x, {tree()}); })));
        EXPECT_TRUE(are(abs_sum(x, axes, by), each(all, [&](const Some& some) { return abs_sum(some.x, {tree()}); })));
      }
      EXPECT_TRUE(are_located(statistics(x, axes, options),
                              each(all, [](const Some& some) { return at_rows(statistics(some.x), some); })));
      EXPECT_TRUE(are(norminf(x, axes, options), each(all, [](const Some& some) { return norminf(some.x); })));
      const auto or_nan = [](const Some& some, const auto& op) { return some.x.empty() ? no_number : op(some.x); };
      expect_or_empty(
          is_empty, [&] { return mean(x, axes, options); },
          each(all, [&](const Some& some) { return or_nan(some, mean); }), equal);
      Axes weighted = axes;
      weighted.weights = y;
      expect_or_empty(
          is_empty, [&] { return mean(x, weighted, options); },
          each(all, [](const Some& some) { return some.x.empty() ? no_number : weighted_mean(some.x, some.y); }),
          equal);
      expect_or_empty(
          is_empty, [&] { return min(x, axes, options); },
          each(all, [&](const Some& some) { return or_nan(some, min); }), equal);
      expect_or_empty(
          is_empty, [&] { return max_location(x, axes, options); },
          each(all, [&](const Some& some) { return some.x.empty() ? nowhere : at_row(max_location(some.x), some); }),
          located);
      expect_or_empty(
          is_empty, [&] { return min_location(x, axes, options); },
          each(all, [&](const Some& some) { return some.x.empty() ? nowhere : at_row(min_location(some.x), some); }),
          located);
    }
  }
}

template <class Label>
void expect_all_of(std::uint64_t first_seed) {
  for (std::uint64_t seed = first_seed; seed < first_seed + (sanitized ? 8 : 24); ++seed) {
    std::mt19937_64 random(seed);
    const Indices shape = random_shape(random, random() % 5, seed % 20 == 0 ? 20000 : seed % 10 == 0 ? 3000 : 200);
    const Grouped<Label> grouped(random, shape, seed % 5 == 0 ? 200 : 6);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << grouped.text());
    expect_all(random, grouped);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Groups, ByLabelsOf32Bits) { expect_all_of<std::int32_t>(1); }
TEST(Groups, ByLabelsOf64Bits) { expect_all_of<std::int64_t>(1001); }
TEST(Groups, ByBytes) { expect_all_of<std::uint8_t>(2001); }
TEST(Groups, ByUnsignedLabels) { expect_all_of<std::uint16_t>(3001); }

TEST(Groups, OfOneVector) {
  const std::vector<double> x = {1, 2, 4, 8, no_number, 32};
  const std::vector<int> labels = {1, 0, 1, 3, -1, 0};
  EXPECT_TRUE(are(sum_by(x, labels, 4), {34.0, 5.0, 0.0, 8.0}));
  EXPECT_TRUE(are(sum_by(x, labels, 4, binned()), {34.0, 5.0, 0.0, 8.0}));
}

/// More rows than are dealt at a time.
TEST(Groups, OfManyRowsNameTheirIndices) {
  std::vector<double> x(5000, 1.0);
  std::vector<int> labels(x.size());
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int>(i % 3);
  x[4001] = -1;  // in group 2
  x[4999] = 9;   // in group 1
  Axes axes;
  axes.labels = Array<int>(labels.data(), {labels.size()});
  axes.groups = 3;
  const std::vector<Statistics> found = statistics(Array<double>(x.data(), {x.size()}), axes);
  EXPECT_EQ(found[2].min_index, 4001U);
  EXPECT_EQ(found[1].max_index, 4999U);
  EXPECT_EQ(found[0].min_index, 0U);
  EXPECT_EQ(found[0].count, 1667U);
}

/// The parts of complex numbers are two columns, whose rows a builder may leave where they are.
TEST(Groups, OfComplexNumbersByTree) {
  std::mt19937_64 random(11);
  std::vector<std::complex<double>> x(20000);
  for (auto& each : x) each = {hostile_double(random), hostile_double(random)};
  std::vector<int> labels(x.size());
  for (int& label : labels) label = static_cast<int>(random() % 40) - 1;
  std::vector<std::complex<double>> wanted;
  for (int group = 0; group < 39; ++group) {
    std::vector<std::complex<double>> some;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (labels[i] == group) some.push_back(x[i]);
    wanted.push_back(sum(some, {tree()}));
  }
  EXPECT_TRUE(are(sum_by(x, labels, 39, tree()), wanted));
}

/// The rows of a group have the order of their indices, not of memory.
TEST(Groups, OfIntervalsByTreeFollowTheIndices) {
  std::mt19937_64 random(7);
  std::vector<double> x(3000);
  for (double& each : x) each = hostile_double(random);
  std::vector<int> labels(x.size());
  for (int& label : labels) label = static_cast<int>(random() % 3) - 1;
  const std::vector<double> wanted = sum_by(x, labels, 2, tree());
  const std::vector<sf_interval> lists[] = {{{2000, 3000}, {500, 2000}, {0, 500}},
                                            {{1500, 3000}, {0, 600}, {600, 1500}}};
  std::vector<std::pair<std::vector<double>, std::vector<int>>> in_memory;
  for (const std::vector<sf_interval>& intervals : lists) {  // one call after the other, without another call between
    std::vector<double> moved;
    std::vector<int> moved_labels;
    for (const sf_interval& i : intervals) {
      moved.insert(moved.end(), x.begin() + static_cast<long>(i.begin), x.begin() + static_cast<long>(i.end));
      moved_labels.insert(moved_labels.end(), labels.begin() + static_cast<long>(i.begin),
                          labels.begin() + static_cast<long>(i.end));
    }
    sf_arrays arrays = sf_arrays_default();
    arrays.x = Array<double>(moved.data(), {moved.size()}).c_array();
    arrays.labels = Array<int>(moved_labels.data(), {moved.size()}).c_array();
    arrays.groups = 2;
    sf_call call = sf_call_default();
    call.arrays = &arrays;
    call.method = SF_TREE;
    call.layout = SF_INTERVALS;
    call.intervals = intervals.data();
    call.interval_count = intervals.size();
    std::vector<double> found(2);
    ASSERT_EQ(sf_reduce_local(&call, nullptr, nullptr, found.data()), SF_OK) << sf_error_text();
    EXPECT_TRUE(are(found, wanted));
    in_memory.emplace_back(std::move(moved), std::move(moved_labels));
  }
  int differences = 0;  // from the order of memory
  for (const auto& [moved, moved_labels] : in_memory)
    differences += are(sum_by(moved, moved_labels, 2, tree()), wanted) ? 0 : 1;
  EXPECT_GT(differences, 0) << "control: the order of memory gives the same bits";
}

TEST(Groups, ThatAreNotThereAreRefused) {
  const std::vector<double> x = {1, 2, 4, 8};
  const std::vector<int> labels = {0, 1, 2, 1};
  const Array<double> elements(x.data(), {4});
  const Array<int> groups(labels.data(), {4});
  const auto expect_refused = [](const auto& call, const std::string& text, sf_status status = SF_INVALID_ARGUMENT) {
    try {
      call();
      ADD_FAILURE() << "not refused: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  for (const unsigned threads : {1U, 3U})
    expect_refused([&] { sum(elements, {.labels = groups, .groups = 2}, {.threads = threads}); },
                   "label 2 of element 2, counted from 0, names no group (the last group is 1), correct the label");
  const Array<double> squares(x.data(), {2, 2});  // a kept index more, and what a mask leaves out counts for nothing
  const std::vector<std::uint8_t> all_but_one = {1, 0, 1, 1};
  const std::vector<std::uint16_t> too_great = {0, 9, 8, 7};
  expect_refused(
      [&] {
        sum(squares, {.keep = {1},
                      .where = Array<std::uint8_t>(all_but_one.data(), {2, 2}),
                      .labels = Array<std::uint16_t>(too_great.data(), {2, 2}),
                      .groups = 2});
      },
      "label 8 of element 1, counted from 0, of kept index 0 names no group (the last group is 1)");
  for (const auto& [at, is_masked] : {std::pair(0U, false), std::pair(9000U, false), std::pair(9000U, true)}) {
    std::vector<std::int64_t> many(10000, 1);
    many[at] = std::numeric_limits<std::int64_t>::max();
    std::vector<std::uint8_t> mask(10000, 1);
    if (is_masked) mask[at] = 0;
    const std::vector<double> ones(10000, 1);
    const auto call = [&] {
      return sum(Array<double>(ones.data(), {10000}), {.where = Array<std::uint8_t>(mask.data(), {10000}),
                                                       .labels = Array<std::int64_t>(many.data(), {10000}),
                                                       .groups = 2});
    };
    if (is_masked) {
      EXPECT_TRUE(are(call(), {0.0, 9999.0}));
    } else {
      expect_refused(call, "label 9223372036854775807 of element " + std::to_string(at) + ", counted from 0, names no");
    }
  }
  expect_refused([&] { sum_by(x, labels, ~std::uint64_t{0}); }, "no memory for 18446744073709551615 results");
  for (const std::size_t labels_given : {0, 1, 3, 5})
    expect_refused([&] { sum_by(x, std::vector<int>(labels_given), 2); },
                   std::to_string(labels_given) + " labels for 4 elements (every element has one label)");
  expect_refused([&] { sum(elements, {.weights = Array<double>(x.data(), {1}), .labels = groups, .groups = 3}); },
                 "the factors of a dot product differ in size (4 and 1 elements)");
  expect_refused([&] { sum(elements, {.labels = groups}); }, "labels for 0 groups");
  expect_refused([&] { sum(elements, {.groups = 3}); }, "3 groups without labels");
  expect_refused([&] { sum(elements, {.labels = Array<int>(labels.data(), {2}), .groups = 3}); },
                 "labels of shape (2)");
  expect_refused([&] { sum(elements, {.labels = groups, .groups = 3}, tree({.lanes = 2})); },
                 "2 lanes with groups (the tree of a group has no lanes), use 1 lane", SF_UNSUPPORTED);
  sf_arrays arrays = sf_arrays_default();
  arrays.x = elements.c_array();
  arrays.labels = groups.c_array();
  arrays.labels.data = nullptr;
  arrays.groups = 3;
  sf_call call = sf_call_default();
  call.arrays = &arrays;
  double results[3];
  EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, results), SF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sf_error_text()).find("the labels are null"), std::string::npos) << sf_error_text();
  arrays.labels = elements.c_array();
  EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, results), SF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sf_error_text()).find("labels of 8 bytes of type f64"), std::string::npos) << sf_error_text();
  arrays.labels = groups.c_array();
  arrays.groups = std::uint64_t{1} << 60;
  EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, results), SF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sf_error_text()).find("no memory holds as many"), std::string::npos) << sf_error_text();
}

}  // namespace
}  // namespace steadfold::test::groups_test
