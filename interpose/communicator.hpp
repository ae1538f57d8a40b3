// What the interposer knows of a communicator, kept on it as an attribute: handles are used again, attributes end with
// their communicator. Found out by each rank alone, without a message.
#pragma once

#include <mpi.h>

#include "rows.hpp"

namespace steadfold::interpose {

struct Communicator {
  MPI_Comm handle = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;
  Treatment treatment = Treatment::tree;  // else why its calls are passed on
};

Communicator communicator_of(MPI_Comm comm);
/// MPI is about to be finalized: from then on the MPI library is asked again whether it runs.
void note_end() noexcept;

}  // namespace steadfold::interpose
