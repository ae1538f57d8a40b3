// What the APIs for C++20 and C++17 share of memory from the library. Included by memory.hpp and cxx17.hpp, which are
// the headers to include.
#pragma once

#include "steadfold/common_group.hpp"

#if __cplusplus >= 201703L

#include <new>

#include "steadfold/steadfold_memory.h"

namespace steadfold {

namespace detail {

/// Elements in memory from the library, all zero. Moves, does not copy.
template <class T>
class OwnedMemory {
  static_assert(std::is_trivially_copyable_v<T>,
                "no constructor runs in this memory: elements must be trivially copyable");

 public:
  OwnedMemory() = default;
  /// Throws Error when there is no memory left.
  explicit OwnedMemory(std::size_t count) : count_(count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
    void* made = nullptr;
    detail::check(sf_allocate(count * sizeof(T), &made));
    elements_.reset(static_cast<T*>(made));
  }
  OwnedMemory(OwnedMemory&& other) noexcept
      : elements_(std::move(other.elements_)), count_(std::exchange(other.count_, 0)) {}
  OwnedMemory& operator=(OwnedMemory&& other) noexcept {
    elements_ = std::move(other.elements_);
    count_ = std::exchange(other.count_, 0);
    return *this;
  }

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

}  // namespace detail

/// For standard containers.
template <class T>
struct Allocator {
  using value_type = T;

  Allocator() = default;
  template <class U>
  constexpr Allocator(const Allocator<U>&) noexcept {}

  /// Throws std::bad_alloc.
  [[nodiscard]] T* allocate(std::size_t count) {
    void* made = nullptr;
    if (count > SIZE_MAX / sizeof(T) || sf_allocate(count * sizeof(T), &made) != SF_OK) throw std::bad_alloc();
    return static_cast<T*>(made);
  }
  void deallocate(T* elements, std::size_t) noexcept { sf_free(elements); }

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
