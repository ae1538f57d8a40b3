/* Made by ./dev surface from the tables in surface/: change those.
 *
 * What calls are made of: operations, types of elements, methods and their like. */
#ifndef STEADFOLD_STEADFOLD_ENUMERATIONS_H
#define STEADFOLD_STEADFOLD_ENUMERATIONS_H

/* What a call returns. */
typedef enum sf_status {
  /* the call did what it says */
  SF_OK = 0,
  /* nothing to reduce, and the operator has no neutral element */
  SF_EMPTY,
  /* elements that no rank brought; of 0..N-1 */
  SF_GAP,
  /* an element that was brought twice */
  SF_OVERLAP,
  /* a user operator reported failure */
  SF_OPERATOR_FAILED,
  /* the ranks made different calls */
  SF_MISMATCH,
  /* an argument that no call can use */
  SF_INVALID_ARGUMENT,
  /* a combination that cannot be kept or is not built */
  SF_UNSUPPORTED,
  /* the MPI library reported an error, or a message did not fit */
  SF_TRANSPORT_FAILED,
  /* out of memory, or a fault of the library */
  SF_INTERNAL
} sf_status;

/* What elements are. Which operation takes which: sf_operation. */
typedef enum sf_type {
  /* double */
  SF_F64 = 0,
  /* float */
  SF_F32,
  /* integers of 32 bits with a sign */
  SF_I32,
  /* integers of 64 bits with a sign */
  SF_I64,
  /* integers of 32 bits without a sign */
  SF_U32,
  /* integers of 64 bits without a sign */
  SF_U64,
  /* elements of a user operator, of any size; with element_bytes and SF_USER */
  SF_BYTES,
  /* bfloat16; only read; the upper half of a float: the result is SF_F32 or SF_F64 */
  SF_BF16,
  /* IEEE binary16; only read; likewise */
  SF_F16,
  /* two floats, the real part first */
  SF_COMPLEX_F32,
  /* two doubles, the real part first */
  SF_COMPLEX_F64,
  /* the platform's long double; the same bits on one architecture only */
  SF_LONG_DOUBLE,
  /* IEEE binary128, if the compiler that built the library has it */
  SF_FLOAT128,
  /* of result_type alone, its default: what the elements' type gives, see sf_operation; doubles for SF_STATISTICS */
  SF_AS_TYPE = 255
} sf_type;

/* How elements are combined. Classes of types: real: SF_F64 and SF_F32; integer: SF_I32, SF_I64, SF_U32 and SF_U64;
 * narrow: SF_BF16 and SF_F16; complex: SF_COMPLEX_F32 and SF_COMPLEX_F64; extended: SF_LONG_DOUBLE and SF_FLOAT128. */
typedef enum sf_operation {
  /* the sum. Of real, integer, narrow, complex and extended numbers */
  SF_SUM = 0,
  /* the product. Of real, integer, narrow, complex and extended numbers */
  SF_PRODUCT,
  /* the least value. Of real, integer, narrow and extended numbers; no rows: SF_EMPTY */
  SF_MIN,
  /* the greatest value. Of real, integer, narrow and extended numbers; no rows: SF_EMPTY */
  SF_MAX,
  /* an operator of the caller */
  SF_USER,
  /* the sum of products of two vectors. Of real, narrow and complex numbers */
  SF_DOT,
  /* the root of the sum of squares. Of real, narrow and complex numbers */
  SF_NORM2,
  /* the sum divided by the number of rows, rounded once. Of real, narrow and complex numbers; no rows: SF_EMPTY */
  SF_MEAN,
  /* the least value and the lowest index that has it; a result is an sf_located_... of 16 bytes. Of real and integer
   * numbers; no rows: SF_EMPTY */
  SF_MIN_LOCATION,
  /* the greatest value and the lowest index that has it; likewise. Of real and integer numbers; no rows: SF_EMPTY */
  SF_MAX_LOCATION,
  /* the sum of absolute values, norm1. Of real and narrow numbers */
  SF_ABS_SUM,
  /* the sum of squares; norm2 before the root. Of real, narrow and complex numbers */
  SF_SUM_SQUARES,
  /* the sum of the rows that a mask selects; other rows are never read. Of real, integer, narrow and complex numbers */
  SF_MASKED_SUM,
  /* count, extremes, mean, variances and deviations in one pass; a result is an sf_statistics, result_type SF_F64. Of
   * real and narrow numbers */
  SF_STATISTICS,
  /* the sum of products with weights, divided by the sum of the weights; rounded once. Of real and narrow numbers; no
   * rows: SF_EMPTY */
  SF_WEIGHTED_MEAN,
  /* the greatest absolute value; NaN if an element is. Of real and narrow numbers */
  SF_NORMINF,
  /* the sum of products, the first factors conjugated; the sum of conj(x[i]) y[i]; of real numbers SF_DOT itself. Of
   * real, narrow and complex numbers */
  SF_DOTC,
  /* the mean product of the distances of two vectors from their means; rounded once; NaN if an element is NaN or
   * infinite. Of real and narrow numbers; no rows: SF_EMPTY */
  SF_COVARIANCE,
  /* the covariance with one row less in the divisor, as of samples; rounded once; NaN if an element is NaN or infinite.
   * Of real and narrow numbers; no rows: SF_EMPTY */
  SF_SAMPLE_COVARIANCE,
  SF_NORM1 = SF_ABS_SUM
} sf_operation;

/* What fixes the bits. */
typedef enum sf_method {
  /* the library's choice, which depends on operation, type and layout only; plain if no order can change a bit (min,
   * max, norminf, integers); exact for dot, norm2, mean, sums of squares, masked sums, and for sums of distributed
   * floating-point rows; else tree */
  SF_AUTOMATIC = 0,
  /* the binary tree over element indices: any operator */
  SF_TREE,
  /* the correctly rounded value of sums, means, dot products and norms */
  SF_EXACT,
  /* whatever order the schedule has: the bits are not fixed; as in MPI */
  SF_PLAIN,
  /* the sum of terms rounded to a unit set by the largest of them; that of the lowest of `bins` bins below the largest
   * term: all sums, mean, dot, norm2 */
  SF_BINNED
} sf_method;

/* How SF_BINNED finds the largest term. The bits are the same. */
typedef enum sf_sweep {
  /* binned finds the largest term during the sum; one reduction */
  SF_SINGLE_SWEEP = 0,
  /* binned finds the largest term before the sum; by a maximum over all ranks; one-shot calls use a cached plan */
  SF_DOUBLE_SWEEP
} sf_sweep;

/* What the bits must not depend on, combined by `|`; see docs/guarantees.md for what each method keeps. */
typedef enum sf_guarantee {
  /* the number of ranks */
  SF_RANKS = 1,
  /* the number of threads */
  SF_THREADS = 2,
  /* which rank holds which elements */
  SF_LAYOUT = 4,
  /* the algorithm that moves partials */
  SF_SCHEDULE = 8,
  /* the MPI library */
  SF_LIBRARY = 16,
  /* the instruction set */
  SF_TARGET = 32,
  /* the release of Steadfold */
  SF_RELEASE = 64
} sf_guarantee;

/* Which rows of the whole job a rank brings. */
typedef enum sf_layout {
  /* indices do not matter; exact, binned, plain; SF_TREE takes it as SF_RANK_ORDER */
  SF_ANYWHERE = 0,
  /* a rank's rows stand after those of the lower ranks; `rows` of them; the ranks find out where they begin */
  SF_RANK_ORDER,
  /* every rank lists its rows as intervals; in the order of memory */
  SF_INTERVALS,
  /* rank r brings row r, as in MPI; of as many rows as there are ranks */
  SF_ROW_PER_RANK,
  /* a rule says which rank holds which rows; in ascending order */
  SF_GRID,
  SF_ROW_A_RANK = SF_ROW_PER_RANK
} sf_layout;

/* Which ranks get what. */
typedef enum sf_collective {
  /* the result goes to the root, or to all ranks */
  SF_REDUCE = 0,
  /* every rank gets the columns of its block; rank r gets blocks[r] of them, after those of the lower ranks */
  SF_REDUCE_SCATTER,
  /* rank r gets the reduction of ranks 0 to r; rows must be in rank order */
  SF_SCAN,
  /* rank r gets the reduction of ranks 0 to r-1; rank 0 gets nothing, its `result` is not written */
  SF_EXSCAN
} sf_collective;

/* What sf_list_name and its like list. */
typedef enum sf_list {
  SF_LIST_STATUSES,
  SF_LIST_TYPES,
  SF_LIST_OPERATIONS,
  SF_LIST_METHODS,
  SF_LIST_SWEEPS,
  SF_LIST_GUARANTEES,
  SF_LIST_LAYOUTS,
  SF_LIST_COLLECTIVES,
  SF_LIST_SCHEDULES,
  /* those of sf_call_set */
  SF_LIST_OPTIONS
} sf_list;

#endif
