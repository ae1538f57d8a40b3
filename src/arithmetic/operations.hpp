// Made by ./dev surface from the tables in surface/: edit the tables.
//
// The methods, and the operations with their properties, one entry for each.
// Cost: an entry is found by its index.
#pragma once

#include <cstdint>
#include <string_view>

namespace steadfold::arithmetic {

/// The methods that a call may name. The numbers are equal to those of sf_method in steadfold.h.
enum class Method : std::uint32_t { automatic, tree, exact, plain, binned };
inline constexpr Method last_method = Method::binned;

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
  sample_covariance,
  correlation
};
inline constexpr Operation last_operation = Operation::correlation;

/// The operands of an operation.
enum class OperandForm : std::uint8_t { elements, factors, mask, user };
/// The terms that an operation combines.
enum class Terms : std::uint8_t { elements, absolute_values, squares, products, conjugated_products };
/// The form of a result: of the elements' type, real even for complex elements, a value and its index, or Statistics.
enum class ResultForm : std::uint8_t { own, real, located, statistics };
/// A set of methods: one bit for each, at the method's number.
using Methods = std::uint32_t;
template <class... Each>
constexpr Methods set_of(Each... each) noexcept {
  return (0u | ... | (1u << static_cast<std::uint32_t>(each)));
}

struct OperationProperties {
  std::string_view words;  // name of the operation in error texts
  Operation combined_by;   // operator that merges partial results
  Methods served_by;       // methods that compute the operation
  // The method that is used if the caller names none. Integers take plain, whatever the entry says.
  Method by_default;
  Method of_vectors;  // the same for calls in MPI's shape
  OperandForm operands = OperandForm::elements;
  Terms terms = Terms::elements;
  ResultForm result = ResultForm::own;
  bool has_several_sums = false;  // the result is computed from several exact sums
  bool needs_rows = false;        // without rows there is no result

  constexpr bool is_served_by(Method method) const noexcept { return (served_by & set_of(method)) != 0; }
};
inline constexpr OperationProperties operation_table[] = {
    {.words = "sum",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::tree, Method::exact, Method::binned, Method::plain),
     .by_default = Method::exact,
     .of_vectors = Method::tree},
    {.words = "product",
     .combined_by = Operation::product,
     .served_by = set_of(Method::tree, Method::plain),
     .by_default = Method::tree,
     .of_vectors = Method::tree},
    {.words = "min",
     .combined_by = Operation::min,
     .served_by = set_of(Method::tree, Method::plain),
     .by_default = Method::plain,
     .of_vectors = Method::plain,
     .needs_rows = true},
    {.words = "max",
     .combined_by = Operation::max,
     .served_by = set_of(Method::tree, Method::plain),
     .by_default = Method::plain,
     .of_vectors = Method::plain,
     .needs_rows = true},
    {.words = "user",
     .combined_by = Operation::user,
     .served_by = set_of(Method::tree, Method::plain),
     .by_default = Method::tree,
     .of_vectors = Method::tree,
     .operands = OperandForm::user,
     .needs_rows = true},
    {.words = "dot",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::tree, Method::exact, Method::binned),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .operands = OperandForm::factors,
     .terms = Terms::products},
    {.words = "norm2",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::tree, Method::exact, Method::binned),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .terms = Terms::squares,
     .result = ResultForm::real},
    {.words = "mean",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::tree, Method::exact, Method::binned),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .needs_rows = true},
    {.words = "min location",
     .combined_by = Operation::min,
     .served_by = set_of(Method::plain),
     .by_default = Method::plain,
     .of_vectors = Method::plain,
     .result = ResultForm::located,
     .needs_rows = true},
    {.words = "max location",
     .combined_by = Operation::max,
     .served_by = set_of(Method::plain),
     .by_default = Method::plain,
     .of_vectors = Method::plain,
     .result = ResultForm::located,
     .needs_rows = true},
    {.words = "abs sum",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::tree, Method::exact, Method::binned, Method::plain),
     .by_default = Method::exact,
     .of_vectors = Method::tree,
     .terms = Terms::absolute_values},
    {.words = "sum of squares",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::tree, Method::exact, Method::binned),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .terms = Terms::squares,
     .result = ResultForm::real},
    {.words = "masked sum",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::exact, Method::binned, Method::plain),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .operands = OperandForm::mask},
    {.words = "statistics",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::exact),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .result = ResultForm::statistics,
     .has_several_sums = true},
    {.words = "weighted mean",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::exact),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .operands = OperandForm::factors,
     .terms = Terms::products,
     .has_several_sums = true,
     .needs_rows = true},
    {.words = "norminf",
     .combined_by = Operation::norminf,
     .served_by = set_of(Method::tree, Method::plain),
     .by_default = Method::plain,
     .of_vectors = Method::plain,
     .terms = Terms::absolute_values},
    {.words = "dotc",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::tree, Method::exact, Method::binned),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .operands = OperandForm::factors,
     .terms = Terms::conjugated_products},
    {.words = "covariance",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::exact),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .operands = OperandForm::factors,
     .terms = Terms::products,
     .has_several_sums = true,
     .needs_rows = true},
    {.words = "sample covariance",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::exact),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .operands = OperandForm::factors,
     .terms = Terms::products,
     .has_several_sums = true,
     .needs_rows = true},
    {.words = "correlation",
     .combined_by = Operation::sum,
     .served_by = set_of(Method::exact),
     .by_default = Method::exact,
     .of_vectors = Method::exact,
     .operands = OperandForm::factors,
     .terms = Terms::products,
     .has_several_sums = true,
     .needs_rows = true},
};

constexpr const OperationProperties& properties_of(Operation operation) noexcept {
  return operation_table[static_cast<std::uint32_t>(operation)];
}

}  // namespace steadfold::arithmetic
