// NumPy's C interface, in all sources of the extension, and references to Python objects.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#define PY_ARRAY_UNIQUE_SYMBOL steadfold_numpy
#define NPY_NO_DEPRECATED_API NPY_1_19_API_VERSION
#define NPY_TARGET_VERSION NPY_1_19_API_VERSION
#ifndef STEADFOLD_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace steadfold::python {

namespace nb = nanobind;

/// Throws the Python exception that is set.
[[noreturn]] inline void raise() { throw nb::python_error(); }

/// Owns a new reference; null means that Python has set an exception.
inline nb::object take(PyObject* object) {
  if (object == nullptr) raise();
  return nb::steal<nb::object>(object);
}

inline PyArrayObject* as_array(nb::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

}  // namespace steadfold::python
