// Dot products of one vector with several others: its elements are read once, and one message serves all. Included by
// steadfold.hpp, which is the header to include.
//
//   std::vector<double> h = sf::dots(w, {v0, v1, w}, comm);   // w v0, w v1, and w w: the norm's square
#pragma once

#include "steadfold/array.hpp"
#include "steadfold/operators.hpp"

#if __cplusplus >= 202002L

#include <span>
#include <vector>

namespace steadfold {

namespace detail {

template <class T, sf_operation id>
using DotsCall = CallOfDots<T, HeldOperator<T, BuiltIn<id>>>;

/// The functions `dots` and `dotcs`.
template <sf_operation id>
struct Dots {
  template <class R>
  using results_t = std::vector<value_t<element_t<R>, BuiltIn<id>>>;

  template <Vector R>
  results_t<R> operator()(const R& x, const Vectors<element_t<R>>& ys, const LocalOptions& options = {}) const {
    DotsCall<element_t<R>, id> made(elements(x), ys, options);
    return made.take(sf_reduce_local(made.call(), nullptr, nullptr, made.results()));
  }
  template <Vector R, Communicator C>
  results_t<R> operator()(const R& x, const Vectors<element_t<R>>& ys, C comm,
                          const options_over_t<C>& options = {}) const {
    const auto group = Over<C>::group(comm);
    auto made = Over<C>::told(group, [&] { return DotsCall<element_t<R>, id>(elements(x), ys, options); });
    return made.take(Over<C>::reduce(*made.call(), made.results(), group));
  }

 private:
  template <class R>
  static std::span<const element_t<R>> elements(const R& x) {
    static_assert(is_combinable<element_t<R>, BuiltIn<id>>());
    return {std::ranges::data(x), std::ranges::size(x)};
  }
};

}  // namespace detail

/// dots(x, {y0, y1, ...}) has dot(x, yj) for every j, bit for bit; dotcs(x, {y0, y1, ...}) has dotc(yj, x), which
/// conjugates yj. x is read once, a part at a time that stays in the first-level cache, and over ranks there is one
/// reduction: dots(x, {y, x}, comm) is a dot product and the square of a norm. All have one size; at least one y, and
/// as many of them on every rank.
inline constexpr detail::Dots<SF_DOT> dots;
inline constexpr detail::Dots<SF_DOTC> dotcs;

}  // namespace steadfold

#endif
