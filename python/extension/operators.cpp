#include "operators.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "src/arithmetic/environment.hpp"

namespace steadfold::python {
namespace {

/// Returns the result of Python's str().
std::string shown(nb::handle object) {
  const nb::object text = take(PyObject_Str(object.ptr()));
  const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), nullptr);
  if (bytes == nullptr) raise();
  return bytes;
}

/// Whether the interpreter is ending. Since Python 3.13 the function is Py_IsFinalizing, also in the stable interface.
bool is_finalizing() noexcept {
  static const auto asked = [] {
    void* const found = dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
    return reinterpret_cast<int (*)()>(found != nullptr ? found : dlsym(RTLD_DEFAULT, "_Py_IsFinalizing"));
  }();
  return asked != nullptr && asked() != 0;
}

}  // namespace

UserOperator::UserOperator(nb::object callable, nb::object dtype, std::vector<npy_intp> element, bool batched)
    : callable_(std::move(callable)), dtype_(std::move(dtype)), shape_(std::move(element)), batched_(batched) {
  if (PyCallable_Check(callable_.ptr()) == 0)
    refuse_type("an operator must be a name or a callable, not %R", callable_.ptr());
  auto* const descr = reinterpret_cast<PyArray_Descr*>(dtype_.ptr());
  if (PyDataType_REFCHK(descr))
    refuse_type("elements of dtype %S cannot be sent (they are Python objects), convert the elements", dtype_.ptr());
  element_bytes_ = static_cast<std::size_t>(PyDataType_ELSIZE(descr));
  for (const npy_intp extent : shape_) element_bytes_ *= static_cast<std::size_t>(extent);
  shape_.insert(shape_.begin(), 1);
  const nb::object name =
      nb::getattr(callable_, "__qualname__", nb::getattr(callable_, "__name__", nb::str("operator")));
  name_ = shown(name);
  identity_ = name_ + " of " + shown(dtype_.attr("descr"));
  for (const npy_intp extent : shape_) identity_ += "x" + std::to_string(extent);
}

UserOperator::~UserOperator() {
  Py_XDECREF(error_type_);
  Py_XDECREF(error_);
  Py_XDECREF(traceback_);
}

int UserOperator::combine(const void* left, const void* right, void* result, std::size_t count, void* context) {
  auto* const self = static_cast<UserOperator*>(context);
  if (is_finalizing()) return 1;  // without the interpreter the lock is not available
  const Lock lock;
  try {
    self->combine(static_cast<const char*>(left), static_cast<const char*>(right), static_cast<char*>(result), count);
    return 0;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  if (self->error_type_ == nullptr) PyErr_Fetch(&self->error_type_, &self->error_, &self->traceback_);
  PyErr_Clear();
  return 1;
}

void UserOperator::combine(const char* left, const char* right, char* result, std::size_t count) {
  if (batched_) return combine_pairs(left, right, result, static_cast<npy_intp>(count), true);
  for (std::size_t i = 0; i < count; ++i)
    combine_pairs(left + i * element_bytes_, right + i * element_bytes_, result + i * element_bytes_, 1, false);
}

void UserOperator::combine_pairs(const char* left, const char* right, char* result, npy_intp count, bool as_batch) {
  shape_[0] = count;
  const npy_intp* const shape = shape_.data() + (as_batch ? 0 : 1);
  const int axes = static_cast<int>(shape_.size()) - (as_batch ? 0 : 1);
  // The arguments are copies, since the callable may keep them and the library writes to its memory again.
  nb::object combined = called(callable_, copy(left, shape, axes), copy(right, shape, axes));
  if (combined.is_none())
    refuse_type("operator %s returned None (a return may be missing), return elements of dtype %S", name_.c_str(),
                dtype_.ptr());
  // For conversions; the callable has run in the caller's environment.
  const arithmetic::PromisedEnvironment environment;
  nb::object array = take(PyArray_FromAny(combined.ptr(), nullptr, 0, 0, 0, nullptr));
  PyArrayObject* const from = as_array(array);
  auto* const own = reinterpret_cast<PyArray_Descr*>(dtype_.ptr());
  // Numbers are cast as NumPy's functions cast into `out`. For other types, such as longer texts, nothing may be lost.
  const bool are_numbers = PyTypeNum_ISNUMBER(own->type_num) && PyArray_ISNUMBER(from);
  if (!PyArray_CanCastTypeTo(PyArray_DESCR(from), own, are_numbers ? NPY_SAME_KIND_CASTING : NPY_SAFE_CASTING))
    refuse_type(
        "operator %s returned elements of dtype %S (its operands have dtype %S), convert the result in the operator, "
        "or the elements before the call",
        name_.c_str(), PyArray_DESCR(from), own);
  if (PyArray_NDIM(from) != axes || !std::equal(shape, shape + axes, PyArray_DIMS(from))) {
    const nb::object expected = take(PyArray_IntTupleFromIntp(axes, shape));
    const nb::object found = take(PyArray_IntTupleFromIntp(PyArray_NDIM(from), PyArray_DIMS(from)));
    refuse("operator %s returned shape %S (its operands have %S), return an array of their shape", name_.c_str(),
           found.ptr(), expected.ptr());
  }
  auto* const descr = reinterpret_cast<PyArray_Descr*>(nb::object(dtype_).release().ptr());
  const nb::object place =
      take(PyArray_NewFromDescr(&PyArray_Type, descr, axes, shape, nullptr, result, NPY_ARRAY_CARRAY, nullptr));
  if (PyArray_CopyInto(as_array(place), from) != 0) raise();
}

nb::object UserOperator::copy(const char* from, const npy_intp* shape, int axes) const {
  auto* const descr = reinterpret_cast<PyArray_Descr*>(nb::object(dtype_).release().ptr());
  if (axes == 0) {
    const nb::object owner = nb::steal<nb::object>(reinterpret_cast<PyObject*>(descr));
    return take(PyArray_Scalar(const_cast<char*>(from), descr, nullptr));
  }
  nb::object array = take(PyArray_NewFromDescr(&PyArray_Type, descr, axes, shape, nullptr, nullptr, 0, nullptr));
  if (PyArray_NBYTES(as_array(array)) > 0)
    std::memcpy(PyArray_DATA(as_array(array)), from, static_cast<std::size_t>(PyArray_NBYTES(as_array(array))));
  return array;
}

void UserOperator::rethrow() {
  if (error_type_ == nullptr) return;
  PyErr_Restore(error_type_, error_, traceback_);
  error_type_ = error_ = traceback_ = nullptr;
  raise();
}

namespace {

/// Makes a contiguous, aligned array in the machine's byte order.
nb::object rows_of(nb::handle object) {
  const nb::object array = to_array(object);
  return take(PyArray_CheckFromAny(array.ptr(), nullptr, 0, 0,
                                   NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED, nullptr));
}

nb::object dtype_of(PyArrayObject* array) {
  return nb::borrow<nb::object>(reinterpret_cast<PyObject*>(PyArray_DESCR(array)));
}

/// Sets the operator of a call whose options are set. Refuses several threads, which would call the callable at the
/// same time.
void set_user(std::shared_ptr<UserOperator> user, nb::handle commutative, Call& to) {
  if (to.call.threads > 1)
    refuse("%u threads with a callable (Python runs it in one thread at a time), leave out threads", to.call.threads);
  to.call.operation = SF_USER;
  to.call.type = to.call.result_type = SF_BYTES;
  to.call.element_bytes = user->element_bytes();
  to.call.user = &UserOperator::combine;
  to.call.context = user.get();
  to.call.operator_name = user->identity();
  to.call.commutative = flag(commutative) ? 1 : 0;
  to.user = std::move(user);
}

sf_operation operation_of(nb::handle name) {
  const std::string_view text = text_of(name, "op");
  if (text == "sum") return SF_SUM;
  if (text == "prod" || text == "product") return SF_PRODUCT;
  if (text == "min") return SF_MIN;
  if (text == "max") return SF_MAX;
  refuse("operation %R (the named operations are sum, prod, min and max), use one of these or a callable of two arrays",
         name.ptr());
}

/// Whether the library has these operations for elements and results of the given types.
bool serves(sf_operation operation, sf_type type) {
  const bool is_complex = type == SF_COMPLEX_F32 || type == SF_COMPLEX_F64;
  return type != SF_F16 && type != SF_BF16 && !(is_complex && (operation == SF_MIN || operation == SF_MAX));
}

}  // namespace

void translate_user(const UserArguments& from, const Arguments& options, Call& to) {
  to.x = rows_of(from.x);
  PyArrayObject* const x = as_array(to.x);
  const bool batched = flag(from.batched);
  const bool has_columns = batched && PyArray_NDIM(x) > 1;
  const int outer = has_columns ? 2 : 1;  // number of axes before the axes of an element
  if (PyArray_NDIM(x) < 1) refuse("an array without axes (the first axis counts elements), add an axis");
  const npy_intp* const shape = PyArray_DIMS(x);
  sf_call_init(&to.call, sizeof to.call);
  to.call.layout = SF_RANK_ORDER;
  take_options(options.options, false, to);
  set_user(std::make_shared<UserOperator>(nb::borrow<nb::object>(from.callable), dtype_of(x),
                                          std::vector<npy_intp>(shape + outer, shape + PyArray_NDIM(x)), batched),
           from.commutative, to);
  if (to.user->element_bytes() == 0)
    refuse("elements of 0 bytes (an axis of the elements has extent 0), leave out these elements");
  to.call.rows = static_cast<std::uint64_t>(shape[0]);
  if (has_columns) to.call.columns = static_cast<std::uint64_t>(shape[1]);
  to.first = PyArray_DATA(x);
  to.results.make(shape + 1, PyArray_NDIM(x) - 1, dtype_of(x));
  take_initial(options.initial, dtype_of(x), {shape + outer, shape + PyArray_NDIM(x)}, to);
}

bool translate_buffer(const BufferArguments& from, const Arguments& options, sf_group* group, Call& to) {
  to.x = rows_of(from.buffer);
  PyArrayObject* const x = as_array(to.x);
  sf_call_init(&to.call, sizeof to.call);
  take_options(options.options, true, to);
  if (PyUnicode_Check(from.operation.ptr())) {
    to.call.operation = operation_of(from.operation);
    const std::optional<sf_type> type = type_of(x);
    if (!type || !serves(to.call.operation, *type)) return false;
    to.call.type = to.call.result_type = *type;
  } else {
    set_user(std::make_shared<UserOperator>(nb::borrow<nb::object>(from.operation), dtype_of(x),
                                            std::vector<npy_intp>(), true),
             from.commutative, to);
  }
  to.call.layout = SF_ROW_PER_RANK;
  to.call.collective = from.collective;
  to.call.rows = 1;
  to.call.columns = static_cast<std::uint64_t>(PyArray_SIZE(x));
  to.first = PyArray_DATA(x);
  if (from.collective != SF_REDUCE_SCATTER) {
    to.results.make(PyArray_DIMS(x), PyArray_NDIM(x), dtype_of(x));
    return true;
  }
  npy_intp mine = PyArray_SIZE(x) / sf_group_size(group);
  if (!from.blocks.is_none()) {
    to.blocks = number<std::vector<std::uint64_t>>(from.blocks, "blocks");
    if (to.blocks.size() != static_cast<std::size_t>(sf_group_size(group)))
      refuse("%zd blocks for %d ranks (each rank gets one block), give one block per rank", to.blocks.size(),
             static_cast<int>(sf_group_size(group)));
    to.call.blocks = to.blocks.data();
    to.call.block_count = to.blocks.size();
    const std::uint64_t own = to.blocks[static_cast<std::size_t>(sf_group_rank(group))];
    mine = static_cast<npy_intp>(std::min(own, to.call.columns));  // too many elements, which the call refuses
  }
  to.results.make(&mine, 1, dtype_of(x));
  return true;
}

}  // namespace steadfold::python
