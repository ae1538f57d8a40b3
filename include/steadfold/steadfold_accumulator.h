/* Exact sums as objects: a program keeps them, adds to them, subtracts from them, merges them, and writes them to a
 * file. A later run, with any number of ranks, can read the file and continue. Needs no MPI; for merges by
 * MPI_Allreduce and other MPI functions see steadfold_mpi.h.
 *
 * An accumulator has one or more columns. Each column is an exact sum of elements, or of products of two factors. Only
 * results are rounded, once. So neither the order of the additions nor their distribution over accumulators that are
 * merged later changes a bit: results equal the results of sf_reduce_local with SF_EXACT and the same rows, and equal
 * accumulators have equal bytes.
 *
 * Subtraction undoes addition: after an element was added and subtracted, the accumulator is bit for bit what it was
 * before, including the sign of a zero and the number of rows. NaNs and infinities are the exception: they set flags
 * that stay. If +inf is subtracted it counts as -inf, and +inf together with -inf is NaN. A program may subtract more
 * than it has added.
 *
 * Only sf_accumulator_create, _copy and _read, additions of arrays, and additions by several threads allocate memory.
 * An accumulator takes 0.7 KiB per column for sums of doubles, 1.2 KiB for products of doubles, and at most 0.3 KiB for
 * floats. Only one thread at a time may change an accumulator; while none does, any number of threads may read it. A
 * function that fails leaves the accumulator unchanged. */
#ifndef STEADFOLD_STEADFOLD_ACCUMULATOR_H
#define STEADFOLD_STEADFOLD_ACCUMULATOR_H

#include "steadfold/steadfold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Exact sums, one per column. */
typedef struct sf_accumulator sf_accumulator;

/* The terms of the sums. */
typedef enum sf_terms {
  SF_ELEMENTS,
  SF_PRODUCTS /* products of two factors; a single element x counts as x * 1 */
} sf_terms;

/* Makes an accumulator of no rows with `columns` sums, at least 1. `type`, SF_F64 or SF_F32, is the type of the
 * elements; other types give SF_UNSUPPORTED. Free the accumulator with sf_accumulator_free. */
sf_status sf_accumulator_create(sf_type type, sf_terms terms, uint64_t columns, sf_accumulator** accumulator);
/* Makes a copy of an accumulator. Free the copy with sf_accumulator_free. */
sf_status sf_accumulator_copy(const sf_accumulator* from, sf_accumulator** copy);
/* Frees an accumulator. Does nothing for NULL. */
void sf_accumulator_free(sf_accumulator* accumulator);

/* The shape of an accumulator. sf_accumulator_describe writes the shape, and the number of rows: rows added minus rows
 * subtracted, which may be negative. `shape` and `rows` may be NULL. */
typedef struct sf_accumulator_shape {
  sf_type type;
  sf_terms terms;
  uint64_t columns;
} sf_accumulator_shape;
sf_status sf_accumulator_describe(const sf_accumulator* accumulator, sf_accumulator_shape* shape, int64_t* rows);

/* Resets an accumulator to no rows. */
sf_status sf_accumulator_clear(sf_accumulator* accumulator);
/* Copies `from` into `to`, which has the same shape. */
sf_status sf_accumulator_assign(sf_accumulator* to, const sf_accumulator* from);

/* Adds, or subtracts, `rows` rows of `columns` elements, row-major. The call makes `threads` threads for the work (0
 * and 1: none; more are worth it from about 100 000 elements). A call for one element takes about 50 ns. A call for
 * many takes 0.4 ns per added element and 0.8 ns per subtracted element. Nothing is rounded, and -0.0 and subnormals
 * are kept. Returns SF_UNSUPPORTED if a sum would exceed 2^72 times the largest possible term, or if there would be
 * more than 2^62 rows. */
sf_status sf_accumulator_add(sf_accumulator* accumulator, const void* elements, uint64_t rows, uint32_t threads);
sf_status sf_accumulator_subtract(sf_accumulator* accumulator, const void* elements, uint64_t rows, uint32_t threads);

/* Adds, or subtracts, the products first[i] * second[i] of `rows` rows of `columns` elements. The accumulator must have
 * SF_PRODUCTS; others give SF_INVALID_ARGUMENT. `second` may be `first`. A row of products counts as one row. `threads`
 * and SF_UNSUPPORTED are as in sf_accumulator_add. */
sf_status sf_accumulator_add_products(sf_accumulator* accumulator, const void* first, const void* second, uint64_t rows,
                                      uint32_t threads);
sf_status sf_accumulator_subtract_products(sf_accumulator* accumulator, const void* first, const void* second,
                                           uint64_t rows, uint32_t threads);

/* Adds, or subtracts, the elements of an array. Strides, kept axes, factors and mask have the same meaning as in
 * sf_call.arrays. Elements are read in place. Every kept index has a column, in C order; the accumulator must have
 * exactly as many columns (else SF_INVALID_ARGUMENT). The elements along the other axes are the rows. With factors the
 * terms are products; the accumulator must have SF_PRODUCTS. A mask selects rows: only selected rows count as rows, and
 * the elements of others are ignored, even a NaN or an infinity. The accumulator has the same bytes as after
 * sf_accumulator_add, or sf_accumulator_add_products, of the selected rows. All columns have the same number of rows,
 * so a mask must not differ between columns. Returns SF_UNSUPPORTED for a mask that does, for labels, and for lists of
 * arrays. Costs 0.5 us more than the same rows without an array, and 0.1 us more per column. */
sf_status sf_accumulator_add_arrays(sf_accumulator* accumulator, const sf_arrays* arrays, uint32_t threads);
sf_status sf_accumulator_subtract_arrays(sf_accumulator* accumulator, const sf_arrays* arrays, uint32_t threads);

/* Adds `from` to `into`, or subtracts it: sums and number of rows. Both accumulators must have the same shape (else
 * SF_INVALID_ARGUMENT), and may be the same accumulator. */
sf_status sf_accumulator_merge(sf_accumulator* into, const sf_accumulator* from);
sf_status sf_accumulator_unmerge(sf_accumulator* into, const sf_accumulator* from);
/* Negates an accumulator: the sums and the number of rows change their sign. */
sf_status sf_accumulator_negate(sf_accumulator* accumulator);

/* The order of two exact sums, before any rounding. Infinities are above and below all numbers, and equal to
 * themselves. A comparison with NaN is SF_UNORDERED. Zeros of both signs are equal. */
typedef enum sf_order { SF_LESS = -1, SF_EQUAL = 0, SF_GREATER = 1, SF_UNORDERED = 2 } sf_order;
/* Compares two accumulators of the same shape. `orders` receives one value per column. */
sf_status sf_accumulator_compare(const sf_accumulator* a, const sf_accumulator* b, sf_order* orders);

/* Writes one value per column, of `type` SF_F64 or SF_F32. `operation` is SF_SUM; SF_MEAN, the sum divided by the
 * number of rows (fewer than one row: SF_EMPTY); or, if the accumulator has SF_PRODUCTS, SF_NORM2, the square root of
 * the sum (NaN if the sum is negative). Every value is rounded once, to nearest, ties to even. A NaN is the canonical
 * NaN. The sum of no rows is +0.0. A sum that is zero is -0.0 if there are rows and all of them are -0.0 (rows that
 * were added and subtracted again do not count). */
sf_status sf_accumulator_round(const sf_accumulator* accumulator, sf_operation operation, sf_type type, void* values);

/* Writes the accumulator as bytes for a file. The bytes are the same on every machine, and depend only on the sums,
 * flags and number of rows; so equal accumulators have equal bytes. `*size` receives the number of bytes; to learn it,
 * call with `bytes` NULL and `capacity` 0. The number changes when the accumulator changes. If `capacity` is too small,
 * returns SF_INVALID_ARGUMENT and writes no bytes. */
sf_status sf_accumulator_write(const sf_accumulator* accumulator, void* bytes, uint64_t capacity, uint64_t* size);
/* Makes an accumulator from the bytes that sf_accumulator_write wrote. The accumulator has the shape of the written
 * one. The bytes have bits version 1; all releases that declare this version read them. Returns an error for bytes of
 * another version, damaged bytes, and too few or too many bytes: a checksum covers all of them. */
sf_status sf_accumulator_read(const void* bytes, uint64_t size, sf_accumulator** accumulator);

/* Packs an accumulator for messages between machines of the same byte order, not for files. All accumulators of a shape
 * have the same packed size, which sf_accumulator_packed_size returns (0 for NULL). Packed accumulators can be merged
 * without unpacking: by MPI, see steadfold_mpi.h, or by any other layer. sf_accumulator_pack writes `size` bytes, the
 * packed size; sf_accumulator_unpack copies a packed accumulator of the same shape into `accumulator`. */
uint64_t sf_accumulator_packed_size(const sf_accumulator* accumulator);
sf_status sf_accumulator_pack(const sf_accumulator* accumulator, void* packed, uint64_t size);
sf_status sf_accumulator_unpack(sf_accumulator* accumulator, const void* packed, uint64_t size);
/* Adds the packed accumulator `from` to the packed accumulator `into`, both of `size` bytes. The operation is
 * associative and commutative, bit for bit, for up to 2^31 packed accumulators. If the operands have different shapes,
 * or are not packed accumulators, `into` becomes bytes that sf_accumulator_unpack refuses, whatever is merged into them
 * later. Takes no lock, allocates nothing, cannot fail. */
void sf_accumulator_merge_packed(const void* from, void* into, uint64_t size);

/* Replaces the accumulator of every rank by the sum of the accumulators of all ranks, including the number of rows, in
 * one reduction. Collective over the group (steadfold_group.h), which may be that of a team. If the shapes differ,
 * every rank gets an error and the accumulators stay unchanged. */
struct sf_group;
sf_status sf_accumulator_merge_ranks(sf_accumulator* accumulator, struct sf_group* group);

#ifdef __cplusplus
}
#endif

#endif
