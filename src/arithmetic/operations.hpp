// Made by ./dev surface from the tables in surface/: edit the tables.
//
// The operations and their properties, one row for each.
// Cost: a row is found by its index.
#pragma once

#include <cstdint>
#include <string_view>

namespace steadfold::arithmetic {

/// The numbers are equal to those of sf_operation in steadfold.h.
enum class Operation : std::uint32_t {
  sum,
  product,
  min,
  max,
  user,
  dot,
  norm2,
  mean,
  min_location,
  max_location,
  abs_sum,
  sum_squares,
  masked_sum,
  statistics,
  weighted_mean,
  norminf,
  dotc,
  covariance,
  sample_covariance
};
inline constexpr Operation last_operation = Operation::sample_covariance;

/// The operands of an operation.
enum class OperandForm : std::uint8_t { elements, factors, mask, user };
/// The terms that an operation combines.
enum class Terms : std::uint8_t { elements, absolute_values, squares, products, conjugated_products };
/// The form of a result: of the elements' type, real even for complex elements, a value and its index, or Statistics.
enum class ResultForm : std::uint8_t { own, real, located, statistics };
/// The methods that compute an operation.
struct ServedBy {
  bool tree = false;
  bool exact = false;
  bool binned = false;
  bool plain = false;
};
/// The method that is used if the caller names none. Integers take plain, whatever the row says.
enum class DefaultMethod : std::uint8_t { tree, exact, plain };

struct OperationRow {
  std::string_view words;  // name of the operation in error texts
  Operation combined_by;   // operator that merges partial results
  ServedBy served_by;
  DefaultMethod by_default;
  DefaultMethod of_vectors;  // default method of calls in MPI's shape
  OperandForm operands = OperandForm::elements;
  Terms terms = Terms::elements;
  ResultForm result = ResultForm::own;
  bool has_several_sums = false;  // the result is computed from several exact sums
  bool needs_rows = false;        // without rows there is no result
};
inline constexpr OperationRow operation_rows[] = {
    {.words = "sum",
     .combined_by = Operation::sum,
     .served_by = {.tree = true, .exact = true, .binned = true, .plain = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::tree},
    {.words = "product",
     .combined_by = Operation::product,
     .served_by = {.tree = true, .plain = true},
     .by_default = DefaultMethod::tree,
     .of_vectors = DefaultMethod::tree},
    {.words = "min",
     .combined_by = Operation::min,
     .served_by = {.tree = true, .plain = true},
     .by_default = DefaultMethod::plain,
     .of_vectors = DefaultMethod::plain,
     .needs_rows = true},
    {.words = "max",
     .combined_by = Operation::max,
     .served_by = {.tree = true, .plain = true},
     .by_default = DefaultMethod::plain,
     .of_vectors = DefaultMethod::plain,
     .needs_rows = true},
    {.words = "user",
     .combined_by = Operation::user,
     .served_by = {.tree = true, .plain = true},
     .by_default = DefaultMethod::tree,
     .of_vectors = DefaultMethod::tree,
     .operands = OperandForm::user,
     .needs_rows = true},
    {.words = "dot",
     .combined_by = Operation::sum,
     .served_by = {.tree = true, .exact = true, .binned = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::exact,
     .operands = OperandForm::factors,
     .terms = Terms::products},
    {.words = "norm2",
     .combined_by = Operation::sum,
     .served_by = {.tree = true, .exact = true, .binned = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::exact,
     .terms = Terms::squares,
     .result = ResultForm::real},
    {.words = "mean",
     .combined_by = Operation::sum,
     .served_by = {.tree = true, .exact = true, .binned = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::exact,
     .needs_rows = true},
    {.words = "min location",
     .combined_by = Operation::min,
     .served_by = {.plain = true},
     .by_default = DefaultMethod::plain,
     .of_vectors = DefaultMethod::plain,
     .result = ResultForm::located,
     .needs_rows = true},
    {.words = "max location",
     .combined_by = Operation::max,
     .served_by = {.plain = true},
     .by_default = DefaultMethod::plain,
     .of_vectors = DefaultMethod::plain,
     .result = ResultForm::located,
     .needs_rows = true},
    {.words = "abs sum",
     .combined_by = Operation::sum,
     .served_by = {.tree = true, .exact = true, .binned = true, .plain = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::tree,
     .terms = Terms::absolute_values},
    {.words = "sum of squares",
     .combined_by = Operation::sum,
     .served_by = {.tree = true, .exact = true, .binned = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::exact,
     .terms = Terms::squares,
     .result = ResultForm::real},
    {.words = "masked sum",
     .combined_by = Operation::sum,
     .served_by = {.exact = true, .binned = true, .plain = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::exact,
     .operands = OperandForm::mask},
    {.words = "statistics",
     .combined_by = Operation::sum,
     .served_by = {.exact = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::exact,
     .result = ResultForm::statistics,
     .has_several_sums = true},
    {.words = "weighted mean",
     .combined_by = Operation::sum,
     .served_by = {.exact = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::exact,
     .operands = OperandForm::factors,
     .terms = Terms::products,
     .has_several_sums = true,
     .needs_rows = true},
    {.words = "norminf",
     .combined_by = Operation::norminf,
     .served_by = {.tree = true, .plain = true},
     .by_default = DefaultMethod::plain,
     .of_vectors = DefaultMethod::plain,
     .terms = Terms::absolute_values},
    {.words = "dotc",
     .combined_by = Operation::sum,
     .served_by = {.tree = true, .exact = true, .binned = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::exact,
     .operands = OperandForm::factors,
     .terms = Terms::conjugated_products},
    {.words = "covariance",
     .combined_by = Operation::sum,
     .served_by = {.exact = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::exact,
     .operands = OperandForm::factors,
     .terms = Terms::products,
     .has_several_sums = true,
     .needs_rows = true},
    {.words = "sample covariance",
     .combined_by = Operation::sum,
     .served_by = {.exact = true},
     .by_default = DefaultMethod::exact,
     .of_vectors = DefaultMethod::exact,
     .operands = OperandForm::factors,
     .terms = Terms::products,
     .has_several_sums = true,
     .needs_rows = true},
};

constexpr const OperationRow& row_of(Operation operation) noexcept {
  return operation_rows[static_cast<std::uint32_t>(operation)];
}

}  // namespace steadfold::arithmetic
