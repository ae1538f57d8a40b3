// What several threads of one rank must not lose: what one of them threw, and the order of the rows.
#include "plan/thread_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

#include "group/local.hpp"
#include "support/concatenate.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::thread_pool_test {
namespace {

TEST(ThreadPools, RethrowOnceWhatAnyThreadThrew) {
  plan::ThreadPool pool;
  pool.resize(3);
  for (unsigned culprit = 0; culprit < pool.size(); ++culprit) {
    EXPECT_THROW(pool.run(pool.size(),
                          [&](unsigned thread) {
                            if (thread == culprit) throw std::runtime_error("no");
                          }),
                 std::runtime_error)
        << culprit;
    EXPECT_NO_THROW(pool.run(pool.size(), [](unsigned) {})) << "thrown again, after " << culprit;
  }
}

TEST(ThreadPools, KeepTheOrderOfRowsByPlainToo) {
  std::vector<Text> letters(26);
  std::string all;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    letters[i] = {static_cast<char>('a' + i)};
    all += letters[i][0];
  }
  for (const Method method : {Method::plain, Method::tree}) {
    for (unsigned threads = 1; threads <= 5; ++threads) {
      const Call call{.operation = arithmetic::Operation::user,
                      .method = method,
                      .type = arithmetic::Type::bytes,
                      .result_type = arithmetic::Type::bytes,
                      .user = {.apply = concatenate, .element_bytes = sizeof(Text)},
                      .rows = letters.size(),
                      .threads = threads};
      Text found{};
      group::LocalReducer().reduce(call, {.first = reinterpret_cast<const std::byte*>(letters.data()),
                                          .result = reinterpret_cast<std::byte*>(&found)});
      EXPECT_EQ(std::string(found.data()), all) << threads << " threads";
    }
  }
}

/// Counts that no count can hold are refused, the last that can be is not.
TEST(SumsOfRows, EndAtTheGreatestIndex) {
  constexpr Count most = order::most_elements;
  EXPECT_EQ(plan::sum_of_rows(most - 5, 5), most);
  EXPECT_THROW(plan::sum_of_rows(most - 5, 6), Failure);
  EXPECT_THROW(plan::sum_of_rows(0, arithmetic::unknown_count), Failure);
  EXPECT_THROW(plan::sum_of_rows(most, most), Failure);
  EXPECT_THROW(plan::sum_of_rows(arithmetic::unknown_count, 1), Failure);
}

TEST(ThreadPools, AreAsLargeAsPays) {
  using plan::threads_worth;
  EXPECT_EQ(threads_worth(0, 0), 1U);
  EXPECT_EQ(threads_worth(16, 0), 1U);
  EXPECT_EQ(threads_worth(16, 800'000), 1U);
  EXPECT_EQ(threads_worth(16, (8U << 20) - 1), 3U);
  EXPECT_EQ(threads_worth(16, 8 << 20), 4U);
  EXPECT_EQ(threads_worth(16, 240'000'000), 16U);
  EXPECT_EQ(threads_worth(3, ~std::size_t{0}), 3U);
}

}  // namespace
}  // namespace steadfold::test::thread_pool_test
