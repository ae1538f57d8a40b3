// Arrays of any shape and strides, as C++ calls take them: sections, fields with halos, transposed and repeated ones.
// They are read where they stand.
//
//   sf::Array<double> t(data, {levels, rows, columns});              // C order
//   std::vector<double> sums = sf::sum(t, {.keep = {0}}, comm);      // one sum per level
//   std::vector<double> heat = sf::sum(t, {.keep = {0}, .where = ocean, .weights = area}, comm);
#pragma once

#include "steadfold/operators.hpp"

#if __cplusplus >= 202002L

#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

#include "steadfold/common_array.hpp"

namespace steadfold {

namespace detail {
/// What a DLTensor of DLPack has; strides count elements.
template <class D>
concept DlTensor = requires(const D& d) {
  d.data;
  d.device.device_type;
  d.ndim;
  d.dtype.code;
  d.dtype.bits;
  d.dtype.lanes;
  d.shape[0];
  d.strides;
  d.byte_offset;
};

/// DLPack's code of a type of elements: what dlpack.h calls kDLInt, kDLUInt, kDLFloat, kDLBfloat, kDLComplex, kDLBool.
template <class T>
constexpr int dlpack_code() {
  if constexpr (std::same_as<T, bool>) return 6;
  if constexpr (Complex<T>) return 5;
  if constexpr (std::same_as<T, Bfloat16>) return 4;
  if constexpr (std::integral<T>) return std::unsigned_integral<T> ? 1 : 0;
  return 2;
}

/// What std::mdspan has, and what is made like it; strides count elements.
template <class M>
concept MultidimensionalSpan = requires(const M& m) {
  typename M::element_type;
  m.data_handle();
  M::rank();
  m.extent(0);
  m.stride(0);
};
}  // namespace detail

/// An array in memory, or a section of one, of at most SF_MOST_AXES axes. Refers to the elements, which must outlive
/// the calls that read them. Throws Error(SF_INVALID_ARGUMENT) for more axes.
template <class T>
class Array {
 public:
  using value_type = std::remove_cv_t<T>;

  /// Elements without gaps, the last index fastest.
  Array(const T* data, std::initializer_list<std::uint64_t> shape)
      : Array(data, std::span(shape.begin(), shape.size())) {}
  Array(const T* data, std::span<const std::uint64_t> shape) {
    array_ = detail::array_without_extents(data, detail::type_of<value_type>(), sizeof(T), shape.size());
    std::ranges::copy(shape, array_.shape);
    std::uint64_t stride = sizeof(T);  // wraps around for shapes that the library refuses
    for (auto i = static_cast<std::size_t>(array_.axis_count); i-- > 0;) {
      array_.strides[i] = static_cast<std::int64_t>(stride);
      stride *= array_.shape[i];
    }
  }
  /// Element i, j, ... stands strides[0] * i + strides[1] * j + ... bytes from `data`. As many strides as extents.
  /// Throws Error(SF_INVALID_ARGUMENT) where they are not.
  Array(const T* data, std::span<const std::uint64_t> shape, std::span<const std::int64_t> strides) {
    array_ = detail::array_without_extents(data, detail::type_of<value_type>(), sizeof(T), shape.size());
    detail::require_as_many(strides.size(), shape.size());
    std::ranges::copy(shape, array_.shape);
    std::ranges::copy(strides, array_.strides);
  }
  /// A std::mdspan, or what is like it.
  template <detail::MultidimensionalSpan M>
    requires std::same_as<std::remove_cv_t<typename M::element_type>, value_type>
  Array(const M& m) : Array(m.data_handle(), extents_of(m), strides_of(m)) {}  // NOLINT(google-explicit-constructor)

  /// A DLTensor, as NumPy, PyTorch and CuPy hand their arrays out. Throws Error(SF_INVALID_ARGUMENT) where its elements
  /// are not T or not in memory of the host.
  template <detail::DlTensor D>
  static Array of_dlpack(const D& tensor) {
    const int code = static_cast<int>(tensor.dtype.code);
    const int bits = static_cast<int>(tensor.dtype.bits) * static_cast<int>(tensor.dtype.lanes);
    const int wanted = detail::dlpack_code<value_type>();
    if (code != wanted || tensor.dtype.lanes != 1 || bits != static_cast<int>(8 * sizeof(T)))
      throw Error(SF_INVALID_ARGUMENT, "a tensor of type code " + std::to_string(code) + " and " +
                                           std::to_string(bits) + " bits (the array's elements have code " +
                                           std::to_string(wanted) + " and " + std::to_string(8 * sizeof(T)) +
                                           "), convert it or take an array of its type");
    const int device = static_cast<int>(tensor.device.device_type);
    constexpr int cpu = 1, host_memory_of_cuda = 3;
    if (device != cpu && device != host_memory_of_cuda)
      throw Error(SF_INVALID_ARGUMENT, "a tensor on device type " + std::to_string(device) +
                                           " (the library reads memory of the host), copy it to the host");
    const std::vector<std::uint64_t> shape(tensor.shape, tensor.shape + tensor.ndim);
    const auto* const first = reinterpret_cast<const T*>(static_cast<const char*>(tensor.data) + tensor.byte_offset);
    if (tensor.strides == nullptr) return Array(first, shape);
    std::vector<std::int64_t> strides(tensor.strides, tensor.strides + tensor.ndim);
    for (std::int64_t& each : strides) each *= static_cast<std::int64_t>(sizeof(T));
    return Array(first, shape, strides);
  }

  /// Elements without gaps, the first index fastest, as in Fortran.
  static Array first_fastest(const T* data, std::initializer_list<std::uint64_t> shape) {
    const std::vector<std::uint64_t> reversed(std::make_reverse_iterator(shape.end()),
                                              std::make_reverse_iterator(shape.begin()));
    return Array(data, reversed).transposed();
  }

  /// The same elements with the order of the axes reversed.
  Array transposed() const {
    Array other = *this;
    std::reverse(other.array_.shape, other.array_.shape + array_.axis_count);
    std::reverse(other.array_.strides, other.array_.strides + array_.axis_count);
    return other;
  }
  /// Indices begin, ..., end - 1 of an axis. Throws Error(SF_INVALID_ARGUMENT) where they are not there.
  Array section(int axis, std::uint64_t begin, std::uint64_t end) const {
    if (axis < 0 || axis >= array_.axis_count || begin > end || end > array_.shape[axis])
      throw Error(SF_INVALID_ARGUMENT, "section " + std::to_string(begin) + " to " + std::to_string(end) + " of axis " +
                                           std::to_string(axis) + " (it is not within the array), check them");
    Array part = *this;
    part.array_.shape[axis] = end - begin;
    if (array_.data != nullptr)  // as arrays without elements may have it
      part.array_.data =
          reinterpret_cast<const char*>(array_.data) + static_cast<std::int64_t>(begin) * array_.strides[axis];
    return part;
  }

  int rank() const noexcept { return array_.axis_count; }
  std::span<const std::uint64_t> shape() const noexcept { return {array_.shape, static_cast<std::size_t>(rank())}; }
  const sf_array& c_array() const& noexcept { return array_; }
  sf_array c_array() const&& noexcept { return array_; }

 private:
  template <class M>
  static std::vector<std::uint64_t> extents_of(const M& m) {
    std::vector<std::uint64_t> extents;
    for (std::size_t i = 0; i < M::rank(); ++i) extents.push_back(static_cast<std::uint64_t>(m.extent(i)));
    return extents;
  }
  template <class M>
  static std::vector<std::int64_t> strides_of(const M& m) {
    std::vector<std::int64_t> strides;
    for (std::size_t i = 0; i < M::rank(); ++i)
      strides.push_back(static_cast<std::int64_t>(m.stride(i)) * static_cast<std::int64_t>(sizeof(T)));
    return strides;
  }

  sf_array array_{};
};

namespace detail {

/// A range as an array of one axis.
template <Vector R>
Array<element_t<R>> array_of(const R& x) {
  return {std::ranges::data(x), {static_cast<std::uint64_t>(std::ranges::size(x))}};
}

/// A call over arrays: what it points to, and room for its results.
template <class T, class Op>
class ArrayCall {
 public:
  using Result = result_t<T, Op>;

  template <class SomeOptions>
  ArrayCall(const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes, const SomeOptions& options)
      : held_(op), arrays_(arrays_of(x.c_array(), factors, axes)) {
    call_ = call_of_defaults();
    held_.describe(call_);
    if (call_.operation == SF_USER) arrays_.x.type = SF_BYTES;
    if (call_.operation == SF_MEAN && factors.is_given()) call_.operation = SF_WEIGHTED_MEAN;
    if (call_.operation == SF_SUM && factors.is_given()) call_.operation = SF_DOT;
    describe(options, call_);
    std::uint64_t results = std::max<std::uint64_t>(axes.groups, 1);
    for (std::size_t axis = 0; axis < x.shape().size(); ++axis)
      if ((arrays_.kept >> axis & 1) != 0) results *= x.shape()[axis];
    call_.arrays = &arrays_;
    make_room(results);
  }
  ArrayCall(const ArrayCall&) = delete;
  ArrayCall& operator=(const ArrayCall&) = delete;

  /// Points to what is here.
  const sf_call* call() const noexcept { return &call_; }
  void* results() noexcept { return results_.data(); }
  const std::vector<Result>& values() const noexcept { return results_; }
  OperatorHolder& holder() noexcept { return held_; }
  /// Why there is no room for results; empty if there is.
  const std::string& fault() const noexcept { return fault_; }
  /// The results, or what went wrong.
  std::vector<Result> take(sf_status status) {
    if (!fault_.empty()) throw Error(SF_INVALID_ARGUMENT, fault_);
    check(status, &held_);
    return std::move(results_);
  }

 private:
  /// If there is none, the library refuses the call, on all ranks, so that nobody waits for this one.
  void make_room(std::uint64_t results) {
    try {
      results_.assign(results, no_result<Result>());
    } catch (const std::exception&) {
      fault_ =
          "no room for " + std::to_string(results) + " results (there are too many groups or kept indices), check them";
      arrays_.kept = ~std::uint32_t{0};
    }
  }

  HeldOperator<T, std::decay_t<Op>> held_;
  sf_arrays arrays_;
  sf_call call_;
  std::vector<Result> results_;
  std::string fault_;
};

template <class T, class Op>
std::vector<result_t<T, Op>> reduce_array(const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes,
                                          const LocalOptions& options) {
  ArrayCall<T, Op> made(x, factors, op, axes, options);
  return made.take(sf_reduce_local(made.call(), nullptr, nullptr, made.results()));
}

template <class T, class Op, Communicator C>
std::vector<result_t<T, Op>> reduce_array(const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes,
                                          C comm, const options_over_t<C>& options) {
  const auto group = Over<C>::group(comm);
  auto made = Over<C>::told(group, [&] { return ArrayCall<T, Op>(x, factors, op, axes, options); });
  return made.take(Over<C>::reduce(*made.call(), made.results(), group));
}

}  // namespace detail

}  // namespace steadfold

#endif
