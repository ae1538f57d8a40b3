// What the MPI library by itself makes of a sum or product of numbers, beside what the interposer makes of it. The
// program's own operators are never called twice. Cost: the call once more, and memory for its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "movement.hpp"

namespace steadfold::interpose {

/// How results of two ways differ.
struct Difference {
  std::uint64_t compared = 0;
  std::uint64_t differing = 0;
  std::uint64_t most_ulps = 0;  // units in the last place; not_a_number where one result is a NaN
  static constexpr std::uint64_t not_a_number = UINT64_MAX;

  void add(const Difference& other) noexcept;
};

class Diagnosis {
 public:
  /// All ranks: makes the call by the MPI library, before the program's buffers change.
  Diagnosis(const Call& call, const Communicator& comm);
  /// The results stand where the call wants them.
  Difference difference() const;

 private:
  const Call& call_;
  int rank_;
  std::vector<std::byte> plain_;
};

/// Whether this call can be diagnosed.
bool is_diagnosable(const Call& call) noexcept;

}  // namespace steadfold::interpose
