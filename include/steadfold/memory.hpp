// Steadfold for C++20: memory for rows and results that ranks on the same node read and write in place.
//
//   auto x = sf::allocate<double>(n);                 // as a std::span that owns its elements
//   sf::allreduce(x.span(), sf::plus, comm);          // nothing is copied between ranks of a node
//   std::vector<double, sf::Allocator<double>> y(n);  // the same for a container
//
// Header-only over the C functions of steadfold_memory.h, which say when it is used so. Needs no MPI.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 202002L

#include <span>

#include "steadfold/common_memory.hpp"

namespace steadfold {

/// Elements in memory from the library, all zero. Moves, does not copy.
template <class T>
  requires std::is_trivially_copyable_v<T>
class Memory : public detail::OwnedMemory<T> {
 public:
  using detail::OwnedMemory<T>::OwnedMemory;
  std::span<T> span() noexcept { return {this->data(), this->size()}; }
  std::span<const T> span() const noexcept { return {this->data(), this->size()}; }
};

/// `count` elements. Throws Error when there is no memory left.
template <class T>
Memory<T> allocate(std::size_t count) {
  return Memory<T>(count);
}

}  // namespace steadfold

#endif
