// Exact sums that a program keeps. Rows can be added and removed again; states can be merged, compared and rounded.
// Rank order: none. Cost: that of the long accumulator per row; some 100 ns per column to merge, compare or round,
// twice as much for products of doubles. Only make and copy allocate.
//
// Merging can be undone: a removed row counts negatively, and a row that is added and removed leaves no trace. NaNs and
// infinities are an exception: they set flags, which stay.
#pragma once

#include <memory>

#include "arithmetic/exact/exact.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"

namespace steadfold::arithmetic {

/// Whether rows are added or removed.
enum class Way : bool { added, taken_away };

struct StateShape {
  Type type = Type::f64;  // type of elements and factors
  int factors = 1;        // 1: sums of elements; 2: sums of products, where an element x counts as x * 1
  Count columns = 1;      // number of columns, at least 1
  friend bool operator==(const StateShape&, const StateShape&) = default;
};

/// Return the number of digits of a sum, and the exponent of the lowest bit of the lowest digit.
int digit_count(const StateShape& shape) noexcept;
int lowest_exponent(const StateShape& shape) noexcept;
Bytes element_bytes(const StateShape& shape) noexcept;

/// The sum of one column: an integer of `digit_count` 32-bit digits in two's complement, and flags.
struct ColumnSum {
  Flags special = no_flags;      // flags of special terms: has_nan, has_plus_infinity, has_minus_infinity
  std::int64_t minus_zeros = 0;  // number of terms that are -0.0, minus the number of removed ones; wraps around
  DigitRange range;
};

/// The comparison of two sums, as numbers. The values are equal to the values in the C interface.
enum class Comparison : std::int32_t { less = -1, equal = 0, greater = 1, unordered = 2 };

/// The exact sums that a program keeps. Only one caller at a time may change a state.
class ExactState {
 public:
  /// Makes a state without rows.
  static std::unique_ptr<ExactState> make(const StateShape& shape);
  virtual std::unique_ptr<ExactState> copy() const = 0;
  virtual ~ExactState() = default;
  ExactState& operator=(const ExactState&) = delete;

  const StateShape& shape() const noexcept { return shape_; }
  /// Returns the number of rows added minus the number of rows removed.
  std::int64_t rows() const noexcept { return rows_; }

  void clear() noexcept;

  /// Whether rows may be added and states merged. There is no room if a sum needs the last two bits of its digits,
  /// which takes at least 2^72 terms of the largest magnitude, or if there are 2^62 rows.
  bool has_room() const noexcept { return counts_have_room() && sums_have_room(); }

  /// Adds `rows` contiguous rows or removes them: at most 2^60 elements, aligned or not. `second` has the second
  /// factors and may be `first`; it is null if there are none. The state must have room (has_room).
  void add(const std::byte* first, const std::byte* second, Count rows, Way way) noexcept {
    add_rows(first, second, rows, way);
    rows_ += way == Way::added ? static_cast<std::int64_t>(rows) : -static_cast<std::int64_t>(rows);
  }
  /// Adds contiguous terms of one column, or removes them. Counts no rows: `set_rows` sets their number.
  virtual void add_terms(Count column, const std::byte* first, const std::byte* second, Count rows,
                         Way way) noexcept = 0;
  /// Adds a state of the same shape, or subtracts it. `other` may be this state. Both states must have room (has_room).
  void merge(const ExactState& other, Way way) noexcept;
  /// Negates the state, as if it were subtracted from an empty state. The state must have room (has_room).
  void negate() noexcept;
  /// Copies the sums of a state of the same shape.
  void assign(const ExactState& other) noexcept;

  Comparison compare(const ExactState& other, Count column) const noexcept;
  /// Writes a value for each column, rounded once: the sum, the mean (of at least one row) or the square root (norm2;
  /// NaN for a negative number).
  void round(Operation operation, Type result, std::byte* values) const noexcept;

  // Reads a column in its canonical form, for code that writes bytes.
  virtual void read(Count column, ColumnSum& sum) const noexcept = 0;
  /// Adds the sum to the column, or subtracts it. The state must have room (has_room).
  virtual void unite(Count column, const ColumnSum& sum, Way way) noexcept = 0;
  virtual void clear(Count column) noexcept = 0;
  void set_rows(std::int64_t rows) noexcept { rows_ = rows; }

 protected:
  explicit ExactState(const StateShape& shape) noexcept : shape_(shape) {}
  ExactState(const ExactState&) = default;

 private:
  bool counts_have_room() const noexcept {
    constexpr std::int64_t most = std::int64_t{1} << 62;
    return rows_ > -most && rows_ < most;
  }
  virtual bool sums_have_room() const noexcept = 0;
  virtual void add_rows(const std::byte* first, const std::byte* second, Count rows, Way way) noexcept = 0;

  StateShape shape_;
  std::int64_t rows_ = 0;
};

}  // namespace steadfold::arithmetic
