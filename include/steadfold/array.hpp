// Arrays of any shape and strides (sections, fields with halos, transposed and repeated arrays), which are read in
// place; and Axes: kept axes, masks, weights and labels. Included by steadfold.hpp, which is the header to include.
//
//   sf::Array<double> t(data, {levels, rows, columns});              // C order
//   std::vector<double> sums = sf::sum(t, {.keep = {0}}, comm);      // one sum per level; in C++17 sf::Axes{{0}}
//   std::vector<double> heat = sf::sum(t, {.keep = {0}, .where = ocean, .weights = area}, comm);
#pragma once

#include <initializer_list>

#include "steadfold/communicator.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

namespace detail {

/// Whether A is an Array<T>, or has the same interface.
template <class A, class = void>
inline constexpr bool is_array = false;
template <class A>
inline constexpr bool
    is_array<A, std::void_t<typename A::value_type, decltype(std::declval<const A&>().transposed().c_array())>> = true;
template <class A>
using if_no_array = std::enable_if_t<!is_array<bare_t<A>>>;
template <class A, class = void>
inline constexpr bool is_array_of_labels = false;
template <class A>
inline constexpr bool is_array_of_labels<A, std::enable_if_t<is_array<A>>> =
    std::is_integral_v<typename A::value_type> &&
    (std::is_unsigned_v<typename A::value_type> || sizeof(typename A::value_type) >= 4);

/// Makes an array without extents and strides; the caller fills them in.
inline sf_array array_without_extents(const void* data, sf_type type, std::size_t element_bytes, std::size_t axes) {
  if (axes > SF_MOST_AXES)
    throw Error(SF_INVALID_ARGUMENT, std::to_string(axes) + " axes (an array has at most " +
                                         std::to_string(SF_MOST_AXES) + "), join some of the axes");
  sf_array array{};
  array.data = data;
  array.type = type;
  array.element_bytes = element_bytes;
  array.axis_count = static_cast<std::int32_t>(axes);
  return array;
}
inline void require_as_many(std::size_t strides, std::size_t axes) {
  if (strides != axes)
    throw Error(
        SF_INVALID_ARGUMENT,
        std::to_string(strides) + " strides for a shape of " + std::to_string(axes) +
            " axes (every axis has one stride), give one stride per axis, or no strides for contiguous elements");
}

/// Whether M is a std::mdspan, or has its interface; strides count elements.
template <class M, class = void>
inline constexpr bool is_multidimensional = false;
template <class M>
inline constexpr bool is_multidimensional<
    M, std::void_t<typename M::element_type, decltype(std::declval<const M&>().data_handle()), decltype(M::rank()),
                   decltype(std::declval<const M&>().extent(0)), decltype(std::declval<const M&>().stride(0))>> = true;

/// Returns DLPack's code of a type of elements: the values of kDLInt, kDLUInt, kDLFloat, kDLBfloat, kDLComplex and
/// kDLBool in dlpack.h.
template <class T>
constexpr int dlpack_code() {
  if constexpr (std::is_same_v<T, bool>) return 6;
  if constexpr (detail::is_complex<T>) return 5;
  if constexpr (std::is_same_v<T, Bfloat16>) return 4;
  if constexpr (std::is_integral_v<T>) return std::is_unsigned_v<T> ? 1 : 0;
  return 2;
}

}  // namespace detail

/// An array in memory, or a section of an array, with at most SF_MOST_AXES axes. Refers to the elements, which must
/// outlive the calls that read them. The constructors throw Error(SF_INVALID_ARGUMENT) if there are more axes.
template <class T>
class Array {
  using Extents = View<const std::uint64_t>;
  using Strides = View<const std::int64_t>;

 public:
  /// The type of an element.
  using value_type = std::remove_cv_t<T>;

  /// Makes an array of contiguous elements in C order: the last index varies fastest.
  Array(const T* data, std::initializer_list<std::uint64_t> shape) : Array(data, Extents(shape)) {}
  Array(const T* data, Extents shape) {
    array_ = detail::array_without_extents(data, detail::type_of<value_type>(), sizeof(T), shape.size());
    std::copy(shape.begin(), shape.end(), array_.shape);
    std::uint64_t stride = sizeof(T);  // unsigned, because it wraps around for shapes that the library refuses
    for (auto i = static_cast<std::size_t>(array_.axis_count); i-- > 0;) {
      array_.strides[i] = static_cast<std::int64_t>(stride);
      stride *= array_.shape[i];
    }
  }
  /// Makes an array with strides in bytes: element i, j, ... is at strides[0] * i + strides[1] * j + ... bytes from
  /// `data`. There must be as many strides as extents.
  Array(const T* data, std::initializer_list<std::uint64_t> shape, std::initializer_list<std::int64_t> strides)
      : Array(data, Extents(shape), Strides(strides)) {}
  /// Throws Error(SF_INVALID_ARGUMENT) if the numbers of strides and extents differ.
  Array(const T* data, Extents shape, Strides strides) {
    array_ = detail::array_without_extents(data, detail::type_of<value_type>(), sizeof(T), shape.size());
    detail::require_as_many(strides.size(), shape.size());
    std::copy(shape.begin(), shape.end(), array_.shape);
    std::copy(strides.begin(), strides.end(), array_.strides);
  }
  /// Makes an array of a std::mdspan, or of a type with its interface.
  template <class M, class = std::enable_if_t<detail::is_multidimensional<M>>,
            class = std::enable_if_t<std::is_same_v<std::remove_cv_t<typename M::element_type>, value_type>>>
  Array(const M& m) : Array(m.data_handle(), Extents()) {  // NOLINT(google-explicit-constructor)
    std::vector<std::uint64_t> extents;
    std::vector<std::int64_t> strides;
    for (std::size_t i = 0; i < M::rank(); ++i) {
      extents.push_back(static_cast<std::uint64_t>(m.extent(i)));
      strides.push_back(static_cast<std::int64_t>(m.stride(i)) * static_cast<std::int64_t>(sizeof(T)));
    }
    *this = Array(m.data_handle(), extents, strides);
  }

  /// Makes an array of a DLTensor of DLPack, which NumPy and PyTorch export. Throws Error(SF_INVALID_ARGUMENT) if the
  /// elements are not of type T or not in the memory of the host.
  template <class D>
  static Array of_dlpack(const D& tensor) {
    const int code = static_cast<int>(tensor.dtype.code);
    const int bits = static_cast<int>(tensor.dtype.bits) * static_cast<int>(tensor.dtype.lanes);
    const int wanted = detail::dlpack_code<value_type>();
    if (code != wanted || tensor.dtype.lanes != 1 || bits != static_cast<int>(8 * sizeof(T)))
      throw Error(SF_INVALID_ARGUMENT, "a tensor of type code " + std::to_string(code) + " and " +
                                           std::to_string(bits) + " bits (the array's elements have code " +
                                           std::to_string(wanted) + " and " + std::to_string(8 * sizeof(T)) +
                                           "), convert the tensor or use an array of the tensor's type");
    const int device = static_cast<int>(tensor.device.device_type);
    constexpr int cpu = 1, host_memory_of_cuda = 3;
    if (device != cpu && device != host_memory_of_cuda)
      throw Error(SF_INVALID_ARGUMENT, "a tensor on device type " + std::to_string(device) +
                                           " (the library reads only memory of the host), copy the tensor to the host");
    const std::vector<std::uint64_t> shape(tensor.shape, tensor.shape + tensor.ndim);
    const auto* const first = reinterpret_cast<const T*>(static_cast<const char*>(tensor.data) + tensor.byte_offset);
    if (tensor.strides == nullptr) return Array(first, shape);
    std::vector<std::int64_t> strides(tensor.strides, tensor.strides + tensor.ndim);
    for (std::int64_t& each : strides) each *= static_cast<std::int64_t>(sizeof(T));
    return Array(first, shape, strides);
  }

  /// Makes an array of contiguous elements in Fortran order: the first index varies fastest.
  static Array first_fastest(const T* data, std::initializer_list<std::uint64_t> shape) {
    std::vector<std::uint64_t> reversed(shape);
    std::reverse(reversed.begin(), reversed.end());
    return Array(data, reversed).transposed();
  }

  /// Returns the array with the order of its axes reversed; no element moves.
  Array transposed() const {
    Array other = *this;
    std::reverse(other.array_.shape, other.array_.shape + array_.axis_count);
    std::reverse(other.array_.strides, other.array_.strides + array_.axis_count);
    return other;
  }
  /// Returns the section with the indices begin, ..., end - 1 of an axis. Throws Error(SF_INVALID_ARGUMENT) if the
  /// array lacks these indices.
  Array section(int axis, std::uint64_t begin, std::uint64_t end) const {
    if (axis < 0 || axis >= array_.axis_count || begin > end || end > array_.shape[axis])
      throw Error(SF_INVALID_ARGUMENT, "section " + std::to_string(begin) + " to " + std::to_string(end) + " of axis " +
                                           std::to_string(axis) +
                                           " (it is not within the array), check begin, end and axis");
    Array part = *this;
    part.array_.shape[axis] = end - begin;
    if (array_.data != nullptr)  // an array without elements may have a null pointer
      part.array_.data =
          static_cast<const char*>(array_.data) + static_cast<std::int64_t>(begin) * array_.strides[axis];
    return part;
  }

  /// Return the number of axes, their extents, and the array as the C struct.
  int rank() const noexcept { return array_.axis_count; }
  View<const std::uint64_t> shape() const noexcept { return {array_.shape, static_cast<std::size_t>(rank())}; }
  const sf_array& c_array() const& noexcept { return array_; }
  sf_array c_array() const&& noexcept { return array_; }

 private:
  sf_array array_{};
};

/// A list of vectors of elements of type T, at any addresses: {x, y, z}, or any range of vectors. Refers to their
/// elements.
template <class T>
class Vectors {
 public:
  /// Makes a list that refers to the elements of these vectors.
  Vectors(std::initializer_list<View<const T>> vectors) : vectors_(vectors) {}
  template <class R,
            class = std::enable_if_t<std::is_convertible_v<decltype(*std::begin(std::declval<R&>())), View<const T>>>>
  Vectors(R&& vectors) {  // NOLINT(google-explicit-constructor)
    for (auto&& each : vectors) vectors_.emplace_back(each);
  }

  /// Returns views of the vectors.
  const std::vector<View<const T>>& all() const noexcept { return vectors_; }

 private:
  std::vector<View<const T>> vectors_;
};

/// An optional array of weights, or an optional mask.
class MaybeArray {
 public:
  /// Makes an empty object, or a reference to an array's elements.
  MaybeArray() = default;
  template <class A, class = std::enable_if_t<detail::is_array<A>>>
  MaybeArray(const A& array) : array_(array.c_array()) {}  // NOLINT(google-explicit-constructor)
  /// Returns the array as the C struct.
  const sf_array& c_array() const noexcept { return array_; }
  /// Whether there is an array.
  bool is_given() const noexcept { return array_.data != nullptr || array_.axis_count > 0; }

 private:
  sf_array array_{};
};

/// An optional array of labels: integers of 32 or 64 bits, or unsigned integers of 8 or 16 bits.
class MaybeLabels : public MaybeArray {
 public:
  /// Makes an empty object, or a reference to the elements of an array of labels.
  MaybeLabels() = default;
  template <class A, class = std::enable_if_t<detail::is_array<A>>>
  MaybeLabels(const A& array) : MaybeArray(array) {  // NOLINT(google-explicit-constructor)
    static_assert(detail::is_array_of_labels<A>,
                  "labels are integers of 32 or 64 bits, or unsigned integers of 8 or 16 bits: convert the labels");
  }
};

/// Describes the reduction of an array: which elements are reduced, and which axes are kept.
struct Axes {
  /// The kept axes, in ascending order. Every index of a kept axis has a result; results are in C order. A negative
  /// number counts axes from the end. The elements along all other axes are reduced; method `tree` takes them in C
  /// order.
  std::vector<int> keep = {};
  /// The mask, of bool, bytes or integers: elements whose mask is 0 are left out. An element that is left out is never
  /// combined, even if it is a NaN or an infinity. The mask is broadcast to the elements as in NumPy. If the mask
  /// leaves no element for a kept index, the sum is 0. The mean is NaN if the mask has the kept axis, and SF_EMPTY
  /// otherwise.
  MaybeArray where = {};
  /// The weights of `sum` and `mean`: factors of the elements, broadcast in the same way, except that a single weight
  /// is not broadcast to a vector. The products are exact. A mean is the sum of the products divided by the sum of the
  /// weights that count.
  MaybeArray weights = {};
  /// The labels, for groups such as patches, basins or bins. The label of an element, 0 to groups - 1, is the number of
  /// its group; an element with a negative label belongs to no group. The results of group 0 come first, then the
  /// results of group 1, and so on. Each is computed as if the other groups did not exist. Labels are broadcast in the
  /// same way. A label of `groups` or above is an error, unless `where` leaves its element out.
  MaybeLabels labels = {};
  std::uint64_t groups = 0;
};

namespace detail {

/// Returns the operands of a call as the C struct.
inline sf_arrays arrays_of(const sf_array& x, const MaybeArray& factors, const Axes& axes) {
  sf_arrays arrays = arrays_of_nothing();
  arrays.x = x;
  arrays.factors = factors.c_array();
  arrays.mask = axes.where.c_array();
  arrays.labels = axes.labels.c_array();
  arrays.groups = axes.groups;
  constexpr int none = 31, disorder = 30;  // numbers of bits that the library refuses, each with a different error text
  int last = -1;
  for (const int each : axes.keep) {
    const int axis = each < 0 ? each + x.axis_count : each;
    const bool is_there = axis >= 0 && axis < x.axis_count;
    arrays.kept |= std::uint32_t{1} << (!is_there ? none : axis <= last ? disorder : axis);
    last = axis;
  }
  return arrays;
}

/// Describes the error if two vectors that are multiplied have different sizes.
inline std::string misfit_of_factors(std::uint64_t first_size, std::uint64_t second_size) {
  return "the factors of a dot product differ in size (" + std::to_string(first_size) + " and " +
         std::to_string(second_size) + " elements), give vectors of the same size";
}
/// Describes the error in the factors, or weights, of an array; empty if there is none. A vector is never broadcast to
/// another vector.
inline std::string misfit(const sf_array& x, const sf_array& factors) {
  const bool are_vectors = x.axis_count == 1 && factors.axis_count == 1;
  return are_vectors && x.shape[0] != factors.shape[0] ? misfit_of_factors(x.shape[0], factors.shape[0])
                                                       : std::string();
}

/// Returns a vector as an array of one axis.
template <class R>
Array<element_t<R>> array_of(const R& x) {
  return {std::data(x), {static_cast<std::uint64_t>(std::size(x))}};
}
/// Returns the axes of groups of elements by labels. Not written as one initializer, because GCC 12 would report
/// members of temporaries as uninitialised.
template <class L>
Axes axes_of_groups(const Array<L>& labels, std::uint64_t groups) {
  Axes axes;
  axes.labels = labels;
  axes.groups = groups;
  return axes;
}

/// A call over arrays.
template <class T, class Op>
class CallOfArrays : public Call<T, Op> {
 public:
  static constexpr bool may_throw = true;  // it throws if there is no memory for the results

  template <class SomeOptions>
  CallOfArrays(const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes, const SomeOptions& options)
      : Call<T, Op>(op, [&](auto& held) { return detail::call_of(held, 0, options); }),
        arrays_(arrays_of(x.c_array(), factors, axes)) {
    sf_operation& operation = this->call_.operation;
    if (operation == SF_USER) arrays_.x.type = SF_BYTES;
    if (operation == SF_MEAN && factors.is_given()) operation = SF_WEIGHTED_MEAN;
    if (operation == SF_SUM && factors.is_given()) operation = SF_DOT;
    std::uint64_t results = std::max<std::uint64_t>(axes.groups, 1);
    for (std::size_t axis = 0; axis < x.shape().size(); ++axis)
      if ((arrays_.kept >> axis & 1) != 0) results *= x.shape()[axis];
    this->call_.arrays = &arrays_;
    this->fault_ = misfit(arrays_.x, arrays_.factors);
    make_room(results);
  }

  void* results() noexcept { return results_.data(); }
  const results_t<T, Op>& values() const noexcept { return results_; }
  results_t<T, Op> take(sf_status status) {
    this->conclude(status);
    return std::move(results_);
  }

 private:
  void make_room(std::uint64_t results) {
    try {
      results_.assign(results, no_result<result_t<T, Op>>());
    } catch (const std::exception&) {
      this->fault_ = "no memory for " + std::to_string(results) +
                     " results (there are too many groups or kept indices), check the groups and the kept axes";
    }
  }

  sf_arrays arrays_;
  results_t<T, Op> results_;
};

/// A call over a vector with labels.
template <class T>
class CallOfGroups : public CallOfArrays<T, BuiltIn<SF_SUM>> {
 public:
  template <class L, class SomeOptions>
  CallOfGroups(const Array<T>& x, const Array<L>& labels, std::uint64_t groups, const SomeOptions& options)
      : CallOfArrays<T, BuiltIn<SF_SUM>>(x, {}, {}, axes_of_groups(labels, groups), options) {
    const std::uint64_t size = x.shape().front(), label_count = labels.shape().front();
    if (size != label_count)
      this->fault_ = std::to_string(label_count) + " labels for " + std::to_string(size) +
                     " elements (every element has one label), give one label per element";
  }
};

template <class Mode, class X, class L, class SomeOptions>
auto sum_groups(const Mode& mode, const X& x, const L& labels, std::uint64_t groups, const SomeOptions& options) {
  return mode.template reduce<CallOfGroups<element_t<X>>>(array_of(x), array_of(labels), groups, options);
}

template <class Mode, class T, class Op, class SomeOptions>
auto reduce_array(const Mode& mode, const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes,
                  const SomeOptions& options) {
  return mode.template reduce<CallOfArrays<T, std::decay_t<Op>>>(x, factors, op, axes, options);
}

}  // namespace detail

}  // namespace steadfold

#endif
