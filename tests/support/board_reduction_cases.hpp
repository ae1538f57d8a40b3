// Tests of reductions over a board, which ranks with common memory carry out without messages. Their bits must equal an
// independent reference, and the result of the interpreter of steps, for every shape. Other tests have unusable data,
// and callers of whom some stay and some do not. For the workers of a team, and for the ranks of a communicator.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "mpi/reference.hpp"
#include "steadfold/bundle.hpp"
#include "support/hostile_terms.hpp"
#include "support/parts.hpp"

namespace steadfold::test {

/// A rank of a team or a communicator.
template <class C>
struct Here {
  C comm;
  int rank;
  int size;
  sf_group* group;

  std::size_t index() const { return static_cast<std::size_t>(rank); }
  std::size_t count() const { return static_cast<std::size_t>(size); }
};

/// Random numbers, with all special values among them.
template <class T>
std::vector<T> with_specials(std::size_t count, std::uint64_t seed) {
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
std::vector<T> row_of_rank(std::size_t rank, std::size_t columns, std::uint64_t seed) {
  return with_specials<T>(columns, 1000 * seed + rank);
}
/// The row of this rank.
template <class T, class C>
std::vector<T> row_of(const Here<C>& here, std::size_t columns, std::uint64_t seed) {
  return row_of_rank<T>(here.index(), columns, seed);
}

/// The expected result of the rows of all ranks, column by column, computed by a function of a column's elements.
template <class T, class C, class Reference>
std::vector<T> column_by_column(const Here<C>& here, std::size_t columns, std::uint64_t seed, const Reference& of) {
  std::vector<std::vector<T>> rows;
  for (std::size_t rank = 0; rank < here.count(); ++rank) rows.push_back(row_of_rank<T>(rank, columns, seed));
  std::vector<T> results(columns), column(here.count());
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t rank = 0; rank < here.count(); ++rank) column[rank] = rows[rank][i];
    results[i] = of(std::span<const T>(column));
  }
  return results;
}

/// The sum of integers modulo 2^bits.
template <class T>
T wrapping_sum(std::span<const T> x) {
  std::make_unsigned_t<T> sum = 0;
  for (const T each : x) sum += static_cast<std::make_unsigned_t<T>>(each);
  return static_cast<T>(sum);
}

/// The reference for method `tree` over the ranks. Built-in operators make NaNs canonical.
template <class T, class Op>
auto by_the_tree(const Op& op) {
  return [op](std::span<const T> column) { return reference::canonical(reference::tree(column, op)); };
}

template <class T>
std::string bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// Whether the bits are equal; the message says where they differ. GoogleTest itself compares long texts line by line,
/// which takes minutes.
template <class T>
testing::AssertionResult same_bits(std::span<const T> found, std::span<const T> due) {
  std::size_t first = 0;
  while (first < std::min(found.size(), due.size()) && std::memcmp(&found[first], &due[first], sizeof(T)) == 0)
    first += 1;
  if (found.size() == due.size() && first == due.size()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "element " << first << " of " << due.size() << " differs";
}

inline bool says_on_board(const std::string& description) { return description.find("together:") != std::string::npos; }

/// Compares three results for one row per rank, wide or narrow: with `auto`, which reduces over a board; with messages;
/// and the reference.
template <class T, class C, class Op, class Reference>
void compare_vectors(const Here<C>& here, const Op& op, const Method& method, std::size_t columns, std::uint64_t seed,
                     const Reference& of) {
  const auto row = row_of<T>(here, columns, seed);
  auto on_board = Plan<T>::of_vectors(op, columns, here.comm, {.method = method});
  auto apart = Plan<T>::of_vectors(op, columns, here.comm, {.method = method, .schedule = "recursive_doubling"});
  EXPECT_TRUE(says_on_board(on_board.describe())) << on_board.describe();
  EXPECT_FALSE(says_on_board(apart.describe()));
  std::vector<T> due(columns), found(columns), in_place(row.begin(), row.end());
  apart.run(row, due);
  EXPECT_TRUE(same_bits<T>(due, column_by_column<T>(here, columns, seed, of)))
      << "by messages, " << here.size << " ranks, " << columns << " columns, seed " << seed;
  for (int run = 0; run < 3; ++run) {
    std::ranges::fill(found, T(7));
    on_board.run(row, found);
    EXPECT_TRUE(same_bits<T>(found, due)) << here.size << " ranks, " << columns << " columns, seed " << seed;
  }
  on_board.run(std::span<T>(in_place));
  EXPECT_TRUE(same_bits<T>(in_place, due)) << "in place, seed " << seed;
  std::ranges::fill(found, T(7));
  on_board.start(row, found);
  while (!on_board.test()) std::this_thread::yield();
  EXPECT_TRUE(same_bits<T>(found, due)) << "started, seed " << seed;
}

/// Method `binned` with a double sweep. Ranks reduce over a board in both sweeps.
inline constexpr Method swept_twice = sf::binned({.sweep = SF_DOUBLE_SWEEP});

template <class C>
void vectors_have_the_bits_of_references(const Here<C>& here, std::span<const std::size_t> widths) {
  std::uint64_t seed = 100 * static_cast<std::uint64_t>(here.size);
  for (const std::size_t columns : widths) {
    compare_vectors<double>(here, sf::plus, sf::tree(), columns, ++seed, by_the_tree<double>(std::plus()));
    compare_vectors<double>(here, sf::plus, sf::exact(), columns, ++seed, reference::exact_sum<double>);
    compare_vectors<float>(here, sf::times, sf::tree(), columns, ++seed, by_the_tree<float>(std::multiplies()));
    compare_vectors<double>(here, sf::min, sf::plain(), columns, ++seed, reference::extreme<double, false>);
    compare_vectors<std::int64_t>(here, sf::plus, sf::plain(), columns, ++seed, wrapping_sum<std::int64_t>);
    compare_vectors<std::uint32_t>(here, sf::max, sf::tree(), columns, ++seed, reference::extreme<std::uint32_t, true>);
    const auto in_bins = [](auto column) { return reference::binned_sum(column, 3); };
    if (columns <= 9) compare_vectors<double>(here, sf::plus, swept_twice, columns, ++seed, in_bins);
    if (columns > 255) continue;  // slow cases
    compare_vectors<float>(here, sf::plus, sf::binned(), columns, ++seed, in_bins);
    compare_vectors<float>(here, sf::plus, sf::exact(), columns, ++seed, reference::exact_sum<float>);
  }
}

/// Sums with method `exact` of columns whose terms, one per rank, are hard to sum.
template <class T, class C>
void exact_sums_of_hostile_terms(const Here<C>& here) {
  for (const std::size_t columns : {1u, 9u, 40u, 1300u}) {
    const std::uint64_t seed = 3000 + columns + here.count();
    HostileTerms<T> hostile(seed);  // the same on all ranks
    std::vector<T> row(columns), plain(columns), due(columns), found(columns), by_messages(columns);
    for (std::size_t column = 0; column < columns; ++column) {
      const auto terms = hostile.of(here.count(), troubles[column % std::size(troubles)]);
      row[column] = terms[here.index()];
      due[column] = reference::exact_sum(std::span<const T>(terms));
      plain[column] = std::accumulate(terms.begin(), terms.end(), T{-0.0});
    }
    auto on_board = Plan<T>::of_vectors(sf::plus, columns, here.comm, {.method = sf::exact()});
    auto apart =
        Plan<T>::of_vectors(sf::plus, columns, here.comm, {.method = sf::exact(), .schedule = "recursive_doubling"});
    EXPECT_TRUE(says_on_board(on_board.describe()));
    apart.run(row, by_messages);
    on_board.run(row, found);
    for (const auto& result : {found, by_messages})
      EXPECT_TRUE(same_bits<T>(result, due)) << here.size << " ranks, " << columns << " columns, " << seed;
    if (here.size > 2 && columns >= 40) {
      EXPECT_NE(bytes_of<T>(plain), bytes_of<T>(due)) << "seed " << seed;
    }
  }
}

/// Operators that do not commute. The reference tree differs from every other order.
template <class C>
void vectors_of_user_operators(const Here<C>& here) {
  const auto combine = [](double a, double b) noexcept { return a - b / 3; };
  std::uint64_t seed = 500;
  for (const std::size_t columns : {1u, 5u, 40u, 700u, 9000u})
    compare_vectors<double>(here, combine, sf::tree(), columns, ++seed,
                            [&](auto column) { return reference::tree(column, combine); });
}

/// Many rows per rank; some ranks have none. Ranks combine partials, or rows if there are few.
template <class C>
void rows_have_the_bits_of_references(const Here<C>& here) {
  std::uint64_t seed = 900 + 10 * static_cast<std::uint64_t>(here.size);
  for (const std::size_t rows : {1u, 3u, 17u, 400u, 5000u}) {
    const auto x = with_specials<double>(rows, ++seed), y = with_specials<double>(rows, ++seed);
    std::vector<std::uint8_t> mask(rows);
    for (std::size_t i = 0; i < rows; ++i) mask[i] = i % 3 != 0;
    const auto mine = part_of(x, here.rank, here.size), other = part_of(y, here.rank, here.size);
    const auto chosen = part_of(mask, here.rank, here.size);
    const std::size_t count = mine.size();
    const Options in_order{.method = sf::tree(), .layout = Layout::contiguous(count, here.comm)};
    const auto expect = [&](auto& plan, double found, double due) {
      EXPECT_TRUE(says_on_board(plan.describe()));
      EXPECT_EQ(bytes_of<double>({&found, 1}), bytes_of<double>({&due, 1})) << rows << " rows, seed " << seed;
    };
    std::vector<double> kept;
    for (std::size_t i = 0; i < rows; ++i)
      if (mask[i] != 0) kept.push_back(x[i]);
    const std::span<const double> all(x), others(y);
    const double tree_of_all = by_the_tree<double>(std::plus())(all), binned_sum = reference::binned_sum(all, 3);
    for (int run = 0; run < 2; ++run) {
      Plan<double> exact(sf::plus, count, here.comm), tree(sf::plus, count, here.comm, in_order),
          binned(sf::plus, count, here.comm, {.method = sf::binned()}),
          swept(sf::plus, count, here.comm, {.method = swept_twice}), dot(sf::dot, count, here.comm),
          norm(sf::norm2, count, here.comm), masked(sf::masked_sum, count, here.comm), least(sf::min, count, here.comm);
      expect(exact, exact.run(mine), reference::exact_sum(all));
      expect(tree, tree.run(mine), tree_of_all);
      expect(binned, binned.run(mine), binned_sum);
      expect(swept, swept.run(mine), binned_sum);
      expect(dot, dot.run(mine, other), reference::exact_dot(all, others));
      expect(norm, norm.run(mine), reference::exact_norm2(all));
      expect(masked, masked.run(mine, chosen), reference::exact_sum(std::span<const double>(kept)));
      expect(least, least.run(mine), reference::extreme<double, false>(all));
    }
  }
}

/// Rows distributed over ranks one by one. The rows of some ranks have more nodes of the tree than all rows together.
/// The bits depend on the order of the rows, and the index of the greatest element is not its position in rank order.
template <class C>
void rows_dealt_one_by_one(const Here<C>& here) {
  int shown = 0;  // how often the order of ranks gives different bits
  for (const std::size_t rows : {2u, 23u, 64u, 100u, 331u}) {
    std::vector<double> x(rows), mine, in_rank_order;
    for (std::size_t i = 0; i < rows; ++i)
      x[i] = std::ldexp(i % 2 == 0 ? 1.0 : -1.0, static_cast<int>(5 * i % 7)) / static_cast<double>(i + 3);
    std::vector<Interval> places;
    for (std::size_t rank = 0; rank < here.count(); ++rank)
      for (std::size_t i = rank; i < rows; i += here.count()) in_rank_order.push_back(x[i]);
    for (std::size_t i = here.index(); i < rows; i += here.count()) {
      mine.push_back(x[i]);
      places.push_back({i, i + 1});
    }
    const auto tree = by_the_tree<double>(std::plus());
    const double due = tree(std::span<const double>(x)), other = tree(std::span<const double>(in_rank_order));
    shown += bytes_of<double>({&other, 1}) != bytes_of<double>({&due, 1}) ? 1 : 0;
    const Options dealt{.method = sf::tree(), .layout = Layout::intervals(places, rows)};
    Plan<double> plan(sf::plus, mine.size(), here.comm, dealt);
    for (const double found : {plan.run(mine), sf::sum(mine, here.comm, dealt)})
      EXPECT_EQ(bytes_of<double>({&found, 1}), bytes_of<double>({&due, 1}))
          << here.size << " ranks, " << rows << " rows";
    Plan<double, Located<double>> greatest(sf::max_location, mine.size(), here.comm, {.layout = dealt.layout});
    EXPECT_EQ(greatest.run(mine).index, sf::max_location(x).index) << here.size << " ranks, " << rows << " rows";
  }
  if (here.size > 1) {
    EXPECT_GT(shown, 1) << "or this shows nothing";
  }
}

/// Merges keep rank order: with an operator that returns its right operand the result is the last row.
template <class C>
void rows_of_an_operator_that_does_not_commute(const Here<C>& here) {
  const auto last = [](double /*a*/, double b) noexcept { return b; };
  for (const std::size_t rows : {40u, 500u}) {
    std::vector<double> x(rows);
    std::iota(x.begin(), x.end(), 0.5);
    const auto mine = part_of(x, here.rank, here.size);
    for (const Method& method : {sf::tree(), sf::plain()}) {
      Plan<double> plan(last, mine.size(), here.comm,
                        {.method = method, .layout = Layout::contiguous(mine.size(), here.comm)});
      EXPECT_TRUE(says_on_board(plan.describe()));
      EXPECT_EQ(plan.run(mine), x.back()) << here.size << " ranks, " << rows << " rows";
    }
  }
}

template <class C>
void results_of_another_size(const Here<C>& here, std::size_t columns) {
  const auto row = row_of<float>(here, columns, 41 + columns);
  auto plan = Plan<float, double>::of_vectors(sf::to<double>(sf::plus), columns, here.comm, {.method = sf::exact()});
  auto apart = Plan<float, double>::of_vectors(sf::to<double>(sf::plus), columns, here.comm,
                                               {.method = sf::exact(), .schedule = "recursive_doubling"});
  EXPECT_TRUE(says_on_board(plan.describe()));
  std::vector<double> found(columns), due(columns);
  plan.run(row, found);
  apart.run(row, due);
  EXPECT_TRUE(same_bits<double>(found, due)) << columns << " columns, " << here.size << " ranks";
  std::vector<double> memory(columns);
  float* const inside = reinterpret_cast<float*>(memory.data());
  std::ranges::copy(row, inside);
  plan.run({inside, columns}, memory);
  EXPECT_TRUE(same_bits<double>(memory, due)) << "in place";
}

/// Some callers of a wide row stay and some do not, or have results that overlap their rows. Then ranks use messages.
template <class C>
void some_stay_and_some_do_not(const Here<C>& here, std::size_t columns) {
  const auto row = row_of<double>(here, columns, 77);
  auto plan = Plan<double>::of_vectors(sf::plus, columns, here.comm, {.method = sf::tree()});
  std::vector<double> due(columns);
  plan.run(row, due);
  for (std::size_t run = 0; run < 12; ++run) {
    std::vector<double> memory(columns + 1, 7.0);
    std::ranges::copy(row, memory.begin());
    const std::span<double> shifted = std::span(memory).subspan(1);
    const auto mine = std::span(memory).first(columns);
    if (run % here.count() == here.index() && run % 2 == 0) {
      plan.start(row, shifted);
      plan.wait();
    } else if (run % here.count() == here.index()) {
      plan.run(mine, shifted);
    } else {
      plan.run(row, shifted);
    }
    EXPECT_TRUE(same_bits<double>(shifted, due)) << "run " << run << " of " << here.size;
  }
}

/// A rank without data makes the run fail on all ranks, and the next run succeeds.
template <class C>
void data_that_cannot_be_used(const Here<C>& here, std::size_t columns) {
  sf_call call = sf_call_default();
  call.layout = SF_ROW_PER_RANK;
  call.columns = columns;
  call.rows = 1;
  call.method = SF_TREE;
  sf_plan* plan = nullptr;
  ASSERT_EQ(sf_group_bind(&call, 1, here.group, &plan), SF_OK) << sf_error_text();
  const std::vector<double> row(columns, 1.0);
  std::vector<double> result(columns, 7.0);
  const bool is_culprit = here.rank == here.size - 1;
  EXPECT_EQ(sf_plan_run(plan, is_culprit ? nullptr : row.data(), nullptr, result.data()), SF_INVALID_ARGUMENT);
  EXPECT_EQ(result.front(), 7.0);
  EXPECT_EQ(sf_plan_run(plan, row.data(), nullptr, is_culprit ? nullptr : result.data()), SF_INVALID_ARGUMENT);
  EXPECT_EQ(result.back(), 7.0);
  EXPECT_EQ(sf_bundle_run(plan, nullptr, is_culprit ? 0 : 1), SF_INVALID_ARGUMENT);
  int done = 0;
  sf_status status = sf_plan_start(plan, is_culprit ? nullptr : row.data(), nullptr, result.data());
  while (status == SF_OK && done == 0) status = sf_plan_test(plan, &done);
  EXPECT_EQ(status, SF_INVALID_ARGUMENT) << "of a test";
  EXPECT_EQ(sf_plan_run(plan, row.data(), nullptr, result.data()), SF_OK) << sf_error_text();
  EXPECT_EQ(result, std::vector<double>(columns, static_cast<double>(here.size)));
  sf_plan_free(plan);
}

}  // namespace steadfold::test
