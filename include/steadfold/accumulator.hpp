// Steadfold for C++20: exact sums as objects, kept for as long as the program likes, or longer, in a file.
//
//   sf::Accumulator<double> a;
//   for (...) a += x;                                 // or a range: nothing is rounded, no order matters
//   a -= y;                                           // as if y had never been added
//   a += b;                                           // what another one has, of another thread or rank
//   double s = a.sum();                               // rounded once
//   std::vector<std::byte> bytes = a.bytes();         // the same for equal sums, on every machine
//   auto later = sf::Accumulator<double>::load(bytes);
//
//   sf::Accumulator<double> fluxes(30);               // 30 sums; a range holds rows of 30 elements
//   fluxes.add(field, {.keep = {0}, .where = ocean}); // or what of an array is not land, a column per level
//   sf::ProductAccumulator<double> d;                 // d.add_products(x, y), d.add(field, {.weights = area})
//
// Header-only over the C functions of steadfold_accumulator.h, which say what is exact. Every function but the
// destructor and moves may throw Error. Needs no MPI; steadfold_mpi.h has what MPI_Allreduce needs.
#pragma once

#include "steadfold/steadfold.hpp"

#if __cplusplus >= 202002L

#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "steadfold/steadfold_accumulator.h"

namespace steadfold {

/// One exact sum or several, `columns()`: of elements, or of products of two factors. Copies are accumulators of their
/// own; one that was moved from may only be assigned to or destroyed.
template <class T, sf_terms terms = SF_ELEMENTS>
  requires std::same_as<T, double> || std::same_as<T, float>
class Accumulator {
 public:
  explicit Accumulator(std::size_t columns = 1) : columns_(columns) {
    sf_accumulator* made = nullptr;
    detail::check(sf_accumulator_create(detail::type_of<T>(), terms, columns, &made));
    handle_.reset(made);
  }
  Accumulator(const Accumulator& other) : columns_(other.columns_) {
    sf_accumulator* made = nullptr;
    detail::check(sf_accumulator_copy(other.get(), &made));
    handle_.reset(made);
  }
  Accumulator(Accumulator&&) noexcept = default;
  Accumulator& operator=(const Accumulator& other) {
    if (this != &other) *this = Accumulator(other);
    return *this;
  }
  Accumulator& operator=(Accumulator&&) noexcept = default;
  ~Accumulator() = default;

  /// What `bytes()` gave. Refused unless they are those of an accumulator of this type.
  static Accumulator load(std::span<const std::byte> bytes) {
    sf_accumulator* made = nullptr;
    detail::check(sf_accumulator_read(bytes.data(), bytes.size(), &made));
    Handle handle(made);
    sf_accumulator_shape shape{};
    detail::check(sf_accumulator_describe(made, &shape, nullptr));
    if (shape.type != detail::type_of<T>() || shape.terms != terms)
      throw Error(SF_INVALID_ARGUMENT, "the bytes are those of another accumulator (of type " +
                                           std::to_string(shape.type) + " and terms " + std::to_string(shape.terms) +
                                           "), load them as what was written");
    return Accumulator(std::move(handle), shape.columns);
  }

  std::size_t columns() const noexcept { return columns_; }
  /// Those added less those subtracted.
  std::int64_t rows() const {
    std::int64_t rows = 0;
    detail::check(sf_accumulator_describe(get(), nullptr, &rows));
    return rows;
  }

  void clear() { detail::check(sf_accumulator_clear(get())); }

  /// One element, to an accumulator of one column.
  void add(T x) { change(sf_accumulator_add, std::span<const T, 1>(&x, 1), 1); }
  void subtract(T x) { change(sf_accumulator_subtract, std::span<const T, 1>(&x, 1), 1); }
  /// Rows of `columns()` elements, one after the other; `threads` that are made for this call.
  template <Vector R>
  void add(const R& x, unsigned threads = 1) {
    change(sf_accumulator_add, elements(x), threads);
  }
  template <Vector R>
  void subtract(const R& x, unsigned threads = 1) {
    change(sf_accumulator_subtract, elements(x), threads);
  }
  /// The products of elements at the same place; y may be x.
  template <Vector X, Vector Y>
    requires(terms == SF_PRODUCTS)
  void add_products(const X& x, const Y& y, unsigned threads = 1) {
    change_products(sf_accumulator_add_products, elements(x), elements(y), threads);
  }
  template <Vector X, Vector Y>
    requires(terms == SF_PRODUCTS)
  void subtract_products(const X& x, const Y& y, unsigned threads = 1) {
    change_products(sf_accumulator_subtract_products, elements(x), elements(y), threads);
  }

  /// What stands in an array: a column for every kept index, a row for every index of the other axes that
  /// `axes.where` selects, which must not differ between columns. No labels.
  void add(const Array<T>& x, const Axes& axes = {}, unsigned threads = 1) {
    change_arrays(sf_accumulator_add_arrays, x, axes, threads);
  }
  void subtract(const Array<T>& x, const Axes& axes = {}, unsigned threads = 1) {
    change_arrays(sf_accumulator_subtract_arrays, x, axes, threads);
  }

  Accumulator& operator+=(T x) {
    add(x);
    return *this;
  }
  Accumulator& operator-=(T x) {
    subtract(x);
    return *this;
  }
  template <Vector R>
  Accumulator& operator+=(const R& x) {
    add(x);
    return *this;
  }
  template <Vector R>
  Accumulator& operator-=(const R& x) {
    subtract(x);
    return *this;
  }

  /// All that was added to the other one, of as many columns; its rows, too.
  Accumulator& operator+=(const Accumulator& other) {
    detail::check(sf_accumulator_merge(get(), other.get()));
    return *this;
  }
  Accumulator& operator-=(const Accumulator& other) {
    detail::check(sf_accumulator_unmerge(get(), other.get()));
    return *this;
  }
  friend Accumulator operator+(Accumulator a, const Accumulator& b) { return std::move(a += b); }
  friend Accumulator operator-(Accumulator a, const Accumulator& b) { return std::move(a -= b); }
  /// Nothing less this one: rows change their sign, too.
  Accumulator operator-() const {
    Accumulator negative(*this);
    detail::check(sf_accumulator_negate(negative.get()));
    return negative;
  }

  /// How the exact sums stand to each other, column by column: unordered where there is a NaN.
  std::vector<std::partial_ordering> compare(const Accumulator& other) const {
    std::vector<sf_order> orders(columns_);
    detail::check(sf_accumulator_compare(get(), other.get(), orders.data()));
    std::vector<std::partial_ordering> found;
    for (const sf_order order : orders) found.push_back(ordering(order));
    return found;
  }
  /// For accumulators of one column.
  friend std::partial_ordering operator<=>(const Accumulator& a, const Accumulator& b) {
    a.require_one_column();
    sf_order order = SF_UNORDERED;
    detail::check(sf_accumulator_compare(a.get(), b.get(), &order));
    return ordering(order);
  }
  /// Whether all sums are equal numbers.
  friend bool operator==(const Accumulator& a, const Accumulator& b) {
    for (const std::partial_ordering order : a.compare(b))
      if (order != std::partial_ordering::equivalent) return false;
    return true;
  }

  /// The sum of one column, rounded once, also to another type: a.sum<float>(). The mean of less than one row is an
  /// Error of SF_EMPTY; norm2 is the root of a sum of products.
  template <class Result = T>
  Result sum() const {
    return value<Result>(SF_SUM);
  }
  template <class Result = T>
  Result mean() const {
    return value<Result>(SF_MEAN);
  }
  template <class Result = T>
    requires(terms == SF_PRODUCTS)
  Result norm2() const {
    return value<Result>(SF_NORM2);
  }
  /// The same for every column.
  template <class Result = T>
  std::vector<Result> sums() const {
    return values<Result>(SF_SUM);
  }
  template <class Result = T>
  std::vector<Result> means() const {
    return values<Result>(SF_MEAN);
  }
  template <class Result = T>
    requires(terms == SF_PRODUCTS)
  std::vector<Result> norms2() const {
    return values<Result>(SF_NORM2);
  }

  /// For a file: equal for equal accumulators, on every machine.
  std::vector<std::byte> bytes() const {
    std::uint64_t size = 0;
    detail::check(sf_accumulator_write(get(), nullptr, 0, &size));
    std::vector<std::byte> bytes(size);
    detail::check(sf_accumulator_write(get(), bytes.data(), bytes.size(), &size));
    return bytes;
  }

  /// For messages: one size for all of as many columns, and mergeable as they are (sf_accumulator_merge_packed).
  std::vector<std::byte> packed() const {
    std::vector<std::byte> packed(sf_accumulator_packed_size(get()));
    detail::check(sf_accumulator_pack(get(), packed.data(), packed.size()));
    return packed;
  }
  void unpack(std::span<const std::byte> packed) {
    detail::check(sf_accumulator_unpack(get(), packed.data(), packed.size()));
  }

  /// For the C functions; it belongs to this object.
  sf_accumulator* get() noexcept { return handle_.get(); }
  const sf_accumulator* get() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(sf_accumulator* accumulator) const noexcept { sf_accumulator_free(accumulator); }
  };
  using Handle = std::unique_ptr<sf_accumulator, Free>;
  Accumulator(Handle handle, std::size_t columns) noexcept : handle_(std::move(handle)), columns_(columns) {}

  template <Vector R>
    requires std::same_as<detail::element_t<R>, T>
  static std::span<const T> elements(const R& x) {
    return {std::ranges::data(x), std::ranges::size(x)};
  }
  static std::partial_ordering ordering(sf_order order) {
    return order == SF_LESS      ? std::partial_ordering::less
           : order == SF_EQUAL   ? std::partial_ordering::equivalent
           : order == SF_GREATER ? std::partial_ordering::greater
                                 : std::partial_ordering::unordered;
  }

  void require_one_column() const {
    if (columns_ != 1)
      throw Error(SF_INVALID_ARGUMENT, "one value of " + std::to_string(columns_) +
                                           " columns (there is one per column), take sums(), means() or compare()");
  }
  std::uint64_t rows_of(std::size_t count) const {
    const std::size_t each = columns();
    if (count % each != 0)
      throw Error(SF_INVALID_ARGUMENT,
                  std::to_string(count) + " elements (rows have " + std::to_string(each) + "), give whole rows");
    return count / each;
  }

  template <class Function>
  void change(Function function, std::span<const T> x, unsigned threads) {
    detail::check(function(get(), x.data(), rows_of(x.size()), threads));
  }
  template <class Function>
  void change_products(Function function, std::span<const T> x, std::span<const T> y, unsigned threads) {
    if (x.size() != y.size())
      throw Error(SF_INVALID_ARGUMENT, std::to_string(x.size()) + " first factors and " + std::to_string(y.size()) +
                                           " second ones (products have one of each), give as many");
    detail::check(function(get(), x.data(), y.data(), rows_of(x.size()), threads));
  }
  template <class Function>
  void change_arrays(Function function, const Array<T>& x, const Axes& axes, unsigned threads) {
    const sf_arrays arrays = detail::arrays_of(x.c_array(), axes.weights, axes);
    detail::check(function(get(), &arrays, threads));
  }

  template <class Result>
  std::vector<Result> values(sf_operation operation) const {
    std::vector<Result> values(columns_);
    detail::check(sf_accumulator_round(get(), operation, detail::type_of<Result>(), values.data()));
    return values;
  }
  template <class Result>
  Result value(sf_operation operation) const {
    require_one_column();
    Result value{};
    detail::check(sf_accumulator_round(get(), operation, detail::type_of<Result>(), &value));
    return value;
  }

  Handle handle_;
  std::size_t columns_ = 0;
};

/// Sums of products of two factors; an element counts as its product with 1.
template <class T>
using ProductAccumulator = Accumulator<T, SF_PRODUCTS>;

}  // namespace steadfold

#endif
