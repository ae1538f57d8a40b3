// Arrays over all ranks: a field with halos, dealt to ranks in blocks of two dimensions, has the bits of the whole
// field gathered in one process, however many ranks there are and however their parts stand in memory; one-shot,
// started, by plans and bundles. Ranks whose arrays do not go together all get an error.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/inputs.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "steadfold/mpi.hpp"
#include "steadfold/started.hpp"
#include "steadfold/steadfold_mpi.h"

namespace steadfold::tests::array_test {
namespace {

constexpr std::uint64_t levels = 5, height = 13, width = 11;
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The whole field, known to all ranks: what an index holds, its weight, and whether it counts.
double value(std::uint64_t k, std::uint64_t j, std::uint64_t i) {
  std::uint64_t hash = 1 + i + width * (j + height * k);
  for (int round = 0; round < 3; ++round) hash = (hash ^ hash >> 31) * 0x9E3779B97F4A7C15u;
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(hash)), static_cast<int>(hash % 40) - 80);
}
double area(std::uint64_t j, std::uint64_t i) { return value(levels, j, i); }
constexpr int basins = 4;
int basin(std::uint64_t j, std::uint64_t i) { return static_cast<int>((7 * j + 3 * i) % (basins + 1)) - 1; }
bool is_ocean(std::uint64_t k, std::uint64_t j, std::uint64_t i) { return (k + 3 * j + 5 * i) % 7 > k / 2; }

struct Block {
  std::uint64_t begin, end;
  std::uint64_t size() const { return end - begin; }
};
Block block_of(std::uint64_t n, int parts, int part) {
  const auto p = static_cast<std::uint64_t>(parts);
  const auto r = static_cast<std::uint64_t>(part);
  return {n * r / p, n * (r + 1) / p};
}

/// A rank's part, with a halo of two on each side that holds no numbers; odd ranks have the first index fastest.
class Part {
 public:
  explicit Part(const Ranks& ranks) {
    int across = 1;
    while (across * across < ranks.size) across += 1;
    while (ranks.size % across != 0) across -= 1;
    rows_ = block_of(height, ranks.size / across, ranks.rank / across);
    columns_ = block_of(width, across, ranks.rank % across);
    const std::uint64_t h = rows_.size() + 4;
    const std::uint64_t w = columns_.size() + 4;
    const bool is_turned = ranks.rank % 2 == 1;
    field_.assign(levels * h * w, no_number);
    area_.assign(h * w, no_number);
    ocean_.assign(levels * h * w, 1);
    basin_.assign(h * w, 1000);
    const auto d = static_cast<std::int64_t>(sizeof(double));
    const auto along = static_cast<std::int64_t>(is_turned ? h : w);
    strides_ = {static_cast<std::int64_t>(h * w) * d, is_turned ? d : along * d, is_turned ? along * d : d};
    for (std::uint64_t k = 0; k < levels; ++k)
      for (std::uint64_t j = 0; j < rows_.size(); ++j)
        for (std::uint64_t i = 0; i < columns_.size(); ++i) {
          const std::size_t at = k * h * w + (is_turned ? (i + 2) * h + j + 2 : (j + 2) * w + i + 2);
          const bool counts = is_ocean(k, rows_.begin + j, columns_.begin + i);
          field_[at] = counts || (i + j) % 2 == 0 ? value(k, rows_.begin + j, columns_.begin + i) : no_number;
          area_[at % (h * w)] = area(rows_.begin + j, columns_.begin + i);
          basin_[at % (h * w)] = basin(rows_.begin + j, columns_.begin + i);
          ocean_[at] = counts ? 2 : 0;
        }
    first_ = static_cast<std::size_t>(2 * along + 2);
  }

  Array<double> field() const { return {field_.data() + first_, shape(), strides_}; }
  Array<double> weights() const {
    return {area_.data() + first_, shape().subspan(1), std::span<const std::int64_t>(strides_).subspan(1)};
  }
  Array<std::uint8_t> ocean() const { return {ocean_.data() + first_, shape(), strides_of<std::uint8_t>()}; }
  Array<int> labels() const {
    return {basin_.data() + first_, shape().subspan(1), std::span(strides_of<int>()).subspan(1)};
  }

 private:
  template <class T>
  const std::vector<std::int64_t>& strides_of() const {
    own_strides_ = strides_;
    for (std::int64_t& each : own_strides_)
      each = each / static_cast<std::int64_t>(sizeof(double)) * static_cast<std::int64_t>(sizeof(T));
    return own_strides_;
  }
  std::span<const std::uint64_t> shape() const {
    shape_ = {levels, rows_.size(), columns_.size()};
    return shape_;
  }

  Block rows_{}, columns_{};
  std::size_t first_ = 0;
  std::vector<std::int64_t> strides_;
  std::vector<double> field_, area_;
  std::vector<std::uint8_t> ocean_;
  std::vector<int> basin_;
  mutable std::vector<std::uint64_t> shape_;
  mutable std::vector<std::int64_t> own_strides_;
};

/// What one process makes of each level, or of each level of one basin.
template <class Reduce>
auto by_level(const Reduce& reduce, std::optional<int> one = std::nullopt) {
  std::vector<double> x, w;
  std::vector<decltype(reduce(x, w))> results;
  for (std::uint64_t k = 0; k < levels; ++k) {
    x.clear();
    w.clear();
    for (std::uint64_t j = 0; j < height; ++j)
      for (std::uint64_t i = 0; i < width; ++i)
        if (is_ocean(k, j, i) && (!one || basin(j, i) == *one)) {
          x.push_back(value(k, j, i));
          w.push_back(area(j, i));
        }
    results.push_back(reduce(x, w));
  }
  return results;
}
template <class Reduce>
auto by_basin(const Reduce& reduce) {
  auto all = by_level(reduce, 0);
  for (int each = 1; each < basins; ++each) {
    const auto some = by_level(reduce, each);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// The bits of all but the indices, which count the rows as they are dealt.
std::vector<double> numbers_of(const std::vector<Statistics>& all) {
  std::vector<double> numbers;
  for (const Statistics& each : all)
    numbers.insert(numbers.end(), {static_cast<double>(each.count), each.min, each.max, each.mean, each.variance,
                                   each.sample_variance, each.deviation, each.sample_deviation});
  return numbers;
}

const std::vector<Method> all_methods = {exact(), binned(), binned({.bins = 4, .sweep = SF_DOUBLE_SWEEP})};

class ArrayTest : public testing::Test {
 protected:
  Ranks world;
  Part part{world};
};

TEST_F(ArrayTest, SumsOfLevelsAreThoseOfOneProcess) {
  for (const Method& method : all_methods) {
    for (int again = 0; again < 3; ++again) {
      const Options options{.method = method};
      EXPECT_TRUE(
          are(sum(part.field(), {.keep = {0}, .where = part.ocean(), .weights = part.weights()}, world.comm, options),
              by_level([&](auto& x, auto& w) { return dot(x, w, {.method = method}); })));
      EXPECT_TRUE(are(sum(part.field(), {.keep = {0}, .where = part.ocean()}, world.comm, options),
                      by_level([&](auto& x, auto&) { return sum(x, {.method = method}); })));
      EXPECT_TRUE(are(mean(part.field(), {.keep = {0}, .where = part.ocean()}, world.comm, options),
                      by_level([&](auto& x, auto&) { return mean(x, {.method = method}); })));
      EXPECT_TRUE(are(sum(part.weights(), {}, world.comm, options), [&] {
        std::vector<double> w;
        for (std::uint64_t j = 0; j < height; ++j)
          for (std::uint64_t i = 0; i < width; ++i) w.push_back(area(j, i));
        return std::vector<double>{sum(w, {.method = method})};
      }()));
    }
  }
}

TEST_F(ArrayTest, GroupsOfLevelsAreThoseOfOneProcess) {
  const Axes levels_of_basins{
      .keep = {0}, .where = part.ocean(), .weights = part.weights(), .labels = part.labels(), .groups = basins};
  Axes unweighted = levels_of_basins;
  unweighted.weights = {};
  for (const Method& method : all_methods) {
    const Options options{.method = method};
    EXPECT_TRUE(are(sum(part.field(), levels_of_basins, world.comm, options),
                    by_basin([&](auto& x, auto& w) { return dot(x, w, {.method = method}); })));
    EXPECT_TRUE(are(mean(part.field(), unweighted, world.comm, options),
                    by_basin([&](auto& x, auto&) { return mean(x, {.method = method}); })));
  }
  EXPECT_TRUE(are(mean(part.field(), levels_of_basins, world.comm),
                  by_basin([](auto& x, auto& w) { return weighted_mean(x, w); })));
  const auto own = [](auto& x, auto&) { return statistics(x); };
  EXPECT_TRUE(are(numbers_of(statistics(part.field(), unweighted, world.comm)), numbers_of(by_basin(own))));
  EXPECT_TRUE(are(numbers_of(statistics(part.field(), {.keep = {0}, .where = part.ocean()}, world.comm)),
                  numbers_of(by_level(own))));
}

/// Segments and blocks of columns begin anywhere: within a group, or between two.
TEST_F(ArrayTest, GroupsAreThoseOfOneProcessByAnySchedule) {
  const Axes axes{
      .keep = {0}, .where = part.ocean(), .weights = part.weights(), .labels = part.labels(), .groups = basins};
  const auto sums = by_basin([](auto& x, auto& w) { return dot(x, w); });
  for (const char* schedule : {"flat", "linear", "recursive_doubling", "ring", "ring:block=2", "circulant",
                               "pipelined_linear:block=1", "pipelined_tree:block=3"})
    EXPECT_TRUE(are(sum(part.field(), axes, world.comm, {.schedule = schedule}), sums)) << schedule;
  for (int root = 0; root < world.size; ++root) {
    const auto found = sum(part.field(), axes, world.comm, {.root = root});
    if (root == world.rank) {
      EXPECT_TRUE(are(found, sums)) << root;
    }
  }
  // Each rank gets some columns.
  sf_group* group = nullptr;
  ASSERT_EQ(sf_group_of(world.comm, &group), SF_OK);
  sf_arrays arrays{.size = sizeof(sf_arrays),
                   .x = part.field().c_array(),
                   .factors = part.weights().c_array(),
                   .mask = part.ocean().c_array(),
                   .kept = 1,
                   .labels = part.labels().c_array(),
                   .groups = basins};
  sf_call call = sf_call_default();
  call.operation = SF_DOT;
  call.collective = SF_REDUCE_SCATTER;
  call.arrays = &arrays;
  std::vector<std::uint64_t> blocks;
  for (int rank = 0; rank < world.size; ++rank) blocks.push_back(block_of(sums.size(), world.size, rank).size());
  call.blocks = blocks.data();
  call.block_count = blocks.size();
  const Block mine = block_of(sums.size(), world.size, world.rank);
  std::vector<double> found(mine.size());
  ASSERT_EQ(sf_group_reduce(&call, nullptr, nullptr, found.data(), group), SF_OK) << sf_error_text();
  EXPECT_TRUE(are(found, std::vector<double>(sums.begin() + static_cast<std::ptrdiff_t>(mine.begin),
                                             sums.begin() + static_cast<std::ptrdiff_t>(mine.end))));
}

/// Rows that are dealt to groups keep their indices, which count those of lower ranks, too.
TEST_F(ArrayTest, RowsOfGroupsKeepTheirIndices) {
  std::vector<double> all;
  std::vector<int> labels;
  for (std::uint64_t i = 0; i < 300; ++i) {
    all.push_back(value(0, i, 1));
    labels.push_back(basin(i, 0));
  }
  const Block mine = block_of(all.size(), world.size, world.rank);
  const Array<double> whole(all.data(), {all.size()});
  const Array<int> of_whole(labels.data(), {labels.size()});
  const Axes axes{.labels = of_whole.section(0, mine.begin, mine.end), .groups = basins};
  const auto found = statistics(whole.section(0, mine.begin, mine.end), axes, world.comm);
  const auto wanted = statistics(whole, {.labels = of_whole, .groups = basins});
  const auto places = min_location(whole.section(0, mine.begin, mine.end), axes, world.comm);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::memcmp(&found[i], &wanted[i], sizeof found[i]), 0) << i;
    EXPECT_EQ(places[i].index, wanted[i].min_index) << i;
    EXPECT_EQ(all[places[i].index], wanted[i].min) << i;
  }
}

/// A label too large on one rank is an error of all, and that rank knows of it.
TEST_F(ArrayTest, LabelsWithoutAGroupFailEverywhere) {
  const std::vector<double> x = {1, 2, 3};
  for (int bad = 0; bad < world.size; ++bad) {
    const std::vector<int> labels = {0, -1, world.rank == bad ? 2 : 1};
    try {
      sum_by(x, labels, 2, world.comm);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), SF_INVALID_ARGUMENT) << error.what();
      if (world.rank == bad) {
        EXPECT_NE(std::string(error.what()).find("label 2 of element 2, counted from 0, names"), std::string::npos)
            << error.what();
      }
    }
    EXPECT_THROW(
        sum_by(std::vector<double>(100, 1), std::vector<int>(100, world.rank == bad ? 99 : 98), 99, world.comm),
        Error);  // more results than a handshake holds
    // No rank has room for so many: nobody waits for the others.
    EXPECT_THROW(sum_by(x, labels, world.rank == bad ? ~std::uint64_t{0} : 3, world.comm), Error);
    EXPECT_THROW(sum_by(x, labels, 2, world.comm, {.method = tree()}), Error);
    const double ranks = world.size;
    for (const Method& method : {Method(exact()), Method(tree())})
      EXPECT_TRUE(are(sum_by(x, labels, 3, world.comm, {.method = method}), {ranks, 3 * (ranks - 1), 3.0}));
  }
}

/// One vector with several others, in one message: the bits of one process, however the vectors are dealt.
TEST_F(ArrayTest, DotsOfOneVectorWithOthers) {
  const std::uint64_t n = 500;
  std::vector<std::vector<double>> all;
  for (std::uint64_t j = 0; j < 3; ++j) {
    all.emplace_back();
    for (std::uint64_t i = 0; i < n; ++i) all.back().push_back(value(j, i / width, i % width));
  }
  const std::uint64_t begin = n * world.index() / world.count();
  const std::uint64_t end = n * (world.index() + 1) / world.count();
  std::vector<std::span<const double>> mine;
  for (const auto& each : all) mine.push_back(std::span(each).subspan(begin, end - begin));
  const std::vector<double> wanted = dots(all[0], all);
  for (const char* schedule : {"", "native", "binomial", "ring"})
    EXPECT_TRUE(are(dots(mine[0], mine, world.comm, {.schedule = schedule}), wanted)) << schedule;
  EXPECT_TRUE(are(dots(mine[0], mine, world.comm, {.method = binned()}), dots(all[0], all, binned())));
  const std::vector<double> at_root = dots(mine[0], mine, world.comm, {.root = 0});
  if (world.rank == 0) {
    EXPECT_TRUE(are(at_root, wanted));
  }
}

/// The control: sums of ranks added by MPI depend on how the field is dealt.
TEST_F(ArrayTest, PlainSumsDependOnTheDeal) {
  const Axes axes{.keep = {0}, .where = part.ocean(), .weights = {}};
  std::vector<double> sums = sum(part.field(), axes);
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(levels), MPI_DOUBLE, MPI_SUM, world.comm);
  if (world.size > 2) {
    EXPECT_FALSE(are(sums, sum(part.field(), axes, world.comm))) << "choose other values";
  }
}

/// What a plan was bound with is read where the run says nothing; else what it says. A bundle's members each have
/// theirs.
TEST_F(ArrayTest, PlansAndBundlesReadArrays) {
  sf_group* group = nullptr;
  ASSERT_EQ(sf_group_of(world.comm, &group), SF_OK);
  sf_arrays weighted{.size = sizeof(sf_arrays),
                     .x = part.field().c_array(),
                     .factors = part.weights().c_array(),
                     .mask = part.ocean().c_array(),
                     .kept = 1};
  sf_arrays alone{
      .size = sizeof(sf_arrays), .x = part.field().c_array(), .factors = {}, .mask = part.ocean().c_array(), .kept = 1};
  sf_call calls[2] = {sf_call_default(), sf_call_default()};
  calls[0].operation = SF_DOT;
  calls[0].arrays = &weighted;
  calls[1].operation = SF_NORM2;
  calls[1].method = SF_BINNED;
  calls[1].arrays = &alone;
  const auto dots = by_level([](auto& x, auto& w) { return dot(x, w); });
  const auto norms = by_level([](auto& x, auto&) { return norm2(x, {.method = binned()}); });
  std::vector<double> results[2] = {std::vector<double>(levels), std::vector<double>(levels)};
  sf_plan* plan = nullptr;
  ASSERT_EQ(sf_group_bind(calls, 1, group, &plan), SF_OK) << sf_error_text();
  for (int again = 0; again < 3; ++again) {
    results[0].assign(levels, 0);
    ASSERT_EQ(sf_plan_run(plan, nullptr, nullptr, results[0].data()), SF_OK) << sf_error_text();
    EXPECT_TRUE(are(results[0], dots));
  }
  const Part other(world);
  ASSERT_EQ(sf_plan_run(plan, other.field().c_array().data, other.weights().c_array().data, results[0].data()), SF_OK);
  EXPECT_TRUE(are(results[0], dots));
  sf_plan_free(plan);
  ASSERT_EQ(sf_group_bind(calls, 2, group, &plan), SF_OK) << sf_error_text();
  const sf_data data[2] = {{nullptr, nullptr, results[0].data(), nullptr},
                           {other.field().c_array().data, nullptr, results[1].data(), other.ocean().c_array().data}};
  for (int again = 0; again < 3; ++again) {
    for (auto& each : results) each.assign(levels, 0);
    ASSERT_EQ(sf_bundle_run(plan, data, 2), SF_OK) << sf_error_text();
    EXPECT_TRUE(are(results[0], dots));
    EXPECT_TRUE(are(results[1], norms));
  }
  sf_plan_free(plan);

  // Labels are those of the run, where it has some.
  std::vector<int> none(static_cast<std::size_t>(part.labels().shape()[0] * part.labels().shape()[1]) * 4 + 1000, -1);
  sf_arrays grouped = alone;
  grouped.labels = part.labels().c_array();
  grouped.groups = basins;
  calls[1] = sf_call_default();
  calls[1].arrays = &grouped;
  ASSERT_EQ(sf_group_bind(calls, 2, group, &plan), SF_OK) << sf_error_text();
  const auto sums = by_basin([](auto& x, auto&) { return sum(x); });
  for (const bool has_own : {false, true, false}) {
    std::vector<double> found(sums.size(), 1);
    const sf_data grouped_data[2] = {{nullptr, nullptr, results[0].data(), nullptr, nullptr},
                                     {nullptr, nullptr, found.data(), nullptr, has_own ? none.data() + 100 : nullptr}};
    ASSERT_EQ(sf_bundle_run(plan, grouped_data, 2), SF_OK) << sf_error_text();
    EXPECT_TRUE(are(found, has_own ? std::vector<double>(sums.size(), 0.0) : sums));
  }
  sf_plan_free(plan);
}

TEST_F(ArrayTest, StartedCallsReadArrays) {
  sf_group* group = nullptr;
  ASSERT_EQ(sf_group_of(world.comm, &group), SF_OK);
  std::vector<double> results(levels);
  sf_request* request = nullptr;
  {
    sf_arrays arrays{.size = sizeof(sf_arrays),
                     .x = part.field().c_array(),
                     .factors = {},
                     .mask = part.ocean().c_array(),
                     .kept = 1};
    sf_call call = sf_call_default();
    call.arrays = &arrays;
    ASSERT_EQ(sf_group_start_reduce(&call, nullptr, nullptr, results.data(), group, &request), SF_OK);
    arrays = {};  // it has been copied
  }
  EXPECT_EQ(sf_request_wait(request), SF_OK) << sf_error_text();
  sf_request_free(request);
  EXPECT_TRUE(are(results, by_level([](auto& x, auto&) { return sum(x); })));
}

/// In C++ arrays, axes and options may go as soon as they have been given; the elements stay.
TEST_F(ArrayTest, PlansBundlesAndStartedCallsOfCpp) {
  const auto axes = [&] { return Axes{.keep = {0}, .where = part.ocean(), .weights = part.weights()}; };
  const auto dots = by_level([](auto& x, auto& w) { return dot(x, w); });
  const auto means = by_level([](auto& x, auto& w) { return weighted_mean(x, w); });
  const auto norms = by_level([](auto& x, auto&) { return norm2(x, {.method = binned()}); });

  ArrayPlan plan(plus, part.field(), axes(), world.comm, {.schedule = "linear"});
  EXPECT_EQ(plan.schedule(), "linear");
  const auto found = [](std::span<const double> results) { return std::vector(results.begin(), results.end()); };
  for (int again = 0; again < 3; ++again) EXPECT_TRUE(are(found(plan.run()), dots));
  plan.start();
  while (!plan.test()) continue;
  EXPECT_TRUE(are(found(plan.results()), dots));
  ArrayPlan<double> moved =
      ArrayPlan(dot, part.field(), part.weights(), Axes{.keep = {0}, .where = part.ocean()}, world.comm);
  EXPECT_TRUE(are(found(moved.run()), dots));

  auto sums = start(plus, part.field(), axes(), world.comm);
  auto products = start(dot, part.field(), part.weights(), {.keep = {0}, .where = part.ocean()}, world.comm);
  EXPECT_TRUE(are(products.get(), dots));
  EXPECT_TRUE(are(sums.get(), dots));

  Bundle bundle;
  const auto all = bundle.sum(part.field(), axes());
  const auto mean_of_levels = bundle.mean(part.field(), axes());
  const auto products_again = bundle.dot(part.field(), part.weights(), {.keep = {0}, .where = part.ocean()});
  const auto norm_of_levels =
      bundle.reduce(part.field(), norm2, {.keep = {0}, .where = part.ocean()}, {.method = binned()});
  const double one = 1;
  const auto ranks = bundle.sum(std::span(&one, 1));
  auto together = bundle.bind(world.comm);
  for (int again = 0; again < 3; ++again) {
    together.run();
    EXPECT_TRUE(are(all.value(), dots));
    EXPECT_TRUE(are(mean_of_levels.value(), means));
    EXPECT_TRUE(are(products_again.value(), dots));
    EXPECT_TRUE(are(norm_of_levels.value(), norms));
    EXPECT_EQ(ranks.value(), static_cast<double>(world.size));
  }
}

/// In the tree over indices, which a layout gives that is gone when the bundle is bound.
TEST_F(ArrayTest, BundlesKeepTheLayoutsOfArrays) {
  const std::vector<double> mine = {value(0, 0, static_cast<std::uint64_t>(world.rank)), 0.1};
  const Array<double> array(mine.data(), {2});
  const auto here = static_cast<std::uint64_t>(world.rank);
  const auto layout = [&] {
    return Layout::intervals({{here, here + 1}, {world.count() + here, world.count() + here + 1}});
  };
  Bundle bundle;
  const auto found = bundle.sum(array, {}, {.method = tree(), .layout = layout()});
  bundle.bind(world.comm).run();
  EXPECT_TRUE(are(found.value(), sum(array, {}, world.comm, {.method = tree(), .layout = layout()})));
}

/// Neither commutative nor associative, over rows of two columns in rank order.
TEST_F(ArrayTest, OperatorsOfTheCallerTakeArrays) {
  const auto op = [](double a, double b) { return a - 0.5 * b; };
  const std::vector<double> rows = {value(0, 1, world.count()), 0.3, value(0, 2, world.count()), -0.7};
  const Array<double> array(rows.data(), {2, 2});
  ArrayPlan plan(op, array, {.keep = {1}}, world.comm, {.method = tree()});
  const auto found = plan.run();
  for (std::size_t column = 0; column < 2; ++column) {
    const std::vector<double> mine = {rows[column], rows[2 + column]};
    EXPECT_TRUE(are(std::vector{found[column]}, std::vector{reduce(mine, op, world.comm, {.method = tree()})}));
  }
}

TEST_F(ArrayTest, FaultsOfCppArraysAreErrorsEverywhere) {
  for (const bool is_here : {world.rank == 0, true}) {
    const Axes axes{.keep = {is_here ? 7 : 0}};
    EXPECT_THROW(ArrayPlan(plus, part.field(), axes, world.comm), Error);
    EXPECT_THROW(start(plus, part.field(), axes, world.comm).get(), Error);
    Bundle bundle;
    bundle.sum(part.field(), axes);
    EXPECT_THROW(bundle.bind(world.comm), Error);
  }
  const auto throws = [](double, double) -> double { throw std::domain_error("two are too many"); };
  const std::vector<double> two = {1, 2};
  ArrayPlan plan(throws, Array<double>(two.data(), {2}), Axes{}, world.comm, {.method = tree()});
  EXPECT_THROW(plan.run(), std::domain_error);
  EXPECT_EQ(sum(two, world.comm), 3.0 * world.size);
}

/// MPI's shape: every element of a section by itself, over the ranks.
TEST_F(ArrayTest, SectionsAreReducedElementByElement) {
  for (const std::uint64_t n : {4u, 60u}) {
    std::vector<std::vector<double>> fields(static_cast<std::size_t>(world.size));
    for (std::size_t r = 0; r < fields.size(); ++r)
      for (std::uint64_t i = 0; i < n * n; ++i) fields[r].push_back(value(r, i / n, i % n));
    const std::vector<double>& mine = fields[world.index()];
    const Array<double> section = Array<double>(mine.data(), {n, n}).transposed().section(0, 1, n - 1).section(1, 1, n);
    for (const Method& method : {tree(), exact()}) {
      sf_group* group = nullptr;
      ASSERT_EQ(sf_group_of(world.comm, &group), SF_OK);
      sf_arrays arrays{.size = sizeof(sf_arrays), .x = section.c_array(), .factors = {}, .mask = {}, .kept = 3};
      sf_call call = sf_call_default();
      call.layout = SF_ROW_PER_RANK;
      method.describe(call);
      call.arrays = &arrays;
      std::vector<double> found((n - 2) * (n - 1)), expected;
      ASSERT_EQ(sf_group_reduce(&call, nullptr, nullptr, found.data(), group), SF_OK) << sf_error_text();
      for (std::uint64_t i = 1; i < n - 1; ++i)
        for (std::uint64_t j = 1; j < n; ++j) {
          std::vector<double> column;
          for (const auto& field : fields) column.push_back(field[j * n + i]);
          expected.push_back(sum(column, {.method = method}));
        }
      EXPECT_TRUE(are(found, expected));
      sf_plan* plan = nullptr;
      ASSERT_EQ(sf_group_bind(&call, 1, group, &plan), SF_OK) << sf_error_text();
      for (int again = 0; again < 2; ++again) {
        found.assign(found.size(), 0);
        ASSERT_EQ(sf_plan_run(plan, nullptr, nullptr, found.data()), SF_OK) << sf_error_text();
        EXPECT_TRUE(are(found, expected));
      }
      sf_plan_free(plan);
    }
  }
}

TEST_F(ArrayTest, RanksWhoseArraysDoNotGoTogetherAllFail) {
  if (world.size == 1) return;
  const bool is_odd = world.rank == world.size - 1;
  const auto status_of = [&](const Axes& axes, const Options& options = {}) {
    try {
      sum(part.field(), axes, world.comm, options);
      return SF_OK;
    } catch (const Error& error) {
      return error.status();
    }
  };
  EXPECT_NE(status_of({.keep = {0}, .where = is_odd ? MaybeArray() : MaybeArray(part.ocean())}), SF_OK);
  EXPECT_NE(status_of({.labels = part.labels(), .groups = is_odd ? 5u : 6u}), SF_OK);
  EXPECT_NE(status_of({.labels = is_odd ? MaybeLabels() : MaybeLabels(part.labels()), .groups = is_odd ? 0u : 6u}),
            SF_OK);
  EXPECT_NE(status_of({.keep = is_odd ? std::vector<int>{} : std::vector<int>{0}}), SF_OK);
  EXPECT_NE(status_of({.keep = {is_odd ? 7 : 0}}), SF_OK);
  EXPECT_NE(status_of({.where = part.ocean()}, {.method = is_odd ? tree() : exact()}), SF_OK);
  EXPECT_EQ(status_of({.keep = {0}, .where = part.ocean()}), SF_OK);
}

}  // namespace
}  // namespace steadfold::tests::array_test
