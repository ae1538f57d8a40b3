// What this thread allocates, the library included: allocations.cpp has the operator new of the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace steadfold::test {

struct Allocations {
  std::uint64_t count = 0;
  std::int64_t unfreed = 0;  // allocations, less what this thread freed
  std::size_t largest = 0;   // in bytes
  /// So many more are given, and the next one is refused; -1: all are given.
  std::int64_t until_refusal = -1;
  bool refuses_all = false;
};

/// Those of this thread.
Allocations& own_allocations() noexcept;

/// The bytes of the largest one that `body` makes on this thread.
template <class Body>
std::size_t largest_allocation(const Body& body) {
  own_allocations().largest = 0;
  body();
  return own_allocations().largest;
}

}  // namespace steadfold::test
