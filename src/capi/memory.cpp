// The C functions for memory that ranks on the same node can use in place.
// Cost: a search in a list, and the system call that returns pages.
#include "steadfold/steadfold_memory.h"

#include <cstdlib>
#include <cstring>

#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "order/index.hpp"
#include "transport/shared/arena.hpp"

using steadfold::Status;
using steadfold::call::Failure;
using steadfold::transport::Arena;

namespace {

/// Returns ordinary memory, used if memory cannot be shared.
std::byte* ordinary(std::uint64_t bytes) noexcept {
  if (bytes > SIZE_MAX - Arena::page) return nullptr;
  void* const made = std::aligned_alloc(Arena::page, (bytes / Arena::page + 1) * Arena::page);
  if (made != nullptr) std::memset(made, 0, bytes);
  return static_cast<std::byte*>(made);
}

}  // namespace

extern "C" {

sf_status sf_allocate(uint64_t bytes, void** memory) {
  return steadfold::capi::caught([&] {
    steadfold::capi::require_address(memory, "the memory");
    std::byte* made = Arena::own().take(bytes);
    if (made == nullptr) made = ordinary(bytes);
    if (made == nullptr)
      throw Failure(Status::internal,
                    "no " + steadfold::order::text_as_given(bytes) +
                        " bytes of memory are available (the machine has no more), ask for less memory");
    *memory = made;
  });
}

void sf_free(void* memory) {
  if (memory != nullptr && !Arena::free(static_cast<std::byte*>(memory))) std::free(memory);
}
}
