// Plans whose workers reduce together, without messages: the bits of the interpreter, whatever the shape; data that
// cannot be used; callers of whom some stay and some do not.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include "capi/on_team.hpp"
#include "steadfold/bundle.hpp"

namespace steadfold::test {
namespace {

template <class T>
std::vector<T> hostile(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x(count);
  for (T& each : x) {
    const auto whole = static_cast<T>(static_cast<std::int64_t>(random() % 2001) - 1000);
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T special[] = {0.0,
                               -0.0,
                               std::numeric_limits<T>::infinity(),
                               std::numeric_limits<T>::quiet_NaN(),
                               std::numeric_limits<T>::denorm_min(),
                               std::numeric_limits<T>::max()};
      each =
          random() % 50 == 0 ? special[random() % 6] : std::ldexp(whole + T(0.5), static_cast<int>(random() % 61) - 30);
    } else {
      each = whole;
    }
  }
  return x;
}

template <class T>
std::string bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

bool says_together(const std::string& description) { return description.find("together:") != std::string::npos; }

/// One wide or narrow row of this worker: by `auto`, which goes together, and by messages.
template <class T, class Op>
void compare_vectors(const Team::Member& member, const Op& op, const Method& method, std::size_t columns,
                     std::uint64_t seed) {
  const auto all = hostile<T>(static_cast<std::size_t>(member.size()) * columns, seed);
  const auto row = std::span(all).subspan(static_cast<std::size_t>(member.worker()) * columns, columns);
  auto together = Plan<T>::of_vectors(op, columns, member, {.method = method});
  auto apart = Plan<T>::of_vectors(op, columns, member, {.method = method, .schedule = "recursive_doubling"});
  EXPECT_TRUE(says_together(together.describe())) << together.describe();
  EXPECT_FALSE(says_together(apart.describe()));
  std::vector<T> due(columns), found(columns), in_place(row.begin(), row.end());
  apart.run(row, due);
  for (int run = 0; run < 3; ++run) {
    std::ranges::fill(found, T(7));
    together.run(row, found);
    EXPECT_EQ(bytes_of<T>(found), bytes_of<T>(due))
        << member.size() << " workers, " << columns << " columns, seed " << seed;
  }
  together.run(std::span<T>(in_place));
  EXPECT_EQ(bytes_of<T>(in_place), bytes_of<T>(due)) << "in place, seed " << seed;
  std::ranges::fill(found, T(7));
  together.start(row, found);
  while (!together.test()) std::this_thread::yield();
  EXPECT_EQ(bytes_of<T>(found), bytes_of<T>(due)) << "started, seed " << seed;
}

constexpr int team_sizes[] = {1, 2, 3, 4, 5, 7, 8};

TEST(Together, VectorsHaveTheBitsOfMessages) {
  for (const int workers : team_sizes) {
    on_team(workers, [&](const Team::Member& member) {
      std::uint64_t seed = 100 * static_cast<std::uint64_t>(workers);
      for (const std::size_t columns : {1u, 8u, 9u, 255u, 3001u}) {
        compare_vectors<double>(member, sf::plus, sf::tree(), columns, ++seed);
        compare_vectors<double>(member, sf::plus, sf::exact(), columns, ++seed);
        compare_vectors<float>(member, sf::times, sf::tree(), columns, ++seed);
        compare_vectors<double>(member, sf::min, sf::plain(), columns, ++seed);
        compare_vectors<std::int64_t>(member, sf::plus, sf::plain(), columns, ++seed);
        compare_vectors<std::uint32_t>(member, sf::max, sf::tree(), columns, ++seed);
        if (columns > 255) continue;  // these take long
        compare_vectors<float>(member, sf::plus, sf::binned(), columns, ++seed);
        compare_vectors<float>(member, sf::plus, sf::exact(), columns, ++seed);
      }
    });
  }
}

/// A sum by `plain` depends on the number of workers alone: all of them have it.
TEST(Together, PlainSumsAreTheSameOnAllWorkers) {
  for (const int workers : {3, 5, 8}) {
    const auto all = hostile<double>(static_cast<std::size_t>(workers), 3);
    std::vector<double> found(all.size());
    on_team(workers, [&](const Team::Member& member) {
      const auto w = static_cast<std::size_t>(member.worker());
      auto plan = Plan<double>::of_vectors(sf::plus, 1, member, {.method = sf::plain()});
      plan.run(std::span(all).subspan(w, 1), std::span(found).subspan(w, 1));
    });
    for (const double each : found) EXPECT_EQ(bytes_of<double>({&each, 1}), bytes_of<double>({found.data(), 1}));
  }
}

/// Operators that do not commute, and a tree that no other order would give.
TEST(Together, UserOperators) {
  const auto combine = [](double a, double b) noexcept { return a - b / 3; };
  for (const int workers : team_sizes)
    on_team(workers, [&](const Team::Member& member) {
      std::uint64_t seed = 500;
      for (const std::size_t columns : {1u, 5u, 40u, 700u})
        compare_vectors<double>(member, combine, sf::tree(), columns, ++seed);
    });
}

/// Many rows per worker, some workers without any: by partials, or by rows if there are few.
TEST(Together, RowsHaveTheBitsOfOneProcess) {
  std::uint64_t seed = 900;
  for (const int workers : team_sizes) {
    for (const std::size_t rows : {1u, 3u, 17u, 400u, 5000u}) {
      const auto x = hostile<double>(rows, ++seed), y = hostile<double>(rows, ++seed);
      std::vector<std::uint8_t> mask(rows);
      for (std::size_t i = 0; i < rows; ++i) mask[i] = i % 3 != 0;
      on_team(workers, [&](const Team::Member& member) {
        const auto mine = part_of(x, member.worker(), workers), other = part_of(y, member.worker(), workers);
        const auto chosen = part_of(mask, member.worker(), workers);
        const std::size_t count = mine.size();
        const Options in_order{.method = sf::tree(), .layout = Layout::contiguous(count, member)};
        const auto expect = [&](auto& plan, double found, double due) {
          EXPECT_TRUE(says_together(plan.describe()));
          EXPECT_EQ(bytes_of<double>({&found, 1}), bytes_of<double>({&due, 1})) << rows << " rows, seed " << seed;
        };
        for (int run = 0; run < 2; ++run) {
          Plan<double> exact(sf::plus, count, member), tree(sf::plus, count, member, in_order),
              binned(sf::plus, count, member, {.method = sf::binned()}), dot(sf::dot, count, member),
              norm(sf::norm2, count, member), masked(sf::masked_sum, count, member), least(sf::min, count, member);
          expect(exact, exact.run(mine), sf::sum(x));
          expect(tree, tree.run(mine), sf::sum(x, {.method = sf::tree()}));
          expect(binned, binned.run(mine), sf::sum(x, {.method = sf::binned()}));
          expect(dot, dot.run(mine, other), sf::dot(x, y));
          expect(norm, norm.run(mine), sf::norm2(x));
          expect(masked, masked.run(mine, chosen), sf::masked_sum(x, mask));
          expect(least, least.run(mine), sf::min(x));
        }
      });
    }
  }
}

/// Where the greatest is: by index, which rows do not carry themselves.
TEST(Together, Locations) {
  auto x = hostile<double>(300, 31);
  for (double& each : x)
    if (std::isnan(each)) each = 0;
  for (const int workers : team_sizes) {
    for (const std::size_t rows : {5u, 300u}) {
      const std::vector<double> some(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(rows));
      const auto due = sf::max_location(some);
      on_team(workers, [&](const Team::Member& member) {
        const auto mine = part_of(some, member.worker(), workers);
        Plan<double, Located<double>> plan(sf::max_location, mine.size(), member);
        EXPECT_TRUE(says_together(plan.describe()));
        const auto found = plan.run(mine);
        EXPECT_EQ(found.index, due.index) << rows << " rows, " << workers << " workers";
        EXPECT_EQ(bytes_of<double>({&found.value, 1}), bytes_of<double>({&due.value, 1}));
      });
    }
  }
}

/// Elements that are converted on the way, to results of another size: in place such a result overlaps other rows.
TEST(Together, ResultsOfAnotherSize) {
  for (const int workers : {2, 3, 5}) {
    for (const std::size_t columns : {1u, 50u, 5000u}) {
      const auto p = static_cast<std::size_t>(workers);
      const auto all = hostile<float>(p * columns, 41 + columns);
      on_team(workers, [&](const Team::Member& member) {
        const auto row = std::span(all).subspan(static_cast<std::size_t>(member.worker()) * columns, columns);
        auto plan = Plan<float, double>::of_vectors(sf::to<double>(sf::plus), columns, member, {.method = sf::exact()});
        auto apart = Plan<float, double>::of_vectors(sf::to<double>(sf::plus), columns, member,
                                                     {.method = sf::exact(), .schedule = "recursive_doubling"});
        EXPECT_TRUE(says_together(plan.describe()));
        std::vector<double> found(columns), due(columns);
        plan.run(row, found);
        apart.run(row, due);
        EXPECT_EQ(bytes_of<double>(found), bytes_of<double>(due)) << columns << " columns, " << workers << " workers";
        std::vector<double> memory(columns);
        float* const inside = reinterpret_cast<float*>(memory.data());
        std::ranges::copy(row, inside);
        plan.run({inside, columns}, memory);
        EXPECT_EQ(bytes_of<double>(memory), bytes_of<double>(due)) << "in place";
      });
    }
  }
}

/// Some callers of a wide row stay and some do not, or have results that overlap their rows: then workers take
/// messages.
TEST(Together, SomeStayAndSomeDoNot) {
  constexpr std::size_t columns = 900;
  for (const int workers : {2, 3, 5}) {
    const auto p = static_cast<std::size_t>(workers);
    const auto all = hostile<double>(p * columns, 77);
    on_team(workers, [&](const Team::Member& member) {
      const auto w = static_cast<std::size_t>(member.worker());
      const auto row = std::span(all).subspan(w * columns, columns);
      auto plan = Plan<double>::of_vectors(sf::plus, columns, member, {.method = sf::tree()});
      std::vector<double> due(columns);
      plan.run(row, due);
      for (int run = 0; run < 12; ++run) {
        std::vector<double> memory(columns + 1, 7.0);
        std::ranges::copy(row, memory.begin());
        const std::span<double> shifted = std::span(memory).subspan(1);
        const auto mine = std::span(memory).first(columns);
        if (run % p == w && run % 2 == 0) {
          plan.start(row, shifted);
          plan.wait();
        } else if (run % p == w) {
          plan.run(mine, shifted);
        } else {
          plan.run(row, shifted);
        }
        EXPECT_EQ(bytes_of<double>(shifted), bytes_of<double>(due)) << "run " << run << " of " << workers;
      }
    });
  }
}

/// A worker without data makes the run fail for all, and the next one succeeds.
TEST(Together, DataThatCannotBeUsed) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{100}}) {
    on_team(3, [&](const Team::Member& member) {
      sf_call call = sf_call_default();
      call.layout = SF_ROW_A_RANK;
      call.columns = columns;
      call.rows = 1;
      call.method = SF_TREE;
      sf_plan* plan = nullptr;
      ASSERT_EQ(sf_group_bind(&call, 1, member.group().handle(), &plan), SF_OK) << sf_error_text();
      const std::vector<double> row(columns, 1.0);
      std::vector<double> result(columns, 7.0);
      const bool is_culprit = member.worker() == 1;
      EXPECT_EQ(sf_plan_run(plan, is_culprit ? nullptr : row.data(), nullptr, result.data()), SF_INVALID_ARGUMENT);
      EXPECT_EQ(result.front(), 7.0);
      EXPECT_EQ(sf_plan_run(plan, row.data(), nullptr, is_culprit ? nullptr : result.data()), SF_INVALID_ARGUMENT);
      EXPECT_EQ(result.back(), 7.0);
      EXPECT_EQ(sf_bundle_run(plan, nullptr, is_culprit ? 0 : 1), SF_INVALID_ARGUMENT);
      EXPECT_EQ(sf_plan_run(plan, row.data(), nullptr, result.data()), SF_OK) << sf_error_text();
      EXPECT_EQ(result, std::vector<double>(columns, 3.0));
      sf_plan_free(plan);
    });
  }
}

/// Traced runs have messages to be counted; bits stay.
TEST(Together, TracedRunsSendMessages) {
  on_team(4, [](const Team::Member& member) {
    Plan<double> plan(sf::plus, 1, member);
    const double mine = 0.1 * (member.worker() + 1);
    const double due = plan.run({&mine, 1});
    EXPECT_EQ(plan.figures().messages, 3u);
    plan.trace(true);
    EXPECT_EQ(plan.run({&mine, 1}), due);
    EXPECT_EQ(plan.figures().rounds, 2u);
    plan.trace(false);
    EXPECT_EQ(plan.run({&mine, 1}), due);
  });
}

/// More workers than read each other's posts take messages.
TEST(Together, LargeTeamsTakeMessages) {
  const auto x = hostile<double>(17, 1);
  on_team(17, [&](const Team::Member& member) {
    Plan<double> plan(sf::plus, 1, member);
    EXPECT_FALSE(says_together(plan.describe()));
    const double found = plan.run(std::span(x).subspan(static_cast<std::size_t>(member.worker()), 1));
    const double due = sf::sum(x);
    EXPECT_EQ(bytes_of<double>({&found, 1}), bytes_of<double>({&due, 1}));
  });
}

}  // namespace
}  // namespace steadfold::test
