#include "support/allocations.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace steadfold::test {

Allocations& own_allocations() noexcept {
  static constinit thread_local Allocations of_this_thread;
  return of_this_thread;
}

}  // namespace steadfold::test

// The library calls this function, too.
[[gnu::noinline]] void* operator new(std::size_t size) {
  steadfold::test::Allocations& own = steadfold::test::own_allocations();
  if (own.refuses_all || (own.until_refusal >= 0 && own.until_refusal-- == 0)) throw std::bad_alloc();
  own.count += 1;
  own.unfreed += 1;
  own.largest = std::max(own.largest, size);
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  steadfold::test::own_allocations().unfreed -= memory == nullptr ? 0 : 1;
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  steadfold::test::own_allocations().unfreed -= memory == nullptr ? 0 : 1;
  std::free(memory);
}
