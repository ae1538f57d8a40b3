#include "errors.hpp"

#include <cstring>

namespace steadfold::python {
namespace {

PyObject* exceptions = nullptr;  // a dictionary of exceptions by status, never released

/// Makes a text of bytes, which may not be UTF-8 if they come from other ranks or from the environment.
nb::object text_from(const char* bytes) {
  nb::object text =
      nb::steal<nb::object>(PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(std::strlen(bytes)), "replace"));
  if (!text.is_valid()) raise();
  return text;
}

}  // namespace

void take_exceptions() {
  exceptions = nb::object(nb::module_::import_("steadfold._errors").attr("BY_STATUS")).release().ptr();
}

void raise(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  raise();
}

void fail(sf_status status) {
  if (PyErr_Occurred() != nullptr) raise();  // a signal handler has raised an exception, which has ended the call
  const nb::object number = nb::int_(static_cast<int>(status)), text = text_from(sf_error_text());
  PyErr_SetObject(PyDict_GetItem(exceptions, number.ptr()), text.ptr());
  raise();
}

std::string text_of_current_exception() noexcept {
  try {
    throw;
  } catch (const nb::python_error& error) {
    const nb::object text = nb::steal<nb::object>(PyObject_Str(error.value().ptr()));
    const char* const bytes = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), nullptr) : nullptr;
    if (bytes != nullptr) return bytes;
    PyErr_Clear();
    return "an exception without a text";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown exception";
  }
}

void refuse(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const nb::object text = nb::steal<nb::object>(PyUnicode_FromFormatV(format, arguments));
  va_end(arguments);
  if (!text.is_valid()) raise();
  PyErr_SetObject(PyDict_GetItem(exceptions, nb::int_(static_cast<int>(SF_INVALID_ARGUMENT)).ptr()), text.ptr());
  raise();
}

void refuse_number(nb::handle given, const char* what, bool is_unsigned) {
  const nb::object whole = nb::steal<nb::object>(PyNumber_Index(given.ptr()));
  PyErr_Clear();
  if (!whole.is_valid()) refuse_type("%s is %R (a whole number is needed), give an int", what, given.ptr());
  if (is_unsigned && whole < nb::int_(0))
    refuse_type("%s is %R (it must be at least 0), give a number that is not negative", what, given.ptr());
  refuse_type("%s is too large (no call can use this number), give a smaller number", what);
}

std::optional<double> seconds_of(nb::handle given, const char* what) {
  if (given.is_none()) return {};
  const double seconds = PyFloat_AsDouble(given.ptr());
  if (PyErr_Occurred() == nullptr) return seconds;
  PyErr_Clear();
  refuse_type("%s is %R (a number of seconds is needed), give a number, or None for no limit", what, given.ptr());
}

void refuse_type(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyErr_FormatV(PyExc_TypeError, format, arguments);
  va_end(arguments);
  raise();
}

}  // namespace steadfold::python
