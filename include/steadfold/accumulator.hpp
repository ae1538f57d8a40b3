// Exact sums as objects, which a program keeps, adds to, subtracts from, merges and saves in a file.
//
//   sf::Accumulator<double> a;
//   for (...) a += x;                                 // an element or a range: nothing is rounded, the order is free
//   a -= y;                                           // as if y had never been added
//   a += b;                                           // another accumulator, of another thread or rank
//   double s = a.sum();                               // rounded once
//   std::vector<std::byte> bytes = a.bytes();         // the same for equal sums, on every machine
//   auto later = sf::Accumulator<double>::load(bytes);
//   sf::merge_ranks(a, comm);                         // the sum of the accumulators of all ranks
//
//   sf::Accumulator<double> fluxes(30);               // 30 sums; a range holds rows of 30 elements
//   fluxes.add(field, {.keep = {0}, .where = ocean}); // an array without its land points, one column per level
//   sf::ProductAccumulator<double> d;                 // d.add_products(x, y), d.add(field, {.weights = area})
//
// Header-only over the C functions of steadfold_accumulator.h, which describes what is exact. Every function except the
// destructor and moves may throw Error. Needs no MPI; for merges by MPI_Allreduce see MpiAccumulators in mpi.hpp.
#pragma once

#include "steadfold/steadfold.hpp"

#if __cplusplus >= 201703L

#if __cplusplus >= 202002L
#include <compare>
#endif
#include <memory>

#include "steadfold/steadfold_accumulator.h"

namespace steadfold {

/// One or more exact sums, `columns()` of them, of elements or of products of two factors. A copy is an independent
/// accumulator. An accumulator that was moved from may only be assigned to or destroyed.
template <class T, sf_terms terms = SF_ELEMENTS>
class Accumulator {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>,
                "an accumulator takes elements of type double or float");
  template <class R>
  using if_elements = std::enable_if_t<std::is_same_v<detail::element_t<R>, T>>;
  static constexpr bool has_products = terms == SF_PRODUCTS;
  using Elements = View<const T>;

 public:
  /// Makes an accumulator of no rows, with `columns` sums. Throws Error.
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
    if (get() != nullptr && columns_ == other.columns_)
      detail::check(sf_accumulator_assign(get(), other.get()));
    else
      *this = Accumulator(other);
    return *this;
  }
  Accumulator& operator=(Accumulator&&) noexcept = default;
  ~Accumulator() = default;

  /// Makes an accumulator from the output of `bytes()`. Throws Error if the bytes are invalid, or if an accumulator of
  /// another type wrote them.
  static Accumulator load(View<const std::byte> bytes) {
    sf_accumulator* made = nullptr;
    detail::check(sf_accumulator_read(bytes.data(), bytes.size(), &made));
    Handle handle(made);
    sf_accumulator_shape shape{};
    detail::check(sf_accumulator_describe(made, &shape, nullptr));
    if (shape.type != detail::type_of<T>() || shape.terms != terms)
      throw Error(SF_INVALID_ARGUMENT, "the bytes are of another kind of accumulator (it has type " +
                                           std::to_string(shape.type) + " and terms " + std::to_string(shape.terms) +
                                           "), load the bytes as an accumulator of that type");
    return Accumulator(std::move(handle), shape.columns);
  }

  /// Returns the number of sums.
  std::size_t columns() const noexcept { return columns_; }
  /// Returns the number of rows: the rows added minus the rows subtracted.
  std::int64_t rows() const {
    std::int64_t rows = 0;
    detail::check(sf_accumulator_describe(get(), nullptr, &rows));
    return rows;
  }

  /// Removes all rows from the accumulator.
  void clear() { detail::check(sf_accumulator_clear(get())); }

  /// Adds, or subtracts, one element. The accumulator must have one column.
  void add(T x) { change(sf_accumulator_add, Elements(&x, 1), 1); }
  void subtract(T x) { change(sf_accumulator_subtract, Elements(&x, 1), 1); }
  /// Adds, or subtracts, rows of `columns()` elements, row-major. The call makes `threads` threads for this.
  template <class R, class = if_elements<R>>
  void add(const R& x, unsigned threads = 1) {
    change(sf_accumulator_add, x, threads);
  }
  template <class R, class = if_elements<R>>
  void subtract(const R& x, unsigned threads = 1) {
    change(sf_accumulator_subtract, x, threads);
  }
  /// Adds, or subtracts, the products x[i] * y[i]. `y` may be `x`. The accumulator must be a ProductAccumulator.
  template <class X, class Y, class = if_elements<X>, class = if_elements<Y>>
  void add_products(const X& x, const Y& y, unsigned threads = 1) {
    change_products(sf_accumulator_add_products, x, y, threads);
  }
  template <class X, class Y, class = if_elements<X>, class = if_elements<Y>>
  void subtract_products(const X& x, const Y& y, unsigned threads = 1) {
    change_products(sf_accumulator_subtract_products, x, y, threads);
  }
  /// Adds, or subtracts, the elements of an array. Every kept index has a column. Every index of the other axes that
  /// `axes.where` selects is a row; the mask must not differ between columns. There must be no labels.
  void add(const Array<T>& x, const Axes& axes = {}, unsigned threads = 1) {
    change_arrays(sf_accumulator_add_arrays, x, axes, threads);
  }
  void subtract(const Array<T>& x, const Axes& axes = {}, unsigned threads = 1) {
    change_arrays(sf_accumulator_subtract_arrays, x, axes, threads);
  }

  Accumulator& operator+=(T x) { return add(x), *this; }
  Accumulator& operator-=(T x) { return subtract(x), *this; }
  template <class R, class = if_elements<R>>
  Accumulator& operator+=(const R& x) {
    return add(x), *this;
  }
  template <class R, class = if_elements<R>>
  Accumulator& operator-=(const R& x) {
    return subtract(x), *this;
  }
  /// Adds, or subtracts, another accumulator with the same number of columns: its sums and its number of rows.
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
  /// Returns the negated accumulator: the sums and the number of rows change their sign.
  Accumulator operator-() const {
    Accumulator negative(*this);
    detail::check(sf_accumulator_negate(negative.get()));
    return negative;
  }

  /// Compares the exact sums, column by column. The result is SF_UNORDERED, which is above 0, if a sum is NaN.
  std::vector<sf_order> compare(const Accumulator& other) const {
    std::vector<sf_order> orders(columns_);
    detail::check(sf_accumulator_compare(get(), other.get(), orders.data()));
    return orders;
  }
  /// Compares the sums of two accumulators with one column.
  sf_order order(const Accumulator& other) const {
    require_one_column();
    sf_order order = SF_UNORDERED;
    detail::check(sf_accumulator_compare(get(), other.get(), &order));
    return order;
  }

  /// Return the sum, mean or norm of an accumulator with one column, rounded once, optionally to another type:
  /// a.sum<float>(). `mean` throws Error(SF_EMPTY) if there are fewer rows than one. `norm2` is the square root of a
  /// sum of products.
  template <class Value = T>
  Value sum() const {
    return value<Value>(SF_SUM);
  }
  template <class Value = T>
  Value mean() const {
    return value<Value>(SF_MEAN);
  }
  template <class Value = T>
  Value norm2() const {
    static_assert(has_products, "a norm needs sums of products: use a ProductAccumulator");
    return value<Value>(SF_NORM2);
  }
  /// Return the sum, mean or norm of every column. Rounding, types and errors are as for one column.
  template <class Value = T>
  std::vector<Value> sums() const {
    return values<Value>(SF_SUM);
  }
  template <class Value = T>
  std::vector<Value> means() const {
    return values<Value>(SF_MEAN);
  }
  template <class Value = T>
  std::vector<Value> norms2() const {
    static_assert(has_products, "a norm needs sums of products: use a ProductAccumulator");
    return values<Value>(SF_NORM2);
  }

  /// Returns the bytes for a file. Equal accumulators have equal bytes, on every machine.
  std::vector<std::byte> bytes() const {
    std::uint64_t size = 0;
    detail::check(sf_accumulator_write(get(), nullptr, 0, &size));
    std::vector<std::byte> bytes(size);
    detail::check(sf_accumulator_write(get(), bytes.data(), bytes.size(), &size));
    return bytes;
  }

  /// Returns the packed accumulator, for messages. All accumulators with the same number of columns have the same
  /// packed size; `merge_packed` merges packed accumulators. `unpack` replaces the accumulator by a packed one.
  std::vector<std::byte> packed() const {
    std::vector<std::byte> packed(sf_accumulator_packed_size(get()));
    detail::check(sf_accumulator_pack(get(), packed.data(), packed.size()));
    return packed;
  }
  void unpack(View<const std::byte> packed) {
    detail::check(sf_accumulator_unpack(get(), packed.data(), packed.size()));
  }

  /// Returns the handle for the C functions. This object keeps the ownership.
  sf_accumulator* get() noexcept { return handle_.get(); }
  const sf_accumulator* get() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(sf_accumulator* accumulator) const noexcept { sf_accumulator_free(accumulator); }
  };
  using Handle = std::unique_ptr<sf_accumulator, Free>;
  Accumulator(Handle handle, std::size_t columns) noexcept : handle_(std::move(handle)), columns_(columns) {}

  void require_one_column() const {
    if (columns_ != 1)
      throw Error(SF_INVALID_ARGUMENT,
                  "a single value of " + std::to_string(columns_) +
                      " columns (every column has its own value), use sums(), means() or compare()");
  }
  std::uint64_t rows_of(std::size_t count) const {
    if (count % columns_ != 0)
      throw Error(SF_INVALID_ARGUMENT, std::to_string(count) + " elements (the number of elements in a row is " +
                                           std::to_string(columns_) + "), give whole rows");
    return count / columns_;
  }

  template <class Function>
  void change(Function function, Elements x, unsigned threads) {
    detail::check(function(get(), x.data(), rows_of(x.size()), threads));
  }
  template <class Function>
  void change_products(Function function, Elements x, Elements y, unsigned threads) {
    static_assert(has_products, "products can only be added to a ProductAccumulator");
    if (x.size() != y.size())
      throw Error(SF_INVALID_ARGUMENT, std::to_string(x.size()) + " first factors and " + std::to_string(y.size()) +
                                           " second factors (every product needs both), give equally many");
    detail::check(function(get(), x.data(), y.data(), rows_of(x.size()), threads));
  }
  template <class Function>
  void change_arrays(Function function, const Array<T>& x, const Axes& axes, unsigned threads) {
    const sf_arrays arrays = detail::arrays_of(x.c_array(), axes.weights, axes);
    if (const std::string fault = detail::misfit(arrays.x, arrays.factors); !fault.empty())
      throw Error(SF_INVALID_ARGUMENT, fault);
    detail::check(function(get(), &arrays, threads));
  }

  template <class Value>
  std::vector<Value> values(sf_operation operation) const {
    std::vector<Value> values(columns_);
    detail::check(sf_accumulator_round(get(), operation, detail::type_of<Value>(), values.data()));
    return values;
  }
  template <class Value>
  Value value(sf_operation operation) const {
    require_one_column();
    Value value{};
    detail::check(sf_accumulator_round(get(), operation, detail::type_of<Value>(), &value));
    return value;
  }

  Handle handle_;
  std::size_t columns_ = 0;
};

/// An accumulator of sums of products of two factors. An element counts as its product with 1.
template <class T>
using ProductAccumulator = Accumulator<T, SF_PRODUCTS>;

/// Whether all sums of two accumulators are equal.
template <class T, sf_terms terms>
bool operator==(const Accumulator<T, terms>& a, const Accumulator<T, terms>& b) {
  for (const sf_order order : a.compare(b))
    if (order != SF_EQUAL) return false;
  return true;
}
template <class T, sf_terms terms>
bool operator!=(const Accumulator<T, terms>& a, const Accumulator<T, terms>& b) {
  return !(a == b);
}
/// Compares the sums of two accumulators with one column.
template <class T, sf_terms terms>
bool operator<(const Accumulator<T, terms>& a, const Accumulator<T, terms>& b) {
  return a.order(b) == SF_LESS;
}
template <class T, sf_terms terms>
bool operator>(const Accumulator<T, terms>& a, const Accumulator<T, terms>& b) {
  return b < a;
}
template <class T, sf_terms terms>
bool operator<=(const Accumulator<T, terms>& a, const Accumulator<T, terms>& b) {
  const sf_order order = a.order(b);
  return order == SF_LESS || order == SF_EQUAL;
}
template <class T, sf_terms terms>
bool operator>=(const Accumulator<T, terms>& a, const Accumulator<T, terms>& b) {
  return b <= a;
}
#if __cplusplus >= 202002L
template <class T, sf_terms terms>
std::partial_ordering operator<=>(const Accumulator<T, terms>& a, const Accumulator<T, terms>& b) {
  const sf_order order = a.order(b);
  return order == SF_LESS      ? std::partial_ordering::less
         : order == SF_EQUAL   ? std::partial_ordering::equivalent
         : order == SF_GREATER ? std::partial_ordering::greater
                               : std::partial_ordering::unordered;
}
#endif

/// Adds the packed accumulator `from` to the packed accumulator `into`, as sf_accumulator_merge_packed does. Both
/// packed accumulators must have the same size.
inline void merge_packed(View<const std::byte> from, View<std::byte> into) {
  if (from.size() != into.size())
    throw Error(SF_INVALID_ARGUMENT,
                std::to_string(from.size()) + " and " + std::to_string(into.size()) +
                    " packed bytes (accumulators of one shape have equal sizes), merge accumulators of one shape");
  sf_accumulator_merge_packed(from.data(), into.data(), from.size());
}

/// Replaces the accumulator of every rank by the sum of the accumulators of all ranks, including the number of rows, in
/// one reduction. Collective, over ranks or the workers of a team. If the shapes differ, every rank gets an Error and
/// the accumulators stay unchanged.
template <class T, sf_terms terms, class C, class = detail::if_group<C>>
void merge_ranks(Accumulator<T, terms>& accumulator, const C& comm) {
  detail::check(sf_accumulator_merge_ranks(accumulator.get(), steadfold::group_of(comm).handle()));
}

}  // namespace steadfold

#endif
