#include "errors.hpp"

namespace steadfold::python {

void raise(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  raise();
}

void fail(sf_status status) {
  if (PyErr_Occurred() != nullptr) raise();  // a signal's handler has raised, which ended the call
  raise(nb::object(
      nb::module_::import_("steadfold._errors").attr("of_status")(static_cast<int>(status), sf_error_text())));
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
  sf_set_error_text(PyUnicode_AsUTF8AndSize(text.ptr(), nullptr));
  fail(SF_INVALID_ARGUMENT);
}

void refuse_type(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  PyErr_FormatV(PyExc_TypeError, format, arguments);
  va_end(arguments);
  raise();
}

}  // namespace steadfold::python
