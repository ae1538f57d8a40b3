// Brings the rows of all ranks together, with collective operations on the program's own communicator. The operations
// carry bytes and do no arithmetic, so the MPI library's choice of an algorithm cannot change a bit.
// Cost, for n bytes on p ranks: a narrow allreduce takes one allgather and p n bytes; a wide allreduce takes an
// all-to-all and an allgather, 2 n bytes per rank. Reduce takes one gather, reduce_scatter an all-to-all. Scan takes
// the library's scan of records of p rows. Memory: a few MiB per thread that reduces, or p elements if these are
// larger.
#pragma once

#include <mpi.h>

#include <numeric>
#include <vector>

#include "communicator.hpp"
#include "functions.h"
#include "rows.hpp"
#include "site.hpp"

namespace steadfold::interpose {

enum class Collective { allreduce, reduce, reduce_scatter, scan, exscan };

/// The place of a call: the function that a program calls, and where; without addresses if nothing asks for these.
struct Place {
  steadfold_interpose_index function;
  Addresses addresses;

  bool operator==(const Place&) const = default;
};
/// Returns the function's name.
const char* name_of(steadfold_interpose_index function) noexcept;

/// A call of a program. `from` may be MPI_IN_PLACE, as in MPI.
struct Call {
  Collective collective;
  Place place;
  Elements elements;
  MPI_Comm comm;
  const void* from;
  void* to;
  MPI_Count count;                     // number of elements per row
  int root = 0;                        // the rank that gets the result of a reduce
  std::vector<MPI_Count> counts = {};  // for reduce_scatter: rank r gets counts[r] elements

  /// Returns the elements that this rank contributes.
  const void* input() const noexcept { return from == MPI_IN_PLACE ? to : from; }
  /// Returns the number of elements that a rank gets.
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
  /// Returns the number of elements that this rank contributes.
  MPI_Count input_count() const noexcept { return count + total(); }
  /// Returns the sum of `counts`.
  MPI_Count total() const noexcept { return std::accumulate(counts.begin(), counts.end(), MPI_Count{0}); }
};

/// The sizes and offsets, in bytes, of the parts of a buffer. There is one part per rank.
struct Dealt {
  std::vector<int> bytes;
  std::vector<int> begins;

  explicit Dealt(int size) : bytes(static_cast<std::size_t>(size)), begins(bytes.size()) {}
  /// Gives each rank a part of `each` bytes.
  void deal(int each) {
    for (std::size_t r = 0; r < bytes.size(); ++r) {
      bytes[r] = each;
      begins[r] = static_cast<int>(r) * each;
    }
  }
};

/// Whether a row of one element from each rank fits the memory limit. The result is the same on all ranks.
bool fits(const Elements& elements, const Communicator& comm) noexcept;

/// Reduces the rows of all ranks. Returns the MPI library's error code. Throws Fault.
int carry_out(const Call& call, const Communicator& comm);

}  // namespace steadfold::interpose
