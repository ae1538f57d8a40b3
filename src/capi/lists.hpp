// Made by ./dev surface from the tables in surface/: change those.
//
// The lists of names that the C interface gives out, in the order of the enumerators.
#pragma once

#include "capi/names.hpp"

namespace steadfold::capi::lists {

inline constexpr sf_operation last_operation = SF_SAMPLE_COVARIANCE;

inline constexpr ListEntry statuses[] = {
    {"ok", "the call did what it says"},
    {"empty", "nothing to reduce, and the operator has no neutral element"},
    {"gap", "elements that no rank brought"},
    {"overlap", "an element that was brought twice"},
    {"operator_failed", "a user operator reported failure"},
    {"mismatch", "the ranks made different calls"},
    {"invalid_argument", "an argument that no call can use"},
    {"unsupported", "a combination that cannot be kept or is not built"},
    {"transport_failed", "the MPI library reported an error, or a message did not fit"},
    {"internal", "out of memory, or a fault of the library"},
};

inline constexpr ListEntry types[] = {
    {"f64", "double"},
    {"f32", "float"},
    {"i32", "integers of 32 bits with a sign"},
    {"i64", "integers of 64 bits with a sign"},
    {"u32", "integers of 32 bits without a sign"},
    {"u64", "integers of 64 bits without a sign"},
    {"bytes", "elements of a user operator, of any size"},
    {"bf16", "bfloat16; only read"},
    {"f16", "IEEE binary16; only read"},
    {"complex_f32", "two floats, the real part first"},
    {"complex_f64", "two doubles, the real part first"},
    {"long_double", "the platform's long double"},
    {"float128", "IEEE binary128, if the compiler that built the library has it"},
};

inline constexpr ListEntry operations[] = {
    {"sum", "the sum"},
    {"product", "the product"},
    {"min", "the least value"},
    {"max", "the greatest value"},
    {"user", "an operator of the caller"},
    {"dot", "the sum of products of two vectors"},
    {"norm2", "the root of the sum of squares"},
    {"mean", "the sum divided by the number of rows, rounded once"},
    {"min_location", "the least value and the lowest index that has it"},
    {"max_location", "the greatest value and the lowest index that has it"},
    {"abs_sum", "the sum of absolute values, norm1"},
    {"sum_squares", "the sum of squares"},
    {"masked_sum", "the sum of the rows that a mask selects"},
    {"statistics", "count, extremes, mean, variances and deviations in one pass"},
    {"weighted_mean", "the sum of products with weights, divided by the sum of the weights"},
    {"norminf", "the greatest absolute value"},
    {"dotc", "the sum of products, the first factors conjugated"},
    {"covariance", "the mean of (x[i] - mean of x) (y[i] - mean of y)"},
    {"sample_covariance", "the covariance with n - 1 in place of n in the divisor"},
};

inline constexpr ListEntry methods[] = {
    {"automatic", "the library's choice, which depends on operation, type and layout only"},
    {"tree", "the binary tree over element indices: any operator"},
    {"exact", "the correctly rounded value of sums, means, dot products and norms"},
    {"plain", "whatever order the schedule has: the bits are not fixed"},
    {"binned", "the sum of terms rounded to a unit set by the largest of them"},
};

inline constexpr ListEntry sweeps[] = {
    {"single_sweep", "binned finds the largest term during the sum"},
    {"double_sweep", "binned finds the largest term before the sum"},
};

inline constexpr ListEntry guarantees[] = {
    {"ranks", "the number of ranks"},
    {"threads", "the number of threads"},
    {"layout", "which rank holds which elements"},
    {"schedule", "the algorithm that moves partials"},
    {"library", "the MPI library"},
    {"target", "the instruction set"},
    {"release", "the release of Steadfold"},
};

inline constexpr ListEntry layouts[] = {
    {"anywhere", "indices do not matter"},
    {"rank_order", "a rank's rows stand after those of the lower ranks"},
    {"intervals", "every rank lists its rows as intervals"},
    {"row_per_rank", "rank r brings row r, as in MPI"},
    {"grid", "a rule says which rank holds which rows"},
};

inline constexpr ListEntry collectives[] = {
    {"reduce", "the result goes to the root, or to all ranks"},
    {"reduce_scatter", "every rank gets the columns of its block"},
    {"scan", "rank r gets the reduction of ranks 0 to r"},
    {"exscan", "rank r gets the reduction of ranks 0 to r-1"},
};

/// Names that entries had before. They are found as well, and not listed.
struct Older {
  sf_list list;
  const char* name;
  const char* now;
};
inline constexpr Older older[] = {
    {SF_LIST_LAYOUTS, "row_a_rank", "row_per_rank"},
};

}  // namespace steadfold::capi::lists
