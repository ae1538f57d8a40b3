// Failures: those of the C interface as exceptions of steadfold._errors, and Python's own as texts for other ranks.
#pragma once

#include <cstdarg>
#include <limits>
#include <string>
#include <type_traits>

#include "numpy.hpp"
#include "steadfold/steadfold_group.h"

namespace steadfold::python {

/// Throws the exception of this status, with the error text of this thread's last call; or what is raised already.
[[noreturn]] void fail(sf_status status);

inline void check(sf_status status) {
  if (status != SF_OK) fail(status);
}

/// Throws an exception that Python code has made.
[[noreturn]] void raise(const nb::object& exception);

/// Calls the library without Python's lock: it may wait for others, or for a thread of its own that wants the lock.
template <class Make>
sf_status without_lock(const Make& make) {
  nb::gil_scoped_release others_may_run;
  return make();
}

/// Throws steadfold.InvalidArgumentError (a ValueError) or TypeError. The text is that of PyErr_Format.
[[noreturn]] void refuse(const char* format, ...);
[[noreturn]] void refuse_type(const char* format, ...);

/// The text of the exception that is being handled. Never throws.
std::string text_of_current_exception() noexcept;

/// Calls `make`; where it throws, tells the other ranks of the group (if there is one) that this rank cannot make its
/// call, so that none waits for it, and throws on.
template <class Make>
auto or_tell(sf_group* group, const Make& make) {
  try {
    return make();
  } catch (...) {
    if (group != nullptr) {
      const std::string text = text_of_current_exception();
      without_lock([&] { return sf_group_refuse(group, SF_INVALID_ARGUMENT, text.c_str()); });
    }
    throw;
  }
}

/// A number that Python gave as `what`; TypeError for anything else, and what T cannot hold.
template <class T>
T number(nb::handle given, const char* what) {
  T value{};
  if (nb::try_cast<T>(given, value)) return value;
  if constexpr (std::is_integral_v<T>)
    refuse_type("%s is %R (it is a whole number from %s to %s), give one", what, given.ptr(),
                std::to_string(std::numeric_limits<T>::min()).c_str(),
                std::to_string(std::numeric_limits<T>::max()).c_str());
  else
    refuse_type("%s is %R (it is a list of whole numbers that are not negative), give one", what, given.ptr());
}

/// A timeout of so many seconds, as the library takes it: below zero, or a NaN, it is over at once.
inline std::uint64_t nanoseconds_of(double seconds) {
  constexpr double for_ever = 1e9;
  if (seconds > for_ever) return SF_FOREVER;
  return seconds > 0 ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
}

/// What Python takes for true.
inline bool flag(nb::handle given) {
  const int truth = PyObject_IsTrue(given.ptr());
  if (truth < 0) raise();
  return truth != 0;
}

}  // namespace steadfold::python
