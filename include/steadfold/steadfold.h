/* Steadfold: reductions that give the same bits every time. The C interface without MPI.
 *
 * Every function returns an sf_status; sf_error_text() has the details. No function prints, aborts or throws.
 *
 * What a program is compiled with may be older or newer than the library that it runs with, within one SONAME. Structs
 * that callers fill and that may grow begin with their size, which the caller's compiler knows; later releases append
 * fields, for which 0 means what was before. All other structs stay as they are. Handles are opaque. Enumerators keep
 * their numbers. Until release 1.0 every minor release has a SONAME of its own. */
#ifndef STEADFOLD_STEADFOLD_H
#define STEADFOLD_STEADFOLD_H

#include <stddef.h>
#include <stdint.h>

#include "steadfold/steadfold_enumerations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Results of SF_MIN_LOCATION and SF_MAX_LOCATION: `value` has the elements' type, `index` counts the rows of the whole
 * job. A NaN wins. For other types, too, the value is at byte 0 and the index at byte 8. */
typedef struct sf_located_f64 {
  double value;
  uint64_t index;
} sf_located_f64;

/* A result of SF_STATISTICS, in one pass over the rows: extremes with the lowest index that has them, as above; the
 * mean; the mean square of the distances from it (variance), the same with one element less in the divisor (sample
 * variance), and their roots. Every number is rounded once, to a double or to a float (result_type). NaN: what has too
 * few elements; all numbers if an element is NaN, which is the least and the greatest then; the mean if there are
 * infinities of both signs; variances and deviations if there is any. Absent indices are UINT64_MAX. */
typedef struct sf_statistics {
  uint64_t count; /* of the elements, those that a mask left out not among them */
  double min;
  uint64_t min_index;
  double max;
  uint64_t max_index;
  double mean;
  double variance;
  double sample_variance;
  double deviation;
  double sample_deviation;
} sf_statistics;

/* How the indices of one axis are dealt to the ranks along it: in blocks, one after the other, to rank `first` and
 * those behind it, and round again. */
typedef struct sf_grid_axis {
  uint64_t extent; /* indices */
  uint64_t ranks;  /* along the axis; 0, of one axis: as many as the others leave */
  uint64_t block;  /* indices in a block; 0: one block for each rank, the first extent % ranks of them one larger */
  uint64_t first;  /* the rank that has the first block, counted along the axis from 0 */
} sf_grid_axis;

#define SF_MOST_GRID_AXES 3

/* Which rank holds which rows, as a rule: rows are the elements of an array of one to three axes in C order, and ranks
 * are numbered in C order too (as MPI_Cart_create numbers them): the last axis is the fastest. With one axis and a
 * block size this is ScaLAPACK's block-cyclic distribution; without block sizes an array is cut into one block for each
 * rank. The same on all ranks, and the axes' ranks multiply to their number. */
typedef struct sf_grid {
  uint32_t axis_count;
  sf_grid_axis axes[SF_MOST_GRID_AXES];
} sf_grid;

/* A run of indices of the whole job. */
typedef struct sf_interval {
  uint64_t begin, end; /* indices begin .. end-1; end is at most INT64_MAX */
} sf_interval;

/* result[i] = left[i] op right[i] for i < count, with left the lower indices. Returns 0, or another value for failure.
 * result may be the same memory as left, never as right (but see sf_call.writes_right): an operator that reads left
 * after it wrote result (a matrix product, say) works on a copy. Elements are aligned to the largest power of two, at
 * most 16, that divides their size.
 */
typedef int (*sf_operator)(const void* left, const void* right, void* result, size_t count, void* context);

#define SF_MOST_AXES 15

/* An array in memory, or a section of one (this struct never grows): the element at indices i, j, ... stands strides[0]
 * * i + strides[1] * j +
 * ... bytes from `data`. Strides have any sign; one of 0 repeats elements along its axis; elements need not be aligned.
 * An array of no axes is one element. */
typedef struct sf_array {
  const void* data; /* where the element stands whose indices are all 0 */
  sf_type type;
  size_t element_bytes; /* SF_BYTES: size of an element */
  int32_t axis_count;   /* at most SF_MOST_AXES */
  int32_t device;       /* 0, the memory of the host: no other is taken yet */
  uint64_t shape[SF_MOST_AXES];
  int64_t strides[SF_MOST_AXES];
} sf_array;

/* The operands of a call whose elements stand in arrays. Some axes are kept: every index along them, or combination of
 * indices, has a result of its own. The elements of the other axes are the rows, in C order: the last axis fastest. */
typedef struct sf_arrays {
  size_t size; /* sizeof(sf_arrays), see sf_arrays_init */
  sf_array x;
  sf_array factors; /* of operations that take a second vector: the other factors, or weights, of the type of x */
  sf_array mask;   /* if it has data or axes: what counts. An element does unless all bytes of its mask are 0; what does
                      not count is never combined, whatever it is. SF_BYTES of 1, 2, 4 or 8 bytes, or integers. Sums,
                      mean and dot by exact, binned and plain; min and max, with and without locations; statistics */
  uint32_t kept;   /* bit i: axis i of x */
  sf_array labels; /* if it has data or axes: the group of every element, 0 to groups - 1. Results are those of group 0,
                      then of group 1, ...: one of a group for every kept index. Integers, or SF_BYTES of 1 or 2 bytes,
                      which have no sign; what has a label below 0 belongs to no group, one of `groups` or above is
                      SF_INVALID_ARGUMENT, unless a mask leaves it out. By exact, binned and plain, not by tree */
  uint64_t groups; /* 0: there are no labels */
  const void* const* xs; /* NULL, or x_count arrays of one shape, wherever each stands: xs[j] is where the element
                            stands whose indices are all 0, x says the rest and has no data. There is a result for every
                            array; no axes are kept, and no labels given. Factors and mask are those of all. With SF_DOT
                            that is k dot products with one vector, whose elements are read once. The list stays as it
                            is until the call has ended; where a run of a plan gives `first`, it is such a list */
  uint64_t x_count;
} sf_arrays; /* Factors, mask and labels are stretched to the shape of x: their last axis is its last; an axis that they
                lack, or that has one index, is repeated. */

/* Makes it arrays of nothing, and writes `size`: sizeof *arrays, where the caller is compiled. */
sf_status sf_arrays_init(sf_arrays* arrays, size_t size);

/* Returns arrays of nothing, with `size` written. */
static inline sf_arrays sf_arrays_default(void) {
  sf_arrays arrays;
  sf_arrays_init(&arrays, sizeof arrays);
  return arrays;
}

#define SF_UNKNOWN UINT64_MAX
#define SF_ALL_RANKS (-1)

/* One reduction: what is the same on all ranks, and this rank's own part. Start from sf_call_init. */
typedef struct sf_call {
  size_t size; /* sizeof(sf_call) where the caller was compiled */
  sf_operation operation;
  sf_method method;
  sf_type type;
  sf_type result_type; /* SF_AS_TYPE; or, exact and binned: any floating-point type (complex for complex); else the type
                          itself, or a wider one, to which every element is converted first */
  uint64_t columns;    /* elements in a row: every column is reduced by itself. At least 1; in MPI's shape also
                          0, which all ranks must give and which leaves results as they are */
  int32_t root;        /* the rank that gets the result, or SF_ALL_RANKS */
  const char* schedule;   /* a name of `steadfold schedules`, or NULL for the library's choice */
  uint64_t element_count; /* rows of the whole job, or SF_UNKNOWN; a wrong number gives SF_GAP or SF_OVERLAP, one that
                             no job can have (above INT64_MAX) SF_INVALID_ARGUMENT */

  size_t element_bytes;      /* SF_BYTES: size of an element */
  sf_operator user;          /* SF_USER */
  void* context;             /* passed to `user` */
  const char* operator_name; /* SF_USER: tells operators apart between ranks; may be NULL */
  int commutative;           /* SF_USER: whether left op right equals right op left, in bits */
  int never_fails;           /* SF_USER: it always returns 0, so the ranks need not ask each other whether it did */

  sf_layout layout; /* the same kind on all ranks */
  uint64_t rows;    /* how many this rank has, row-major, `columns` elements each; SF_INTERVALS: their total */
  const sf_interval* intervals;
  size_t interval_count;

  uint32_t require; /* sf_guarantee bits: a call that cannot keep them gives SF_UNSUPPORTED */

  uint32_t threads; /* how many go through this rank's rows; 0 and 1: the caller's alone. Any number gives the same
                       bits, so ranks may have different ones. Fewer are made if the system refuses more, or if a call
                       of one process would wait longer for them than they save. `user` is called by all of them at
                       once. */

  uint32_t bins;  /* SF_BINNED: 2, 3 or 4; 0 is 3. More are more exact: docs/guarantees.md has the bound */
  sf_sweep sweep; /* SF_BINNED */

  sf_collective collective;
  const uint64_t* blocks; /* SF_REDUCE_SCATTER: how many columns every rank gets, the same array on all ranks; its
                             sum is `columns`. NULL: equally many, so `columns` must be divisible */
  size_t block_count;     /* the number of ranks */

  const sf_arrays* arrays; /* NULL, or where the elements stand: then `type`, `element_bytes`, `columns` and `rows`
                              follow from them; where `first`, `second` and `mask` of a call or a run are NULL, its data
                              are those of the arrays (which need not be aligned, other data are aligned as their
                              elements are). Without arrays, rows stand one after the other, without gaps */

  const sf_grid* grid; /* SF_GRID; else NULL */

  int32_t writes_right; /* SF_USER: `user` writes over its right operand, as functions of MPI_Op do: it is called with
                           `result` and `right` the same memory, which never is `left` */

  uint32_t reserved[5]; /* 0: for options to come, which sf_call_set will know by name */
} sf_call;

/* Gives all fields their defaults, a sum of zero rows of doubles, and writes `size`: sizeof *call, where the caller is
 * compiled. SF_INVALID_ARGUMENT, and nothing is written, if no release had so short a struct. */
sf_status sf_call_init(sf_call* call, size_t size);

/* Returns a call whose fields have their defaults, with `size` written. */
static inline sf_call sf_call_default(void) {
  sf_call call;
  sf_call_init(&call, sizeof call);
  return call;
}

/* Reduces the rows of one process. `first` holds call->rows rows, `second` the second vector of
 * operations that take one, or the mask of SF_MASKED_SUM, one byte per row, where any but 0 selects it (else NULL);
 * both are only read. `result` receives `columns` results. root is SF_ALL_RANKS or 0, collective SF_REDUCE; schedule
 * must be one, and is not needed. */
sf_status sf_reduce_local(const sf_call* call, const void* first, const void* second, void* result);

/* The error of this thread's last failing call: "problem (why), suggestion", at most 4095 bytes. Valid until the next
 * call. */
const char* sf_error_text(void);

/* Sets that text (it is copied); NULL: no text. For layers above this interface that report failures the same way. */
void sf_set_error_text(const char* text);

/* Major.minor.patch. */
const char* sf_version(void);

#ifdef __cplusplus
}
#endif

#endif
