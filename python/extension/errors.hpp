// Failures: those of the C interface as exceptions of steadfold._errors, and Python's own as texts for other ranks.
#pragma once

#include <cstdarg>
#include <optional>
#include <string>
#include <type_traits>

#include "lock.hpp"
#include "steadfold/steadfold_group.h"

namespace steadfold::python {

/// Finds the exceptions of steadfold._errors, which stay: calls may fail while the interpreter ends.
void take_exceptions();

/// Throws the exception of this status, with the error text of this thread's last call; or what is raised already.
[[noreturn]] void fail(sf_status status);

inline void check(sf_status status) {
  if (status != SF_OK) fail(status);
}

/// Throws an exception that Python code has made.
[[noreturn]] void raise(const nb::object& exception);

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

/// Says why this is no number, or none that is taken.
[[noreturn]] void refuse_number(nb::handle given, const char* what, bool is_unsigned);

/// A whole number that Python gave as `what`, or a list of such; TypeError for anything else, and what T cannot hold.
template <class T>
T number(nb::handle given, const char* what) {
  T value{};
  if (nb::try_cast<T>(given, value)) return value;
  if constexpr (!std::is_integral_v<T>)
    refuse_type("%s is %R (it is a list of whole numbers that are not negative), give one", what, given.ptr());
  refuse_number(given, what, std::is_unsigned_v<T>);
}

/// A number of seconds that Python gave as `what`. None: nothing.
std::optional<double> seconds_of(nb::handle given, const char* what);

/// A timeout as the library takes it: below zero, or a NaN, it is over at once; none is for ever.
inline std::uint64_t nanoseconds_of(std::optional<double> seconds) {
  constexpr double for_ever = 1e9;
  if (!seconds || *seconds > for_ever) return SF_FOREVER;
  return *seconds > 0 ? static_cast<std::uint64_t>(*seconds * 1e9) : 0;
}

/// What a class of the extension holds. TypeError where an instance was made without its constructor.
template <class T>
T& held_by(nb::handle object) {
  if (!nb::inst_ready(object))
    refuse_type("an object of %R that holds nothing (its constructor was not called), call super().__init__",
                object.type().ptr());
  return nb::cast<T&>(object);
}

/// What Python takes for true.
inline bool flag(nb::handle given) {
  const int truth = PyObject_IsTrue(given.ptr());
  if (truth < 0) raise();
  return truth != 0;
}

}  // namespace steadfold::python
