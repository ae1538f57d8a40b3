#include "arrays.hpp"

#include <cstring>

namespace steadfold::python {
namespace {

bool is_bfloat16(PyArray_Descr* dtype) {
  if (!PyTypeNum_ISUSERDEF(dtype->type_num) || PyDataType_ELSIZE(dtype) != 2) return false;
  const nb::object type = nb::borrow<nb::object>(reinterpret_cast<PyObject*>(dtype->typeobj));
  return std::strstr(nb::cast<std::string>(type.attr("__name__")).c_str(), "bfloat16") != nullptr;
}

/// Whether an object is an array, a number or a sequence, or not given. Decided without Python code, which would take
/// longer than a small call.
bool is_usual(nb::handle object) {
  PyObject* const given = object.ptr();
  return object.is_none() || PyArray_Check(given) || PyArray_IsAnyScalar(given) || PyList_Check(given) ||
         PyTuple_Check(given);
}

std::optional<sf_type> integer_of(npy_intp bytes, bool is_signed) {
  if (bytes == 8) return is_signed ? SF_I64 : SF_U64;
  if (bytes == 4) return is_signed ? SF_I32 : SF_U32;
  return {};
}

}  // namespace

std::optional<sf_type> type_of(PyArray_Descr* dtype) {
  switch (dtype->type_num) {
    case NPY_DOUBLE: return SF_F64;
    case NPY_FLOAT: return SF_F32;
    case NPY_HALF: return SF_F16;
    case NPY_CDOUBLE: return SF_COMPLEX_F64;
    case NPY_CFLOAT: return SF_COMPLEX_F32;
    case NPY_LONGDOUBLE: return SF_LONG_DOUBLE;
    case NPY_INT:
    case NPY_LONG:
    case NPY_LONGLONG: return integer_of(PyDataType_ELSIZE(dtype), true);
    case NPY_UINT:
    case NPY_ULONG:
    case NPY_ULONGLONG: return integer_of(PyDataType_ELSIZE(dtype), false);
    default: return is_bfloat16(dtype) ? std::optional(SF_BF16) : std::nullopt;
  }
}

std::optional<sf_type> type_of(PyArrayObject* array) { return type_of(PyArray_DESCR(array)); }

nb::object dtype_from(nb::handle given) {
  PyArray_Descr* descr = nullptr;
  if (PyArray_DescrConverter(given.ptr(), &descr) != NPY_SUCCEED) raise();
  const nb::object found = nb::steal<nb::object>(reinterpret_cast<PyObject*>(descr));
  return take(reinterpret_cast<PyObject*>(PyArray_DescrNewByteorder(descr, NPY_NATIVE)));
}

nb::object mask_from(nb::handle where) { return converted("as_mask", where); }

int numpy_type(sf_type type) {
  switch (type) {
    case SF_F64: return NPY_DOUBLE;
    case SF_F32: return NPY_FLOAT;
    case SF_I32: return NPY_INT32;
    case SF_I64: return NPY_INT64;
    case SF_U32: return NPY_UINT32;
    case SF_U64: return NPY_UINT64;
    case SF_COMPLEX_F32: return NPY_CFLOAT;
    case SF_COMPLEX_F64: return NPY_CDOUBLE;
    case SF_LONG_DOUBLE: return NPY_LONGDOUBLE;
    default: return NPY_VOID;
  }
}

sf_array view(PyArrayObject* array, sf_type type) {
  const int axes = PyArray_NDIM(array);
  if (axes > SF_MOST_AXES)
    refuse("an array of %d axes (at most %d axes are supported), reshape the array", axes, SF_MOST_AXES);
  sf_array result;
  result.data = PyArray_DATA(array);
  result.type = type;
  result.element_bytes = static_cast<std::size_t>(PyArray_ITEMSIZE(array));
  result.axis_count = axes;
  result.device = 0;
  for (int axis = 0; axis < axes; ++axis) {
    result.shape[axis] = static_cast<std::uint64_t>(PyArray_DIM(array, axis));
    result.strides[axis] = PyArray_STRIDE(array, axis);
  }
  return result;
}

nb::object to_array(nb::handle object) {
  if (PyArray_CheckExact(object.ptr()) && PyArray_ISNOTSWAPPED(as_array(object))) return nb::borrow<nb::object>(object);
  const nb::object type = nb::getattr(object.type(), "__name__", nb::none());
  // mpi4py's buffers InPlaceType and BottomType have no elements.
  if (type.equal(nb::str("InPlaceType")) || type.equal(nb::str("BottomType")))
    refuse_type("elements is %R (this is a placeholder of mpi4py, not an array), pass an array", object.ptr());
  return converted("as_array", object);
}

bool is_column(nb::handle object) {
  return !is_usual(object) && nb::cast<bool>(nb::module_::import_("steadfold._arrow").attr("is_column")(object));
}

bool are_chunks(nb::handle object) {
  return !is_usual(object) && nb::isinstance(object, nb::module_::import_("steadfold._arrow").attr("Chunks"));
}

void Results::make(const npy_intp* shape, int axes, nb::object dtype) {
  dtype_ = std::move(dtype);
  type_ = NPY_VOID;
  auto* const given = reinterpret_cast<PyArray_Descr*>(dtype_.ptr());
  if (axes == 0 && static_cast<std::size_t>(PyDataType_ELSIZE(given)) <= sizeof scalar_) return;
  // NumPy takes this reference.
  auto* const descr = reinterpret_cast<PyArray_Descr*>(nb::object(dtype_).release().ptr());
  array_ = take(PyArray_Empty(axes, shape, descr, 0));
}

void Results::make(const npy_intp* shape, int axes, int type) {
  type_ = type;
  if (axes != 0) array_ = take(PyArray_SimpleNew(axes, shape, type));
}

nb::object Results::value() {
  if (array_.is_valid() && PyArray_NDIM(as_array(array_)) > 0) return array_;
  if (!dtype_.is_valid()) dtype_ = take(reinterpret_cast<PyObject*>(PyArray_DescrFromType(type_)));
  return take(PyArray_Scalar(place(), reinterpret_cast<PyArray_Descr*>(dtype_.ptr()), nullptr));
}

void Results::renew() {
  if (array_.is_valid()) array_ = take(PyArray_NewLikeArray(as_array(array_), NPY_CORDER, nullptr, 0));
}

nb::object statistics_dtype() { return nb::module_::import_("steadfold._convert").attr("STATISTICS"); }

nb::object located_dtype(nb::handle value_dtype) { return converted("located", value_dtype); }

}  // namespace steadfold::python
