// NumPy's arrays as operands and results of the C interface.
//
// Rank order: NumPy's C order, the last axis fastest. Cost: nothing is copied; some 20 ns per array.
#pragma once

#include <array>
#include <optional>

#include "errors.hpp"

namespace steadfold::python {

/// The type of elements, of the machine's byte order, that the C interface knows; nothing for others (bool, integers of
/// 8 and 16 bits, objects).
std::optional<sf_type> type_of(PyArrayObject* array);
std::optional<sf_type> type_of(PyArray_Descr* dtype);

/// What Python gives as a dtype (one, its name, a type of NumPy's), in the machine's byte order, as NumPy's results
/// are.
nb::object dtype_from(nb::handle given);
inline PyArray_Descr* as_dtype(nb::handle dtype) { return reinterpret_cast<PyArray_Descr*>(dtype.ptr()); }

/// Whether NumPy's argument `where` leaves anything out; and the array of bool that it is.
inline bool is_mask(nb::handle where) { return !where.is_none() && where.ptr() != Py_True; }
nb::object mask_from(nb::handle where);

/// NumPy's type number of a type; NPY_VOID for those that are only read.
int numpy_type(sf_type type);

/// The elements where they stand. SF_BYTES of any size where `type` says so.
sf_array view(PyArrayObject* array, sf_type type);

/// An array of the machine's byte order, from an array, whatever has __dlpack__ or a buffer, and from numbers and
/// sequences: without a copy where none is needed.
nb::object to_array(nb::handle object);

/// Results of a call: a shape and a type. `place` is where the call writes them; one without axes is a scalar.
class Results {
 public:
  /// New memory for these results. The shape is in C order.
  void make(const npy_intp* shape, int axes, nb::object dtype);
  void make(const npy_intp* shape, int axes, int type);
  [[nodiscard]] void* place() noexcept { return array_.is_valid() ? PyArray_DATA(as_array(array_)) : scalar_.data(); }
  /// How many there are.
  [[nodiscard]] npy_intp size() const noexcept { return array_.is_valid() ? PyArray_SIZE(as_array(array_)) : 1; }
  /// Other memory for other results: the caller keeps those that there are.
  void renew();
  /// The array, or NumPy's scalar. Scalars are made anew each time.
  [[nodiscard]] nb::object value();

 private:
  nb::object array_;
  nb::object dtype_;
  int type_ = NPY_DOUBLE;
  alignas(16) std::array<char, 80> scalar_{};  // sf_statistics are the longest
};

/// The dtypes of sf_statistics and of sf_located_..., whose values have this type.
nb::object statistics_dtype();
nb::object located_dtype(nb::handle value_dtype);

}  // namespace steadfold::python
