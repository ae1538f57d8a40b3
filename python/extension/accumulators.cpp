#include "accumulators.hpp"

#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "steadfold/steadfold_accumulator.h"

namespace steadfold::python {
namespace {

/// An accumulator with one exact sum for every element of `shape`; its columns are the elements in C order.
class Accumulator {
 public:
  Accumulator(nb::handle shape, nb::handle dtype, bool products)
      : shape_(number<std::vector<npy_intp>>(shape, "shape")) {
    check(sf_accumulator_create(real_type(dtype), products ? SF_PRODUCTS : SF_ELEMENTS, columns(), &handle_));
  }
  Accumulator(sf_accumulator* handle, std::vector<npy_intp> shape) : handle_(handle), shape_(std::move(shape)) {}
  Accumulator(Accumulator&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), shape_(std::move(other.shape_)) {}
  Accumulator& operator=(Accumulator&&) = delete;
  ~Accumulator() { sf_accumulator_free(handle_); }

  void add(nb::handle x, nb::handle weights, nb::handle where, nb::handle wanted_threads, bool subtract) {
    const auto threads = number<std::uint32_t>(wanted_threads, "threads");
    const nb::object elements = operand(x), factors = weights.is_none() ? nb::object() : operand(weights);
    if (factors.is_valid() && shape().terms != SF_PRODUCTS)
      refuse(
          "weights for an accumulator of elements (it has no sums of products), make the accumulator with "
          "products=True");
    const nb::object mask = is_mask(where) ? mask_from(where) : nb::object();
    sf_arrays arrays;
    sf_arrays_init(&arrays, sizeof arrays);
    arrays.x = view(as_array(elements), shape().type);
    arrays.kept = kept_axes(as_array(elements));
    if (factors.is_valid()) arrays.factors = view(as_array(factors), shape().type);
    if (mask.is_valid()) arrays.mask = view(as_array(mask), SF_BYTES);
    change([&](sf_accumulator* handle) {
      return subtract ? sf_accumulator_subtract_arrays(handle, &arrays, threads)
                      : sf_accumulator_add_arrays(handle, &arrays, threads);
    });
  }
  void merge(const Accumulator& other, bool subtract) {
    if (shape_ != other.shape_)
      refuse(
          "accumulators of different shapes cannot be merged (their columns do not correspond), reshape one of them");
    check(subtract ? sf_accumulator_unmerge(use(), other.use()) : sf_accumulator_merge(use(), other.use()));
  }
  void merge_ranks(nb::handle comm) {
    sf_group* const group = group_of(comm);
    if (group == nullptr) return;
    or_tell(group, [&] { return use(); });  // tells the other ranks of an error, so that they do not wait
    change([&](sf_accumulator* handle) { return sf_accumulator_merge_ranks(handle, group); });
  }
  [[nodiscard]] Accumulator copy() const {
    sf_accumulator* copied = nullptr;
    check(sf_accumulator_copy(use(), &copied));
    return {copied, shape_};
  }
  void negate() { check(sf_accumulator_negate(use())); }
  void clear() { check(sf_accumulator_clear(use())); }

  nb::object round(int operation, nb::handle dtype) const {
    const sf_type type = dtype.is_none() ? shape().type : real_type(dtype);
    if (operation == SF_NORM2 && shape().terms != SF_PRODUCTS)
      refuse(
          "the norm of an accumulator of elements (a norm is the root of a sum of squares), make the accumulator with "
          "products=True");
    Results results;
    results.make(shape_.data(), static_cast<int>(shape_.size()), numpy_type(type));
    check(sf_accumulator_round(use(), static_cast<sf_operation>(operation), type, results.place()));
    return results.value();
  }
  /// Adds the elements one after the other, and returns the sum after each.
  nb::object cumulate(nb::handle x, nb::handle dtype) {
    const sf_type type = dtype.is_none() ? shape().type : real_type(dtype);
    const nb::object elements = operand(x);
    PyArrayObject* const array = as_array(elements);
    if (PyArray_NDIM(array) != 1 || shape().columns != 1 || !PyArray_ISCARRAY_RO(array))
      refuse("sums after every element are of contiguous elements along one axis, give such an array");
    const npy_intp count = PyArray_DIM(array, 0);
    Results results;
    results.make(&count, 1, numpy_type(type));
    const auto* const first = static_cast<const char*>(PyArray_DATA(array));
    auto* const sums = static_cast<char*>(results.place());
    const npy_intp from = PyArray_ITEMSIZE(array), to = type == SF_F32 ? sizeof(float) : sizeof(double);
    change([&](sf_accumulator* handle) {
      sf_status status = SF_OK;
      for (npy_intp i = 0; i < count && status == SF_OK; ++i) {
        status = sf_accumulator_add(handle, first + i * from, 1, 1);
        if (status == SF_OK) status = sf_accumulator_round(handle, SF_SUM, type, sums + i * to);
      }
      return status;
    });
    return results.value();
  }
  nb::object compare(const Accumulator& other) const {
    static_assert(sizeof(sf_order) == sizeof(npy_int));
    if (shape_ != other.shape_)
      refuse(
          "accumulators of different shapes cannot be compared (columns are compared one by one), reshape one of them");
    Results results;
    results.make(shape_.data(), static_cast<int>(shape_.size()), NPY_INT);
    check(sf_accumulator_compare(use(), other.use(), static_cast<sf_order*>(results.place())));
    return results.value();
  }
  nb::bytes to_bytes() const {
    std::uint64_t size = 0;
    check(sf_accumulator_write(use(), nullptr, 0, &size));
    std::string text(size, '\0');
    check(sf_accumulator_write(use(), text.data(), size, &size));
    return nb::bytes(text.data(), text.size());
  }
  static Accumulator from_bytes(const nb::bytes& bytes, nb::object shape) {
    sf_accumulator* read = nullptr;
    check(sf_accumulator_read(bytes.data(), bytes.size(), &read));
    Accumulator result(read, {});
    const auto columns = static_cast<npy_intp>(result.shape().columns);
    if (shape.is_none()) {
      if (columns != 1) result.shape_ = {columns};
      return result;
    }
    result.shape_ = number<std::vector<npy_intp>>(shape, "shape");
    if (result.columns() != result.shape().columns)
      refuse(
          "bytes of an accumulator of %zd columns for shape %S (the shape has a different number of columns), give the "
          "shape with which the accumulator was made",
          columns, shape.ptr());
    return result;
  }
  [[nodiscard]] std::int64_t rows() const {
    std::int64_t rows = 0;
    check(sf_accumulator_describe(use(), nullptr, &rows));
    return rows;
  }
  [[nodiscard]] sf_accumulator_shape shape() const {
    sf_accumulator_shape shape{};
    check(sf_accumulator_describe(use(), &shape, nullptr));
    return shape;
  }
  [[nodiscard]] nb::object python_shape() const {
    return take(PyArray_IntTupleFromIntp(static_cast<int>(shape_.size()), shape_.data()));
  }
  [[nodiscard]] nb::object dtype() const {
    return take(reinterpret_cast<PyObject*>(PyArray_DescrFromType(numpy_type(shape().type))));
  }

 private:
  /// Returns the handle. Throws if another thread is changing the accumulator without Python's lock.
  [[nodiscard]] sf_accumulator* use() const {
    if (is_changing_)
      refuse(
          "the accumulator is in use by another thread (one thread at a time may use it), give every thread its own "
          "accumulator");
    return handle_;
  }
  /// Changes the accumulator while other threads run Python.
  template <class Change>
  void change(const Change& change) {
    sf_accumulator* const handle = use();
    is_changing_ = true;
    const sf_status status = without_lock([&] { return change(handle); });
    is_changing_ = false;
    check(status);
  }
  [[nodiscard]] std::uint64_t columns() const {
    std::uint64_t product = 1;
    if (shape_.size() > SF_MOST_AXES)
      refuse("an accumulator of %zd axes (at most %d axes are supported), reshape the accumulator", shape_.size(),
             SF_MOST_AXES);
    for (const npy_intp extent : shape_) {
      if (extent < 1)
        refuse("an accumulator with an axis of extent %zd (every axis has at least 1 column), give positive extents",
               extent);
      if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(extent), &product))
        refuse("an accumulator of shape %S (it would have more than 2^64 columns), give a smaller shape",
               python_shape().ptr());
    }
    return product;
  }
  /// Converts elements to the accumulator's type, if no bit is lost.
  [[nodiscard]] nb::object operand(nb::handle object) const {
    nb::object array = to_array(object);
    if (type_of(as_array(array)) == shape().type) return array;
    return converted("as_terms", array, dtype());
  }
  /// Checks that the last axes of x are the axes of the accumulator.
  [[nodiscard]] std::uint32_t kept_axes(PyArrayObject* x) const {
    const int kept = static_cast<int>(shape_.size()), first = PyArray_NDIM(x) - kept;
    if (first < 0 || !std::equal(shape_.begin(), shape_.end(), PyArray_DIMS(x) + first)) {
      const nb::object found = take(PyArray_IntTupleFromIntp(PyArray_NDIM(x), PyArray_DIMS(x)));
      refuse("elements of shape %S (the last axes must be the axes of the accumulator, %S), transpose them",
             found.ptr(), python_shape().ptr());
    }
    return ((std::uint32_t{1} << kept) - 1) << first;
  }
  /// Returns the dtype of the elements and the results.
  static sf_type real_type(nb::handle dtype) {
    const nb::object asked = dtype_from(dtype);
    const std::optional<sf_type> type = type_of(as_dtype(asked));
    if (type != SF_F64 && type != SF_F32)
      refuse("an accumulator of dtype %S (accumulators take float64 and float32), convert the numbers", asked.ptr());
    return *type;
  }

  sf_accumulator* handle_ = nullptr;
  std::vector<npy_intp> shape_;
  bool is_changing_ = false;
};

}  // namespace

void add_accumulators(nb::module_& module) {
  nb::class_<Accumulator>(module, "Accumulator")
      .def(nb::init<nb::handle, nb::handle, bool>(), nb::arg("shape"), nb::arg("dtype").none(), nb::arg("products"))
      .def("add", &Accumulator::add, nb::arg("x"), nb::arg("weights").none(), nb::arg("where").none(),
           nb::arg("threads").none(), nb::arg("subtract"))
      .def("merge", &Accumulator::merge, nb::arg("other"), nb::arg("subtract"))
      .def("merge_ranks", &Accumulator::merge_ranks, nb::arg("comm").none())
      .def("copy", &Accumulator::copy)
      .def("negate", &Accumulator::negate)
      .def("clear", &Accumulator::clear)
      .def("round", &Accumulator::round, nb::arg("operation"), nb::arg("dtype").none())
      .def("cumulate", &Accumulator::cumulate, nb::arg("x"), nb::arg("dtype").none())
      .def("compare", &Accumulator::compare)
      .def("to_bytes", &Accumulator::to_bytes)
      .def_static("from_bytes", &Accumulator::from_bytes, nb::arg("data"), nb::arg("shape").none())
      .def_prop_ro("rows", &Accumulator::rows)
      .def_prop_ro("shape", &Accumulator::python_shape)
      .def_prop_ro("dtype", &Accumulator::dtype)
      .def_prop_ro("products", [](const Accumulator& self) { return self.shape().terms == SF_PRODUCTS; });
}

}  // namespace steadfold::python
