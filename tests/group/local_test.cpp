// Reductions within one process: the same bits as on ranks, and the same failures.
#include "group/local.hpp"

#include <gtest/gtest.h>

#include "call/failure.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::local_test {
namespace {

using arithmetic::Operation;
using arithmetic::Type;

Memory reduced(const Call& call, const std::vector<double>& rows, const std::vector<double>* second = nullptr) {
  Result result(8 * call.columns);
  const std::vector<double> copy = rows;
  group::LocalReducer().reduce(
      call, {.first = reinterpret_cast<const std::byte*>(rows.data()),
             .second = second == nullptr ? nullptr : reinterpret_cast<const std::byte*>(second->data()),
             .result = result.data()});
  EXPECT_EQ(bytes_of(rows), bytes_of(copy)) << "the input was written";
  EXPECT_TRUE(result.guard_intact());
  return {result.bytes().begin(), result.bytes().end()};
}

TEST(Local, SumsAreTheOracles) {
  std::mt19937_64 random(1);
  for (Count n = 0; n <= 200; ++n) {
    for (const Count columns : {1u, 3u}) {
      const std::vector<double> rows = summands(random, n * columns);
      std::vector<double> by_tree;
      std::vector<double> exactly;
      for (Count column = 0; column < columns; ++column) {
        by_tree.push_back(tree_sum(column_of(rows, columns, column)));
        exactly.push_back(exact_sum(column_of(rows, columns, column)));
      }
      Call call{.method = Method::tree, .columns = columns, .rows = n};
      EXPECT_EQ(hex(reduced(call, rows)), hex(bytes_of(by_tree))) << n;
      call.root = 0;  // changes nothing, nor does the schedule
      call.collective = schedule::Collective::reduce;
      call.schedule = "binomial";
      EXPECT_EQ(hex(reduced(call, rows)), hex(bytes_of(by_tree))) << n;
      call.method = n % 2 == 0 ? Method::exact : Method::automatic;
      EXPECT_EQ(hex(reduced(call, rows)), hex(bytes_of(exactly))) << n;
    }
  }
}

/// Up to 16 rows are reduced without a builder, wherever they are wide: with the same bits as rows of one column, which
/// are not.
TEST(Local, FewWideRowsAreTheirColumns) {
  std::mt19937_64 random(7);
  for (const Count n : {1u, 2u, 3u, 4u, 5u, 8u, 13u, 16u, 17u}) {
    for (const Count columns : {8u, 9u, 64u, 65u, 300u}) {
      const std::vector<double> rows = summands(random, n * columns);
      for (const Method method : {Method::tree, Method::exact, Method::binned}) {
        for (const Operation operation : {Operation::sum, Operation::product}) {
          if (operation == Operation::product && method != Method::tree) continue;
          const Memory all = reduced({.operation = operation, .method = method, .columns = columns, .rows = n}, rows);
          for (Count column = 0; column < columns; ++column) {
            const Memory one = reduced({.operation = operation, .method = method, .columns = 1, .rows = n},
                                       column_of(rows, columns, column));
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(8 * column);
            ASSERT_EQ(hex(Memory(begin, begin + 8)), hex(one)) << n << " rows, column " << column << " of " << columns;
          }
        }
      }
    }
  }
}

/// What is kept of a call of few wide rows serves others that differ in their rows, and no call of another shape.
TEST(Local, FewWideRowsAreRepeated) {
  std::mt19937_64 random(8);
  group::LocalReducer reducer;
  for (const Count columns : {300u, 20u, 1025u, 20u}) {
    for (const Method method : {Method::exact, Method::tree}) {
      for (const Count n : {3u, 2u, 7u, 17u, 1u}) {
        const std::vector<double> rows = summands(random, n * columns);
        const Call call{.method = method, .columns = columns, .rows = n};
        Result result(8 * columns);
        const call::Data data{
            .first = reinterpret_cast<const std::byte*>(rows.data()), .second = nullptr, .result = result.data()};
        const bool repeats = reducer.reduce(call, data);
        if (n <= 7) {
          EXPECT_EQ(repeats, columns <= 64 || (columns <= 1024 && n >= 2)) << columns << ", " << n;
        }
        const Memory once(result.bytes().begin(), result.bytes().end());
        EXPECT_EQ(hex(once), hex(reduced(call, rows)));
        if (!repeats) continue;
        const std::vector<double> others = summands(random, 2 * columns);
        ASSERT_TRUE(reducer.repeat(
            2,
            {.first = reinterpret_cast<const std::byte*>(others.data()), .second = nullptr, .result = result.data()}));
        EXPECT_EQ(hex(Memory(result.bytes().begin(), result.bytes().end())),
                  hex(reduced({.method = method, .columns = columns, .rows = 2}, others)));
      }
    }
  }
}

/// An operator may reduce something itself: such a call may be repeated when the call around it has ended.
TEST(Local, CallsInsideWideOnesAreRepeated) {
  struct Inside {
    group::LocalReducer reducer;
    std::vector<double> rows = std::vector<double>(300, 1.0);
    std::vector<double> results = std::vector<double>(100);
    bool wide_first = false;
    bool repeats = false;

    void reduce(Count n, Count columns) {
      repeats = reducer.reduce({.method = Method::exact, .columns = columns, .rows = n}, data());
    }
    call::Data data() {
      return {.first = reinterpret_cast<const std::byte*>(rows.data()),
              .second = nullptr,
              .result = reinterpret_cast<std::byte*>(results.data())};
    }
  };
  for (const bool wide_first : {false, true}) {
    Inside inside;
    inside.wide_first = wide_first;
    Call outer{.operation = arithmetic::Operation::user,
               .method = Method::tree,
               .type = arithmetic::Type::bytes,
               .result_type = arithmetic::Type::bytes,
               .columns = 2000,
               .rows = 3};
    outer.user = {.apply =
                      [](const void*, const void*, void*, std::size_t, void* context) {
                        auto& own = *static_cast<Inside*>(context);
                        if (own.wide_first) own.reduce(3, 100);
                        own.reduce(5, 1);
                        return 0;
                      },
                  .context = &inside,
                  .element_bytes = sizeof(double)};
    const std::vector<double> rows(3 * 2000);
    std::vector<double> result(2000);
    EXPECT_FALSE(inside.reducer.reduce(outer, {.first = reinterpret_cast<const std::byte*>(rows.data()),
                                               .second = nullptr,
                                               .result = reinterpret_cast<std::byte*>(result.data())}));
    ASSERT_TRUE(inside.repeats);
    inside.rows = {1, 2, 3, 4, 5};
    inside.results = {0, -1};
    ASSERT_TRUE(inside.reducer.repeat(5, inside.data()));
    EXPECT_EQ(inside.results, (std::vector<double>{15, -1})) << (wide_first ? "after a wide one" : "alone");
  }
}

TEST(Local, IntervalsGiveTheOrderOfMemory) {
  std::mt19937_64 random(2);
  const std::vector<double> rows = summands(random, 40);
  const std::vector<Interval> shuffled = {{30, 40}, {0, 7}, {20, 30}, {7, 7}, {7, 20}};
  std::vector<double> memory;
  for (const Interval interval : shuffled)
    for (Index i = interval.begin; i < interval.end; ++i) memory.push_back(rows[i]);
  const Call call{
      .method = Method::tree, .element_count = 40, .layout = LayoutKind::intervals, .rows = 40, .intervals = shuffled};
  EXPECT_EQ(hex(reduced(call, memory)), hex(bytes_of(std::vector<double>{tree_sum(rows)})));
}

TEST(Local, DotTakesTwoVectors) {
  const std::vector<double> x = {1, 2, 3};
  const std::vector<double> y = {4, 5, 6};
  EXPECT_EQ(hex(reduced({.operation = Operation::dot, .rows = 3}, x, &y)), hex(bytes_of(std::vector<double>{32})));
  EXPECT_EQ(hex(reduced({.operation = Operation::norm2, .rows = 2}, {3, 4})), hex(bytes_of(std::vector<double>{5})));
}

struct Failed {
  Status status;
  std::string text;
};

Failed failure_of(const Call& call, const double* first, double* result) {
  try {
    group::LocalReducer().reduce(
        call, {.first = reinterpret_cast<const std::byte*>(first), .result = reinterpret_cast<std::byte*>(result)});
  } catch (const Failure& failure) {
    return {failure.status(), failure.what()};
  }
  return {Status::ok, ""};
}

TEST(Local, FailuresSayWhatIsWrong) {
  const double rows[4] = {1, 2, 3, 4};
  double result = 0;
  EXPECT_EQ(failure_of({.rows = 4}, rows, &result).status, Status::ok);
  EXPECT_EQ(failure_of({.rows = 4}, nullptr, &result).text,
            "the address of the data is null (4 rows are to be read), give the address of the data");
  EXPECT_EQ(failure_of({.rows = 0}, nullptr, &result).status, Status::ok);
  EXPECT_EQ(failure_of({.rows = 4}, rows, nullptr).status, Status::invalid_argument);
  EXPECT_EQ(failure_of({.operation = Operation::dot, .rows = 4}, rows, &result).status, Status::invalid_argument);
  EXPECT_EQ(
      failure_of({.operation = Operation::masked_sum, .rows = 4}, rows, &result).text,
      "the mask of a masked sum is null (it is missing or of another size; 4 rows are to be read), give a byte for "
      "every row");
  EXPECT_EQ(failure_of({.operation = Operation::masked_sum, .method = Method::tree, .rows = 0}, rows, &result).status,
            Status::unsupported);
  for (const Type type : {Type::i32, Type::cf32, Type::long_double})
    EXPECT_EQ(failure_of({.operation = Operation::abs_sum, .type = type, .result_type = type, .rows = 1}, rows, &result)
                  .status,
              Status::unsupported);
  EXPECT_EQ(failure_of({.operation = Operation::sum_squares, .method = Method::plain, .rows = 4}, rows, &result).status,
            Status::unsupported);
  EXPECT_EQ(failure_of({.operation = Operation::min, .rows = 0}, rows, &result).status, Status::empty);
  EXPECT_EQ(failure_of({.method = Method::exact, .type = Type::i64, .result_type = Type::i64, .rows = 4}, rows, &result)
                .status,
            Status::unsupported);
  EXPECT_EQ(failure_of({.columns = 0, .rows = 4}, rows, &result).status, Status::invalid_argument);
  EXPECT_EQ(failure_of({.root = 3, .collective = schedule::Collective::reduce, .rows = 4}, rows, &result).text,
            "root 3 is not a rank (the ranks are 0 to 0), give one of these ranks, or no root to get the result "
            "on all ranks");
  const Failed unknown = failure_of({.schedule = "rng", .rows = 4}, rows, &result);
  EXPECT_EQ(unknown.status, Status::invalid_argument);
  EXPECT_NE(unknown.text.find("unknown schedule 'rng'"), std::string::npos) << unknown.text;
  for (const Method method : {Method::tree, Method::exact, Method::binned, Method::plain}) {
    EXPECT_EQ(failure_of({.method = method, .element_count = 5, .rows = 4}, rows, &result).status, Status::gap);
    EXPECT_EQ(failure_of({.method = method, .element_count = 3, .rows = 4}, rows, &result).status, Status::overlap);
    EXPECT_EQ(failure_of({.method = method, .element_count = 3, .rows = 4}, rows, &result).text,
              "4 elements instead of 3 (the layout's element count), make the numbers equal");
  }
}

TEST(Local, LayoutsWithFaultsFail) {
  const double rows[4] = {1, 2, 3, 4};
  double result = 0;
  const std::vector<Interval> gap = {{0, 1}, {2, 5}};
  const std::vector<Interval> overlap = {{0, 3}, {2, 3}};
  Call call{.method = Method::tree, .layout = LayoutKind::intervals, .rows = 4, .intervals = gap};
  EXPECT_EQ(failure_of(call, rows, &result).status, Status::gap);
  EXPECT_EQ(failure_of(call, rows, &result).text,
            "the layout does not have every element exactly once (element 1 is listed nowhere), list every element of "
            "0..N-1 exactly once");
  call.intervals = overlap;
  EXPECT_EQ(failure_of(call, rows, &result).status, Status::overlap);
  EXPECT_EQ(failure_of(call, rows, &result).text,
            "the layout does not have every element exactly once (element 2 is listed twice), list every element of "
            "0..N-1 exactly once");
}

}  // namespace
}  // namespace steadfold::test::local_test
