// Memory for rows and results that ranks on the same node read and write in place.
//
//   auto x = sf::allocate<double>(n);                 // a range that owns its elements
//   sf::allreduce(x, sf::plus, comm);                 // nothing is copied between ranks of a node
//   std::vector<double, sf::Allocator<double>> y(n);  // the same for a container
//
// Header-only over the C functions of steadfold_memory.h, which says which calls use the memory in place. Needs no MPI.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 201703L

#include <new>

#include "steadfold/steadfold_memory.h"

namespace steadfold {

/// An array of elements, initially zero, in memory from the library. The object owns the memory. The object can be
/// moved, not copied.
template <class T>
class Memory {
  static_assert(std::is_trivially_copyable_v<T>,
                "this memory is not initialised by constructors: elements must be trivially copyable");

 public:
  Memory() = default;
  /// Allocates `count` elements. Throws Error if there is no memory.
  explicit Memory(std::size_t count) : count_(count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
    void* made = nullptr;
    detail::check(sf_allocate(count * sizeof(T), &made));
    elements_.reset(static_cast<T*>(made));
  }
  Memory(Memory&& other) noexcept : elements_(std::move(other.elements_)), count_(std::exchange(other.count_, 0)) {}
  Memory& operator=(Memory&& other) noexcept {
    elements_ = std::move(other.elements_);
    count_ = std::exchange(other.count_, 0);
    return *this;
  }

  /// Give access to the elements, as in std::vector.
  T* data() noexcept { return elements_.get(); }
  const T* data() const noexcept { return elements_.get(); }
  std::size_t size() const noexcept { return count_; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + count_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + count_; }
  T& operator[](std::size_t i) noexcept { return elements_.get()[i]; }
  const T& operator[](std::size_t i) const noexcept { return elements_.get()[i]; }

 private:
  struct Free {
    void operator()(T* elements) const noexcept { sf_free(elements); }
  };
  std::unique_ptr<T, Free> elements_;
  std::size_t count_ = 0;
};

/// Allocates `count` elements. Throws Error if there is no memory.
template <class T>
Memory<T> allocate(std::size_t count) {
  return Memory<T>(count);
}

/// An allocator for standard containers, which puts their elements into memory from the library.
template <class T>
struct Allocator {
  /// The type of an element.
  using value_type = T;

  /// Makes an allocator. Allocators have no state.
  Allocator() = default;
  template <class U>
  constexpr Allocator(const Allocator<U>&) noexcept {}

  /// Allocates memory for `count` elements. Throws std::bad_alloc.
  [[nodiscard]] T* allocate(std::size_t count) {
    void* made = nullptr;
    if (count > SIZE_MAX / sizeof(T) || sf_allocate(count * sizeof(T), &made) != SF_OK) throw std::bad_alloc();
    return static_cast<T*>(made);
  }
  void deallocate(T* elements, std::size_t) noexcept { sf_free(elements); }

  /// All allocators are equal: each may free the memory of another.
  template <class U>
  friend constexpr bool operator==(const Allocator&, const Allocator<U>&) noexcept {
    return true;
  }
  template <class U>
  friend constexpr bool operator!=(const Allocator&, const Allocator<U>&) noexcept {
    return false;
  }
};

}  // namespace steadfold

#endif
