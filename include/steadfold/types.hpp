// The types of elements that calls of Steadfold for C++20 take, and what stands for ranks. Included by steadfold.hpp,
// which is the header to include.
#pragma once

#if __cplusplus < 202002L
#error "Steadfold needs C++20 (the compiler is set to an older C++), set -std=c++20 or include steadfold/cxx17.hpp"
#else

#include <concepts>
#include <ranges>

#include "steadfold/common.hpp"

template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<steadfold::View<T> > = true;
template <class T>
inline constexpr bool std::ranges::enable_view<steadfold::View<T> > = true;

namespace steadfold {

namespace detail {
/// Calls over a communicator of type C, and their options: group.hpp has it for all that has a GroupOf.
template <class C>
struct Over;

template <class C>
using options_over_t = typename Over<C>::Options;

}  // namespace detail

/// What has ranks: a Group (group.hpp), or MPI's communicator (mpi.hpp).
template <class C>
concept Communicator = requires { typename detail::options_over_t<C>; };

/// Integers of 32 and 64 bits, by any of their names.
template <class T>
concept Integer = detail::is_integer<T>;

/// The number types that built-in operators take.
template <class T>
concept Number = std::same_as<T, double> || std::same_as<T, float> || Integer<T>;

template <class T>
concept Narrow = detail::is_narrow<T>;

/// What operations take: docs/guarantees.md, "Types".
template <class T>
concept Complex = detail::is_complex<T>;

/// By `tree` alone; the same bits on machines of one architecture.
template <class T>
concept Extended = detail::is_extended<T>;

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

namespace detail {

template <class R>
using element_t = std::remove_cv_t<std::ranges::range_value_t<R> >;

}  // namespace detail

}  // namespace steadfold

#endif
