// The types of arguments and results: views of elements, number formats, results of several numbers, and errors; with
// options.hpp, methods, guarantees, layouts and options. Included by steadfold.hpp, which is the header to include.
#pragma once

#if __cplusplus < 201703L
#error "Steadfold needs C++17 (the compiler is set to an older C++), compile with -std=c++17 or a later one"
#else

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>  // for std::span and the concepts of views
#endif

#include "steadfold/operations.hpp"
#include "steadfold/options.hpp"

namespace steadfold {

/// The error that every failing call throws: `what()` reads "problem (why), suggestion".
class Error : public std::runtime_error {
 public:
  /// Makes an error from a status and a text.
  Error(sf_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  /// The kind of the error; `what()` has the text.
  sf_status status() const noexcept { return status_; }

 private:
  sf_status status_;
};

template <class T>
class View;

/// Whether elements outlive the range that refers to them, as with a View, a std::span or a std::string_view.
/// Specialise it for your own ranges, as steadfold::is_borrowed<Mine>, identically in all sources.
template <class R>
inline constexpr bool is_borrowed = false;
template <class T>
inline constexpr bool is_borrowed<View<T>> = true;
template <class T, class Traits>
inline constexpr bool is_borrowed<std::basic_string_view<T, Traits>> = true;
#if __cplusplus >= 202002L
template <class T, std::size_t size>
inline constexpr bool is_borrowed<std::span<T, size>> = true;
#endif

namespace detail {
template <class R>
using bare_t = std::remove_cv_t<std::remove_reference_t<R>>;
/// Whether elements outlive the range, according to is_borrowed or, for views since C++20, to
/// std::ranges::enable_borrowed_range.
template <class R, class = void>
inline constexpr bool outlives = is_borrowed<R>;
#if __cplusplus >= 202002L
template <class V>
void of_views(const std::ranges::view_interface<V>&);
template <class R>
inline constexpr bool outlives<R, std::void_t<decltype(of_views(std::declval<const R&>()))>> =
    is_borrowed<R> || std::ranges::enable_borrowed_range<R>;
#endif
/// Whether a range outlives the statement in which it is an argument.
template <class R>
inline constexpr bool lasts = std::is_lvalue_reference_v<R> || outlives<bare_t<R>>;
}  // namespace detail

/// A view of `size` elements at `data`; the caller keeps the ownership. A view is made from any object with data() and
/// size(), or from a C array. From a temporary that owns its elements, only a view of const elements can be made.
template <class T>
class View {
  template <class R>
  using element_of = std::remove_pointer_t<decltype(std::data(std::declval<R&>()))>;

 public:
  /// Makes an empty view, a view of `size` elements at `data`, or a view of a range.
  constexpr View() noexcept = default;
  template <class U, class = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>  // a literal 0 is not accepted
  constexpr View(U* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <class R, class = std::enable_if_t<!std::is_same_v<std::decay_t<R>, View> &&
                                              std::is_convertible_v<element_of<R> (*)[], T (*)[]> &&
                                              (std::is_const_v<T> || detail::lasts<R>)>>
  constexpr View(R&& range) noexcept  // NOLINT(google-explicit-constructor)
      : data_(std::data(range)), size_(std::size(range)) {}

  /// Give access to the elements, as in std::span.
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
/// Makes a view of `size` elements at `data`: sf::view(&number, 1) is one number as a range.
template <class T>
constexpr View<T> view(T* data, std::size_t size) noexcept {
  return {data, size};
}

/// The bits of a bfloat16. Only elements can have this format: results are floats, or of the type given to `to`.
struct Bfloat16 {
  std::uint16_t bits = 0;  ///< the upper half of a float
};
/// The bits of an IEEE binary16 number. Only elements can have this format: results are floats, or of the type given to
/// `to`.
struct Float16 {
  std::uint16_t bits = 0;  ///< the bits, in the format IEEE binary16
};
/// The 128-bit format of extended numbers, if the compiler has it besides long double.
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Float128;
#endif

/// A value and the lowest index, within the whole job, of an element that has it.
template <class T>
struct Located {
  T value{};
  std::uint64_t index = 0;
  /// Returns whether values and indices are equal.
  friend bool operator==(const Located& a, const Located& b) { return a.value == b.value && a.index == b.index; }
};
static_assert(sizeof(Located<double>) == sizeof(sf_located_f64) && sizeof(Located<float>) == sizeof(sf_located_f64));

/// The statistics of a vector or a field, found in one pass and one reduction. Every number is rounded once, with
/// sf::to<float>(sf::statistics) to a float. A number is NaN if there are too few elements to define it. If an element
/// is NaN, min, max and all other numbers are NaN. The mean is NaN if there are infinities of both signs; variances and
/// deviations are NaN if there is any infinity.
struct Statistics {
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::uint64_t no_index = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t count = 0;  ///< the number of elements that the mask, if there is one, selects
  double min = nan;
  std::uint64_t min_index = no_index;  ///< the lowest index, within the whole job, of an element with the value `min`
  double max = nan;
  std::uint64_t max_index = no_index;
  double mean = nan;
  double variance = nan;         ///< the mean square of the distances from the mean (ddof 0)
  double sample_variance = nan;  ///< the variance with count - 1 as the divisor (ddof 1)
  double deviation = nan;        ///< the square root of `variance`
  double sample_deviation = nan;
};
static_assert(sizeof(Statistics) == sizeof(sf_statistics));

namespace detail {

/// The type of the elements of a range.
template <class R>
using element_t = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const R&>()))>>;

/// Whether the iterators of R, if there are any, give the elements at data(). False for a matrix whose iterators give
/// rows.
template <class R, class = void>
inline constexpr bool iterates_elements = true;
template <class R>
inline constexpr bool iterates_elements<R, std::void_t<decltype(*std::begin(std::declval<const R&>()))>> =
    std::is_same_v<bare_t<decltype(*std::begin(std::declval<const R&>()))>, element_t<R>>;

/// Whether R has data() and size(), or is a C array.
template <class R, class = void>
inline constexpr bool is_vector = false;
template <class R>
inline constexpr bool is_vector<
    R, std::void_t<decltype(*std::data(std::declval<const R&>())), decltype(std::size(std::declval<const R&>()))>> =
    iterates_elements<R>;

template <class T, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<T, Types> || ...);
template <class T>
inline constexpr bool is_integer = is_one_of<T, int, unsigned, long, unsigned long, long long, unsigned long long> &&
                                   (sizeof(T) == 4 || sizeof(T) == 8);
template <class T>
inline constexpr bool is_narrow = is_one_of<T, Bfloat16, Float16>;
template <class T>
inline constexpr bool is_complex = is_one_of<T, std::complex<double>, std::complex<float>>;
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
  if constexpr (std::is_same_v<T, std::complex<float>>) return SF_COMPLEX_F32;
  if constexpr (std::is_same_v<T, std::complex<double>>) return SF_COMPLEX_F64;
  return SF_BYTES;
}

/// The default type of the value that an operation computes from elements of type T. The operation's results have this
/// form.
template <class T, ResultForm form>
struct OwnValue {
  using type = std::conditional_t<form == ResultForm::statistics, double, std::conditional_t<is_narrow<T>, float, T>>;
};
template <class T>
struct OwnValue<std::complex<T>, ResultForm::real> {
  using type = T;
};

/// The value on ranks that get no result: a quiet NaN if the type has one, else T{}, or zero bytes if T has no default
/// constructor.
template <class T>
T no_result() {
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
    return std::numeric_limits<T>::quiet_NaN();
  } else if constexpr (is_complex<T>) {
    return {no_result<typename T::value_type>(), no_result<typename T::value_type>()};
  } else if constexpr (std::is_default_constructible_v<T>) {
    return T{};
  } else {
    alignas(T) const std::byte zeros[sizeof(T)] = {};
    return *std::launder(reinterpret_cast<const T*>(zeros));
  }
}

}  // namespace detail

}  // namespace steadfold

#if __cplusplus >= 202002L
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<steadfold::View<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_view<steadfold::View<T>> = true;
#endif

#endif
