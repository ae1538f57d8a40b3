// Ranks of a node reduce over a board, without messages. And what a program has under way
// besides goes on while a rank waits there.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "mpi/in_world.hpp"
#include "steadfold/memory.hpp"
#include "support/sanitized.hpp"

namespace steadfold::tests::board_reduction_test {
namespace {

class BoardReductionTest : public InWorld {};

TEST_F(BoardReductionTest, VectorsHaveTheBitsOfReferences) {
  constexpr std::size_t widths[] = {1, 9, 70001, 8, 255, 4095, 65536, 140001};  // a piece has 512 KiB
  test::vectors_have_the_bits_of_references(here, std::span(widths).first(test::sanitized   ? 3
                                                                          : world.size <= 4 ? 8
                                                                                            : 6));
}

TEST_F(BoardReductionTest, ExactSumsOfHostileTerms) {
  test::exact_sums_of_hostile_terms<double>(here);
  test::exact_sums_of_hostile_terms<float>(here);
}

TEST_F(BoardReductionTest, UserOperators) {
  test::vectors_of_user_operators(here);
  test::rows_of_an_operator_that_does_not_commute(here);
}
TEST_F(BoardReductionTest, RowsHaveTheBitsOfReferences) { test::rows_have_the_bits_of_references(here); }
TEST_F(BoardReductionTest, RowsDealtOneByOne) { test::rows_dealt_one_by_one(here); }

TEST_F(BoardReductionTest, ResultsOfAnotherSize) {
  for (const std::size_t columns : {1u, 50u, 5000u, 70000u}) test::results_of_another_size(here, columns);
}

TEST_F(BoardReductionTest, SomeStayAndSomeDoNot) {
  for (const std::size_t columns : {900u, 70000u}) test::some_stay_and_some_do_not(here, columns);
}

TEST_F(BoardReductionTest, DataThatCannotBeUsed) {
  for (const std::size_t columns : {1u, 100u, 70000u}) test::data_that_cannot_be_used(here, columns);
}

/// Rows and results that the library allocates are used where they are: ranks post where they are, and no columns. The
/// bits stay those of messages, also where some rank has other memory in a run.
template <class T>
void compare_in_place(const test::Here<MPI_Comm>& here, const auto& op, const Method& method, std::size_t columns,
                      std::uint64_t seed) {
  const auto made = test::row_of<T>(here, columns, seed);
  const std::span row(made);
  auto plan = Plan<T>::of_vectors(op, columns, here.comm, {.method = method});
  auto apart = Plan<T>::of_vectors(op, columns, here.comm, {.method = method, .schedule = "recursive_doubling"});
  std::vector<T> due(columns), ordinary(columns);
  apart.run(row, due);
  auto both = sf::allocate<T>(2 * columns + 3);  // the result begins at no cache line
  const auto own = std::span(both).first(columns), result = std::span(both).subspan(columns + 1, columns);
  std::uint64_t posted = 0;  // bytes, by the last run
  const auto run = [&](std::span<const T> from, std::span<T> to) {
    std::ranges::copy(row, own.begin());
    if (to.data() != from.data()) std::ranges::fill(to, T(7));
    plan.run(from, to);
    posted = plan.figures().bytes;
    EXPECT_EQ(test::bytes_of<T>(to), test::bytes_of<T>(due))
        << here.size << " ranks, " << columns << " columns, seed " << seed;
  };
  const auto others = static_cast<std::uint64_t>(here.size - 1);
  run(own, result);
  EXPECT_LE(posted, others * 3 * 64) << "in place; of the first plan, it maps other ranks' memory";
  for (int again = 0; again < 2; ++again) {
    run(own, result);
    EXPECT_LE(posted, others * 2 * 64) << "in place";
    run(own, own);
    EXPECT_LE(posted, others * 2 * 64) << "in place, over the row";
    const bool is_culprit = here.rank == here.size - 1;
    run(is_culprit ? row : own, result);
    EXPECT_GT(posted, others * 2 * 64) << "a rank whose row is elsewhere";
    run(own, is_culprit ? std::span<T>(ordinary) : result);
    EXPECT_GT(posted, others * 2 * 64) << "a rank whose result is elsewhere";
  }
  both = sf::allocate<T>(columns);
  std::ranges::copy(row, both.begin());
  plan.run(both);
  EXPECT_EQ(test::bytes_of<T>(both), test::bytes_of<T>(due)) << "other memory, seed " << seed;
}

TEST_F(BoardReductionTest, MemoryOfTheLibraryIsUsedInPlace) {
  if (world.size == 1) return;  // it reduces its own row
  std::uint64_t seed = 7000 + 10 * static_cast<std::uint64_t>(world.size);
  for (const std::size_t columns : {1000u, 4095u, 40001u, 200000u}) {
    if (world.size > 4 && columns != 1000 && columns != 40001) continue;
    compare_in_place<double>(here, sf::plus, sf::tree(), columns, ++seed);
    compare_in_place<double>(here, sf::plus, sf::exact(), columns, ++seed);
    compare_in_place<float>(here, sf::times, sf::tree(), columns, ++seed);
    compare_in_place<std::int64_t>(here, sf::plus, sf::plain(), columns, ++seed);
  }
}

/// One-shot calls, and containers.
TEST_F(BoardReductionTest, ContainersInMemoryOfTheLibrary) {
  std::vector<double, sf::Allocator<double>> x(50000);
  for (int call = 0; call < 4; ++call) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + here.index() + 1);
    std::vector<double> due(x.begin(), x.end());
    sf::allreduce(due, sf::plus, world.comm, {.schedule = "recursive_doubling"});
    sf::allreduce(x, sf::plus, world.comm);
    EXPECT_TRUE(std::ranges::equal(x, due)) << call;
    if (call == 2) x.resize(60000);
  }
}

/// The next rank comes to the sum only after it has received a message that this one has started, and whose end needs
/// this one's library to make progress.
TEST_F(BoardReductionTest, MessagesOfTheProgramGoOnMeanwhile) {
  const std::vector<char> sent(3 << 20, 'x');
  std::vector<char> received(sent.size());
  const int right = (world.rank + 1) % world.size;
  const int left = (world.rank + world.size - 1) % world.size;
  const std::vector<double> mine = {1.0};
  Plan<double> plan(plus, 1, world.comm);
  for (int run = 0; run < 6; ++run) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent.data(), static_cast<int>(sent.size()), MPI_CHAR, right, run, world.comm, &request);
    if (world.rank % 2 == run % 2)
      MPI_Recv(received.data(), static_cast<int>(received.size()), MPI_CHAR, left, run, world.comm, MPI_STATUS_IGNORE);
    EXPECT_EQ(run % 3 == 0 ? plan.run(mine) : sum(mine, world.comm), static_cast<double>(world.size));
    if (world.rank % 2 != run % 2)
      MPI_Recv(received.data(), static_cast<int>(received.size()), MPI_CHAR, left, run, world.comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(received, sent);
  }
}

}  // namespace
}  // namespace steadfold::tests::board_reduction_test
