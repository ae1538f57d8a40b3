// Calls over arrays (common_array.hpp) for C++20: sections, fields with halos, transposed and repeated ones, read where
// they stand.
//
//   sf::Array<double> t(data, {levels, rows, columns});              // C order
//   std::vector<double> sums = sf::sum(t, {.keep = {0}}, comm);      // one sum per level
//   std::vector<double> heat = sf::sum(t, {.keep = {0}, .where = ocean, .weights = area}, comm);
#pragma once

#include "steadfold/operators.hpp"

#if __cplusplus >= 202002L

#include <vector>

#include "steadfold/common_array.hpp"

namespace steadfold {

namespace detail {

template <class T, class Op>
using ArrayCall = CallOfArrays<T, HeldOperator<T, std::decay_t<Op>>>;

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
