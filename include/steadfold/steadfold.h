/* Steadfold: reductions that give the same bits every time. This is the C interface that needs no MPI.
 *
 * Every function that can fail returns an sf_status; sf_error_text() describes the error. No function prints, aborts or
 * throws.
 *
 * A program may be compiled with an older or a newer release than the library that it runs with, if both have the same
 * SONAME. Structs that callers fill and that may grow begin with their size, as the caller's compiler knows it. Later
 * releases append fields; the value 0 of a new field means the behaviour before that field existed. All other structs
 * never change. Handles are opaque. Enumerators keep their numbers. Before release 1.0 every minor release has a new
 * SONAME. */
#ifndef STEADFOLD_STEADFOLD_H
#define STEADFOLD_STEADFOLD_H

#include <stddef.h>
#include <stdint.h>

#include "steadfold/steadfold_enumerations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of SF_MIN_LOCATION and SF_MAX_LOCATION for doubles. `index` is the index of the row within the whole job.
 * If an element is a NaN, the result is a NaN. For every other type, too, `value` has the type of the elements and is
 * at byte 0, and `index` is at byte 8. */
typedef struct sf_located_f64 {
  double value;
  uint64_t index;
} sf_located_f64;

/* The result of SF_STATISTICS: numbers that describe the rows, computed in one pass. Every number is rounded once, to a
 * double or a float (see result_type).
 *
 * An index is the lowest index, within the whole job, of a row that has the value; an absent index is UINT64_MAX.
 * `variance` is the mean square of the distances from the mean; `sample_variance` divides by count - 1 instead. The
 * deviations are the square roots of the variances.
 *
 * A number is NaN if there are too few elements to define it. If an element is a NaN, min, max and all other numbers
 * are NaN. The mean is NaN if there are infinities of both signs. Variances and deviations are NaN if there is any
 * infinity. */
typedef struct sf_statistics {
  uint64_t count; /* the number of elements that the mask, if there is one, selects */
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

/* Says how the indices of one axis are distributed over the ranks along the axis. The indices are cut into blocks. Rank
 * `first` gets the first block, the next rank the next block, and so on; after the last rank comes rank 0. */
typedef struct sf_grid_axis {
  uint64_t extent; /* the number of indices of the axis */
  uint64_t ranks;  /* number of ranks along the axis. One axis may have 0: its number of ranks follows from the size of
                      the group and the other axes */
  uint64_t block;  /* indices in a block. 0: one block for each rank, the first extent % ranks of which are one index
                      larger */
  uint64_t first;  /* the rank that gets the first block, counted along the axis from 0 */
} sf_grid_axis;

#define SF_MOST_GRID_AXES 3

/* A rule that says which rank holds which rows. The rows are the elements of an array of one to three axes, in C order.
 * The ranks form a grid and are numbered in C order, too, as by MPI_Cart_create: the last axis varies fastest. One axis
 * with a block size is ScaLAPACK's block-cyclic distribution. Without block sizes the array is cut into one block for
 * each rank. All ranks must give the same rule. The product of the axes' `ranks` must be the number of ranks. */
typedef struct sf_grid {
  uint32_t axis_count;
  sf_grid_axis axes[SF_MOST_GRID_AXES];
} sf_grid;

/* A contiguous range of row indices of the whole job. */
typedef struct sf_interval {
  uint64_t begin, end; /* indices begin .. end-1; end is at most INT64_MAX */
} sf_interval;

/* Combines result[i] = left[i] op right[i] for all i < count. The left elements have the lower indices. Returns 0 for
 * success, any other value for failure. `result` may be the same memory as `left`, but never as `right` (exception:
 * sf_call.writes_right). An operator that still reads `left` after it has written `result` (a matrix product, for
 * instance) must work on a copy. Elements are aligned to the largest power of two, at most 16 bytes, that divides their
 * size. */
typedef int (*sf_operator)(const void* left, const void* right, void* result, size_t count, void* context);

#define SF_MOST_AXES 15

/* An array in memory, or a section of an array. This struct never grows. The element with indices i, j, ... is at
 * strides[0] * i + strides[1] * j + ... bytes from `data`. Strides may be negative; a stride of 0 repeats elements
 * along its axis. Elements need not be aligned. An array without axes is a single element. */
typedef struct sf_array {
  const void* data; /* address of the element whose indices are all 0 */
  sf_type type;
  size_t element_bytes; /* size of an element in bytes; only for SF_BYTES */
  int32_t axis_count;   /* number of axes, at most SF_MOST_AXES */
  int32_t device;       /* kind of memory; must be 0, the memory of the host */
  uint64_t shape[SF_MOST_AXES];
  int64_t strides[SF_MOST_AXES];
} sf_array;

/* A chunk of a column of a table, such as an array of Arrow: contiguous elements, and a bitmap of the valid elements.
 */
typedef struct sf_chunk {
  const void* data;     /* address of the first element of this chunk */
  const uint8_t* valid; /* NULL: all elements are valid. Otherwise bit `bit + i` says whether element i of this chunk is
                           valid; bit 0 is the lowest bit of valid[0] */
  uint64_t bit;         /* number of the bit of the first element */
  uint64_t end;         /* number of elements of this chunk and all chunks before it */
} sf_chunk;

/* The operands of a call whose elements are in arrays. Some axes of `x` are kept: there is one result for every index
 * of a kept axis, or for every combination of indices of several kept axes. The elements along the other axes are the
 * rows, in C order: the last axis varies fastest. */
typedef struct sf_arrays {
  size_t size; /* size of the struct in bytes where the caller was compiled: sizeof(sf_arrays); see sf_arrays_init */
  sf_array x;
  sf_array factors; /* for operations with a second vector: the second factors or the weights, of the type of x */
  sf_array mask;    /* selects elements, if it has data or axes. An element is left out if all bytes of its mask are 0.
                       An element that is left out is never combined, whatever its value. The mask is SF_BYTES of 1, 2, 4
                       or 8 bytes, or integers. For sums, mean and dot with methods exact, binned and plain; min and max,
                       with and without locations; statistics */
  uint32_t kept;    /* the kept axes: bit i stands for axis i of x */
  sf_array labels;  /* gives the group of every element, 0 to groups - 1, if it has data or axes. The results of group 0
                       come first, then the results of group 1, and so on; each group has one result for every kept
                       index. Labels are integers, or SF_BYTES of 1 or 2 bytes, which are unsigned. An element with a
                       negative label belongs to no group. A label of `groups` or above is SF_INVALID_ARGUMENT, unless a
                       mask leaves its element out. With method tree, the elements of a group keep the order of their
                       indices, and only they are in the tree of the group */
  uint64_t groups;  /* the number of groups; 0: there are no labels */
  const void* const* xs; /* NULL, or the addresses of x_count arrays of the same shape: xs[j] is the address of the
                            element of array j whose indices are all 0. `x` gives their type, shape and strides, and has
                            no data. Every array has a result. No axes are kept, and there are no labels. Factors and
                            mask apply to all arrays. With SF_DOT the call computes x_count dot products with one
                            vector, whose elements are read once. The list must not change until the call has ended. If
                            a run of a plan gives `first`, it is a list of this kind */
  uint64_t x_count;
  const sf_chunk* chunks; /* NULL, or the chunks of x, a column. `x` gives their type, the number of all elements and
                             the stride, and has no data. No axes are kept. Nothing is copied. The list must not change
                             until the call has ended. If a run of a plan gives `first`, it is a list of chunk_count
                             chunks with the same numbers of elements, aligned if these are */
  uint64_t chunk_count;
  uint64_t is_nullable; /* not 0: elements may be null, as bitmaps say. A null is left out like an element that a mask
                           does not select, so the call needs an operation and a method that take masks, and has no
                           other mask. Over ranks, all ranks must give columns that may have nulls, or a mask, or all
                           must give neither. 0: no chunk has a bitmap */
} sf_arrays; /* Factors, mask and labels are broadcast to the shape of x: their last axis is matched with the last axis
                of x, and so on backwards; an axis that is missing, or that has one index, is repeated. */

/* Sets all fields to "no arrays", and `size` to the given size, which must be sizeof *arrays where the caller is
 * compiled. */
sf_status sf_arrays_init(sf_arrays* arrays, size_t size);

/* Returns an sf_arrays without arrays, with `size` set. */
static inline sf_arrays sf_arrays_default(void) {
  sf_arrays arrays;
  sf_arrays_init(&arrays, sizeof arrays);
  return arrays;
}

#define SF_UNKNOWN UINT64_MAX
#define SF_ALL_RANKS (-1)

/* Describes one reduction: the part that is the same on all ranks, and this rank's own part. Initialise it with
 * sf_call_init. */
typedef struct sf_call {
  size_t size; /* size of the struct in bytes where the caller was compiled: sizeof(sf_call) */
  sf_operation operation;
  sf_method method;
  sf_type type;
  sf_type result_type;    /* SF_AS_TYPE. With methods exact and binned also any floating-point type (a complex type for
                             complex elements). With other methods also `type` itself or a wider type, to which every
                             element is converted first */
  uint64_t columns;       /* elements in a row; every column is reduced separately. At least 1; in MPI's shape
                             (SF_ROW_PER_RANK) also 0, which all ranks must give and which leaves results unchanged */
  int32_t root;           /* the rank that gets the result, or SF_ALL_RANKS */
  const char* schedule;   /* a name listed by `steadfold schedules`, or NULL: the library chooses */
  uint64_t element_count; /* rows of the whole job, or SF_UNKNOWN. A wrong number gives SF_GAP or SF_OVERLAP; a number
                             above INT64_MAX gives SF_INVALID_ARGUMENT */

  size_t element_bytes;      /* size of an element in bytes; only for SF_BYTES */
  sf_operator user;          /* the operator, for SF_USER */
  void* context;             /* a pointer that is passed to `user` */
  const char* operator_name; /* SF_USER: a name by which the ranks check that they use the same operator; may be NULL */
  int commutative;           /* SF_USER: whether left op right equals right op left, in bits */
  int never_fails;           /* SF_USER: whether `user` always returns 0; then the ranks exchange no failures */

  sf_layout layout;             /* which rows this rank has; the same kind of layout on all ranks */
  uint64_t rows;                /* rows on this rank, row-major, `columns` elements each. With SF_INTERVALS: the total
                                   of the intervals */
  const sf_interval* intervals; /* SF_INTERVALS: the rows of this rank, in the order in memory */
  size_t interval_count;

  uint32_t require; /* sf_guarantee bits. A call that cannot give these guarantees returns SF_UNSUPPORTED */

  uint32_t threads; /* threads that read this rank's rows; 0 and 1: only the caller's thread. The number does not change
                       the bits, so it may differ between ranks. The library makes fewer threads if the system refuses
                       more, or if a call of one process would wait longer for them than they save. All threads call
                       `user` at the same time */

  uint32_t bins;  /* SF_BINNED: 2, 3 or 4; 0 means 3. More bins give a smaller error: docs/guarantees.md has the
                     bound */
  sf_sweep sweep; /* SF_BINNED: how it finds the largest term */

  sf_collective collective;
  const uint64_t* blocks; /* SF_REDUCE_SCATTER: the number of columns that each rank gets. All ranks give the same
                             array; its sum is `columns`. NULL: all ranks get the same number, which must divide
                             `columns` */
  size_t block_count;     /* the number of ranks */

  const sf_arrays* arrays; /* NULL, or the arrays that hold the elements. With arrays, `type`, `element_bytes`,
                              `columns` and `rows` follow from them. If `first`, `second` or `mask` of a call or a run
                              is NULL, the data of the arrays are used; these need not be aligned, all other data must
                              have the alignment of their elements. Without arrays the rows are contiguous */

  const sf_grid* grid; /* the rule of distribution for SF_GRID; else NULL */

  int32_t writes_right; /* SF_USER: whether `user` writes its result over its right operand, as functions of MPI_Op do.
                           If so, `result` and `right` are the same memory, which is never `left` */

  uint32_t lanes; /* SF_TREE: 1 to 1024; 0 means 1. With L lanes, row i belongs to lane i mod L; each lane is reduced in
                     the tree, then the results of the lanes, in their order. For operators that are commutative; not
                     with SF_ROW_PER_RANK */

  const void* initial; /* NULL, or one element of the result (SF_BYTES: element_bytes bytes), the same on all ranks.
                          Every result is `initial` op the result of the rows; without rows it is `initial`. It is
                          copied. The ranks compare its bytes, including the padding of a structure. With method tree,
                          which is the default then, for sums, products, min, max, dot products and SF_USER; not with
                          labels */

  uint32_t reserved[2]; /* must be 0: for options of later releases, which sf_call_set will know by name */
} sf_call;

/* Sets all fields to their defaults, which describe a sum of zero rows of doubles, and `size` to the given size, which
 * must be sizeof *call where the caller is compiled. Returns SF_INVALID_ARGUMENT, and writes nothing, if no release had
 * a struct as short as `size`. */
sf_status sf_call_init(sf_call* call, size_t size);

/* Returns a call whose fields have their defaults, with `size` set. */
static inline sf_call sf_call_default(void) {
  sf_call call;
  sf_call_init(&call, sizeof call);
  return call;
}

/* Reduces the rows of one process. `first` holds call->rows rows. `second` is the second vector of operations with two
 * vectors; for SF_MASKED_SUM it is the mask, one byte per row, where any value but 0 selects the row; else it is NULL.
 * `first` and `second` are only read. `result` receives `columns` results. `root` must be SF_ALL_RANKS or 0, and
 * `collective` SF_REDUCE. `schedule` may be NULL or a valid name, and has no effect. */
sf_status sf_reduce_local(const sf_call* call, const void* first, const void* second, void* result);

/* Returns the text of this thread's last failing call: "problem (why), suggestion", at most 4095 bytes. The text is
 * valid until the next call. */
const char* sf_error_text(void);

/* Sets the text that sf_error_text returns on this thread. The text is copied; NULL means no text. For layers on top of
 * this interface that report failures in the same way. */
void sf_set_error_text(const char* text);

/* Returns the version of the library as major.minor.patch. */
const char* sf_version(void);

#ifdef __cplusplus
}
#endif

#endif
