// Failures: those of the C interface as exceptions of steadfold._errors, and Python's own as texts for other ranks.
#pragma once

#include <cstdarg>
#include <string>

#include "numpy.hpp"
#include "steadfold/steadfold_group.h"

namespace steadfold::python {

/// Throws the exception of this status, with the error text of this thread's last call.
[[noreturn]] void fail(sf_status status);

inline void check(sf_status status) {
  if (status != SF_OK) fail(status);
}

/// Throws steadfold.InvalidArgumentError (a ValueError) or TypeError. The text is that of PyErr_Format.
[[noreturn]] void refuse(const char* format, ...);
[[noreturn]] void refuse_type(const char* format, ...);

/// Calls `make`; where it throws, tells the other ranks of the group (if there is one) that this rank cannot make its
/// call, so that none waits for it, and throws on.
template <class Make>
auto or_tell(sf_group* group, const Make& make) {
  try {
    return make();
  } catch (const nb::python_error& error) {
    if (group != nullptr) {
      const std::string text = nb::cast<std::string>(nb::str(error.value()));
      nb::gil_scoped_release others_may_run;
      sf_group_refuse(group, SF_INVALID_ARGUMENT, text.c_str());
    }
    throw;
  }
}

}  // namespace steadfold::python
