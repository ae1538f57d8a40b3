// Compares the MPI library's own result of a sum or product of numbers with the interposer's result. User operators are
// never diagnosed, since that would call them twice. Cost: one more call of the MPI library, and memory for its result.
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

  void add(const Difference& other) noexcept;
};

class Diagnosis {
 public:
  /// Calls the MPI library for its result, before the program's buffers change. All ranks make this call.
  Diagnosis(const Call& call, const Communicator& comm);
  /// Returns the difference. Call this function after the interposer's results are in the call's buffer.
  Difference difference() const;

 private:
  const Call& call_;
  int rank_;
  std::vector<std::byte> plain_;
};

/// Whether this call can be diagnosed.
bool is_diagnosable(const Call& call) noexcept;

}  // namespace steadfold::interpose
