// Dot products of one vector with several others: its elements are read once, and one message serves all. Included by
// steadfold.hpp, which is the header to include.
//
//   std::vector<double> h = sf::dots(w, {v0, v1, w}, comm);   // w v0, w v1, and w w: the norm's square
#pragma once

#include "steadfold/array.hpp"
#include "steadfold/operators.hpp"

#if __cplusplus >= 202002L

#include <algorithm>
#include <initializer_list>
#include <span>
#include <vector>

namespace steadfold {

/// Vectors of elements of type T, wherever each stands: {x, y, z}, or any range of contiguous ranges. Refers to their
/// elements.
template <class T>
class Vectors {
 public:
  Vectors(std::initializer_list<std::span<const T>> vectors) : vectors_(vectors) {}
  template <std::ranges::input_range R>
    requires Vector<std::remove_cvref_t<std::ranges::range_reference_t<R>>> &&
             std::same_as<detail::element_t<std::ranges::range_reference_t<R>>, T>
  Vectors(R&& vectors) {  // NOLINT(google-explicit-constructor)
    for (auto&& each : vectors) vectors_.emplace_back(std::ranges::data(each), std::ranges::size(each));
  }

  std::span<const std::span<const T>> all() const noexcept { return vectors_; }

 private:
  std::vector<std::span<const T>> vectors_;
};

namespace detail {

/// The others as a list of arrays, `x` as the factors of all, which may be null until a run says where it is.
template <class T>
sf_arrays arrays_of_dots(const std::vector<const void*>& others, const T* x, std::uint64_t rows) {
  sf_arrays arrays = arrays_of_nothing();
  arrays.x = Array<T>(nullptr, {rows}).c_array();
  arrays.factors = Array<T>(x, {rows}).c_array();
  arrays.xs = others.data();
  arrays.x_count = others.size();
  return arrays;
}
/// It points to the arrays and into the options.
template <class T, sf_operation id, class SomeOptions>
sf_call call_of_dots(const sf_arrays& arrays, const SomeOptions& options) {
  sf_call call = call_of_defaults();
  describe_built_in<T, BuiltIn<id>>(call);
  describe(options, call);
  call.arrays = &arrays;
  return call;
}

/// The dot products of x with several vectors, as one call of C: what it points to, and room for its results. With
/// SF_DOTC the others are conjugated. If sizes differ, the call is made without elements and fails on all ranks.
template <class T, sf_operation id>
class DotsCall {
 public:
  using Result = value_t<T, BuiltIn<id>>;

  template <class SomeOptions>
  DotsCall(std::span<const T> x, const Vectors<T>& ys, const SomeOptions& options) {
    if (ys.all().empty()) fault_ = "no vector to multiply with (a dot product takes two), give one at least";
    std::uint64_t rows = x.size();
    for (const auto& y : ys.all()) {
      list_.push_back(y.data());
      rows = std::max<std::uint64_t>(rows, y.size());
      if (y.size() != x.size())
        fault_ = "the factors of a dot product differ in size (" + std::to_string(x.size()) + " and " +
                 std::to_string(y.size()) + " elements), give vectors of the same size";
    }
    arrays_ = arrays_of_dots(list_, fault_.empty() ? x.data() : nullptr, rows);
    call_ = call_of_dots<T, id>(arrays_, options);
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
  sf_arrays arrays_ = arrays_of_nothing();
  sf_call call_{};
  std::vector<Result> results_;
  std::string fault_;
};

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
