// More ranks on a node than have a core, as on nodes of many cores: they reduce over a board, without messages, each
// its share of columns that may be fewer than ranks. The bits of messages, of one-shot calls, and of a reference.
#include <algorithm>
#include <span>
#include <vector>

#include "mpi/in_world.hpp"

namespace steadfold::tests::many_ranks_test {
namespace {

template <class T>
void compare(const test::Here<MPI_Comm>& here, const Method& method, std::size_t columns, std::uint64_t seed) {
  const auto row = test::row_of<T>(here, columns, seed);
  auto plan = Plan<T>::of_vectors(sf::plus, columns, here.comm, {.method = method});
  auto by_messages = Plan<T>::of_vectors(sf::plus, columns, here.comm, {.method = method, .schedule = "binomial"});
  EXPECT_TRUE(test::says_on_board(plan.describe()));
  std::vector<T> due(columns), result(columns);
  by_messages.run(row, due);
  for (int run = 0; run < 3; ++run) {
    std::ranges::fill(result, T(7));
    plan.run(row, result);
    EXPECT_EQ(test::bytes_of<T>(result), test::bytes_of<T>(due))
        << columns << " columns, seed " << seed << ", run " << run;
  }
  result.assign(row.begin(), row.end());
  sf::allreduce(result, sf::plus, here.comm, {.method = method});
  EXPECT_EQ(test::bytes_of<T>(result), test::bytes_of<T>(due)) << columns << " columns, one-shot, seed " << seed;
}

class ManyRanksTest : public InWorld {};

TEST_F(ManyRanksTest, ExactSumsOfHostileTerms) {
  test::exact_sums_of_hostile_terms<double>(here);
  test::exact_sums_of_hostile_terms<float>(here);
}

TEST_F(ManyRanksTest, VectorsHaveTheBitsOfMessages) {
  std::uint64_t seed = 9000;
  for (const std::size_t columns : {1u, 9u, 100u, 257u, 2000u}) {  // of 257 some ranks have no share
    compare<double>(here, sf::tree(), columns, ++seed);
    compare<double>(here, sf::exact(), columns, ++seed);
    compare<float>(here, sf::binned(), columns, ++seed);
  }
}

}  // namespace
}  // namespace steadfold::tests::many_ranks_test
