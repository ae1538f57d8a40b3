// Exact sums that a program keeps: rows are added and taken away again, whole states merged, compared and rounded.
// Rank order: none. Cost: that of the long accumulator per row; some 100 ns per column to merge, compare or round,
// twice that for products of doubles. Nothing here allocates but make and copy.
//
// States are a group under merge: rows that were taken away count negatively, and what is added and taken away again
// leaves no trace. NaNs and infinities do: they are flags, which stay.
#pragma once

#include <memory>

#include "arithmetic/exact/exact.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"

namespace steadfold::arithmetic {

/// Whether something is added or taken away.
enum class Way : bool { added, taken_away };

struct StateShape {
  ExactType type = ExactType::f64;  // of elements and factors
  int factors = 1;                  // 1: sums of elements; 2: of products, an element x being x * 1
  Count columns = 1;                // at least 1
  friend bool operator==(const StateShape&, const StateShape&) = default;
};

/// The digits of a sum, and the exponent of the lowest digit's lowest bit.
int digit_count(const StateShape& shape) noexcept;
int lowest_exponent(const StateShape& shape) noexcept;
Bytes element_bytes(const StateShape& shape) noexcept;

/// One column. A state holds integers of `digit_count` 32-bit digits in two's complement.
struct ColumnSum {
  Flags special = no_flags;      // has_nan, has_plus_infinity, has_minus_infinity
  std::int64_t minus_zeros = 0;  // how many terms are -0.0, less those taken away; wraps around
  DigitWindow window;
};

/// How two sums stand to each other, as numbers. The values are those of the C interface.
enum class Comparison : std::int32_t { less = -1, equal = 0, greater = 1, unordered = 2 };

/// One caller at a time where it is changed.
class ExactState {
 public:
  /// The state of no rows.
  static std::unique_ptr<ExactState> make(const StateShape& shape);
  virtual std::unique_ptr<ExactState> copy() const = 0;
  virtual ~ExactState() = default;
  ExactState& operator=(const ExactState&) = delete;

  const StateShape& shape() const noexcept { return shape_; }
  /// Rows added, less those taken away.
  std::int64_t rows() const noexcept { return rows_; }

  void clear() noexcept;

  /// Whether rows may be added and states merged: a sum that takes all but the last two bits of its digits, at least
  /// 2^72 terms of the largest magnitude, is refused, and so are 2^62 rows.
  bool has_room() const noexcept { return counts_have_room() && sums_have_room(); }

  /// Adds `rows` contiguous rows or takes them away, at most 2^60 elements, aligned or not. `second`: the other
  /// factors, may be `first`; null: there are none. The state has room.
  void add(const std::byte* first, const std::byte* second, Count rows, Way way) noexcept {
    add_rows(first, second, rows, way);
    rows_ += way == Way::added ? static_cast<std::int64_t>(rows) : -static_cast<std::int64_t>(rows);
  }
  /// Adds contiguous terms of one column, or takes them away. Counts no rows: `set_rows` says how many there are.
  virtual void add_terms(Count column, const std::byte* first, const std::byte* second, Count rows,
                         Way way) noexcept = 0;
  /// Adds a state of the same shape, or takes it away; it may be this one. Both have room.
  void merge(const ExactState& other, Way way) noexcept;
  /// Makes it what taking it away from nothing leaves. It has room.
  void negate() noexcept;
  /// Makes it a state of the same shape.
  void assign(const ExactState& other) noexcept;

  Comparison compare(const ExactState& other, Count column) const noexcept;
  /// Writes a value per column: the sum, the mean (of at least one row) or the root (norm2; of a number below zero:
  /// NaN), rounded once.
  void round(ExactOperation operation, ExactType result, std::byte* values) const noexcept;

  // Columns in their canonical form, for those that write and read bytes, and the number of rows.
  virtual void read(Count column, ColumnSum& sum) const noexcept = 0;
  /// Adds the sum to the column, or takes it away. There is room.
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
