/* Operations, types, methods and their like. Made by ./dev surface from the tables in surface/: change those. */
#ifndef STEADFOLD_STEADFOLD_ENUMERATIONS_H
#define STEADFOLD_STEADFOLD_ENUMERATIONS_H

/* What a call returns. */
typedef enum sf_status {
  SF_OK = 0,               /* the call did what it says */
  SF_EMPTY = 1,            /* nothing to reduce, and the operator has no neutral element */
  SF_GAP = 2,              /* elements that no rank brought; those of 0..N-1 are due */
  SF_OVERLAP = 3,          /* an element that was brought twice */
  SF_OPERATOR_FAILED = 4,  /* a user operator reported failure */
  SF_MISMATCH = 5,         /* the ranks made different calls */
  SF_INVALID_ARGUMENT = 6, /* an argument that no call can use */
  SF_UNSUPPORTED = 7,      /* a combination that cannot be kept or is not built */
  SF_TRANSPORT_FAILED = 8, /* the MPI library reported an error, or a message did not fit */
  SF_INTERNAL = 9          /* out of memory, or a fault of the library */
} sf_status;

/* What elements are. Which operation takes which: sf_operation. */
typedef enum sf_type {
  SF_F64 = 0,          /* double */
  SF_F32 = 1,          /* float */
  SF_I32 = 2,          /* integers of 32 bits with a sign */
  SF_I64 = 3,          /* integers of 64 bits with a sign */
  SF_U32 = 4,          /* integers of 32 bits without a sign */
  SF_U64 = 5,          /* integers of 64 bits without a sign */
  SF_BYTES = 6,        /* elements of a user operator, of any size; with element_bytes and SF_USER */
  SF_BF16 = 7,         /* bfloat16; only read; the upper half of a float: the result is SF_F32 or SF_F64 */
  SF_F16 = 8,          /* IEEE binary16; only read; the result is SF_F32 or SF_F64 */
  SF_COMPLEX_F32 = 9,  /* two floats, the real part first */
  SF_COMPLEX_F64 = 10, /* two doubles, the real part first */
  SF_LONG_DOUBLE = 11, /* the platform's long double; the same bits on one architecture only */
  SF_FLOAT128 = 12,    /* IEEE binary128, if the compiler that built the library has it */
  SF_AS_TYPE = 255     /* of result_type alone, its default: a float for the narrow ones, a real number for the norm2
                          and the sum of squares of complex ones, doubles for SF_STATISTICS, else the type itself */
} sf_type;

/* How elements are combined. Classes of types: real: SF_F64 and SF_F32; integer: SF_I32, SF_I64, SF_U32 and SF_U64;
 * narrow: SF_BF16 and SF_F16; complex: SF_COMPLEX_F32 and SF_COMPLEX_F64; extended: SF_LONG_DOUBLE and SF_FLOAT128. */
typedef enum sf_operation {
  SF_SUM = 0,                /* the sum. Of real, integer, narrow, complex and extended numbers; no rows: +0.0 */
  SF_PRODUCT = 1,            /* the product. Of real, integer, narrow, complex and extended numbers; no rows: 1 */
  SF_MIN = 2,                /* the least value. Of real, integer, narrow and extended numbers; no rows: SF_EMPTY */
  SF_MAX = 3,                /* the greatest value. Of real, integer, narrow and extended numbers; no rows: SF_EMPTY */
  SF_USER = 4,               /* an operator of the caller */
  SF_DOT = 5,                /* the sum of products of two vectors. Of real, narrow and complex numbers; no rows:
                                +0.0 */
  SF_NORM2 = 6,              /* the root of the sum of squares. Of real, narrow and complex numbers; no rows: +0.0 */
  SF_MEAN = 7,               /* the sum divided by the number of rows, rounded once. Of real, narrow and complex
                                numbers; no rows: SF_EMPTY */
  SF_MIN_LOCATION = 8,       /* the least value and the lowest index that has it; a result is an sf_located_... of 16
                                bytes. Of real and integer numbers; no rows: SF_EMPTY */
  SF_MAX_LOCATION = 9,       /* the greatest value and the lowest index that has it; a result is an sf_located_... of 16
                                bytes. Of real and integer numbers; no rows: SF_EMPTY */
  SF_ABS_SUM = 10,           /* the sum of absolute values, norm1. Of real and narrow numbers; no rows: +0.0 */
  SF_SUM_SQUARES = 11,       /* the sum of squares; norm2 before the root. Of real, narrow and complex numbers; no rows:
                                +0.0 */
  SF_MASKED_SUM = 12,        /* the sum of the rows that a mask selects; other rows are never read. Of real, integer,
                                narrow and complex numbers; no rows: +0.0 */
  SF_STATISTICS = 13,        /* count, extremes, mean, variances and deviations in one pass; a result is an
                                sf_statistics of numbers rounded to result_type, SF_F64 or SF_F32. Of real and narrow
                                numbers; no rows: NaNs and a count of 0 */
  SF_WEIGHTED_MEAN = 14,     /* the sum of products with weights, divided by the sum of the weights; rounded once. Of
                                real and narrow numbers; no rows: SF_EMPTY */
  SF_NORMINF = 15,           /* the greatest absolute value; NaN if an element is. Of real and narrow numbers; no rows:
                                0 */
  SF_DOTC = 16,              /* the sum of products, the first factors conjugated; the sum of conj(x[i]) y[i]; of real
                                numbers SF_DOT itself. Of real, narrow and complex numbers; no rows: +0.0 */
  SF_COVARIANCE = 17,        /* the mean of (x[i] - mean of x) (y[i] - mean of y); rounded once; NaN if an element is
                                NaN or infinite. Of real and narrow numbers; no rows: SF_EMPTY */
  SF_SAMPLE_COVARIANCE = 18, /* the covariance with n - 1 in place of n in the divisor; rounded once; NaN if an element
                                is NaN or infinite. Of real and narrow numbers; no rows: SF_EMPTY */
  SF_NORM1 = SF_ABS_SUM      /* another name of it */
} sf_operation;

/* What fixes the bits. */
typedef enum sf_method {
  SF_AUTOMATIC = 0, /* the library's choice, which depends on operation, type and layout only; plain if no order can
                       change a bit (min, max, norminf, integers); exact for dot, norm2, mean, sums of squares, masked
                       sums, and for sums of distributed rows that hold doubles, floats and what these make up; else
                       tree */
  SF_TREE = 1,      /* the binary tree over element indices: any operator */
  SF_EXACT = 2,     /* the correctly rounded value of sums, means, dot products and norms; statistics and covariances,
                       too */
  SF_PLAIN = 3,     /* whatever order the schedule has: the bits are not fixed; as in MPI */
  SF_BINNED = 4     /* the sum of terms rounded to a unit set by the largest of them; the unit is that of the lowest of
                       `bins` bins. Serves all sums, mean, dot, norm2 */
} sf_method;

/* How SF_BINNED finds the largest term. The bits are the same. */
typedef enum sf_sweep {
  SF_SINGLE_SWEEP = 0, /* binned finds the largest term during the sum; one reduction */
  SF_DOUBLE_SWEEP = 1  /* binned finds the largest term before the sum; by a maximum over all ranks; one-shot calls use
                          a cached plan */
} sf_sweep;

/* What the bits must not depend on, combined by `|`; see docs/guarantees.md for what each method keeps. */
typedef enum sf_guarantee {
  SF_RANKS = 1,    /* the number of ranks */
  SF_THREADS = 2,  /* the number of threads */
  SF_LAYOUT = 4,   /* which rank holds which elements */
  SF_SCHEDULE = 8, /* the algorithm that moves partials */
  SF_LIBRARY = 16, /* the MPI library */
  SF_TARGET = 32,  /* the instruction set */
  SF_RELEASE = 64  /* the release of Steadfold */
} sf_guarantee;

/* Which rows of the whole job a rank brings. */
typedef enum sf_layout {
  SF_ANYWHERE = 0,                /* indices do not matter; exact, binned, plain; SF_TREE takes it as SF_RANK_ORDER */
  SF_RANK_ORDER = 1,              /* a rank's rows stand after those of the lower ranks; `rows` of them; the ranks find
                                     out where they begin */
  SF_INTERVALS = 2,               /* every rank lists its rows as intervals; in the order of memory; the field
                                     `intervals` */
  SF_ROW_PER_RANK = 3,            /* rank r brings row r, as in MPI; there are as many rows as ranks */
  SF_GRID = 4,                    /* a rule says which rank holds which rows; in ascending order; the field `grid` */
  SF_ROW_A_RANK = SF_ROW_PER_RANK /* another name of it */
} sf_layout;

/* Which ranks get what. */
typedef enum sf_collective {
  SF_REDUCE = 0,         /* the result goes to the root, or to all ranks */
  SF_REDUCE_SCATTER = 1, /* every rank gets the columns of its block; rank r gets blocks[r] of them, after those of the
                            lower ranks */
  SF_SCAN = 2,           /* rank r gets the reduction of ranks 0 to r; rows must be in rank order */
  SF_EXSCAN = 3          /* rank r gets the reduction of ranks 0 to r-1; rank 0 gets nothing, its `result` is not
                            written */
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
  SF_LIST_OPTIONS /* those of sf_call_set */
} sf_list;

/* Enumerations have the size of an int, in the library and in all that it is linked with: a compiler that is told
 * to make them shorter stops here, in any standard of C and C++. */
typedef char sf_compile_without_short_enums[sizeof(sf_status) == sizeof(int) ? 1 : -1];

#endif
