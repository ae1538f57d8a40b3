// What the C boundary does on the way in and out: calls translated, exceptions turned into a status and a text.
// Cost: some 10 ns. Source: ours.
#pragma once

#include <cstring>
#include <exception>
#include <optional>
#include <string>

#include "agreement/call.hpp"
#include "agreement/failure.hpp"
#include "arithmetic/environment.hpp"
#include "steadfold/steadfold.h"

namespace steadfold::capi {

/// The call as the library's own type, and what is wrong with it, if anything: a collective call tells the other ranks
/// before it fails.
struct Translated {
  agreement::Call call;
  std::optional<agreement::Failure> failure;
};
Translated translated(const sf_call* call);

inline const std::byte* bytes(const void* memory) { return static_cast<const std::byte*>(memory); }
inline std::byte* bytes(void* memory) { return static_cast<std::byte*>(memory); }

/// The number in an enumeration of C, which may be any; in C++ loading one that is no enumerator is undefined.
template <class Enumeration>
unsigned number(const Enumeration& field) {
  static_assert(sizeof field == sizeof(unsigned));
  unsigned value = 0;
  std::memcpy(&value, &field, sizeof value);
  return value;
}

/// Runs `body`; no exception leaves.
template <class Body>
sf_status caught(Body body) noexcept {
  try {
    body();
    return SF_OK;
  } catch (const agreement::Failure& failure) {
    sf_set_error_text(failure.what());
    return static_cast<sf_status>(failure.status());
  } catch (const std::exception& error) {
    sf_set_error_text(agreement::text_of(error));
    return SF_INTERNAL;
  } catch (...) {
    sf_set_error_text("an unknown exception (a fault of the library), please report it");
    return SF_INTERNAL;
  }
}

/// The same in the promised environment.
template <class Body>
sf_status guarded(Body body) noexcept {
  return caught([&] {
    const arithmetic::PromisedEnvironment environment;
    body();
  });
}

}  // namespace steadfold::capi
