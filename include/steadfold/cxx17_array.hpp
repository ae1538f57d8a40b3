// Arrays of Steadfold for C++17: sections, fields with halos, transposed and repeated ones, read where they stand; and
// lists of vectors. Included by cxx17.hpp, which is the header to include.
//
//   sf17::Array<double> t(data, {levels, rows, columns});               // C order
//   sf17::Axes axes;                                                    // or sf17::Axes{{0}, ocean, area}
//   axes.keep = {0};
//   axes.where = ocean;                                                 // an array that is stretched to the shape of t
//   std::vector<double> sums = sf17::sum(t, axes, comm);                // one sum per level
#pragma once

#include "steadfold/cxx17_operators.hpp"

#if __cplusplus >= 201703L

#include <initializer_list>

namespace steadfold::cxx17 {

namespace detail {

/// What std::mdspan has, and what is made like it; strides count elements.
template <class M, class = void>
inline constexpr bool is_multidimensional = false;
template <class M>
inline constexpr bool is_multidimensional<
    M, std::void_t<typename M::element_type, decltype(std::declval<const M&>().data_handle()), decltype(M::rank()),
                   decltype(std::declval<const M&>().extent(0)), decltype(std::declval<const M&>().stride(0))>> = true;

/// DLPack's code of a type of elements: what dlpack.h calls kDLInt, kDLUInt, kDLFloat, kDLBfloat, kDLComplex, kDLBool.
template <class T>
constexpr int dlpack_code() {
  if constexpr (std::is_same_v<T, bool>) return 6;
  if constexpr (steadfold::detail::is_complex<T>) return 5;
  if constexpr (std::is_same_v<T, Bfloat16>) return 4;
  if constexpr (std::is_integral_v<T>) return std::is_unsigned_v<T> ? 1 : 0;
  return 2;
}

}  // namespace detail

/// An array in memory, or a section of one, of at most SF_MOST_AXES axes. Refers to the elements, which must outlive
/// the calls that read them. Throws Error(SF_INVALID_ARGUMENT) for more axes.
template <class T>
class Array {
  using Extents = View<const std::uint64_t>;
  using Strides = View<const std::int64_t>;

 public:
  using value_type = std::remove_cv_t<T>;

  /// Elements without gaps, the last index fastest.
  Array(const T* data, std::initializer_list<std::uint64_t> shape) : Array(data, Extents(shape)) {}
  Array(const T* data, Extents shape) {
    array_ = steadfold::detail::array_without_extents(data, detail::type_of<value_type>(), sizeof(T), shape.size());
    std::copy(shape.begin(), shape.end(), array_.shape);
    std::uint64_t stride = sizeof(T);  // wraps around for shapes that the library refuses
    for (auto i = static_cast<std::size_t>(array_.axis_count); i-- > 0;) {
      array_.strides[i] = static_cast<std::int64_t>(stride);
      stride *= array_.shape[i];
    }
  }
  /// Element i, j, ... stands strides[0] * i + strides[1] * j + ... bytes from `data`. As many strides as extents.
  Array(const T* data, std::initializer_list<std::uint64_t> shape, std::initializer_list<std::int64_t> strides)
      : Array(data, Extents(shape), Strides(strides)) {}
  /// Throws Error(SF_INVALID_ARGUMENT) where they are not.
  Array(const T* data, Extents shape, Strides strides) {
    array_ = steadfold::detail::array_without_extents(data, detail::type_of<value_type>(), sizeof(T), shape.size());
    steadfold::detail::require_as_many(strides.size(), shape.size());
    std::copy(shape.begin(), shape.end(), array_.shape);
    std::copy(strides.begin(), strides.end(), array_.strides);
  }
  /// A std::mdspan, or what is like it.
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

  /// A DLTensor of DLPack, as NumPy and PyTorch hand their arrays out. Throws Error(SF_INVALID_ARGUMENT) where its
  /// elements are not T or not in memory of the host.
  template <class D>
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
    std::vector<std::uint64_t> reversed(shape);
    std::reverse(reversed.begin(), reversed.end());
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
          static_cast<const char*>(array_.data) + static_cast<std::int64_t>(begin) * array_.strides[axis];
    return part;
  }

  int rank() const noexcept { return array_.axis_count; }
  View<const std::uint64_t> shape() const noexcept { return {array_.shape, static_cast<std::size_t>(rank())}; }
  const sf_array& c_array() const& noexcept { return array_; }
  sf_array c_array() const&& noexcept { return array_; }

 private:
  sf_array array_{};
};

/// Vectors of elements of type T, wherever each stands: {x, y, z}, or any range of vectors. Refers to their elements.
template <class T>
class Vectors {
 public:
  Vectors(std::initializer_list<View<const T>> vectors) : vectors_(vectors) {}
  template <class R, class = std::enable_if_t<std::is_convertible_v<decltype(*std::begin(std::declval<const R&>())),
                                                                    View<const T>>>>
  Vectors(const R& vectors) {  // NOLINT(google-explicit-constructor)
    for (const auto& each : vectors) vectors_.emplace_back(each);
  }

  const std::vector<View<const T>>& all() const noexcept { return vectors_; }

 private:
  std::vector<View<const T>> vectors_;
};

namespace detail {

/// A vector as an array of one axis.
template <class R>
Array<element_t<R>> array_of(const R& x) {
  return {std::data(x), {static_cast<std::uint64_t>(std::size(x))}};
}
template <class L>
Axes axes_of_groups(const L& labels, std::uint64_t groups) {
  Axes axes;
  axes.labels = array_of(labels);
  axes.groups = groups;
  return axes;
}

/// A call over arrays: what it points to, and room for its results.
template <class T, class Op>
class ArrayCall {
  using HeldOp = Held<T, std::decay_t<Op>>;

 public:
  using Result = typename HeldOp::Result;

  template <class SomeOptions>
  ArrayCall(const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes, const SomeOptions& options)
      : held_(op), arrays_(steadfold::detail::arrays_of(x.c_array(), factors, axes)) {
    call_ = call_of(held_, 0, options);
    if (call_.operation == SF_USER) arrays_.x.type = SF_BYTES;
    if (call_.operation == SF_MEAN && factors.is_given()) call_.operation = SF_WEIGHTED_MEAN;
    if (call_.operation == SF_SUM && factors.is_given()) call_.operation = SF_DOT;
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

  HeldOp held_;
  sf_arrays arrays_;
  sf_call call_;
  std::vector<Result> results_;
  std::string fault_;
};

template <class T, class Op>
auto reduce_array(const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes,
                  const LocalOptions& options) {
  ArrayCall<T, Op> made(x, factors, op, axes, options);
  return made.take(sf_reduce_local(made.call(), nullptr, nullptr, made.results()));
}
template <class T, class Op>
auto reduce_array(const Array<T>& x, const MaybeArray& factors, const Op& op, const Axes& axes, Group group,
                  const Options& options) {
  auto made = told(group, [&] { return ArrayCall<T, Op>(x, factors, op, axes, options); });
  return made.take(sf_group_reduce(made.call(), nullptr, nullptr, made.results(), group.handle()));
}

/// The others as a list of arrays, `x` as the factors of all, which may be null until a run says where it is.
template <class T>
sf_arrays arrays_of_dots(const std::vector<const void*>& others, const T* x, std::uint64_t rows) {
  sf_arrays arrays = sf_arrays_default();
  arrays.x = Array<T>(nullptr, {rows}).c_array();
  arrays.factors = Array<T>(x, {rows}).c_array();
  arrays.xs = others.data();
  arrays.x_count = others.size();
  return arrays;
}

/// The dot products of x with several vectors, as one call of C: what it points to, and room for its results. With
/// SF_DOTC the others are conjugated. If sizes differ, the call is made without elements and fails on all ranks.
template <class T, sf_operation id>
class DotsCall {
  using HeldOp = Held<T, BuiltIn<id, void>>;

 public:
  using Result = typename HeldOp::Result;

  template <class SomeOptions>
  DotsCall(View<const T> x, const Vectors<T>& ys, const SomeOptions& options) {
    if (ys.all().empty()) fault_ = "no vector to multiply with (a dot product takes two), give one at least";
    std::uint64_t rows = x.size();
    for (const auto& y : ys.all()) {
      list_.push_back(y.data());
      rows = std::max<std::uint64_t>(rows, y.size());
      if (y.size() != x.size()) fault_ = steadfold::detail::misfit(Second::factors, x.size(), y.size());
    }
    arrays_ = arrays_of_dots(list_, fault_.empty() ? x.data() : nullptr, rows);
    HeldOp held({});
    call_ = call_of(held, 0, options);
    call_.arrays = &arrays_;
    results_.assign(list_.size(), no_result<Result>());
  }
  DotsCall(const DotsCall&) = delete;
  DotsCall& operator=(const DotsCall&) = delete;

  const sf_call* call() const noexcept { return &call_; }
  void* results() noexcept { return results_.data(); }
  const std::string& fault() const noexcept { return fault_; }
  /// The results, or what went wrong.
  std::vector<Result> take(sf_status status) {
    if (!fault_.empty()) throw Error(SF_INVALID_ARGUMENT, fault_);
    check(status);
    return std::move(results_);
  }

 private:
  std::vector<const void*> list_;
  sf_arrays arrays_{};
  sf_call call_{};
  std::vector<Result> results_;
  std::string fault_;
};

/// The functions `dots` and `dotcs`.
template <sf_operation id>
struct Dots {
  template <class R, class = if_vector<R>>
  auto operator()(const R& x, const Vectors<element_t<R>>& ys, const LocalOptions& options = {}) const {
    DotsCall<element_t<R>, id> made(x, ys, options);
    return made.take(sf_reduce_local(made.call(), nullptr, nullptr, made.results()));
  }
  template <class R, class C, class = if_vector<R>, class = if_group<C>>
  auto operator()(const R& x, const Vectors<element_t<R>>& ys, const C& comm, const Options& options = {}) const {
    const Group group = GroupOf<C>::group(comm);
    auto made = told(group, [&] { return DotsCall<element_t<R>, id>(x, ys, options); });
    return made.take(sf_group_reduce(made.call(), nullptr, nullptr, made.results(), group.handle()));
  }
};

}  // namespace detail

}  // namespace steadfold::cxx17

#endif
