// How the rows of all ranks come together: by collective operations of the program's own communicator, which carry
// bytes and do no arithmetic, so the MPI library's choice of an algorithm cannot change a bit. Cost, of n bytes on p
// ranks. Allreduce: narrow, one allgather and p n bytes; wide, an all-to-all and an allgather, 2 n bytes per rank.
// Reduce: one gather. Reduce_scatter: an all-to-all. Scan: the library's scan of records of p rows. Memory: a few MiB
// per thread that reduces, or p elements if these are larger.
#pragma once

#include <mpi.h>

#include <span>

#include "communicator.hpp"
#include "rows.hpp"

namespace steadfold::interpose {

/// A call's elements and where they stand. `from` may be MPI_IN_PLACE, as in MPI.
struct Operands {
  const Elements& elements;
  const void* from;
  void* to;
};

/// Whether rows of one element from each rank fit the memory that is used. The same on all ranks.
bool fits(const Elements& elements, const Communicator& comm) noexcept;

// These return what the MPI library returned. Throw Fault.
int allreduce(const Operands& call, MPI_Count count, const Communicator& comm);
int reduce(const Operands& call, MPI_Count count, int root, const Communicator& comm);
/// Rank r gets counts[r] elements.
int reduce_scatter(const Operands& call, std::span<const MPI_Count> counts, const Communicator& comm);
int scan(const Operands& call, MPI_Count count, bool is_inclusive, const Communicator& comm);

}  // namespace steadfold::interpose
