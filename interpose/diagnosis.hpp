// Compares the MPI library's own result of a sum or product of numbers with the interposer's result. User operators are
// never diagnosed, since that would call them twice. Cost: two more calls of the MPI library, and memory for their
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "movement.hpp"

namespace steadfold::interpose {

/// The difference between two results of a reduction.
struct Difference {
  std::uint64_t compared = 0;
  std::uint64_t differing = 0;
  std::uint64_t most_ulps = 0;  // largest difference in units in the last place; not_a_number if one result is a NaN
  static constexpr std::uint64_t not_a_number = UINT64_MAX;
  double most_relative = 0;  // largest difference, divided by the largest term of the sum, or by the larger product

  void add(const Difference& other) noexcept;
};

class Diagnosis {
 public:
  /// Calls the MPI library for its result, before the program's buffers change. All ranks make this call.
  Diagnosis(const Call& call, const Communicator& comm);
  /// Returns the difference. Call this function after the interposer's results are in the call's buffer.
  Difference difference() const;

 private:
  /// Calls the MPI library's function with these elements and operator. Writes to `result`.
  void call_library(const void* from, void* result, MPI_Datatype type, MPI_Op op) const;
  template <class Real>
  void find_largest_terms();
  template <class Real, class Word>
  Difference between() const;

  const Call& call_;
  const Communicator& comm_;
  std::size_t parts_;             // numbers in an element: 2 if it is complex
  std::vector<std::byte> plain_;  // the result of the MPI library
  std::vector<double> largest_;   // for sums: the largest absolute term of each result
};

/// Throws Fault on one rank if the ranks call with different functions, counts, sizes of elements, operators or roots.
/// No rank waits for a rank whose data it does not need.
void require_equal_calls(const Call& call, const Communicator& comm);

/// Whether this call can be diagnosed.
bool is_diagnosable(const Call& call) noexcept;

}  // namespace steadfold::interpose
