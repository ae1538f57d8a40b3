// Dot products of one vector with several others: the elements of the first vector are read once, and one message
// serves all products. Included by steadfold.hpp, which is the header to include.
//
//   std::vector<double> h = sf::dots(w, {v0, v1, w}, comm);   // w v0, w v1, and w w, the square of the norm
#pragma once

#include "steadfold/array.hpp"

#if __cplusplus >= 201703L

namespace steadfold {

namespace detail {

/// Returns the operands of a call: the ys as a list of arrays, and `x` as the factors of all of them. `x` may be null
/// until a run gives its address.
template <class T>
sf_arrays arrays_of_dots(const std::vector<const void*>& others, const T* x, std::uint64_t rows) {
  sf_arrays arrays = arrays_of_nothing();
  arrays.x = Array<T>(nullptr, {rows}).c_array();
  arrays.factors = Array<T>(x, {rows}).c_array();
  arrays.xs = others.data();
  arrays.x_count = others.size();
  return arrays;
}

/// The dot products of x with several vectors, as one call. With SF_DOTC the ys are conjugated.
template <class T, class Op>
class CallOfDots : public Call<T, Op> {
 public:
  static constexpr bool may_throw = true;  // it throws if there is no memory for the results

  template <class SomeOptions>
  CallOfDots(View<const T> x, const Vectors<T>& ys, const SomeOptions& options)
      : Call<T, Op>({}, [&](auto& held) { return detail::call_of(held, 0, options); }) {
    std::string& fault = this->fault_;
    if (ys.all().empty())
      fault = "no second vector (a dot product multiplies two vectors), give at least one second vector";
    for (const auto& y : ys.all()) {
      list_.push_back(y.data());
      if (y.size() != x.size()) fault = misfit_of_factors(x.size(), y.size());
    }
    arrays_ = arrays_of_dots(list_, x.data(), x.size());
    this->call_.arrays = &arrays_;
    results_.assign(list_.size(), no_result<result_t<T, Op>>());
  }

  void* results() noexcept { return results_.data(); }
  results_t<T, Op> take(sf_status status) {
    this->conclude(status);
    return std::move(results_);
  }

 private:
  std::vector<const void*> list_;
  sf_arrays arrays_ = arrays_of_nothing();
  results_t<T, Op> results_;
};

template <sf_operation id, class Mode, class R, class SomeOptions>
auto reduce_dots(const Mode& mode, const R& x, const Vectors<element_t<R>>& ys, const SomeOptions& options) {
  return mode.template reduce<CallOfDots<element_t<R>, BuiltIn<id>>>(x, ys, options);
}

/// The functions `dots` and `dotcs`.
template <sf_operation id>
struct Dots {
  template <class R>
  auto operator()(const R& x, const Vectors<element_t<R>>& ys, const LocalOptions& options = {}) const {
    return reduce_dots<id>(Here(), x, ys, options);
  }
  template <class R, class C, class = if_group<C>>
  auto operator()(const R& x, const Vectors<element_t<R>>& ys, const C& comm, const Options& options = {}) const {
    return reduce_dots<id>(Waiting(comm), x, ys, options);
  }
};

}  // namespace detail

/// The dot products of x with several vectors: dots(x, {y0, y1, ...}) or dots(x, {y0, y1, ...}, comm, options) computes
/// dot(x, yj) for every j, bit for bit. x is read once, in parts that stay in the first-level cache. Over ranks there
/// is one reduction: dots(x, {y, x}, comm) is a dot product and the square of a norm. All vectors must have the same
/// size. There must be at least one y, and the same number of ys on every rank.
inline constexpr detail::Dots<SF_DOT> dots{};

/// The dot products with every yj conjugated: dotcs(x, {y0, y1, ...}, comm) computes dotc(yj, x) for every j.
inline constexpr detail::Dots<SF_DOTC> dotcs{};

}  // namespace steadfold

#endif
