// Counts the memory that a thread allocates, also in the library. allocations.cpp has the program's operator new.
#pragma once

#include <cstddef>
#include <cstdint>

namespace steadfold::test {

struct Allocations {
  std::uint64_t count = 0;
  std::int64_t unfreed = 0;  // allocations minus frees of this thread
  std::size_t largest = 0;   // in bytes
  /// The number of allocations that still succeed; the next one fails. -1: all succeed.
  std::int64_t until_refusal = -1;
  bool refuses_all = false;
};

/// The counts of this thread.
Allocations& own_allocations() noexcept;

/// The size in bytes of the largest allocation that `body` makes on this thread.
template <class Body>
std::size_t largest_allocation(const Body& body) {
  own_allocations().largest = 0;
  body();
  return own_allocations().largest;
}

}  // namespace steadfold::test
