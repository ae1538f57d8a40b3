// Steadfold for C++20 over MPI: the functions of group.hpp for MPI's communicators.
//
//   double s = sf::sum(x, MPI_COMM_WORLD);              // correctly rounded, whoever holds which elements
//   sf::allreduce(buffer, sf::plus, MPI_COMM_WORLD);    // MPI's shape
//
// Header-only over the C functions of steadfold_mpi.h; link the library built for your MPI.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 202002L

#include "steadfold/common_mpi.hpp"

namespace steadfold {

/// Makes the accumulator the sum of those of all ranks, by one MPI_Allreduce. Collective. Ranks whose accumulators have
/// different shapes get an Error, or MPI's own where their sizes differ.
template <class A>
  requires requires(A& a) { a.unpack(a.packed()); }
void merge_ranks(A& accumulator, MPI_Comm comm) {
  const MpiAccumulators handles(accumulator.get());
  auto packed = accumulator.packed();
  if (MPI_Allreduce(MPI_IN_PLACE, packed.data(), 1, handles.type(), handles.op(), comm) != MPI_SUCCESS)
    throw Error(SF_TRANSPORT_FAILED, "accumulators were not merged (MPI_Allreduce failed), see the MPI library");
  accumulator.unpack(packed);
}

}  // namespace steadfold

#endif
