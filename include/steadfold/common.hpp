// What the APIs for C++20 and C++17 share: errors, methods, guarantees, layouts, formats of elements, and what an
// operator threw. One definition, so that errors and layouts pass between sources of either standard. Included by
// steadfold.hpp and cxx17.hpp, which are the headers to include.
#pragma once

#if __cplusplus < 201703L
#error "Steadfold needs C++20, or C++17 (the compiler is set to an older C++), compile with -std=c++20"
#else

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__cpp_rtti)
#include <typeinfo>
#endif

#include "steadfold/common_operations.hpp"

namespace steadfold {

/// Any failure: `what()` reads "problem (why), suggestion".
class Error : public std::runtime_error {
 public:
  Error(sf_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  sf_status status() const noexcept { return status_; }

 private:
  sf_status status_;
};

/// What fixes the bits; see docs/guarantees.md. A default-constructed Method is the default of the call it is given to.
/// It also serves as the options of any call: sf::sum(x, comm, sf::tree()).
struct Method {
  sf_method id = SF_AUTOMATIC;
  std::uint32_t bins = 0;  // for binned
  sf_sweep sweep = SF_SINGLE_SWEEP;

  void describe(sf_call& call) const noexcept {
    call.method = id;
    call.bins = bins;
    call.sweep = sweep;
  }

  template <class Options, class = std::enable_if_t<std::is_aggregate_v<Options> &&
                                                    std::is_same_v<decltype(Options::method), Method> > >
  constexpr operator Options() const {
    Options options;
    options.method = *this;
    return options;
  }
};
constexpr Method tree() { return {SF_TREE}; }    ///< the binary tree over element indices: any operator
constexpr Method exact() { return {SF_EXACT}; }  ///< the correctly rounded value: all sums, mean, dot, norm2
/// How many bins `binned` has, and how it finds the largest term: sf::binned({.bins = 4, .sweep = SF_DOUBLE_SWEEP}).
struct Binned {
  std::uint32_t bins = 3;
  sf_sweep sweep = SF_SINGLE_SWEEP;
};
/// the sum of terms that were rounded to the lowest of these bins: all sums, mean, dot, norm2
constexpr Method binned(Binned how = {}) { return {SF_BINNED, how.bins, how.sweep}; }
constexpr Method plain() { return {SF_PLAIN}; }  ///< no promise at all: the control

/// What a call's bits must not depend on: `sf::ranks | sf::layout`. A call that cannot keep this is refused;
/// docs/guarantees.md has the table.
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

/// The options of a call within one process.
struct LocalOptions {
  Method method = {};
  unsigned threads = 1;     ///< that go through the elements, made for this call: the same bits for any number
  Guarantees require = {};  ///< what the bits must not depend on: refused where that cannot be kept
};

/// Indices begin, ..., end - 1 of the whole job.
using Interval = sf_interval;
/// How the indices of one axis are dealt to the ranks along it; see steadfold.h.
using GridAxis = sf_grid_axis;

namespace detail {
/// A root as C takes it, where -1 is SF_ALL_RANKS. Here it is no rank, as all negative numbers are, and must be
/// refused: the library shows INT32_MIN as -1.
inline std::int32_t root_of(const std::optional<int>& root) {
  if (!root) return SF_ALL_RANKS;
  return *root == SF_ALL_RANKS ? std::numeric_limits<std::int32_t>::min() : *root;
}

/// Where a rank's elements are if all elements are in rank order.
struct RankOrder {
  Interval mine{};
  std::uint64_t element_count = 0;
};

/// What has a group of ranks: its group, and where a rank's rows begin there. common_group.hpp has it for groups,
/// common_team.hpp for workers, common_mpi.hpp for MPI's communicators.
template <class C, class = void>
struct GroupOf;

/// A timeout as C takes it: none is negative, and what lasts longer than a century has no end.
template <class Number, class Period>
std::uint64_t nanoseconds_of(std::chrono::duration<Number, Period> timeout) {
  constexpr std::chrono::duration<double> a_century(3e9);
  if (timeout > a_century) return std::numeric_limits<std::uint64_t>::max();  // SF_FOREVER
  if (!(timeout > timeout.zero())) return 0;
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::nanoseconds>(timeout).count());
}
}  // namespace detail

/// Which elements of the whole job this rank holds. `exact` does not need one.
class Layout {
 public:
  /// Unspecified: fits methods that need no layout. `tree` takes it as rank order, found anew in each call.
  Layout() = default;

  /// This rank has `rows` elements, after those of the lower ranks. Collective over `communicator`.
  template <class C, class = decltype(detail::GroupOf<C>::group(std::declval<const C&>()))>
  static Layout contiguous(std::uint64_t rows, const C& communicator) {
    const detail::RankOrder found = detail::GroupOf<C>::rank_order(rows, detail::GroupOf<C>::group(communicator));
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

  /// ScaLAPACK's distribution of so many elements: blocks of `block` elements go to rank `first_rank` and those behind
  /// it, and round again. No rank lists what it holds, nor tells another.
  static Layout block_cyclic(std::uint64_t element_count, std::uint64_t block, std::uint64_t first_rank = 0) {
    const GridAxis axis[] = {{element_count, 0, block, first_rank}};
    return grid(axis);
  }

  /// An array of one to three axes, cut into one block for each rank of a grid: along an axis of extent n over p ranks
  /// the first n % p of them have one index more. Indices and ranks are in C order, the last axis fastest, as
  /// MPI_Cart_create numbers ranks; so are a rank's own elements. One of `ranks` may be 0: what the others leave.
  template <class N, class P, std::size_t axes>
  static Layout blocks(const N (&extents)[axes], const P (&ranks)[axes]) {
    static_assert(std::is_integral_v<N> && std::is_integral_v<P>, "extents and numbers of ranks are integers");
    GridAxis all[axes] = {};
    for (std::size_t i = 0; i < axes; ++i)
      all[i] = {static_cast<std::uint64_t>(extents[i]), static_cast<std::uint64_t>(ranks[i]), 0, 0};
    return grid(all);
  }

  /// Both: blocks of any size dealt in turn along every axis of an array, as ScaLAPACK deals matrices.
  template <std::size_t axes>
  static Layout grid(const GridAxis (&all)[axes]) {
    static_assert(axes <= SF_MOST_GRID_AXES, "a grid has one to three axes");
    Layout layout;
    layout.kind_ = SF_GRID;
    layout.grid_.axis_count = axes;
    std::copy(all, all + axes, layout.grid_.axes);
    return layout;
  }

  void describe(sf_call& call) const noexcept {
    call.layout = kind_;
    call.grid = kind_ == SF_GRID ? &grid_ : nullptr;
    call.element_count = element_count_;
    call.intervals = intervals_.data();
    call.interval_count = intervals_.size();
  }

 private:
  sf_layout kind_ = SF_ANYWHERE;
  std::vector<Interval> intervals_;
  sf_grid grid_{};
  std::uint64_t element_count_ = SF_UNKNOWN;
};

/// `size` elements at `data`, which stay the caller's. Made of whatever has data() and size(), or of a C array.
template <class T>
class View {
  template <class R>
  using element_of = std::remove_pointer_t<decltype(std::data(std::declval<R&>()))>;

 public:
  constexpr View() noexcept = default;
  template <class U, class = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]> > >  // not of a literal 0
  constexpr View(U* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <class R, class = std::enable_if_t<!std::is_same_v<std::decay_t<R>, View> &&
                                              std::is_convertible_v<element_of<R> (*)[], T (*)[]> > >
  constexpr View(R&& range) noexcept  // NOLINT(google-explicit-constructor)
      : data_(std::data(range)), size_(std::size(range)) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  constexpr T& front() const noexcept { return data_[0]; }
  constexpr T& back() const noexcept { return data_[size_ - 1]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};
template <class T>
constexpr View<T> view(T* data, std::size_t size) noexcept {
  return {data, size};
}

/// Formats whose elements are only read, as bits: results are floats, or what `to` says.
struct Bfloat16 {
  std::uint16_t bits = 0;  ///< the upper half of a float
};
struct Float16 {
  std::uint16_t bits = 0;  ///< IEEE binary16
};
/// The format of extended numbers, if the compiler has it beside long double.
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Float128;
#endif

/// A value and the lowest index, in the whole job, of an element that has it.
template <class T>
struct Located {
  T value{};
  std::uint64_t index = 0;
  friend bool operator==(const Located& a, const Located& b) { return a.value == b.value && a.index == b.index; }
};
static_assert(sizeof(Located<double>) == sizeof(sf_located_f64) && sizeof(Located<float>) == sizeof(sf_located_f64));

/// What describes a vector or a field, found in one pass and one reduction. Every number is rounded once. NaN: what has
/// too few elements; all numbers if an element is NaN, which is the least and the greatest then; the mean if there are
/// infinities of both signs; variances and deviations if there is any.
struct Statistics {
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::uint64_t no_index = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t count = 0;  ///< of the elements, those that a mask left out not among them
  double min = nan;
  std::uint64_t min_index = no_index;  ///< the lowest, in the whole job
  double max = nan;
  std::uint64_t max_index = no_index;
  double mean = nan;
  double variance = nan;         ///< the mean square of the distances from the mean (ddof 0)
  double sample_variance = nan;  ///< the same with count - 1 as the divisor (ddof 1)
  double deviation = nan;        ///< the roots of both
  double sample_deviation = nan;
};
static_assert(sizeof(Statistics) == sizeof(sf_statistics));

/// An operator that ranks know by its name alone, given by `named`.
template <class Op>
struct Named {
  std::string operator_name;
  Op op;

  template <class... Operands, class = std::enable_if_t<std::is_invocable_v<Op&, Operands...> > >
  constexpr decltype(auto) operator()(Operands&&... operands) noexcept(std::is_nothrow_invocable_v<Op&, Operands...>) {
    return std::invoke(op, std::forward<Operands>(operands)...);
  }
};
/// For operators whose type says too little (function pointers, std::function, closures with captures) or too much
/// (programs of several executables): sf::reduce(x, sf::named("multiply", op), comm).
template <class Op>
Named<std::decay_t<Op> > named(std::string name, Op&& op) {
  return {std::move(name), std::forward<Op>(op)};
}

namespace detail {

/// What has data() and size(), and C arrays.
template <class R, class = void>
inline constexpr bool is_vector = false;
template <class R>
inline constexpr bool is_vector<
    R, std::void_t<decltype(std::data(std::declval<const R&>())), decltype(std::size(std::declval<const R&>()))> > =
    true;
template <class R>
using if_vector = std::enable_if_t<is_vector<R> >;
/// The type of its elements.
template <class R>
using data_element_t = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const R&>()))> >;

template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);
template <class T>
inline constexpr bool is_integer = is_one_of<T, int, unsigned, long, unsigned long, long long, unsigned long long> &&
                                   (sizeof(T) == 4 || sizeof(T) == 8);
template <class T>
inline constexpr bool is_narrow = is_one_of<T, Bfloat16, Float16>;
template <class T>
inline constexpr bool is_complex = is_one_of<T, std::complex<double>, std::complex<float> >;
#if defined(__SIZEOF_FLOAT128__)
template <class T>
inline constexpr bool is_extended = is_one_of<T, long double, Float128>;
#else
template <class T>
inline constexpr bool is_extended = is_one_of<T, long double>;
#endif

template <class T>
constexpr sf_type type_of() {
  if constexpr (std::is_same_v<T, double>) return SF_F64;
  if constexpr (std::is_same_v<T, float>) return SF_F32;
  if constexpr (is_integer<T> && sizeof(T) == 4) return std::is_signed_v<T> ? SF_I32 : SF_U32;
  if constexpr (is_integer<T> && sizeof(T) == 8) return std::is_signed_v<T> ? SF_I64 : SF_U64;
  if constexpr (std::is_same_v<T, Bfloat16>) return SF_BF16;
  if constexpr (std::is_same_v<T, Float16>) return SF_F16;
  if constexpr (is_extended<T>) return std::is_same_v<T, long double> ? SF_LONG_DOUBLE : SF_FLOAT128;
  if constexpr (std::is_same_v<T, std::complex<float> >) return SF_COMPLEX_F32;
  if constexpr (std::is_same_v<T, std::complex<double> >) return SF_COMPLEX_F64;
  return SF_BYTES;
}

/// The type of value that an operation with such results makes of elements of type T, if nothing else is asked for.
template <class T, ResultForm form>
struct OwnValue {
  using type = std::conditional_t<form == ResultForm::statistics, double, std::conditional_t<is_narrow<T>, float, T> >;
};
template <class T>
struct OwnValue<std::complex<T>, ResultForm::real> {
  using type = T;
};

/// What ranks that get no result return: a quiet NaN if the type has one.
template <class T>
T no_result() {
  if constexpr (std::numeric_limits<T>::has_quiet_NaN)
    return std::numeric_limits<T>::quiet_NaN();
  else if constexpr (is_complex<T>)
    return {no_result<typename T::value_type>(), no_result<typename T::value_type>()};
  else
    return T{};
}

/// What is wrong with the sizes of a call's vectors; empty if nothing is.
inline std::string misfit(Second second, std::size_t first_size, std::size_t second_size) {
  if (second == Second::none || first_size == second_size) return {};
  const std::string sizes = std::to_string(first_size) + " and " + std::to_string(second_size);
  if (second == Second::factors)
    return "the factors of a dot product differ in size (" + sizes + " elements), give two vectors of the same size";
  return "elements and mask differ in size (" + sizes + "), give one byte per element";
}

/// How ranks tell the types of operators and elements apart: 48 bits as a short text, short since the library reads it
/// in every call. With run-time type information it comes from the types' names, so that executables built from the
/// same sources agree. Without, no compiler names all closures, so it is a place that the linker gave the pair: the
/// distance from another one in the same executable or shared library, equal in every process that runs it.
struct TypeName {
  std::array<char, 9> text{};

  constexpr explicit TypeName(std::uint64_t bits) {
    for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>('0' + (bits >> 6 * i & 63));
  }
};

#if defined(__cpp_rtti)
template <class T, class Op>
const char* type_name() {
  static const TypeName name([] {
    std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
    for (const std::string_view part : {typeid(T).name(), typeid(Op).name()})
      for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return hash ^ hash >> 48;
  }());
  return name.text.data();
}
#else
struct [[gnu::visibility("hidden")]] Origin {
  static inline char place;
};
template <class T, class Op>
struct [[gnu::visibility("hidden")]] PlaceOf {
  static inline char place;
  static const char* name() {
    static const TypeName name(reinterpret_cast<std::uintptr_t>(&place) -
                               reinterpret_cast<std::uintptr_t>(&Origin::place));
    return name.text.data();
  }
};
template <class T, class Op>
const char* type_name() {
  return PlaceOf<T, Op>::name();
}
#endif

/// What belongs to a call's operator: the exception that it threw, if any.
class OperatorHolder {
 public:
  virtual ~OperatorHolder() = default;
  /// Keeps the first exception of all threads.
  void note(std::exception_ptr thrown) noexcept {
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

/// Whether an operator brings its name along, as those of `named` do.
template <class Op, class = void>
inline constexpr bool has_operator_name = false;
template <class Op>
inline constexpr bool has_operator_name<Op, std::void_t<decltype(std::declval<Op&>().operator_name.c_str())> > = true;

/// Whether an operator gives floating-point numbers for integers, which would be cut off at every step.
template <class T, class Op, class = void>
inline constexpr bool cuts_off = false;
template <class T, class Op>
inline constexpr bool cuts_off<T, Op, std::void_t<std::invoke_result_t<Op&, const T&, const T&> > > =
    std::is_integral_v<T> && std::is_floating_point_v<std::invoke_result_t<Op&, const T&, const T&> >;

/// The caller's own operator; it must stay where it is while a call or a plan uses it.
template <class T, class Op>
class CallersOperator : public OperatorHolder {
  static_assert(std::is_trivially_copyable_v<T>, "elements travel as bytes: they must be trivially copyable");
  static_assert(alignof(T) <= 16, "elements stand on 16-byte boundaries at most");
  static constexpr bool on_arrays = std::is_invocable_v<Op&, const T*, const T*, T*, std::size_t>;
  static constexpr bool on_elements = std::is_invocable_r_v<T, Op&, const T&, const T&>;
  static_assert(on_arrays || on_elements, "an operator is called as op(left, right) or op(left, right, result, count)");
  static_assert(!cuts_off<T, Op>, "an operator on integers gives integers: convert the elements, or round in it");
  static constexpr bool never_fails = on_arrays ? std::is_nothrow_invocable_v<Op&, const T*, const T*, T*, std::size_t>
                                                : std::is_nothrow_invocable_v<Op&, const T&, const T&>;

 public:
  explicit CallersOperator(const Op& op) : op_(op) {}
  void describe(sf_call& call) {
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(T);
    call.user = &apply;
    call.context = this;
    call.never_fails = never_fails ? 1 : 0;
    if constexpr (has_operator_name<Op>)
      call.operator_name = op_.operator_name.c_str();
    else
      call.operator_name = type_name<T, Op>();
  }

 private:
  static int apply(const void* left, const void* right, void* result, std::size_t count, void* context) noexcept {
    auto& self = *static_cast<CallersOperator*>(context);
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
      self.note(std::current_exception());
      return 1;
    }
  }

  Op op_;
};

/// What sf_call_default() returns, as a constant that the compiler can see through.
constexpr sf_call call_of_defaults() {
  sf_call call{};
  call.size = sizeof call;
  call.result_type = SF_AS_TYPE;
  call.columns = 1;
  call.root = SF_ALL_RANKS;
  call.element_count = SF_UNKNOWN;
  return call;
}
/// What sf_arrays_default() returns, likewise.
constexpr sf_arrays arrays_of_nothing() {
  sf_arrays arrays{};
  arrays.size = sizeof arrays;
  return arrays;
}

template <class SomeOptions, class = void>
inline constexpr bool have_layout = false;
template <class SomeOptions>
inline constexpr bool have_layout<SomeOptions, std::void_t<decltype(SomeOptions::layout)> > = true;
template <class SomeOptions, class = void>
inline constexpr bool have_method = false;
template <class SomeOptions>
inline constexpr bool have_method<SomeOptions, std::void_t<decltype(SomeOptions::method)> > = true;
template <class SomeOptions, class = void>
inline constexpr bool have_root = false;
template <class SomeOptions>
inline constexpr bool have_root<SomeOptions, std::void_t<decltype(SomeOptions::root)> > = true;

/// Writes a call's options into it, whichever of them these are. It points into them.
template <class SomeOptions>
void describe(const SomeOptions& options, sf_call& call) {
  if constexpr (have_layout<SomeOptions>) options.layout.describe(call);
  if constexpr (have_method<SomeOptions>) {
    options.method.describe(call);
    call.require = options.require.bits;
    call.threads = options.threads;
  }
  if constexpr (have_root<SomeOptions>) {
    call.root = root_of(options.root);
    call.schedule = options.schedule.empty() ? nullptr : options.schedule.c_str();
  }
}

/// A call in the form of the C interface; it points into `held` (what belongs to its operator) and `options`.
template <class HeldOp, class SomeOptions>
sf_call call_of(HeldOp& held, std::uint64_t rows, const SomeOptions& options) {
  sf_call call = call_of_defaults();
  held.describe(call);
  describe(options, call);
  call.rows = rows;
  return call;
}
/// MPI's shape: every rank brings one row of `columns` elements.
template <class HeldOp, class SomeOptions>
sf_call call_of_vectors(HeldOp& held, std::uint64_t columns, const SomeOptions& options,
                        sf_collective collective = SF_REDUCE) {
  sf_call call = call_of(held, 1, options);
  call.layout = SF_ROW_PER_RANK;
  call.columns = columns;
  call.collective = collective;
  return call;
}

/// Throws what the operator threw, or the library's error.
inline void check(sf_status status, OperatorHolder* op = nullptr) {
  if (status == SF_OK) return;
  if (op != nullptr) op->rethrow();
  throw Error(status, sf_error_text());
}

}  // namespace detail

}  // namespace steadfold

#endif
