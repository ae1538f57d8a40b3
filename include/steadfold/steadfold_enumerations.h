/* The enumerations of the C interface. Made by ./dev surface from the tables in surface/: edit the tables. */
#ifndef STEADFOLD_STEADFOLD_ENUMERATIONS_H
#define STEADFOLD_STEADFOLD_ENUMERATIONS_H

/* The return value of a call. */
typedef enum sf_status {
  SF_OK = 0,               /* success */
  SF_EMPTY = 1,            /* nothing to reduce, and the operation has no result without elements */
  SF_GAP = 2,              /* an element is missing: no rank gave it; the ranks must give all of 0..N-1 */
  SF_OVERLAP = 3,          /* the same element was given twice */
  SF_OPERATOR_FAILED = 4,  /* a user operator reported failure */
  SF_MISMATCH = 5,         /* the ranks made different calls */
  SF_INVALID_ARGUMENT = 6, /* an argument is invalid */
  SF_UNSUPPORTED = 7,      /* the combination is not supported, or a required guarantee cannot be given */
  SF_TRANSPORT_FAILED = 8, /* the MPI library reported an error, or a message did not fit */
  SF_INTERNAL = 9          /* out of memory, or an error in the library */
} sf_status;

/* The type of elements. sf_operation says which types each operation takes. */
typedef enum sf_type {
  SF_F64 = 0,          /* double */
  SF_F32 = 1,          /* float */
  SF_I32 = 2,          /* signed integers of 32 bits */
  SF_I64 = 3,          /* signed integers of 64 bits */
  SF_U32 = 4,          /* unsigned integers of 32 bits */
  SF_U64 = 5,          /* unsigned integers of 64 bits */
  SF_BYTES = 6,        /* elements of any size, for a user operator; with SF_USER; sf_call.element_bytes is the size */
  SF_BF16 = 7,         /* bfloat16, only for elements; the upper half of a float; the result is SF_F32 or SF_F64 */
  SF_F16 = 8,          /* IEEE binary16, only for elements; the result is SF_F32 or SF_F64 */
  SF_COMPLEX_F32 = 9,  /* two floats, the real part first */
  SF_COMPLEX_F64 = 10, /* two doubles, the real part first */
  SF_LONG_DOUBLE = 11, /* the platform's long double; the same bits on one architecture only */
  SF_FLOAT128 = 12,    /* IEEE binary128, if the compiler that built the library has it */
  SF_AS_TYPE = 255     /* only for result_type, whose default it is: float for narrow types, the real type for SF_NORM2
                          and SF_SUM_SQUARES of complex types, double for SF_STATISTICS, else the type of the
                          elements */
} sf_type;

/* The operation that combines the elements. Classes of types: real: SF_F64 and SF_F32; integer: SF_I32, SF_I64, SF_U32
 * and SF_U64; narrow: SF_BF16 and SF_F16; complex: SF_COMPLEX_F32 and SF_COMPLEX_F64; extended: SF_LONG_DOUBLE and
 * SF_FLOAT128. */
typedef enum sf_operation {
  SF_SUM = 0,                /* the sum. Types: real, integer, narrow, complex and extended. No rows: +0.0 */
  SF_PRODUCT = 1,            /* the product. Types: real, integer, narrow, complex and extended. No rows: 1 */
  SF_MIN = 2,                /* the smallest value. Types: real, integer, narrow and extended. No rows: SF_EMPTY */
  SF_MAX = 3,                /* the largest value. Types: real, integer, narrow and extended. No rows: SF_EMPTY */
  SF_USER = 4,               /* the caller's operator */
  SF_DOT = 5,                /* the sum of products of two vectors. Types: real, narrow and complex. No rows: +0.0 */
  SF_NORM2 = 6,              /* the square root of the sum of squares. Types: real, narrow and complex. No rows: +0.0 */
  SF_MEAN = 7,               /* the sum divided by the number of rows, by default rounded once. Types: real, narrow and
                                complex. No rows: SF_EMPTY */
  SF_MIN_LOCATION = 8,       /* the smallest value and the lowest index that has it; the result is a struct of 16 bytes,
                                such as sf_located_f64. Types: real and integer. No rows: SF_EMPTY */
  SF_MAX_LOCATION = 9,       /* the largest value and the lowest index that has it; the result is a struct of 16 bytes,
                                such as sf_located_f64. Types: real and integer. No rows: SF_EMPTY */
  SF_ABS_SUM = 10,           /* the sum of absolute values (the 1-norm). Types: real and narrow. No rows: +0.0 */
  SF_SUM_SQUARES = 11,       /* the sum of squares; norm2 without the square root. Types: real, narrow and complex. No
                                rows: +0.0 */
  SF_MASKED_SUM = 12,        /* the sum of the rows that a mask selects; other rows are never read. Types: real,
                                integer, narrow and complex. No rows: +0.0 */
  SF_STATISTICS = 13,        /* count, extremes, mean, variances and deviations in one pass; the result is an
                                sf_statistics, whose numbers are rounded to result_type, SF_F64 or SF_F32. Types: real
                                and narrow. No rows: NaNs and a count of 0 */
  SF_WEIGHTED_MEAN = 14,     /* the weighted mean: the sum of products with weights, divided by the sum of the weights;
                                rounded once. Types: real and narrow. No rows: SF_EMPTY */
  SF_NORMINF = 15,           /* the largest absolute value; NaN if an element is NaN. Types: real and narrow. No rows:
                                0 */
  SF_DOTC = 16,              /* the sum of products in which the first factors are conjugated; the sum of conj(x[i])
                                y[i]; for real numbers the same as SF_DOT. Types: real, narrow and complex. No rows:
                                +0.0 */
  SF_COVARIANCE = 17,        /* the covariance: the mean of (x[i] - mean of x) (y[i] - mean of y); rounded once; NaN if
                                an element is NaN or infinite. Types: real and narrow. No rows: SF_EMPTY */
  SF_SAMPLE_COVARIANCE = 18, /* the covariance with the divisor n - 1 in place of n; rounded once; NaN if an element is
                                NaN or infinite. Types: real and narrow. No rows: SF_EMPTY */
  SF_CORRELATION = 19,       /* Pearson's correlation: the covariance divided by both deviations; rounded once; NaN if
                                an element is NaN or infinite. Types: real and narrow. No rows: SF_EMPTY */
  SF_NORM1 = SF_ABS_SUM      /* another name of the enumerator to which it is equal */
} sf_operation;

/* The method, which fixes the bits of the result. */
typedef enum sf_method {
  SF_AUTOMATIC = 0, /* the library chooses; the choice depends only on operation, type and layout; plain if the order
                       cannot change a bit (min, max, norminf, integers); exact for dot, norm2, mean, sums of squares,
                       masked sums, and for sums of distributed rows of real, narrow and complex numbers; else tree */
  SF_TREE = 1,      /* combines in the binary tree over element indices; for any operator */
  SF_EXACT = 2,     /* the correctly rounded value of sums, means, dot products and norms; also of statistics and
                       covariances */
  SF_PLAIN = 3,     /* combines in the order of the schedule, so the bits are not fixed; as in MPI */
  SF_BINNED = 4     /* the exact sum of terms that were rounded to a unit set by the largest term; the unit is that of
                       the lowest of `bins` bins. For all sums, mean, dot, norm2 */
} sf_method;

/* How SF_BINNED finds the largest term. The choice does not change the bits. */
typedef enum sf_sweep {
  SF_SINGLE_SWEEP = 0, /* finds the largest term during the sum; one reduction */
  SF_DOUBLE_SWEEP = 1  /* finds the largest term before the sum; with a maximum over all ranks; one-shot calls use a
                          cached plan */
} sf_sweep;

/* Guarantees: the bits must not depend on these. Combine them with `|`. docs/guarantees.md says which method gives
 * which guarantee. */
typedef enum sf_guarantee {
  SF_RANKS = 1,    /* the number of ranks */
  SF_THREADS = 2,  /* the number of threads */
  SF_LAYOUT = 4,   /* which rank holds which elements */
  SF_SCHEDULE = 8, /* the algorithm that exchanges partial results */
  SF_LIBRARY = 16, /* the MPI library */
  SF_TARGET = 32,  /* the instruction set */
  SF_RELEASE = 64  /* the release of Steadfold */
} sf_guarantee;

/* Which rows of the whole job a rank has. */
typedef enum sf_layout {
  SF_ANYWHERE = 0,                /* the rows have no indices; for methods exact, binned and plain; SF_TREE takes it as
                                     SF_RANK_ORDER */
  SF_RANK_ORDER = 1,              /* the rows of a rank follow the rows of the lower ranks; the field `rows` has their
                                     number; the ranks exchange these numbers */
  SF_INTERVALS = 2,               /* every rank lists its rows as intervals; in the order in memory; see the field
                                     `intervals` */
  SF_ROW_PER_RANK = 3,            /* rank r has row r, as in MPI; there are as many rows as ranks */
  SF_GRID = 4,                    /* the ranks form a grid that holds the blocks of an array; every rank holds its rows
                                     in ascending order; see the field `grid` */
  SF_ROW_A_RANK = SF_ROW_PER_RANK /* another name of the enumerator to which it is equal */
} sf_layout;

/* Which ranks get which results. */
typedef enum sf_collective {
  SF_REDUCE = 0,         /* the result goes to the root, or to all ranks */
  SF_REDUCE_SCATTER = 1, /* every rank gets the columns of its block; rank r gets blocks[r] columns, which follow those
                            of the lower ranks */
  SF_SCAN = 2,           /* rank r gets the reduction of ranks 0 to r; rows must be in rank order */
  SF_EXSCAN = 3          /* rank r gets the reduction of ranks 0 to r-1; rank 0 gets nothing; its `result` is not
                            written */
} sf_collective;

/* The lists of sf_list_name, sf_list_text and sf_list_find. */
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
  SF_LIST_OPTIONS /* the options of sf_call_set */
} sf_list;

/* Checks that enumerations have the size of an int, as in the library: a compiler that was told to make them shorter
 * reports an error here, in any standard of C and C++. */
typedef char sf_compile_without_short_enums[sizeof(sf_status) == sizeof(int) ? 1 : -1];

#endif
