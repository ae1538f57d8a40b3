// What calls of Steadfold for C++20 are made of: errors, methods, guarantees, layouts and element types. Included by
// steadfold.hpp, which is the header to include.
#pragma once

#if __cplusplus < 202002L
#error "Steadfold needs C++20 (the compiler is set to an older C++), compile with -std=c++20"
#else

#include <algorithm>
#include <chrono>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
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

  template <class Options>
    requires std::is_aggregate_v<Options> && std::same_as<decltype(Options::method), Method>
  constexpr operator Options() const {
    Options options;
    options.method = *this;
    return options;
  }
};
constexpr Method tree() { return {SF_TREE}; }    ///< the binary tree over element indices: any operator
constexpr Method exact() { return {SF_EXACT}; }  ///< the correctly rounded value: all sums, mean, dot, norm2
/// How many bins `binned` has, and how it finds the largest term: sf::binned({.k = 4, .sweep = SF_DOUBLE_SWEEP}).
struct Binned {
  std::uint32_t k = 3;
  sf_sweep sweep = SF_SINGLE_SWEEP;
};
/// the sum of terms that were rounded to the lowest of k bins: all sums, mean, dot, norm2
constexpr Method binned(Binned how = {}) { return {SF_BINNED, how.k, how.sweep}; }
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
/// Where a rank's elements are if all elements are in rank order.
struct RankOrder {
  Interval mine{};
  std::uint64_t element_count = 0;
};

/// Calls over a communicator of type C, and their options. group.hpp has it for groups, mpi.hpp for MPI's
/// communicators.
template <class C>
struct Over;

template <class C>
using options_over_t = typename Over<C>::Options;

/// A timeout as C takes it: none is negative, and what lasts longer than a century has no end.
template <class Number, class Period>
std::uint64_t nanoseconds_of(std::chrono::duration<Number, Period> timeout) {
  constexpr std::chrono::duration<double> a_century(3e9);
  if (timeout > a_century) return std::numeric_limits<std::uint64_t>::max();  // SF_FOREVER
  if (!(timeout > timeout.zero())) return 0;
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::nanoseconds>(timeout).count());
}
}  // namespace detail

/// What has ranks: a Group (group.hpp), or MPI's communicator (mpi.hpp).
template <class C>
concept Communicator = requires { typename detail::options_over_t<C>; };

/// Which elements of the whole job this rank holds. `exact` does not need one.
class Layout {
 public:
  /// Unspecified: fits methods that need no layout. `tree` takes it as rank order, found anew in each call.
  Layout() = default;

  /// This rank has `rows` elements, after those of the lower ranks. Collective over `communicator`.
  template <Communicator C>
  static Layout contiguous(std::uint64_t rows, C communicator) {
    const detail::RankOrder found = detail::Over<C>::rank_order(rows, detail::Over<C>::group(communicator));
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
    return grid({{.extent = element_count, .ranks = 0, .block = block, .first = first_rank}});
  }

  /// An array of one to three axes, cut into one block for each rank of a grid: along an axis of extent n over p ranks
  /// the first n % p of them have one index more. Indices and ranks are in C order, the last axis fastest, as
  /// MPI_Cart_create numbers ranks; so are a rank's own elements. One of `ranks` may be 0: what the others leave.
  template <std::integral N, std::integral P, std::size_t axes>
  static Layout blocks(const N (&extents)[axes], const P (&ranks)[axes]) {
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

namespace detail {
template <class T, class... Types>
concept OneOf = (std::same_as<T, Types> || ...);
}  // namespace detail

/// Integers of 32 and 64 bits, by any of their names.
template <class T>
concept Integer = detail::OneOf<T, int, unsigned, long, unsigned long, long long, unsigned long long> &&
                  (sizeof(T) == 4 || sizeof(T) == 8);

/// The number types that built-in operators take.
template <class T>
concept Number = std::same_as<T, double> || std::same_as<T, float> || Integer<T>;

/// Formats whose elements are only read, as bits: results are floats, or what `to` says.
struct Bfloat16 {
  std::uint16_t bits = 0;  ///< the upper half of a float
};
struct Float16 {
  std::uint16_t bits = 0;  ///< IEEE binary16
};
template <class T>
concept Narrow = std::same_as<T, Bfloat16> || std::same_as<T, Float16>;

/// Serves sum, masked sum, product, mean, dot (nothing is conjugated), dotc, sum of squares and norm2.
template <class T>
concept Complex = std::same_as<T, std::complex<double> > || std::same_as<T, std::complex<float> >;

/// Serves sum, product, min and max by `tree`; the same bits on machines of one architecture.
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
/// Types whose sums can be rounded once, at the end.
template <class T>
concept Rounded = std::same_as<T, double> || std::same_as<T, float> || Narrow<T> || Complex<T>;

/// A contiguous range: vector, array, span.
template <class R>
concept Vector = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

/// A mask: one byte per element; any value but 0 selects the element.
template <class R>
concept Mask = Vector<R> && sizeof(std::ranges::range_value_t<R>) == 1;

/// A value and the lowest index, in the whole job, of an element that has it.
template <Number T>
struct Located {
  T value{};
  std::uint64_t index = 0;
  friend bool operator==(const Located&, const Located&) = default;
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

namespace detail {

template <class T>
constexpr sf_type type_of() {
  if constexpr (std::same_as<T, double>) return SF_F64;
  if constexpr (std::same_as<T, float>) return SF_F32;
  if constexpr (Integer<T> && sizeof(T) == 4) return std::signed_integral<T> ? SF_I32 : SF_U32;
  if constexpr (Integer<T> && sizeof(T) == 8) return std::signed_integral<T> ? SF_I64 : SF_U64;
  if constexpr (std::same_as<T, Bfloat16>) return SF_BF16;
  if constexpr (std::same_as<T, Float16>) return SF_F16;
  if constexpr (Extended<T>) return std::same_as<T, long double> ? SF_LONG_DOUBLE : SF_FLOAT128;
  if constexpr (std::same_as<T, std::complex<float> >) return SF_COMPLEX_F32;
  if constexpr (std::same_as<T, std::complex<double> >) return SF_COMPLEX_F64;
  return SF_BYTES;
}

template <class R>
using element_t = std::remove_cv_t<std::ranges::range_value_t<R> >;

/// What sf_call_default() returns, as a constant that the compiler can see through.
constexpr sf_call call_of_defaults() {
  sf_call call{};
  call.size = sizeof call;
  call.columns = 1;
  call.root = SF_ALL_RANKS;
  call.element_count = SF_UNKNOWN;
  return call;
}

/// What sf_arrays_init() makes, likewise.
constexpr sf_arrays arrays_of_nothing() {
  sf_arrays arrays{};
  arrays.size = sizeof arrays;
  return arrays;
}

/// Writes a call's options into it, whichever of them these are. It points into them.
template <class SomeOptions>
void describe(const SomeOptions& options, sf_call& call) {
  if constexpr (requires { options.layout; }) options.layout.describe(call);
  if constexpr (requires { options.method; }) {
    options.method.describe(call);
    call.require = options.require.bits;
    call.threads = options.threads;
  }
  if constexpr (requires { options.root; }) {
    call.root = options.root.value_or(SF_ALL_RANKS);
    call.schedule = options.schedule.empty() ? nullptr : options.schedule.c_str();
  }
}

/// What ranks that get no result return: a quiet NaN if the type has one.
template <class T>
T no_result() {
  if constexpr (std::numeric_limits<T>::has_quiet_NaN)
    return std::numeric_limits<T>::quiet_NaN();
  else if constexpr (Complex<T>)
    return {no_result<typename T::value_type>(), no_result<typename T::value_type>()};
  else
    return T{};
}

}  // namespace detail

}  // namespace steadfold

#endif
