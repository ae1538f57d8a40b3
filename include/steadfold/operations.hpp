// Made by ./dev surface from the tables in surface/: edit the tables.
//
// The operations and methods as the C++ headers know them: their names, and the types, results or parameters.
#pragma once

#if __cplusplus < 201703L
#error "Steadfold needs C++17 (the compiler is set to an older C++), compile with -std=c++17 or a later one"
#else

#include <cstddef>
#include <cstdint>

#include "steadfold/steadfold.h"

namespace steadfold::detail {

/// The second operand of an operation.
enum class Second { none, factors, mask };
/// The form of a result: of the elements' type, real even for complex elements, a Located, or Statistics.
enum class ResultForm { own, real, located, statistics };

/// The types of a class, one bit for each.
namespace types {
inline constexpr std::uint32_t real = 1u << SF_F64 | 1u << SF_F32;
inline constexpr std::uint32_t integer = 1u << SF_I32 | 1u << SF_I64 | 1u << SF_U32 | 1u << SF_U64;
inline constexpr std::uint32_t narrow = 1u << SF_BF16 | 1u << SF_F16;
inline constexpr std::uint32_t complex = 1u << SF_COMPLEX_F32 | 1u << SF_COMPLEX_F64;
inline constexpr std::uint32_t extended = 1u << SF_LONG_DOUBLE | 1u << SF_FLOAT128;
inline constexpr std::uint32_t every = real | integer | narrow | complex | extended;
}  // namespace types

struct OperationProperties {
  const char* name;
  std::uint32_t types;
  Second second;
  ResultForm result;
};
inline constexpr OperationProperties operation_table[] = {
    {"sum", types::every, Second::none, ResultForm::own},
    {"product", types::every, Second::none, ResultForm::own},
    {"min", types::real | types::integer | types::narrow | types::extended, Second::none, ResultForm::own},
    {"max", types::real | types::integer | types::narrow | types::extended, Second::none, ResultForm::own},
    {"user", 0, Second::none, ResultForm::own},
    {"dot", types::real | types::narrow | types::complex, Second::factors, ResultForm::own},
    {"norm2", types::real | types::narrow | types::complex, Second::none, ResultForm::real},
    {"mean", types::real | types::narrow | types::complex, Second::none, ResultForm::own},
    {"min_location", types::real | types::integer, Second::none, ResultForm::located},
    {"max_location", types::real | types::integer, Second::none, ResultForm::located},
    {"abs_sum", types::real | types::narrow, Second::none, ResultForm::own},
    {"sum_squares", types::real | types::narrow | types::complex, Second::none, ResultForm::real},
    {"masked_sum", types::real | types::integer | types::narrow | types::complex, Second::mask, ResultForm::own},
    {"statistics", types::real | types::narrow, Second::none, ResultForm::statistics},
    {"weighted_mean", types::real | types::narrow, Second::factors, ResultForm::own},
    {"norminf", types::real | types::narrow, Second::none, ResultForm::own},
    {"dotc", types::real | types::narrow | types::complex, Second::factors, ResultForm::own},
    {"covariance", types::real | types::narrow, Second::factors, ResultForm::own},
    {"sample_covariance", types::real | types::narrow, Second::factors, ResultForm::own},
    {"correlation", types::real | types::narrow, Second::factors, ResultForm::own},
};

constexpr const OperationProperties& properties_of(sf_operation operation) {
  return operation_table[static_cast<std::size_t>(operation)];
}
/// Returns whether a built-in operator takes elements of a type.
constexpr bool takes(sf_operation operation, sf_type type) {
  return type < SF_AS_TYPE && (properties_of(operation).types >> type & 1) != 0;
}
constexpr Second second_of(sf_operation operation) { return properties_of(operation).second; }

/// The methods without SF_AUTOMATIC, in the order in which they are shown.
struct NamedMethod {
  const char* name;
  sf_method method;
};
inline constexpr NamedMethod named_methods[] = {
    {"tree", SF_TREE},
    {"exact", SF_EXACT},
    {"binned", SF_BINNED},
    {"plain", SF_PLAIN},
};
/// The parameters of methods.
inline constexpr NamedMethod method_parameters[] = {
    {"bins", SF_BINNED},
    {"sweep", SF_BINNED},
    {"lanes", SF_TREE},
};

}  // namespace steadfold::detail

#endif
