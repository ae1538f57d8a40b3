// What the APIs for C++20 and C++17 share of arrays: which axes are kept, masks, weights and labels. Included by
// array.hpp and cxx17.hpp, which are the headers to include.
#pragma once

#include "steadfold/common.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

namespace detail {

/// What is made as Array<T> is, of either API.
template <class A, class = void>
inline constexpr bool is_array = false;
template <class A>
inline constexpr bool
    is_array<A, std::void_t<typename A::value_type, decltype(std::declval<const A&>().transposed().c_array())> > = true;
template <class A, class = void>
inline constexpr bool is_array_of_labels = false;
template <class A>
inline constexpr bool is_array_of_labels<A, std::enable_if_t<is_array<A> > > =
    std::is_integral_v<typename A::value_type> &&
    (std::is_unsigned_v<typename A::value_type> || sizeof(typename A::value_type) >= 4);

/// An array whose extents and strides are still to come.
inline sf_array array_without_extents(const void* data, sf_type type, std::size_t element_bytes, std::size_t axes) {
  if (axes > SF_MOST_AXES)
    throw Error(SF_INVALID_ARGUMENT, std::to_string(axes) + " axes (an array has at most " +
                                         std::to_string(SF_MOST_AXES) + "), join some of them");
  sf_array array{};
  array.data = data;
  array.type = type;
  array.element_bytes = element_bytes;
  array.axis_count = static_cast<std::int32_t>(axes);
  return array;
}
inline void require_as_many(std::size_t strides, std::size_t axes) {
  if (strides != axes)
    throw Error(SF_INVALID_ARGUMENT, std::to_string(strides) + " strides for a shape of " + std::to_string(axes) +
                                         " axes (every axis has one), give as many, or none for elements without gaps");
}

}  // namespace detail

/// An array of weights or a mask, or none.
class MaybeArray {
 public:
  MaybeArray() = default;
  template <class A, class = std::enable_if_t<detail::is_array<A> > >
  MaybeArray(const A& array) : array_(array.c_array()) {}  // NOLINT(google-explicit-constructor)
  const sf_array& c_array() const noexcept { return array_; }
  bool is_given() const noexcept { return array_.data != nullptr || array_.axis_count > 0; }

 private:
  sf_array array_{};
};

/// An array of labels, or none: integers of 32 or 64 bits, or of 8 or 16 without a sign.
class MaybeLabels : public MaybeArray {
 public:
  MaybeLabels() = default;
  template <class A, class = std::enable_if_t<detail::is_array_of_labels<A> > >
  MaybeLabels(const A& array) : MaybeArray(array) {}  // NOLINT(google-explicit-constructor)
};

/// What of an array is reduced, and what has a result of its own.
struct Axes {
  /// The axes that are kept, in ascending order: each of their indices has a result, in C order. Negative ones count
  /// from the end. All others are reduced; for `tree` their elements are in C order.
  std::vector<int> keep = {};
  /// Which elements count: those whose mask (of bool, bytes or integers) is not 0. What is left out is never combined,
  /// whatever it is, NaN or infinity. Stretched to the elements as NumPy does. A kept index without elements has a sum
  /// of 0 and a mean of NaN, if the mask has that axis; else such a mean is SF_EMPTY.
  MaybeArray where = {};
  /// `sum` and `mean`: factors of the elements, stretched likewise. The products are exact; a mean is their sum divided
  /// by that of the weights that count.
  MaybeArray weights = {};
  /// Groups (patches, basins, bins): every element belongs to the one that its label names, 0 to groups - 1, or, if its
  /// label is below 0, to none. Results are those of group 0, then of group 1, ..., each as if the others were not
  /// there. Stretched likewise. A label of `groups` or above is an error, unless `where` leaves it out.
  MaybeLabels labels = {};
  std::uint64_t groups = 0;
};

namespace detail {

/// Arrays as C has them.
inline sf_arrays arrays_of(const sf_array& x, const MaybeArray& factors, const Axes& axes) {
  sf_arrays arrays{};
  arrays.size = sizeof arrays;
  arrays.x = x;
  arrays.factors = factors.c_array();
  arrays.mask = axes.where.c_array();
  arrays.labels = axes.labels.c_array();
  arrays.groups = axes.groups;
  constexpr int none = 31, disorder = 30;  // bits that the library refuses, each with a text of its own
  int last = -1;
  for (const int each : axes.keep) {
    const int axis = each < 0 ? each + x.axis_count : each;
    const bool is_there = axis >= 0 && axis < x.axis_count;
    arrays.kept |= std::uint32_t{1} << (!is_there ? none : axis <= last ? disorder : axis);
    last = axis;
  }
  return arrays;
}

}  // namespace detail

}  // namespace steadfold

#endif
