// The entry to and exit from C functions: converts calls, and turns exceptions into a status and a text.
// Cost: some 10 ns.
#pragma once

#include <cstring>
#include <deque>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "arithmetic/environment.hpp"
#include "call/description.hpp"
#include "call/failure.hpp"
#include "call/held_arguments.hpp"
#include "steadfold/steadfold.h"

namespace steadfold::capi {

/// Returns the error for a null call.
call::Failure no_call();

/// Converts a call over `ranks` ranks to the library's type. `arguments` is empty memory for the array and the grid to
/// which the call will point; it also points to the caller's lists and texts. Throws Failure if the pointer is null, or
/// if a field has a number that is not an enumerator.
call::Call converted_call(const sf_call* call, call::HeldArguments& arguments, int32_t ranks = 1);
/// Converts several calls. Adds memory for every call to `arguments`. Throws as `converted_call` does.
std::vector<call::Call> converted_calls(const sf_call* calls, size_t count, std::deque<call::HeldArguments>& arguments,
                                        int32_t ranks);

inline call::Data data_of(const void* first, const void* second, void* result) noexcept {
  return {.first = static_cast<const std::byte*>(first),
          .second = static_cast<const std::byte*>(second),
          .result = static_cast<std::byte*>(result)};
}

/// Throws Failure if a caller's list of `count` elements of `bytes` bytes cannot fit in memory.
void require_count(uint64_t count, size_t bytes, const char* what);
/// Returns the caller's list, or an empty list if its address is null.
template <class T>
std::span<const T> list_of(const T* first, uint64_t count, const char* what) {
  require_count(count, sizeof(T), what);
  return {first, first == nullptr ? 0 : count};
}

inline call::Failure nowhere(const char* what) {
  return {Status::invalid_argument,
          std::string(what) + " cannot be returned (the address for it is null), give an address"};
}
inline void require_address(const void* address, const char* what) {
  if (address == nullptr) throw nowhere(what);
}

/// Reads a field of a C enumeration as a number. The caller may have stored any value there, and in C++ it is undefined
/// behaviour to load a value that is not an enumerator.
template <class Enumeration>
unsigned number(const Enumeration& field) {
  static_assert(sizeof field == sizeof(unsigned));
  unsigned value = 0;
  std::memcpy(&value, &field, sizeof value);
  return value;
}

/// Runs `body` and converts exceptions to a status.
template <class Body>
sf_status caught(Body body) noexcept {
  try {
    body();
    return SF_OK;
  } catch (const call::Failure& failure) {
    sf_set_error_text(failure.what());
    return static_cast<sf_status>(failure.status());
  } catch (const std::exception& error) {
    sf_set_error_text(call::text_of(error));
    return SF_INTERNAL;
  } catch (...) {
    sf_set_error_text("an unknown exception (an error in the library), report this error");
    return SF_INTERNAL;
  }
}

/// Runs `body` in the promised floating-point environment, and converts exceptions to a status.
template <class Body>
sf_status guarded(Body body) noexcept {
  return caught([&] {
    const arithmetic::PromisedEnvironment environment;
    body();
  });
}

}  // namespace steadfold::capi
