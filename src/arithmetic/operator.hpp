// Operators: built-in operators for each number type, and operators of the caller. All work on batches of elements,
// without types.
// Rank order: left always comes before right. Cost: one indirect call per batch. Source: IEEE 754-2019, section 9.6,
// for minimum and maximum.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "arithmetic/operations.hpp"
#include "kernels/fold.hpp"
#include "order/index.hpp"
#include "order/message.hpp"

namespace steadfold::arithmetic {

/// Elements of bf16 and f16 (IEEE binary16) are read, but not combined in these types. Complex numbers are stored as
/// the real part, then the imaginary part. The platform decides what a long double is. f128 is binary128, if the
/// compiler has it.
enum class Type : std::uint32_t { f64, f32, i32, i64, u32, u64, bytes, bf16, f16, cf32, cf64, long_double, f128 };
/// The number of passes that method `binned` makes over the rows. sf_sweep in steadfold.h has the same numbers.
enum class Sweep : std::uint32_t { single_sweep, double_sweep };

/// Whether the result is a value and the index of its row.
constexpr bool is_location(Operation operation) noexcept {
  return properties_of(operation).result == ResultForm::located;
}
/// Whether the result has indices of rows. Kinds of these operations apply masks themselves.
constexpr bool names_rows(Operation operation) noexcept {
  return is_location(operation) || properties_of(operation).result == ResultForm::statistics;
}
/// Whether the terms are squares, and so never negative.
constexpr bool squares(Operation operation) noexcept { return properties_of(operation).terms == Terms::squares; }
/// Whether elements lose their signs before they are combined.
constexpr bool takes_absolute_values(Operation operation) noexcept {
  return properties_of(operation).terms == Terms::absolute_values;
}
/// Whether elements have factors, or weights, as a second operand.
constexpr bool has_factors(Operation operation) noexcept {
  return properties_of(operation).operands == OperandForm::factors;
}
/// Whether there is a second operand: factors, weights or a mask.
constexpr bool has_second(Operation operation) noexcept {
  return has_factors(operation) || properties_of(operation).operands == OperandForm::mask;
}
/// Whether a result is computed from several sums of a column. Partials then have one column.
constexpr bool has_several_sums(Operation operation) noexcept { return properties_of(operation).has_several_sums; }
/// Whether the result is a sum of products, with the first factors conjugated or not.
constexpr bool is_dot(Operation operation) noexcept {
  const Terms terms = properties_of(operation).terms;
  return (terms == Terms::products || terms == Terms::conjugated_products) && !has_several_sums(operation);
}
/// Whether the result has more bits than the elements until the end, where it is rounded once.
constexpr bool is_rounded_once(Operation operation) noexcept {
  return properties_of(operation).is_served_by(Method::exact) && !properties_of(operation).is_served_by(Method::plain);
}
/// The built-in operator with which a reduction combines; `user` has none.
constexpr Operation combined_by(Operation operation) noexcept { return properties_of(operation).combined_by; }

constexpr bool is_double_or_float(Type type) noexcept { return type == Type::f64 || type == Type::f32; }
constexpr bool is_complex(Type type) noexcept { return type == Type::cf32 || type == Type::cf64; }
/// The type of a complex number's parts.
constexpr Type part_of(Type type) noexcept { return type == Type::cf32 ? Type::f32 : Type::f64; }

constexpr order::Bytes size_of(Type type) noexcept {
  switch (type) {
    case Type::f64:
    case Type::i64:
    case Type::cf32:
    case Type::u64: return 8;
    case Type::f32:
    case Type::i32:
    case Type::u32: return 4;
    case Type::bf16:
    case Type::f16: return 2;
    case Type::cf64:
    case Type::f128: return 16;
    case Type::long_double: return sizeof(long double);
    case Type::bytes: return 0;
  }
  return 0;
}

std::string_view name_of(Type type) noexcept;
constexpr std::string_view name_of(Operation operation) noexcept { return properties_of(operation).words; }

/// Computes result[i] = left[i] op right[i] for i < count. Returns 0, or another value for failure. `result` may be
/// `left`, never `right`. So an operator that reads an input after it wrote part of a result (a naive matrix product)
/// must work on a copy.
using Apply = int (*)(const void* left, const void* right, void* result, std::size_t count, void* context);
/// The return value of an operator that `may_postpone`: it has changed nothing and must be called again later with the
/// same arguments.
inline constexpr int postponed = -1;

/// The positions of the operands of one combination in a list of values.
struct ListedPair {
  std::uint32_t left;
  std::uint32_t right;
};

/// An operator on elements of one size.
struct Operator {
  Apply apply = nullptr;
  void* context = nullptr;
  order::Bytes element_bytes = 0;
  bool commutative = false;
  bool order_free = false;  // whether the order of combining changes no bit: integers, min, max
  // Whether it is order-free, and combining a value with itself changes no bit of a result: min, max.
  bool idempotent = false;
  bool is_users = false;      // whether it runs in the caller's floating-point environment
  bool writes_right = false;  // for user operators: whether `result` is the memory of `right`, never of `left`
  // Whether it may return `postponed` in merges and finishes of method `tree`; in other calls this is a failure.
  bool may_postpone = false;

  /// Computes the values of the maximal full dyadic nodes of contiguous elements; see kernels/fold.hpp. Null for user
  /// operators.
  kernels::Fold fold = nullptr;
  kernels::FoldRows fold_rows = nullptr;
  /// Folds `count` >= 1 contiguous elements from left to right. Null for user operators.
  void (*fold_left)(const void* elements, std::size_t count, void* result) = nullptr;
  /// Folds `count` >= 1 contiguous elements from right to left, e1 op (e2 op (e3 ...)), as the nodes of a tree are
  /// combined. `result` may be one of the elements. Null for user operators.
  void (*fold_right)(const void* elements, std::size_t count, void* result) = nullptr;
  /// Combines values in a list, pair by pair: values[first + i] = values[pairs[i].left] op values[pairs[i].right]. A
  /// pair may name earlier results. Null for user operators.
  void (*combine_listed)(void* values, std::span<const ListedPair> pairs, std::size_t first) = nullptr;
  /// Folds as `fold_right` does, and makes a NaN canonical. Null for user operators.
  void (*fold_to_result)(const void* elements, std::size_t count, void* result) = nullptr;
  /// Replaces every NaN among the results by the canonical quiet NaN. The pointer is null if values have no NaNs.
  void (*canonicalise)(void* values, std::size_t count) = nullptr;
  /// Clears unused bytes of values (padding), as `apply` does for its results, so that equal values are equal bytes in
  /// a record. The pointer is null if there are no unused bytes.
  void (*clear_unused)(void* values, std::size_t count) = nullptr;
  /// Writes the result of no elements. The pointer is null if there is no result of no elements.
  void (*of_nothing)(void* values, std::size_t count) = nullptr;
};

/// Combines elements as `combine` does, in the caller's floating-point environment.
int combine_as_user(const Operator& op, const void* left, const void* right, void* result, std::size_t count);

/// Computes result[i] = left[i] op right[i] for i < count, in the operator's floating-point environment; see Apply.
inline int combine(const Operator& op, const void* left, const void* right, void* result, std::size_t count) {
  if (op.is_users) return combine_as_user(op, left, right, result, count);
  return op.apply(left, right, result, count, op.context);
}

/// A sequence of changes of memory, made in one or several attempts. Every attempt repeats the same changes in the same
/// order, and leaves out the changes that an earlier attempt made.
class Changes {
 public:
  explicit Changes(order::Count made = 0) : left_out_(made), made_(made) {}

  /// Makes the next change. Returns 0, or the value that `change` returned if it did not make the change.
  template <class Change>
  int make(Change change) {
    if (left_out_ > 0) {
      --left_out_;
      return 0;
    }
    const int wrong = change();
    if (wrong == 0) ++made_;
    return wrong;
  }
  /// Returns the number of changes made by all attempts.
  order::Count made() const { return made_; }

 private:
  order::Count left_out_;
  order::Count made_;
};

/// Copies values into a record, with their unused bytes cleared.
inline void copy_values(const Operator& op, const std::byte* from, std::byte* to, std::size_t count) {
  std::memcpy(to, from, count * op.element_bytes);
  if (op.clear_unused != nullptr) op.clear_unused(to, count);
}

/// Returns the number of columns whose operations take some ten microseconds: 64 KiB of elements.
inline order::Count columns_of_piece(const Operator& op) noexcept {
  return std::max(order::Count{65536} / std::max(op.element_bytes, order::Bytes{1}), order::Count{1});
}

/// Writes the result of no elements; returns `empty` if there is none.
Status value_of_nothing(const Operator& op, void* values, std::size_t count);

/// Returns a built-in operator of a number type: sum, product, min, max, or norminf (the max of numbers without a sign,
/// and 0 of no numbers). Integers wrap around. Complex numbers have only the product (ac - bd) + (ad + bc)i. `apply` is
/// null if there is no such operator.
const Operator& built_in(Operation operation, Type type) noexcept;

}  // namespace steadfold::arithmetic
