// Ranks of a node reduce together, without messages, through memory that they share. And what a program has under way
// besides goes on while a rank waits there.
#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

#include "ranks.hpp"
#include "run_ranks.hpp"
#include "support/together_cases.hpp"

namespace steadfold::tests {
namespace {

class TogetherTest : public testing::Test {
 protected:
  void SetUp() override {
    sf_group* group = nullptr;
    ASSERT_EQ(sf_group_of(world.comm, &group), SF_OK) << sf_error_text();
    here = {world.comm, world.rank, world.size, group};
  }

  Ranks world;
  test::Here<MPI_Comm> here{};
};

TEST_F(TogetherTest, VectorsHaveTheBitsOfMessages) {
  constexpr std::size_t widths[] = {1, 8, 9, 255, 4095, 16384, 40001};  // a piece has 128 KiB
  test::vectors_have_the_bits_of_messages(here, widths);
}

TEST_F(TogetherTest, UserOperators) { test::vectors_of_user_operators(here); }
TEST_F(TogetherTest, RowsHaveTheBitsOfOneProcess) { test::rows_have_the_bits_of_one_process(here); }
TEST_F(TogetherTest, RowsDealtOneByOne) { test::rows_dealt_one_by_one(here); }

TEST_F(TogetherTest, ResultsOfAnotherSize) {
  for (const std::size_t columns : {1u, 50u, 5000u, 40000u}) test::results_of_another_size(here, columns);
}

TEST_F(TogetherTest, SomeStayAndSomeDoNot) {
  for (const std::size_t columns : {900u, 40000u}) test::some_stay_and_some_do_not(here, columns);
}

TEST_F(TogetherTest, DataThatCannotBeUsed) {
  for (const std::size_t columns : {1u, 100u, 40000u}) test::data_that_cannot_be_used(here, columns);
}

/// The next rank comes to the sum only after it has received a message that this one has started, and whose end needs
/// this one's library to make progress.
TEST_F(TogetherTest, MessagesOfTheProgramGoOnMeanwhile) {
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
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
