// The C functions over MPI: rows of several columns, results of another type, roots without a place for the result,
// rank order, plans.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "steadfold/steadfold_mpi.h"

namespace steadfold::tests::c_api_test {
namespace {

class CApiTest : public testing::Test {
 protected:
  Ranks world;
  Random random{seed_of("c_api_test", 4711)};

  /// A sum of `columns` columns over this rank's rows of a layout.
  sf_call sum_call(std::uint64_t columns, const std::vector<Interval>& intervals) const {
    sf_call call = sf_call_default();
    call.columns = columns;
    call.layout = SF_INTERVALS;
    call.intervals = intervals.data();
    call.interval_count = intervals.size();
    for (const Interval i : intervals) call.rows += i.end - i.begin;
    return call;
  }
};

/// Rows of `columns` elements as one vector, and its columns.
template <class T>
std::vector<T> pick_rows(const std::vector<T>& all, std::size_t columns, const std::vector<Interval>& intervals) {
  std::vector<T> mine;
  for (const Interval i : intervals)
    mine.insert(mine.end(), all.begin() + static_cast<std::ptrdiff_t>(i.begin * columns),
                all.begin() + static_cast<std::ptrdiff_t>(i.end * columns));
  return mine;
}

template <class T>
std::vector<T> column_of(const std::vector<T>& all, std::size_t columns, std::size_t column) {
  std::vector<T> values;
  for (std::size_t i = column; i < all.size(); i += columns) values.push_back(all[i]);
  return values;
}

TEST_F(CApiTest, ReducesEveryColumnForItself) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{3}, std::size_t{200}}) {
    const std::size_t n = 50;
    const std::vector<double> all = elements<double>(n * columns, random);
    std::vector<double> by_tree;
    std::vector<double> exactly;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::vector<double> values = column_of(all, columns, c);
      by_tree.push_back(tree_of(values, add));
      exactly.push_back(reference::exact_sum(std::span<const double>(values)));
    }
    for (const auto& layout : sorts_of_layouts(n, world.count(), random)) {
      const auto& intervals = layout.ownership[world.index()];
      const std::vector<double> mine = pick_rows(all, columns, intervals);
      sf_call call = sum_call(columns, intervals);
      std::vector<double> result(columns);
      call.method = SF_TREE;
      EXPECT_EQ(sf_reduce(&call, mine.data(), nullptr, result.data(), world.comm), SF_OK) << sf_error_text();
      EXPECT_TRUE(are(result, by_tree)) << layout.name << ", tree, " << columns << " columns";
      call.method = SF_EXACT;
      call.element_count = n;
      EXPECT_EQ(sf_reduce(&call, mine.data(), nullptr, result.data(), world.comm), SF_OK) << sf_error_text();
      EXPECT_TRUE(are(result, exactly)) << layout.name << ", exact, " << columns << " columns";
    }
  }
}

TEST_F(CApiTest, NeedsNoPlaceForTheResultButOnTheRoot) {
  const std::vector<double> all = elements<double>(40 * 3, random);
  const Ownership ownership = in_rank_order(even_counts(40, world.count(), false));
  const std::vector<double> mine = pick_rows(all, 3, ownership[world.index()]);
  for (int root = 0; root < world.size; ++root) {
    for (const char* schedule : {static_cast<const char*>(nullptr), "flat", "linear", "binomial"}) {
      sf_call call = sum_call(3, ownership[world.index()]);
      call.method = SF_TREE;
      call.root = root;
      call.schedule = schedule;
      double result[3] = {7, 7, 7};
      double* const place = world.rank == root ? result : nullptr;
      EXPECT_EQ(sf_reduce(&call, mine.data(), nullptr, place, world.comm), SF_OK) << sf_error_text();
      for (std::size_t c = 0; c < 3; ++c) {
        const double wanted = world.rank == root ? tree_of(column_of(all, 3, c), add) : 7.0;
        EXPECT_TRUE(is(result[c], wanted)) << "root " << root;
      }
    }
  }
}

TEST_F(CApiTest, RoundsOnceIntoTheResultsType) {
  const std::vector<float> all = elements<float>(333, random);
  reference::ExactSum sum;
  for (const float x : all) sum.add(static_cast<double>(x));
  const Ownership ownership = shuffled(333, world.count(), 20, true, random);
  const std::vector<float> mine = pick(all, ownership[world.index()]);
  sf_call call = sum_call(1, ownership[world.index()]);
  call.type = SF_F32;
  call.result_type = SF_F64;
  call.method = SF_EXACT;
  double wide = 0;
  EXPECT_EQ(sf_reduce(&call, mine.data(), nullptr, &wide, world.comm), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(wide, sum.rounded<double>()));

  const std::vector<double> doubles = elements<double>(333, random);
  const std::vector<double> my_doubles = pick(doubles, ownership[world.index()]);
  reference::ExactSum narrow_sum;
  for (const double x : doubles) narrow_sum.add(x);
  call.type = SF_F64;
  call.result_type = SF_F32;
  float narrow = 0;
  EXPECT_EQ(sf_reduce(&call, my_doubles.data(), nullptr, &narrow, world.comm), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(narrow, narrow_sum.rounded<float>()));
}

TEST_F(CApiTest, TheResultMayBeTheInput) {
  std::vector<std::vector<double>> vectors;
  for (int r = 0; r < world.size; ++r) vectors.push_back(elements<double>(500, random));
  sf_call call = sf_call_default();
  call.layout = SF_ROW_PER_RANK;
  call.rows = 1;
  call.columns = 500;
  std::vector<double> buffer = vectors[world.index()];
  EXPECT_EQ(sf_reduce(&call, buffer.data(), nullptr, buffer.data(), world.comm), SF_OK) << sf_error_text();
  for (std::size_t c = 0; c < 500; ++c) {
    std::vector<double> values;
    for (const auto& vector : vectors) values.push_back(vector[c]);
    EXPECT_TRUE(is(buffer[c], tree_of(values, add))) << c;
  }
}

TEST_F(CApiTest, DotProductsOfColumns) {
  const std::size_t n = 60;
  const std::vector<double> x = wide_numbers<double>(2 * n, random);
  const std::vector<double> y = wide_numbers<double>(2 * n, random);
  const Ownership ownership = in_rank_order(random_counts(n, world.count(), random));
  const auto& intervals = ownership[world.index()];
  sf_call call = sum_call(2, intervals);
  call.operation = SF_DOT;
  double result[2] = {};
  EXPECT_EQ(sf_reduce(&call, pick_rows(x, 2, intervals).data(), pick_rows(y, 2, intervals).data(), result, world.comm),
            SF_OK)
      << sf_error_text();
  for (std::size_t c = 0; c < 2; ++c) {
    const std::vector<double> a = column_of(x, 2, c);
    const std::vector<double> b = column_of(y, 2, c);
    EXPECT_TRUE(is(result[c], reference::exact_dot(std::span<const double>(a), std::span<const double>(b)))) << c;
  }
}

int subtract_doubles(const void* left, const void* right, void* result, std::size_t count, void* context) {
  *static_cast<bool*>(context) = *static_cast<bool*>(context) || result == right;
  const auto* a = static_cast<const double*>(left);
  const auto* b = static_cast<const double*>(right);
  for (std::size_t i = 0; i < count; ++i) static_cast<double*>(result)[i] = a[i] - b[i];
  return 0;
}

TEST_F(CApiTest, TakesOperatorsAsFunctionsWhoseResultIsNeverTheRightOperand) {
  bool result_was_right = false;
  for (const std::size_t n : {std::size_t{1}, world.count(), std::size_t{100}, std::size_t{1000}}) {
    const std::vector<double> all = elements<double>(n, random);
    const Ownership ownership = in_rank_order(random_counts(n, world.count(), random));
    const std::vector<double> mine = pick(all, ownership[world.index()]);
    sf_call call = sum_call(1, ownership[world.index()]);
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(double);
    call.user = subtract_doubles;
    call.context = &result_was_right;
    call.operator_name = "subtract";
    double result = 0;
    for (const int never_fails : {0, 1}) {
      call.never_fails = never_fails;
      EXPECT_EQ(sf_reduce(&call, mine.data(), nullptr, &result, world.comm), SF_OK) << sf_error_text();
      EXPECT_TRUE(is(result, tree_of(all, subtract))) << n;
    }
  }
  EXPECT_FALSE(result_was_right);
}

TEST_F(CApiTest, FindsRankOrder) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
    const std::vector<std::size_t> counts = random_counts(n, world.count(), random);
    const Ownership wanted = in_rank_order(counts);
    sf_interval mine{99, 98};
    std::uint64_t element_count = 99;
    EXPECT_EQ(sf_rank_order(counts[world.index()], world.comm, &mine, &element_count), SF_OK) << sf_error_text();
    EXPECT_EQ(mine.begin, wanted[world.index()][0].begin);
    EXPECT_EQ(mine.end, wanted[world.index()][0].end);
    EXPECT_EQ(element_count, n);
  }
}

TEST_F(CApiTest, RankOrderCountsBeyond32Bits) {
  sf_interval mine{};
  std::uint64_t element_count = 0;
  const std::uint64_t rows = (std::uint64_t{1} << 40) + 1;
  EXPECT_EQ(sf_rank_order(rows, world.comm, &mine, &element_count), SF_OK) << sf_error_text();
  EXPECT_EQ(mine.begin, rows * world.index());
  EXPECT_EQ(mine.end, rows * (world.index() + 1));
  EXPECT_EQ(element_count, rows * world.count());
}

TEST_F(CApiTest, IndicesMayBeBeyond32Bits) {
  const std::uint64_t far = std::uint64_t{1} << 33;  // rank 0 would hold 2^33 elements: a plan sees only how it is
  std::vector<Interval> intervals = {{far + world.index(), far + world.index() + 1}};
  sf_call call = sum_call(1, intervals);
  call.method = SF_TREE;
  const double x = 1.0;
  double result = 0;
  EXPECT_EQ(sf_reduce(&call, &x, nullptr, &result, world.comm), SF_GAP) << sf_error_text();
}

TEST_F(CApiTest, PlansRunFromC) {
  const std::vector<float> all = elements<float>(90, random);
  const Ownership ownership = shuffled(90, world.count(), 12, false, random);
  std::vector<Interval> intervals = ownership[world.index()];
  sf_call call = sum_call(1, intervals);
  call.type = call.result_type = SF_F32;
  call.method = SF_TREE;
  std::string schedule = "linear";
  call.schedule = schedule.c_str();
  sf_plan* plan = nullptr;
  EXPECT_EQ(sf_plan_bind(&call, world.comm, &plan), SF_OK) << sf_error_text();
  schedule = "xxxxxx";  // the plan has its own copies
  std::fill(intervals.begin(), intervals.end(), Interval{1, 0});

  const std::vector<float> mine = pick(all, ownership[world.index()]);
  float result = 0;
  EXPECT_EQ(sf_plan_run(plan, mine.data(), nullptr, &result), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(result, tree_of(all, add)));
  EXPECT_STREQ(sf_plan_schedule(plan), "linear");

  result = 0;
  int done = 0;
  EXPECT_EQ(sf_plan_start(plan, mine.data(), nullptr, &result), SF_OK) << sf_error_text();
  while (done == 0) EXPECT_EQ(sf_plan_test(plan, &done), SF_OK) << sf_error_text();
  EXPECT_EQ(sf_plan_wait(plan), SF_OK) << "after it is done";
  EXPECT_TRUE(is(result, tree_of(all, add)));
  sf_plan_free(plan);
  sf_plan_free(nullptr);
}

/// A communicator has one group, with its own ranks; calls by the group and by the communicator can take turns.
TEST_F(CApiTest, GroupsOfCommunicators) {
  const Ranks backwards = Ranks::split(0, -world.rank);
  sf_group *group = nullptr, *again = nullptr, *other = nullptr;
  ASSERT_EQ(sf_group_of(world.comm, &group), SF_OK) << sf_error_text();
  ASSERT_EQ(sf_group_of(world.comm, &again), SF_OK) << sf_error_text();
  ASSERT_EQ(sf_group_of(backwards.comm, &other), SF_OK) << sf_error_text();
  EXPECT_EQ(group, again);
  EXPECT_NE(group, other);
  EXPECT_EQ(sf::group_of(world.comm).handle(), group);
  EXPECT_EQ(sf::group_of(sf::group_of(backwards.comm)).rank(), sf_group_rank(other));
  EXPECT_EQ(sf_group_rank(group), world.rank);
  EXPECT_EQ(sf_group_rank(other), world.size - 1 - world.rank);
  EXPECT_EQ(sf_group_size(other), world.size);

  sf_call call = sf_call_default();
  call.layout = SF_ROW_PER_RANK;
  call.method = SF_TREE;
  call.collective = SF_SCAN;
  call.rows = 1;
  const std::vector<double> all = elements<double>(world.count(), random);
  const std::vector<double> turned(all.rbegin(), all.rend());
  for (sf_group* const each : {group, other}) {
    const auto place = static_cast<std::size_t>(sf_group_rank(each));
    const std::vector<double>& rows = each == group ? all : turned;
    const std::vector<double> below(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    double by_group = 0, by_communicator = 0;
    EXPECT_EQ(sf_group_reduce(&call, &rows[place], nullptr, &by_group, each), SF_OK) << sf_error_text();
    EXPECT_EQ(sf_reduce(&call, &rows[place], nullptr, &by_communicator, each == group ? world.comm : backwards.comm),
              SF_OK)
        << sf_error_text();
    EXPECT_TRUE(is(by_group, tree_of(below, add)));
    EXPECT_TRUE(is(by_communicator, by_group));
  }
  EXPECT_EQ(sf_group_of(MPI_COMM_NULL, &group), SF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sf_error_text()).find("MPI_COMM_NULL"), std::string::npos) << sf_error_text();
  EXPECT_EQ(sf_group_of(world.comm, nullptr), SF_INVALID_ARGUMENT);
}

TEST_F(CApiTest, NamesItself) {
  EXPECT_NE(std::string(sf_version()), "");
  const std::string library = sf_mpi_library();
  EXPECT_TRUE(library.find("MPI") != std::string::npos) << library;
}

}  // namespace
}  // namespace steadfold::tests::c_api_test
