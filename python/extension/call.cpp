#include "call.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "operators.hpp"
#include "options.hpp"
#include "steadfold/operations.hpp"

namespace steadfold::python {
namespace {

using detail::properties_of;
using detail::ResultForm;

constexpr int most_axes = 31;                // largest number of axes, because axes are bits of a word
constexpr std::uint64_t long_enough = 4096;  // number of elements from which on Python's lock is released

bool is_sum(sf_operation operation) { return operation == SF_SUM || operation == SF_MASKED_SUM; }
bool is_location(sf_operation operation) { return properties_of(operation).result == ResultForm::located; }
bool makes_statistics(sf_operation operation) { return properties_of(operation).result == ResultForm::statistics; }
bool is_extreme(sf_operation operation) { return operation == SF_MIN || operation == SF_MAX || is_location(operation); }
bool is_integer(sf_type type) { return type == SF_I32 || type == SF_I64 || type == SF_U32 || type == SF_U64; }
bool is_complex(sf_type type) { return type == SF_COMPLEX_F32 || type == SF_COMPLEX_F64; }

const char* name_of_option(nb::handle name) {
  const char* const text = PyUnicode_AsUTF8AndSize(name.ptr(), nullptr);
  if (text == nullptr) raise();
  return text;
}

/// Sets an option by its name in C: a number, or a text, which must outlive the call.
void set_option(const char* name, nb::handle value, bool is_number, sf_call& call) {
  if (!is_number) return check(sf_call_set(&call, name, text_of(value, name)));
  check(sf_call_set(&call, name, std::to_string(number<std::uint32_t>(value, name)).c_str()));
}

/// Sets the method: a name such as "exact", or an object with the method's name and a dict of its parameters.
void take_method(nb::handle method, sf_call& call) {
  if (PyUnicode_Check(method.ptr())) {
    call.method = static_cast<sf_method>(entry_of(SF_LIST_METHODS, method));
    return;
  }
  const nb::object parameters = nb::getattr(method, "parameters", nb::none());
  if (!nb::isinstance<nb::dict>(parameters))
    refuse_type("method must be a name, steadfold.tree(...) or steadfold.binned(...), not %R", method.ptr());
  call.method = static_cast<sf_method>(entry_of(SF_LIST_METHODS, method.attr("name")));
  for (const auto& [name, value] : nb::borrow<nb::dict>(parameters))
    set_option(name_of_option(name), value, PyUnicode_Check(value.ptr()) == 0, call);
}

void take_layout(nb::handle layout, Call& to) {
  if (!nb::isinstance<Layout>(layout)) refuse_type("layout must be a steadfold.Layout, not %R", layout.ptr());
  to.layout = held_by<Layout>(layout);
  to.call.layout = to.layout.kind;
  to.call.intervals = to.layout.intervals.data();
  to.call.interval_count = to.layout.intervals.size();
  if (to.call.layout == SF_GRID) to.call.grid = &to.layout.grid;
}

/// Returns the reduced axes, as bits, of one axis, a tuple of axes, or None for all axes.
std::uint32_t reduced_axes(nb::handle axis, int axes) {
  if (axis.is_none()) return (std::uint32_t{1} << axes) - 1;
  const bool several = PyTuple_Check(axis.ptr());
  const Py_ssize_t count = several ? PyTuple_Size(axis.ptr()) : 1;
  std::uint32_t reduced = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const one = several ? PyTuple_GetItem(axis.ptr(), i) : axis.ptr();
    const Py_ssize_t number = PyNumber_AsSsize_t(one, PyExc_OverflowError);
    if (number == -1 && PyErr_Occurred() != nullptr) raise();
    const Py_ssize_t place = number < 0 ? number + axes : number;
    if (place < 0 || place >= axes) {
      raise(nb::object(nb::module_::import_("steadfold._convert").attr("AxisError")(number, axes)));
    }
    if ((reduced >> place & 1) != 0)
      refuse("axis %zd is given twice (every axis is reduced once), name each axis once", number);
    reduced |= std::uint32_t{1} << place;
  }
  return reduced;
}

/// Throws if a single number, or a vector of one number, would be broadcast along an axis.
void check_partners(PyArrayObject* x, PyArrayObject* partners, const char* what) {
  const int axes = PyArray_NDIM(x);
  if (PyArray_NDIM(partners) > 1 || PyArray_SIZE(partners) != 1 || axes == 0) return;
  const npy_intp elements = PyArray_DIM(x, axes - 1);
  if (PyArray_NDIM(partners) == 1 && elements == 1) return;
  refuse(
      "%s of 1 number for axes of %zd elements (every element needs its own), give one number per element: "
      "np.broadcast_to(%s, x.shape)",
      what, elements, what);
}

/// Returns the second factors as an array of elements of this type. Null: Python must first convert x to the type of
/// the factors.
nb::object factors_for(nb::object array, PyArrayObject* x, sf_type type) {
  if (type_of(as_array(array)) == type) return array;
  const nb::handle dtype(reinterpret_cast<PyObject*>(PyArray_DESCR(x)));
  if (nb::cast<bool>(converted("are_wider", array, dtype))) return {};
  return converted("as_factors", array, dtype);
}

bool is_plain_rows(PyArrayObject* array) { return PyArray_IS_C_CONTIGUOUS(array) && PyArray_ISALIGNED(array); }

void take_labels(const Arguments& from, Call& to) {
  to.labels = converted("as_labels", from.labels);
  PyArrayObject* const labels = as_array(to.labels);
  check_partners(as_array(to.x), labels, "labels");
  to.arrays.labels = view(labels, type_of(labels).value_or(SF_BYTES));
  to.arrays.groups = number<std::uint64_t>(from.groups, "groups");
  if (to.arrays.groups > static_cast<std::uint64_t>(std::numeric_limits<npy_intp>::max()))
    refuse("%R groups (no array has as many results), give fewer groups", from.groups.ptr());
}

void take_chunks(const Arguments& from, Call& to) {
  to.chunks = from.chunks.attr("list");
  PyArrayObject* const chunks = as_array(to.chunks);
  to.arrays.x.data = nullptr;
  to.arrays.x.strides[0] = PyArray_ITEMSIZE(as_array(to.x));
  to.arrays.chunks = static_cast<const sf_chunk*>(PyArray_DATA(chunks));
  to.arrays.chunk_count = static_cast<std::uint64_t>(PyArray_DIM(chunks, 0));
  to.arrays.is_nullable = nb::cast<bool>(from.chunks.attr("is_nullable")) ? 1 : 0;
}

/// Sets the fields of a call with arrays. Calls of contiguous rows with one result do not need them.
void take_arrays(const Arguments& from, std::uint32_t reduced, sf_type type, Call& to) {
  sf_arrays_init(&to.arrays, sizeof to.arrays);
  PyArrayObject* const x = as_array(to.x);
  to.arrays.x = view(x, type);
  to.arrays.kept = ~reduced & ((std::uint32_t{1} << PyArray_NDIM(x)) - 1);
  if (to.factors.is_valid()) to.arrays.factors = view(as_array(to.factors), type);
  if (is_mask(from.where)) {
    to.mask = mask_from(from.where);
    to.arrays.mask = view(as_array(to.mask), SF_BYTES);
  }
  if (!from.labels.is_none()) take_labels(from, to);
  if (!from.chunks.is_none()) take_chunks(from, to);
  to.call.arrays = &to.arrays;
}

bool same_shape(PyArrayObject* a, PyArrayObject* b) {
  return PyArray_NDIM(a) == PyArray_NDIM(b) &&
         std::equal(PyArray_DIMS(a), PyArray_DIMS(a) + PyArray_NDIM(a), PyArray_DIMS(b));
}

bool are_rows(const Arguments& from, std::uint32_t reduced, const Call& call) {
  PyArrayObject* const x = as_array(call.x);
  if (reduced != (std::uint32_t{1} << PyArray_NDIM(x)) - 1 || !is_plain_rows(x) || !from.labels.is_none()) return false;
  if (is_mask(from.where)) return false;
  if (!from.chunks.is_none()) return false;
  return !call.factors.is_valid() || (is_plain_rows(as_array(call.factors)) && same_shape(x, as_array(call.factors)));
}

void make_results(const Arguments& from, std::uint32_t reduced, Call& to) {
  PyArrayObject* const x = as_array(to.x);
  const bool keepdims = flag(from.keepdims);
  npy_intp shape[most_axes + 1];
  int axes = 0;
  if (to.labels.is_valid()) shape[axes++] = static_cast<npy_intp>(to.arrays.groups);
  for (int axis = 0; axis < PyArray_NDIM(x); ++axis) {
    if ((reduced >> axis & 1) == 0)
      shape[axes++] = PyArray_DIM(x, axis);
    else if (keepdims)
      shape[axes++] = 1;
  }
  const int type = numpy_type(to.call.result_type);
  if (makes_statistics(from.operation)) return to.results.make(shape, axes, statistics_dtype());
  if (!is_location(from.operation)) return to.results.make(shape, axes, type);
  const nb::object dtype = take(reinterpret_cast<PyObject*>(PyArray_DescrFromType(type)));
  to.results.make(shape, axes, located_dtype(dtype));
}

/// Fills a call without columns, which has no results. Calls in MPI's shape may have no columns. If other ranks have
/// columns, all ranks get an error.
void ask_for_nothing(Call& to) {
  const std::int32_t root = to.call.root;
  sf_call_init(&to.call, sizeof to.call);
  to.call.layout = SF_ROW_PER_RANK;
  to.call.rows = 1;
  to.call.columns = 0;
  to.call.root = root;
}

sf_type asked_result(nb::handle dtype) {
  const nb::object asked = dtype_from(dtype);
  const std::optional<sf_type> type = type_of(as_dtype(asked));
  if (!type || numpy_type(*type) == NPY_VOID)
    refuse(
        "results of dtype %S (sums are rounded to float32, float64, complex or long double, or kept as integers of 32 "
        "or 64 bits), convert the result afterwards",
        asked.ptr());
  return *type;
}

/// Checks that the operation has results of the requested type.
void check_result(const Arguments& from, PyArrayObject* x, const sf_call& call) {
  const sf_type result = call.result_type;
  const auto refuse_result = [&](const char* why) {
    refuse("results of dtype %S for elements of dtype %S (%s", dtype_from(from.dtype).ptr(), PyArray_DESCR(x), why);
  };
  const bool are_complex = is_complex(call.type) && properties_of(from.operation).result != ResultForm::real;
  if (is_complex(result) && !are_complex) refuse_result("the results are real numbers), convert the result afterwards");
  if (!is_complex(result) && are_complex) refuse_result("the results are complex numbers), reduce x.real and x.imag");
  if (result == SF_LONG_DOUBLE && !detail::takes(from.operation, result))
    refuse_result("these results are rounded once, to float32 or float64), convert the result afterwards");
  const bool is_product_of_doubles =
      from.operation == SF_PRODUCT && (call.type == SF_F64 || call.type == SF_COMPLEX_F64);
  if (is_product_of_doubles && (result == SF_F32 || result == SF_COMPLEX_F32))
    refuse_result("every step is rounded to this dtype), convert the elements or the result");
}

/// Sets the result type and, if no option named a method, the method that gives this type.
void take_result(const Arguments& from, sf_call& call) {
  const sf_type own = makes_statistics(from.operation) ? SF_F64 : default_result(from.operation, call.type);
  call.result_type = from.dtype.is_none() ? own : asked_result(from.dtype);
  const bool is_extended = call.result_type == SF_LONG_DOUBLE;
  const bool is_exact = is_sum(from.operation) && !is_integer(call.type) && !is_extended;
  if (is_exact && call.method == SF_AUTOMATIC) call.method = SF_EXACT;
}

}  // namespace

const char* text_of(nb::handle given, const char* what) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_Check(given.ptr()) ? PyUnicode_AsUTF8AndSize(given.ptr(), &size) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    refuse_type("%s is %R (a str is needed), give a str", what, given.ptr());
  }
  if (size == 0 || std::strlen(text) != static_cast<std::size_t>(size))
    refuse("%s is %R (a name is not empty and has no null characters), give a name, or None", what, given.ptr());
  return text;
}

sf_type default_result(sf_operation operation, sf_type type) {
  if (type == SF_F16 || type == SF_BF16) return SF_F32;
  if (is_extreme(operation)) return type;
  if (type == SF_I32) return SF_I64;
  if (type == SF_U32) return SF_U64;
  const bool is_real = properties_of(operation).result == ResultForm::real;
  if (is_real && type == SF_COMPLEX_F64) return SF_F64;
  if (is_real && type == SF_COMPLEX_F32) return SF_F32;
  return type;
}

void take_initial(nb::handle given, const nb::object& dtype, std::span<const npy_intp> shape, Call& to) {
  if (!given.is_valid() || given.is_none()) return;
  nb::list extents;
  for (const npy_intp extent : shape) extents.append(extent);
  to.initial = converted("as_initial", given, dtype, nb::tuple(extents));
  to.call.initial = PyArray_DATA(as_array(to.initial));
}

std::size_t entry_of(sf_list list, nb::handle name) {
  std::size_t entry = 0;
  check(sf_list_find(list, text_of(name, "a name"), &entry));
  return entry;
}

namespace {

void take_root(nb::handle root, sf_call& call) {
  call.root = number<std::int32_t>(root, "root");
  if (call.root < 0)  // refused, because -1 is SF_ALL_RANKS in C
    refuse("root %d is not a rank (ranks are counted from 0), give a rank, or None to get the result on all ranks",
           static_cast<int>(call.root));
}

void take_option(const Option& option, nb::handle value, Call& to) {
  const std::string_view name = option.name;
  if (option.is_number && name != "root") return set_option(option.name, value, true, to.call);
  if (value.is_none()) return;
  if (name == "method") return take_method(value, to.call);
  if (name == "layout") return take_layout(value, to);
  if (name == "root") return take_root(value, to.call);
  to.texts.push_back(nb::borrow<nb::object>(value));
  set_option(option.name, value, false, to.call);
}

[[noreturn]] void refuse_option(nb::handle name, bool is_of_vectors) {
  std::string known;
  for (const Option& each : option_table)
    if (each.is_of_vectors || !is_of_vectors) known.append(known.empty() ? "" : ", ").append(each.name);
  refuse_type("argument %R does not exist (the options of this call are %s), see help(steadfold)", name.ptr(),
              known.c_str());
}

}  // namespace

void take_options(nb::handle options, bool is_of_vectors, Call& to) {
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t position = 0; PyDict_Next(options.ptr(), &position, &name, &value) != 0;) {
    const char* const text = name_of_option(name);
    const auto* const option = std::find_if(std::begin(option_table), std::end(option_table), [&](const Option& each) {
      return std::strcmp(each.name, text) == 0 && (each.is_of_vectors || !is_of_vectors);
    });
    if (option == std::end(option_table)) refuse_option(name, is_of_vectors);
    take_option(*option, value, to);
  }
}

bool translate(const Arguments& from, Call& to) {
  to.x = to_array(from.x);
  if (PyArray_NDIM(as_array(to.x)) > most_axes)
    refuse("an array of %d axes (at most %d axes are supported), reshape the array", PyArray_NDIM(as_array(to.x)),
           most_axes);
  if (!from.factors.is_none()) {
    to.factors = to_array(from.factors);
    if (!from.are_weights) check_partners(as_array(to.x), as_array(to.factors), "y");
  }
  sf_call_init(&to.call, sizeof to.call);
  to.call.operation = from.operation;
  if (is_location(from.operation) || makes_statistics(from.operation)) to.call.layout = SF_RANK_ORDER;
  take_options(from.options, false, to);  // here, so that they are checked whatever the type
  const std::optional<sf_type> type = type_of(as_array(to.x));
  if (!type || !detail::takes(from.operation, *type)) return false;
  to.call.type = *type;
  take_result(from, to.call);
  if (is_integer(*type) != is_integer(to.call.result_type)) return false;
  if (to.factors.is_valid()) {
    to.factors = factors_for(std::move(to.factors), as_array(to.x), *type);
    if (!to.factors.is_valid()) return false;
  }
  check_result(from, as_array(to.x), to.call);
  const std::uint32_t reduced = reduced_axes(from.axis, PyArray_NDIM(as_array(to.x)));
  if (are_rows(from, reduced, to)) {
    to.call.rows = static_cast<std::uint64_t>(PyArray_SIZE(as_array(to.x)));
    to.first = PyArray_DATA(as_array(to.x));
    if (to.factors.is_valid()) to.second = PyArray_DATA(as_array(to.factors));
  } else {
    take_arrays(from, reduced, *type, to);
  }
  make_results(from, reduced, to);
  take_initial(from.initial, take(reinterpret_cast<PyObject*>(PyArray_DescrFromType(numpy_type(to.call.result_type)))),
               {}, to);
  if (to.call.arrays != nullptr && to.results.size() == 0) ask_for_nothing(to);
  return true;
}

sf_status run(Call& call, sf_group* group) {
  void* const place = call.results.place();
  if (group == nullptr && call.call.columns == 0) return SF_OK;
  if (group == nullptr && PyArray_SIZE(as_array(call.x)) < static_cast<npy_intp>(long_enough))
    return sf_reduce_local(&call.call, call.first, call.second, place);
  return without_lock([&] {
    return group == nullptr ? sf_reduce_local(&call.call, call.first, call.second, place)
                            : sf_group_reduce(&call.call, call.first, call.second, place, group);
  });
}

nb::object outcome(Call& call, int rank) {
  if (call.call.collective == SF_EXSCAN && rank == 0) return nb::none();
  if (rank >= 0 && call.call.root != SF_ALL_RANKS && call.call.root != rank) return nb::none();
  return call.results.value();
}

bool reads_what_was_given(const Call& call, const Arguments& given) {
  const auto is_same = [](const nb::object& read, nb::handle from) { return !read.is_valid() || read.is(from); };
  return is_same(call.x, given.x) && is_same(call.factors, given.factors) && is_same(call.mask, given.where) &&
         is_same(call.labels, given.labels);
}

}  // namespace steadfold::python
