// Uses NumPy's arrays as operands and results of the C interface.
//
// Rank order: NumPy's C order, the last axis fastest. Cost: about 20 ns per array; nothing is copied.
#pragma once

#include <array>
#include <optional>

#include "errors.hpp"

namespace steadfold::python {

/// Returns the type of the C interface for elements in the machine's byte order; empty for all others (bool, integers
/// of 8 and 16 bits, objects).
std::optional<sf_type> type_of(PyArrayObject* array);
std::optional<sf_type> type_of(PyArray_Descr* dtype);

/// Converts a dtype, its name, or a type of NumPy to a dtype in the machine's byte order, as NumPy's results have.
nb::object dtype_from(nb::handle given);
inline PyArray_Descr* as_dtype(nb::handle dtype) { return reinterpret_cast<PyArray_Descr*>(dtype.ptr()); }

/// Return whether NumPy's argument `where` is a mask, and the mask as an array of bool.
inline bool is_mask(nb::handle where) { return !where.is_none() && where.ptr() != Py_True; }
nb::object mask_from(nb::handle where);

/// Returns NumPy's type number of a type; NPY_VOID for types that only elements have.
int numpy_type(sf_type type);

/// Returns the array as the C struct, without a copy. Elements are SF_BYTES of their size if `type` is.
sf_array view(PyArrayObject* array, sf_type type);

/// Makes an array in the machine's byte order of an array, an object with __dlpack__ or a buffer, a number or a
/// sequence. Copies only if needed.
nb::object to_array(nb::handle object);

/// Return whether an object is a column of a table, which may have nulls, or the chunks of a column (_arrow.py).
bool is_column(nb::handle object);
bool are_chunks(nb::handle object);

/// The results of a call, with a shape and a type. The call writes them to `place`. A result without axes is a scalar.
class Results {
 public:
  /// Allocates memory for the results. The shape is in C order.
  void make(const npy_intp* shape, int axes, nb::object dtype);
  void make(const npy_intp* shape, int axes, int type);
  [[nodiscard]] void* place() noexcept { return array_.is_valid() ? PyArray_DATA(as_array(array_)) : scalar_.data(); }
  /// Returns the number of results.
  [[nodiscard]] npy_intp size() const noexcept { return array_.is_valid() ? PyArray_SIZE(as_array(array_)) : 1; }
  /// Allocates new memory for the next results. The caller keeps the current results.
  void renew();
  /// Returns the results as an array, or as a NumPy scalar. Every call makes a new scalar.
  [[nodiscard]] nb::object value();

 private:
  nb::object array_;
  nb::object dtype_;
  int type_ = NPY_DOUBLE;
  alignas(16) std::array<char, 80> scalar_{};  // large enough for sf_statistics, the longest result
};

/// Return the dtypes of sf_statistics and of values with an index, such as sf_located_f64, with values of the given
/// type.
nb::object statistics_dtype();
nb::object located_dtype(nb::handle value_dtype);

}  // namespace steadfold::python
