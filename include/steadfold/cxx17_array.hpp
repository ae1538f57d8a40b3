// Calls over arrays of Steadfold for C++17, and of several dot products. Included by cxx17.hpp, which is the header to
// include.
//
//   sf17::Array<double> t(data, {levels, rows, columns});               // C order
//   sf17::Axes axes;                                                    // or sf17::Axes{{0}, ocean, area}
//   axes.keep = {0};
//   axes.where = ocean;                                                 // an array that is stretched to the shape of t
//   std::vector<double> sums = sf17::sum(t, axes, comm);                // one sum per level
#pragma once

#include "steadfold/cxx17_operators.hpp"

#if __cplusplus >= 201703L

namespace steadfold::cxx17 {

namespace detail {

template <class T, class Op>
using ArrayCall = steadfold::detail::CallOfArrays<T, Held<T, std::decay_t<Op>>>;

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

template <class T, sf_operation id>
using DotsCall = steadfold::detail::CallOfDots<T, Held<T, BuiltIn<id, void>>>;

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
