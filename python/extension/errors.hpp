// Converts errors of the C interface to exceptions of steadfold._errors, and Python's own exceptions to texts for other
// ranks.
#pragma once

#include <cstdarg>
#include <optional>
#include <string>
#include <type_traits>

#include "lock.hpp"
#include "steadfold/steadfold_group.h"

namespace steadfold::python {

/// Finds the exceptions of steadfold._errors. The exceptions are never released, because calls may fail while the
/// interpreter ends.
void take_exceptions();

/// Throws the exception for a status, with the error text of this thread's last call; or the Python exception that is
/// already set.
[[noreturn]] void fail(sf_status status);

inline void check(sf_status status) {
  if (status != SF_OK) fail(status);
}

/// Throws an exception object that Python code has made.
[[noreturn]] void raise(const nb::object& exception);

/// Throw steadfold.InvalidArgumentError (a ValueError) or TypeError. The text is formatted as by PyErr_Format.
[[noreturn]] void refuse(const char* format, ...);
[[noreturn]] void refuse_type(const char* format, ...);

/// Returns the text of the exception that is being handled. Never throws.
std::string text_of_current_exception() noexcept;

/// Calls `make`. If it throws, tells the other ranks of the group (if there is one) that this rank cannot make its
/// call, so that none waits for it, and rethrows.
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

/// Throws the reason why a value is not a number, or not a number that is accepted.
[[noreturn]] void refuse_number(nb::handle given, const char* what, bool is_unsigned);

/// Converts the argument named `what` to a whole number, or to a list of whole numbers. Throws TypeError for any other
/// value, and for numbers that T cannot hold.
template <class T>
T number(nb::handle given, const char* what) {
  T value{};
  if (nb::try_cast<T>(given, value)) return value;
  if constexpr (!std::is_integral_v<T>)
    refuse_type("%s is %R (a list of whole numbers that are not negative is needed), give a list of ints", what,
                given.ptr());
  refuse_number(given, what, std::is_unsigned_v<T>);
}

/// Converts the argument named `what` to a number of seconds. Returns an empty result for None.
std::optional<double> seconds_of(nb::handle given, const char* what);

/// Converts a timeout to nanoseconds. A negative timeout, or a NaN, is 0; no timeout is unlimited.
inline std::uint64_t nanoseconds_of(std::optional<double> seconds) {
  constexpr double for_ever = 1e9;
  if (!seconds || *seconds > for_ever) return SF_FOREVER;
  return *seconds > 0 ? static_cast<std::uint64_t>(*seconds * 1e9) : 0;
}

/// Returns the C++ object of an instance of a class of the extension. Throws TypeError if the instance was made without
/// its constructor.
template <class T>
T& held_by(nb::handle object) {
  if (!nb::inst_ready(object))
    refuse_type("an object of %R is not initialised (its constructor was not called), call super().__init__",
                object.type().ptr());
  return nb::cast<T&>(object);
}

/// Whether a value is true in Python.
inline bool flag(nb::handle given) {
  const int truth = PyObject_IsTrue(given.ptr());
  if (truth < 0) raise();
  return truth != 0;
}

}  // namespace steadfold::python
