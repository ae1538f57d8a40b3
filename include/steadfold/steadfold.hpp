// Steadfold for C++20: reductions that give the same bits every time, within one process. `mpi.hpp` adds communicators.
//
//   double s = sf::sum(x);                    // the correctly rounded sum, whatever the order of x
//   double t = sf::sum(x, sf::tree());        // the sum in the fixed binary tree over the indices of x
//   Matrix m = sf::reduce(matrices, multiply) // any operator, in the fixed tree
//   double u = sf::sum(x, {.threads = 8});    // the bits of s, by eight threads
//
// Header-only over the C functions of steadfold.h; no floating-point arithmetic happens here. Errors are thrown as
// sf::Error. Arguments are only read. Functions may be called by any number of threads at once.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "steadfold/steadfold.h"

namespace steadfold {

/// Any failure: `what()` reads "problem (why), suggestion".
class Error : public std::runtime_error {
 public:
  Error(sf_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  sf_status status() const noexcept { return status_; }

 private:
  sf_status status_;
};

/// What fixes the bits; see docs/guarantees.md. Default-constructed: the default of the call it is given to.
struct Method {
  sf_method id = SF_AUTOMATIC;
  std::uint32_t bins = 0;  // of binned
  sf_sweep sweep = SF_SINGLE_SWEEP;

  void describe(sf_call& call) const noexcept {
    call.method = id;
    call.bins = bins;
    call.sweep = sweep;
  }
};
constexpr Method tree() { return {SF_TREE}; }    ///< the binary tree over element indices: any operator
constexpr Method exact() { return {SF_EXACT}; }  ///< the correctly rounded value: all sums, mean, dot, norm2
/// How many bins below the largest term, and how that is found: sf::binned({.k = 4, .sweep = SF_DOUBLE_SWEEP}).
struct Binned {
  std::uint32_t k = 3;
  sf_sweep sweep = SF_SINGLE_SWEEP;
};
/// the sum of terms that were rounded to the lowest of k bins: all sums, mean, dot, norm2
constexpr Method binned(Binned how = {}) { return {SF_BINNED, how.k, how.sweep}; }
constexpr Method plain() { return {SF_PLAIN}; }  ///< no promise at all: the control

/// What a call's bits must not depend on: `sf::ranks | sf::layout`. A call that cannot keep what it requires is
/// refused; docs/guarantees.md has the table.
struct Guarantees {
  std::uint32_t bits = 0;
  friend constexpr Guarantees operator|(Guarantees a, Guarantees b) { return {a.bits | b.bits}; }
};
namespace guarantees {
inline constexpr Guarantees ranks{SF_RANKS};        ///< the number of ranks
inline constexpr Guarantees threads{SF_THREADS};    ///< the number of threads
inline constexpr Guarantees layout{SF_LAYOUT};      ///< which rank holds which elements
inline constexpr Guarantees schedule{SF_SCHEDULE};  ///< the algorithm that moves partials
inline constexpr Guarantees library{SF_LIBRARY};    ///< the MPI library
inline constexpr Guarantees target{SF_TARGET};      ///< the instruction set
inline constexpr Guarantees release{SF_RELEASE};    ///< the release of Steadfold
}  // namespace guarantees

/// Indices begin, ..., end - 1 of the whole job.
using Interval = sf_interval;

namespace detail {
/// Where a rank's elements stand when all stand in rank order; mpi.hpp finds it out.
struct RankOrder {
  Interval mine{};
  std::uint64_t element_count = 0;
};
}  // namespace detail

/// Which elements of the whole job this rank holds. `exact` does not need one.
class Layout {
 public:
  /// It does not matter; `tree` takes it as rank order, found out anew in each call.
  Layout() = default;

  /// `rows` elements here, after those of the lower ranks. Collective over `communicator` (mpi.hpp).
  template <class Communicator>
  static Layout contiguous(std::uint64_t rows, Communicator communicator) {
    detail::RankOrder found;
    find_rank_order(rows, communicator, found);
    return intervals({found.mine}, found.element_count);
  }

  /// The elements of `mine`, in the order of this rank's memory. All ranks together must cover 0..N-1 exactly once.
  static Layout intervals(std::vector<Interval> mine, std::uint64_t element_count = SF_UNKNOWN) {
    Layout layout;
    layout.kind_ = SF_INTERVALS;
    layout.intervals_ = std::move(mine);
    layout.element_count_ = element_count;
    return layout;
  }

  void describe(sf_call& call) const noexcept {
    call.layout = kind_;
    call.element_count = element_count_;
    call.intervals = intervals_.data();
    call.interval_count = intervals_.size();
  }

 private:
  sf_layout kind_ = SF_ANYWHERE;
  std::vector<Interval> intervals_;
  std::uint64_t element_count_ = SF_UNKNOWN;
};

/// The number types that built-in operators take.
template <class T>
concept Number = std::same_as<T, double> || std::same_as<T, float> || std::same_as<T, std::int32_t> ||
                 std::same_as<T, std::int64_t> || std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t>;

/// Formats that are only read, as bits: results are floats, or what `to` says.
struct Bfloat16 {
  std::uint16_t bits = 0;  ///< the upper half of a float
};
struct Float16 {
  std::uint16_t bits = 0;  ///< IEEE binary16
};
template <class T>
concept Narrow = std::same_as<T, Bfloat16> || std::same_as<T, Float16>;

/// Sum, masked sum, product, mean, dot (nothing is conjugated), sum of squares and norm2.
template <class T>
concept Complex = std::same_as<T, std::complex<double>> || std::same_as<T, std::complex<float>>;

/// Sum, product, min and max by `tree`; the same bits on machines of one architecture.
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Float128;
template <class T>
concept Extended = std::same_as<T, long double> || std::same_as<T, Float128>;
#else
template <class T>
concept Extended = std::same_as<T, long double>;
#endif

template <class T>
concept Element = Number<T> || Narrow<T> || Complex<T> || Extended<T>;
/// What is rounded.
template <class T>
concept Rounded = std::same_as<T, double> || std::same_as<T, float> || Narrow<T> || Complex<T>;

/// A contiguous range: vector, array, span.
template <class R>
concept Vector = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

/// Which elements count: a byte each, any but 0 does.
template <class R>
concept Mask = Vector<R> && sizeof(std::ranges::range_value_t<R>) == 1;

template <sf_operation id>
struct BuiltIn {
  static constexpr sf_operation operation = id;
};
inline constexpr BuiltIn<SF_SUM> plus;
inline constexpr BuiltIn<SF_PRODUCT> times;
inline constexpr BuiltIn<SF_MIN> minimum;  ///< IEEE 754-2019: a NaN wins, -0 is below +0
inline constexpr BuiltIn<SF_MAX> maximum;  ///< IEEE 754-2019: a NaN wins, +0 is above -0
inline constexpr BuiltIn<SF_MIN_LOCATION> minimum_location;
inline constexpr BuiltIn<SF_MAX_LOCATION> maximum_location;

/// A built-in operator whose result is wider than the elements: sf::reduce(floats, sf::to<double>(sf::plus)). Every
/// element is converted first; exact sums are rounded to it.
template <Element Result, sf_operation id>
struct BuiltInTo {
  static constexpr sf_operation operation = id;
  using Value = Result;
};
template <Element Result, sf_operation id>
constexpr BuiltInTo<Result, id> to(BuiltIn<id> /*op*/) {
  return {};
}

/// A value and the lowest index, in the whole job, of an element that has it.
template <Number T>
struct Located {
  T value{};
  std::uint64_t index = 0;
  friend bool operator==(const Located&, const Located&) = default;
};
static_assert(sizeof(Located<double>) == sizeof(sf_located_f64) && sizeof(Located<float>) == sizeof(sf_located_f64));

/// How a call within one process is to be made.
struct LocalOptions {
  Method method = {};
  unsigned threads = 1;     ///< that go through the elements, made for this call: the same bits for any number
  Guarantees require = {};  ///< what the bits must not depend on: refused where that cannot be kept
};

/// Something that combines two elements: op(left, right) -> element, or op(left, right, result, count) on arrays, where
/// result may be left. It may throw: then every rank's call fails, and the rank that threw rethrows. One that is
/// noexcept saves the ranks from asking each other. It is called by several threads at once where a call asks for them,
/// and then the first exception counts.
template <class Op, class T>
concept UserOperator =
    std::is_invocable_r_v<T, Op&, const T&, const T&> || std::is_invocable_v<Op&, const T*, const T*, T*, std::size_t>;

namespace detail {

template <class T>
constexpr sf_type type_of() {
  if constexpr (std::same_as<T, double>) return SF_F64;
  if constexpr (std::same_as<T, float>) return SF_F32;
  if constexpr (std::same_as<T, std::int32_t>) return SF_I32;
  if constexpr (std::same_as<T, std::int64_t>) return SF_I64;
  if constexpr (std::same_as<T, std::uint32_t>) return SF_U32;
  if constexpr (std::same_as<T, std::uint64_t>) return SF_U64;
  if constexpr (std::same_as<T, Bfloat16>) return SF_BF16;
  if constexpr (std::same_as<T, Float16>) return SF_F16;
  if constexpr (Extended<T>) return std::same_as<T, long double> ? SF_LONG_DOUBLE : SF_FLOAT128;
  if constexpr (std::same_as<T, std::complex<float>>) return SF_COMPLEX_F32;
  if constexpr (std::same_as<T, std::complex<double>>) return SF_COMPLEX_F64;
  return SF_BYTES;
}

/// The values that a built-in operator makes of elements of type T.
template <class T, class Op>
struct ValueOf {
  using type = T;
};
template <Narrow T, class Op>
struct ValueOf<T, Op> {
  using type = float;
};
template <Complex T, sf_operation id>
  requires(id == SF_NORM2 || id == SF_SUM_SQUARES)
struct ValueOf<T, BuiltIn<id>> {
  using type = typename T::value_type;
};
template <class T, Element Result, sf_operation id>
struct ValueOf<T, BuiltInTo<Result, id>> {
  using type = Result;
};
template <Narrow T, Element Result, sf_operation id>
struct ValueOf<T, BuiltInTo<Result, id>> {
  using type = Result;
};
template <class T, class Op>
using value_t = typename ValueOf<T, Op>::type;

/// What stands behind a call's operator: what it threw, if it did.
class OperatorHolder {
 public:
  virtual ~OperatorHolder() = default;
  /// Keeps the first exception of all threads.
  void keep(std::exception_ptr thrown) noexcept {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(thrown);
  }
  /// Throws it, if there is one.
  void rethrow() {
    if (const std::exception_ptr thrown = taken()) std::rethrow_exception(thrown);
  }

 private:
  std::exception_ptr taken() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failure_, nullptr);
  }
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// A built-in operator: nothing to hold.
template <class T, class Op>
class HeldOperator final : public OperatorHolder {
  static_assert(Element<T>, "built-in operators take numbers; give an operator of your own");

 public:
  explicit HeldOperator(const Op& /*op*/) {}
  void describe(sf_call& call) {
    call.operation = Op::operation;
    call.type = type_of<T>();
    call.result_type = type_of<value_t<T, Op>>();
  }
};

/// The caller's own operator; it must stay where it is while a call or a plan uses it.
template <class T, class Op>
  requires(!requires { Op::operation; })
class HeldOperator<T, Op> final : public OperatorHolder {
  static_assert(UserOperator<Op, T>, "an operator is called as op(left, right) or op(left, right, result, count)");
  static_assert(std::is_trivially_copyable_v<T>, "elements travel as bytes: they must be trivially copyable");
  static_assert(alignof(T) <= 16, "elements stand on 16-byte boundaries at most");
  static constexpr bool on_arrays = std::is_invocable_v<Op&, const T*, const T*, T*, std::size_t>;
  static constexpr bool never_fails = std::is_nothrow_invocable_v<Op&, const T*, const T*, T*, std::size_t> ||
                                      std::is_nothrow_invocable_v<Op&, const T&, const T&>;

 public:
  explicit HeldOperator(const Op& op) : op_(op) {}
  void describe(sf_call& call) {
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(T);
    call.user = &apply;
    call.context = this;
    call.never_fails = never_fails ? 1 : 0;
  }

 private:
  static int apply(const void* left, const void* right, void* result, std::size_t count, void* context) noexcept {
    auto& self = *static_cast<HeldOperator*>(context);
    try {
      const auto* a = static_cast<const T*>(left);
      const auto* b = static_cast<const T*>(right);
      auto* r = static_cast<T*>(result);
      if constexpr (on_arrays) {
        self.op_(a, b, r, count);
      } else {
        for (std::size_t i = 0; i < count; ++i) r[i] = self.op_(a[i], b[i]);
      }
      return 0;
    } catch (...) {
      self.keep(std::current_exception());
      return 1;
    }
  }

  Op op_;
};

/// Throws what the operator threw, or what the library has to say.
inline void check(sf_status status, OperatorHolder* op = nullptr) {
  if (status == SF_OK) return;
  if (op != nullptr) op->rethrow();
  throw Error(status, sf_error_text());
}

template <class Op>
concept IsBuiltIn = requires { Op::operation; };

/// What an operator makes of elements of type T.
template <class T, class Op>
struct ResultOf {
  using type = T;
};
template <class T, IsBuiltIn Op>
struct ResultOf<T, Op> {
  using type = value_t<T, Op>;
};
template <class T, IsBuiltIn Op>
  requires(Op::operation == SF_MIN_LOCATION || Op::operation == SF_MAX_LOCATION)
struct ResultOf<T, Op> {
  using type = Located<T>;
};
template <class T, class Op>
using result_t = typename ResultOf<T, std::remove_cvref_t<Op>>::type;

/// What a rank that gets no result returns: a quiet NaN where there is one.
template <class T>
T no_result() {
  if constexpr (std::numeric_limits<T>::has_quiet_NaN)
    return std::numeric_limits<T>::quiet_NaN();
  else if constexpr (Complex<T>)
    return {no_result<typename T::value_type>(), no_result<typename T::value_type>()};
  else
    return T{};
}

template <class R>
using element_t = std::remove_cv_t<std::ranges::range_value_t<R>>;
/// What a built-in operator makes of a range.
template <class R, sf_operation id>
using value_of_t = result_t<element_t<R>, BuiltIn<id>>;

template <class T, class Op>
result_t<T, Op> reduce_local(std::span<const T> first, const void* second, const Op& op, const LocalOptions& options) {
  sf_call call = sf_call_default();
  HeldOperator<T, std::decay_t<Op>> held(op);
  held.describe(call);
  options.method.describe(call);
  call.threads = options.threads;
  call.require = options.require.bits;
  call.rows = first.size();
  auto result = no_result<result_t<T, Op>>();
  check(sf_reduce_local(&call, first.data(), second, &result), &held);
  return result;
}

inline void check_same_size(std::size_t first, std::size_t second) {
  if (first != second)
    throw Error(SF_INVALID_ARGUMENT, "the factors of a dot product differ in size (" + std::to_string(first) + " and " +
                                         std::to_string(second) + " elements), give two vectors of the same size");
}
inline void check_mask_size(std::size_t elements, std::size_t mask) {
  if (elements != mask)
    throw Error(SF_INVALID_ARGUMENT, "a mask of another size than what it selects from (" + std::to_string(mask) +
                                         " and " + std::to_string(elements) + " elements), give a byte an element");
}

}  // namespace detail

/// The sum of all elements; no elements: +0.0.
template <Vector R>
  requires Element<detail::element_t<R>>
detail::value_of_t<R, SF_SUM> sum(const R& x, const LocalOptions& options) {
  using T = detail::element_t<R>;
  return detail::reduce_local(std::span<const T>(x), static_cast<const T*>(nullptr), plus, options);
}
template <Vector R>
  requires Element<detail::element_t<R>>
detail::value_of_t<R, SF_SUM> sum(const R& x, Method method = {}) {
  return sum(x, LocalOptions{.method = method});
}

/// The same, wider than the elements: sum<double>(floats).
template <Element Result, Vector R>
Result sum(const R& x, const LocalOptions& options) {
  using T = detail::element_t<R>;
  return detail::reduce_local(std::span<const T>(x), static_cast<const T*>(nullptr), to<Result>(plus), options);
}
template <Element Result, Vector R>
Result sum(const R& x, Method method = {}) {
  return sum<Result>(x, LocalOptions{.method = method});
}

/// The sum of x[i] * y[i], by default correctly rounded. Throws when the sizes differ.
template <Vector R, Vector S>
  requires Rounded<detail::element_t<R>> && std::same_as<detail::element_t<R>, detail::element_t<S>>
detail::value_of_t<R, SF_DOT> dot(const R& x, const S& y, const LocalOptions& options) {
  using T = detail::element_t<R>;
  detail::check_same_size(std::ranges::size(x), std::ranges::size(y));
  return detail::reduce_local(std::span<const T>(x), std::ranges::data(y), BuiltIn<SF_DOT>{}, options);
}
template <Vector R, Vector S>
  requires Rounded<detail::element_t<R>> && std::same_as<detail::element_t<R>, detail::element_t<S>>
detail::value_of_t<R, SF_DOT> dot(const R& x, const S& y, Method method = {}) {
  return dot(x, y, LocalOptions{.method = method});
}

/// The sum of w[i] * x[i], by default correctly rounded: the dot product by another name.
template <Vector R, Vector S>
  requires Rounded<detail::element_t<R>> && std::same_as<detail::element_t<R>, detail::element_t<S>>
detail::value_of_t<R, SF_DOT> weighted_sum(const R& x, const S& w, const LocalOptions& options) {
  return dot(x, w, options);
}
template <Vector R, Vector S>
  requires Rounded<detail::element_t<R>> && std::same_as<detail::element_t<R>, detail::element_t<S>>
detail::value_of_t<R, SF_DOT> weighted_sum(const R& x, const S& w, Method method = {}) {
  return dot(x, w, method);
}

/// The sum of absolute values, by default correctly rounded.
template <Vector R>
  requires(Rounded<detail::element_t<R>> && !Complex<detail::element_t<R>>)
detail::value_of_t<R, SF_ABS_SUM> abs_sum(const R& x, const LocalOptions& options) {
  using T = detail::element_t<R>;
  return detail::reduce_local(std::span<const T>(x), nullptr, BuiltIn<SF_ABS_SUM>{}, options);
}
template <Vector R>
  requires(Rounded<detail::element_t<R>> && !Complex<detail::element_t<R>>)
detail::value_of_t<R, SF_ABS_SUM> abs_sum(const R& x, Method method = {}) {
  return abs_sum(x, LocalOptions{.method = method});
}

/// The sum of squares, by default correctly rounded.
template <Vector R>
  requires Rounded<detail::element_t<R>>
detail::value_of_t<R, SF_SUM_SQUARES> sum_squares(const R& x, const LocalOptions& options) {
  using T = detail::element_t<R>;
  return detail::reduce_local(std::span<const T>(x), nullptr, BuiltIn<SF_SUM_SQUARES>{}, options);
}
template <Vector R>
  requires Rounded<detail::element_t<R>>
detail::value_of_t<R, SF_SUM_SQUARES> sum_squares(const R& x, Method method = {}) {
  return sum_squares(x, LocalOptions{.method = method});
}

/// The sum of the elements whose mask is not 0, by default correctly rounded; the others are never looked at. None of
/// them: +0.0. Throws when the sizes differ.
template <Vector R, Mask M>
  requires(Number<detail::element_t<R>> || Rounded<detail::element_t<R>>)
detail::value_of_t<R, SF_MASKED_SUM> masked_sum(const R& x, const M& mask, const LocalOptions& options) {
  using T = detail::element_t<R>;
  detail::check_mask_size(std::ranges::size(x), std::ranges::size(mask));
  return detail::reduce_local(std::span<const T>(x), std::ranges::data(mask), BuiltIn<SF_MASKED_SUM>{}, options);
}
template <Vector R, Mask M>
  requires(Number<detail::element_t<R>> || Rounded<detail::element_t<R>>)
detail::value_of_t<R, SF_MASKED_SUM> masked_sum(const R& x, const M& mask, Method method = {}) {
  return masked_sum(x, mask, LocalOptions{.method = method});
}

/// The Euclidean norm, by default correctly rounded; without overflow or underflow on the way.
template <Vector R>
  requires Rounded<detail::element_t<R>>
detail::value_of_t<R, SF_NORM2> norm2(const R& x, const LocalOptions& options) {
  using T = detail::element_t<R>;
  return detail::reduce_local(std::span<const T>(x), static_cast<const T*>(nullptr), BuiltIn<SF_NORM2>{}, options);
}
template <Vector R>
  requires Rounded<detail::element_t<R>>
detail::value_of_t<R, SF_NORM2> norm2(const R& x, Method method = {}) {
  return norm2(x, LocalOptions{.method = method});
}

/// The sum divided by the number of elements, rounded once. Throws Error(SF_EMPTY) when there are none.
template <Vector R>
  requires Rounded<detail::element_t<R>>
detail::value_of_t<R, SF_MEAN> mean(const R& x, const LocalOptions& options) {
  using T = detail::element_t<R>;
  return detail::reduce_local(std::span<const T>(x), static_cast<const T*>(nullptr), BuiltIn<SF_MEAN>{}, options);
}
template <Vector R>
  requires Rounded<detail::element_t<R>>
detail::value_of_t<R, SF_MEAN> mean(const R& x, Method method = {}) {
  return mean(x, LocalOptions{.method = method});
}

/// All elements combined by `op` in the binary tree over their indices. Throws Error(SF_EMPTY) when there are none and
/// the operator has no neutral element.
template <Vector R, class Op>
detail::result_t<detail::element_t<R>, Op> reduce(const R& x, const Op& op, const LocalOptions& options) {
  using T = detail::element_t<R>;
  return detail::reduce_local(std::span<const T>(x), static_cast<const T*>(nullptr), op, options);
}
template <Vector R, class Op>
detail::result_t<detail::element_t<R>, Op> reduce(const R& x, const Op& op, Method method = {}) {
  return reduce(x, op, LocalOptions{.method = method});
}

/// The least element, and the greatest. Throw Error(SF_EMPTY) when there are none.
template <Vector R>
  requires(Element<detail::element_t<R>> && !Complex<detail::element_t<R>>)
detail::value_of_t<R, SF_MIN> min(const R& x, const LocalOptions& options = {}) {
  return reduce(x, minimum, options);
}
template <Vector R>
  requires(Element<detail::element_t<R>> && !Complex<detail::element_t<R>>)
detail::value_of_t<R, SF_MAX> max(const R& x, const LocalOptions& options = {}) {
  return reduce(x, maximum, options);
}

/// The same with the lowest index that has it.
template <Vector R>
  requires Number<detail::element_t<R>>
Located<detail::element_t<R>> min_location(const R& x, const LocalOptions& options = {}) {
  return reduce(x, minimum_location, options);
}
template <Vector R>
  requires Number<detail::element_t<R>>
Located<detail::element_t<R>> max_location(const R& x, const LocalOptions& options = {}) {
  return reduce(x, maximum_location, options);
}

}  // namespace steadfold

/// The name that calls are written with.
namespace sf {
using namespace steadfold;
using guarantees::layout;
using guarantees::library;
using guarantees::ranks;
using guarantees::release;
using guarantees::schedule;
using guarantees::target;
using guarantees::threads;
}  // namespace sf
