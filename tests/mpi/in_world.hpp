// A fixture for what every rank of MPI_COMM_WORLD does alike: the rank as the cases of
// support/board_reduction_cases.hpp want it.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include "mpi/ranks.hpp"
#include "support/board_reduction_cases.hpp"

namespace steadfold::tests {

class InWorld : public testing::Test {
 protected:
  void SetUp() override {
    sf_group* group = nullptr;
    ASSERT_EQ(sf_group_of(world.comm, &group), SF_OK) << sf_error_text();
    here = {world.comm, world.rank, world.size, group};
  }

  Ranks world;
  test::Here<MPI_Comm> here{};
};

}  // namespace steadfold::tests
