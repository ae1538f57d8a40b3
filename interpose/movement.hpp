// How the rows of all ranks come together: by collective operations of the program's own communicator, which carry
// bytes and do no arithmetic, so the MPI library's choice of an algorithm cannot change a bit. Cost, of n bytes on p
// ranks. Allreduce: narrow, one allgather and p n bytes; wide, an all-to-all and an allgather, 2 n bytes per rank.
// Reduce: one gather. Reduce_scatter: an all-to-all. Scan: the library's scan of records of p rows. Memory: a few MiB
// per thread that reduces, or p elements if these are larger.
#pragma once

#include <mpi.h>

#include <numeric>
#include <vector>

#include "communicator.hpp"
#include "functions.h"
#include "rows.hpp"

namespace steadfold::interpose {

enum class Collective { allreduce, reduce, reduce_scatter, scan, exscan };

/// Which function a program calls, and where: the address that the call returns to, or null.
struct Place {
  steadfold_interpose_index function;
  const void* site;
};
/// The function's name.
const char* name_of(steadfold_interpose_index function) noexcept;

/// What a program calls for. `from` may be MPI_IN_PLACE, as in MPI.
struct Call {
  Collective collective;
  Place place;
  Elements elements;
  MPI_Comm comm;
  const void* from;
  void* to;
  MPI_Count count;                     // of elements of a row
  int root = 0;                        // of reduce
  std::vector<MPI_Count> counts = {};  // of reduce_scatter: rank r gets counts[r] elements

  /// Where the elements stand that this rank contributes.
  const void* input() const noexcept { return from == MPI_IN_PLACE ? to : from; }
  /// Of elements that a rank gets.
  MPI_Count result_count(int rank) const noexcept {
    switch (collective) {
      case Collective::allreduce:
      case Collective::scan: return count;
      case Collective::reduce: return rank == root ? count : 0;
      case Collective::exscan: return rank > 0 ? count : 0;
      case Collective::reduce_scatter: return counts[static_cast<std::size_t>(rank)];
    }
    return 0;
  }
  /// Of elements that this rank contributes.
  MPI_Count input_count() const noexcept { return count + total(); }
  /// The sum of `counts`.
  MPI_Count total() const noexcept { return std::accumulate(counts.begin(), counts.end(), MPI_Count{0}); }
};

/// Elements dealt to ranks in messages, in bytes.
struct Dealt {
  std::vector<int> bytes;
  std::vector<int> begins;

  explicit Dealt(int size) : bytes(static_cast<std::size_t>(size)), begins(bytes.size()) {}
  /// The same number of bytes for each, or from each.
  void deal(int each) {
    for (std::size_t r = 0; r < bytes.size(); ++r) {
      bytes[r] = each;
      begins[r] = static_cast<int>(r) * each;
    }
  }
};

/// Whether rows of one element from each rank fit the memory that is used. The same on all ranks.
bool fits(const Elements& elements, const Communicator& comm) noexcept;

/// Returns what the MPI library returned. Throws Fault.
int carry_out(const Call& call, const Communicator& comm);

}  // namespace steadfold::interpose
