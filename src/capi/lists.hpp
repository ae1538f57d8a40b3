// Made by ./dev surface from the tables in surface/: edit the tables.
//
// The lists of names of the C interface, in the order of the enumerators.
#pragma once

#include "capi/names.hpp"

namespace steadfold::capi::lists {

inline constexpr sf_operation last_operation = SF_CORRELATION;
inline constexpr sf_method last_method = SF_BINNED;

inline constexpr ListEntry statuses[] = {
    {"ok", "success"},
    {"empty", "nothing to reduce, and the operation has no result without elements"},
    {"gap", "an element is missing: no rank gave it"},
    {"overlap", "the same element was given twice"},
    {"operator_failed", "a user operator reported failure"},
    {"mismatch", "the ranks made different calls"},
    {"invalid_argument", "an argument is invalid"},
    {"unsupported", "the combination is not supported, or a required guarantee cannot be given"},
    {"transport_failed", "the MPI library reported an error, or a message did not fit"},
    {"internal", "out of memory, or an error in the library"},
};

inline constexpr ListEntry types[] = {
    {"f64", "double"},
    {"f32", "float"},
    {"i32", "signed integers of 32 bits"},
    {"i64", "signed integers of 64 bits"},
    {"u32", "unsigned integers of 32 bits"},
    {"u64", "unsigned integers of 64 bits"},
    {"bytes", "elements of any size, for a user operator"},
    {"bf16", "bfloat16, only for elements"},
    {"f16", "IEEE binary16, only for elements"},
    {"complex_f32", "two floats, the real part first"},
    {"complex_f64", "two doubles, the real part first"},
    {"long_double", "the platform's long double"},
    {"float128", "IEEE binary128, if the compiler that built the library has it"},
};

inline constexpr ListEntry operations[] = {
    {"sum", "the sum"},
    {"product", "the product"},
    {"min", "the smallest value"},
    {"max", "the largest value"},
    {"user", "the caller's operator"},
    {"dot", "the sum of products of two vectors"},
    {"norm2", "the square root of the sum of squares"},
    {"mean", "the sum divided by the number of rows, by default rounded once"},
    {"min_location", "the smallest value and the lowest index that has it"},
    {"max_location", "the largest value and the lowest index that has it"},
    {"abs_sum", "the sum of absolute values (the 1-norm)"},
    {"sum_squares", "the sum of squares"},
    {"masked_sum", "the sum of the rows that a mask selects"},
    {"statistics", "count, extremes, mean, variances and deviations in one pass"},
    {"weighted_mean", "the weighted mean: the sum of products with weights, divided by the sum of the weights"},
    {"norminf", "the largest absolute value"},
    {"dotc", "the sum of products in which the first factors are conjugated"},
    {"covariance", "the covariance: the mean of (x[i] - mean of x) (y[i] - mean of y)"},
    {"sample_covariance", "the covariance with the divisor n - 1 in place of n"},
    {"correlation", "Pearson's correlation: the covariance divided by both deviations"},
};

inline constexpr ListEntry methods[] = {
    {"automatic", "the library chooses; the choice depends only on operation, type and layout"},
    {"tree", "combines in the binary tree over element indices; for any operator"},
    {"exact", "the correctly rounded value of sums, means, dot products and norms"},
    {"plain", "combines in the order of the schedule, so the bits are not fixed"},
    {"binned", "the exact sum of terms that were rounded to a unit set by the largest term"},
};

inline constexpr ListEntry sweeps[] = {
    {"single_sweep", "finds the largest term during the sum"},
    {"double_sweep", "finds the largest term before the sum"},
};

inline constexpr ListEntry guarantees[] = {
    {"ranks", "the number of ranks"},
    {"threads", "the number of threads"},
    {"layout", "which rank holds which elements"},
    {"schedule", "the algorithm that exchanges partial results"},
    {"library", "the MPI library"},
    {"target", "the instruction set"},
    {"release", "the release of Steadfold"},
};

inline constexpr ListEntry layouts[] = {
    {"anywhere", "the rows have no indices"},
    {"rank_order", "the rows of a rank follow the rows of the lower ranks"},
    {"intervals", "every rank lists its rows as intervals"},
    {"row_per_rank", "rank r has row r, as in MPI"},
    {"grid", "the ranks form a grid that holds the blocks of an array"},
};

inline constexpr ListEntry collectives[] = {
    {"reduce", "the result goes to the root, or to all ranks"},
    {"reduce_scatter", "every rank gets the columns of its block"},
    {"scan", "rank r gets the reduction of ranks 0 to r"},
    {"exscan", "rank r gets the reduction of ranks 0 to r-1"},
};

/// Older names of entries. sf_list_find finds them; they are not listed.
struct Older {
  sf_list list;
  const char* name;
  const char* now;
};
inline constexpr Older older[] = {
    {SF_LIST_LAYOUTS, "row_a_rank", "row_per_rank"},
};

}  // namespace steadfold::capi::lists
