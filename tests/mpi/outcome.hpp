// What a call came to on this rank: a value, or what it threw.
#pragma once

#include <mpi.h>

#include <new>
#include <string>

#include "steadfold/steadfold.hpp"

namespace steadfold::tests {

/// An exception of an operator's author.
struct Thrown {
  int rank;
};

struct Outcome {
  sf_status status = SF_OK;
  std::string text;
  int thrown_on = -1;  // whose Thrown it was

  bool failed() const { return status != SF_OK || thrown_on >= 0; }
  std::string string() const {
    return thrown_on >= 0 ? "Thrown by rank " + std::to_string(thrown_on)
                          : "status " + std::to_string(status) + " '" + text + "'";
  }
};

template <class Call>
Outcome outcome_of(const Call& call) {
  try {
    call();
    return {};
  } catch (const Error& error) {
    return {error.status(), error.what(), -1};
  } catch (const Thrown& thrown) {
    return {SF_OK, "", thrown.rank};
  } catch (const std::bad_alloc&) {
    return {SF_INTERNAL, "out of memory", -1};
  }
}

}  // namespace steadfold::tests
