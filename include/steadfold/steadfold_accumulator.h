/* Exact sums as objects: a program keeps them, adds to them, subtracts from them, merges them, and writes them to a
 * file from which another run, with another number of ranks, goes on. Needs no MPI; steadfold_mpi.h has what
 * MPI_Allreduce and its like need to merge them.
 *
 * An accumulator has one or more columns, each an exact sum of its own: of elements, or of products of two factors.
 * Nothing is ever rounded but the results, once. So the order of additions, and how they are divided among
 * accumulators that are merged later, cannot change a bit: results are those of sf_reduce_local by SF_EXACT with the
 * same rows, and equal accumulators have equal bytes.
 *
 * What is subtracted is as if it had never been added: the accumulator is what it was before, bit for bit, the sign of
 * a zero and the number of rows included. NaNs and infinities are the exception. They are flags that stay: +inf that is
 * subtracted counts as -inf, and +inf with -inf is NaN. An accumulator from which more is subtracted than was added is
 * as good as any other.
 *
 * Only sf_accumulator_create, _copy and _read, and additions of arrays or by several threads, allocate. An accumulator
 * takes 0.7 KiB per column for sums of doubles, 1.2 KiB for products of doubles, 0.3 KiB at most for floats. One thread
 * at a time changes it; while none does, any number of them may read it. A function that fails leaves it as it was. */
#ifndef STEADFOLD_STEADFOLD_ACCUMULATOR_H
#define STEADFOLD_STEADFOLD_ACCUMULATOR_H

#include "steadfold/steadfold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One exact sum per column. */
typedef struct sf_accumulator sf_accumulator;

/* What is added up. */
typedef enum sf_terms {
  SF_ELEMENTS,
  SF_PRODUCTS /* of two factors; an element x counts as x * 1 */
} sf_terms;

/* Makes an accumulator of no rows: `columns` sums, at least 1, of terms made of elements of `type`, SF_F64 or SF_F32
 * (others: SF_UNSUPPORTED). Free it with sf_accumulator_free. */
sf_status sf_accumulator_create(sf_type type, sf_terms terms, uint64_t columns, sf_accumulator** accumulator);
/* Makes another one that is equal. */
sf_status sf_accumulator_copy(const sf_accumulator* from, sf_accumulator** copy);
/* Frees one; NULL is nothing. */
void sf_accumulator_free(sf_accumulator* accumulator);

/* Its shape, and its rows: those added less those subtracted, which may be less than none. Any place may be NULL. */
typedef struct sf_accumulator_shape {
  sf_type type;
  sf_terms terms;
  uint64_t columns;
} sf_accumulator_shape;
sf_status sf_accumulator_describe(const sf_accumulator* accumulator, sf_accumulator_shape* shape, int64_t* rows);

/* Makes it one of no rows. */
sf_status sf_accumulator_clear(sf_accumulator* accumulator);
/* Makes `to` equal to `from`, which has the same shape. */
sf_status sf_accumulator_assign(sf_accumulator* to, const sf_accumulator* from);

/* Adds `rows` rows of `columns` elements, row after row, by `threads` threads that are made for this call (0 and 1:
 * none are; more are worth it from some 100 000 elements on). A call for one element takes some 50 ns, one of many 0.4
 * ns per element, subtracted ones 0.8 ns. Nothing is rounded: -0.0 and subnormals are what they are. Refused with
 * SF_UNSUPPORTED: a sum above 2^72 of the greatest terms there are, or more than 2^62 rows. */
sf_status sf_accumulator_add(sf_accumulator* accumulator, const void* elements, uint64_t rows, uint32_t threads);
sf_status sf_accumulator_subtract(sf_accumulator* accumulator, const void* elements, uint64_t rows, uint32_t threads);

/* Adds the products first[i] * second[i] of `rows` rows of `columns` elements, or subtracts them, in accumulators of
 * SF_PRODUCTS (others: SF_INVALID_ARGUMENT). `second` may be `first`. A row of products counts as one row. `threads`
 * and SF_UNSUPPORTED are as in sf_accumulator_add. */
sf_status sf_accumulator_add_products(sf_accumulator* accumulator, const void* first, const void* second, uint64_t rows,
                                      uint32_t threads);
sf_status sf_accumulator_subtract_products(sf_accumulator* accumulator, const void* first, const void* second,
                                           uint64_t rows, uint32_t threads);

/* Adds what stands in an array, or subtracts it: strides, kept axes, factors and mask are those of sf_call.arrays, read
 * where they stand. There is a column for every kept index, in C order; as many as the accumulator has (else
 * SF_INVALID_ARGUMENT). The elements of the other axes are the rows. Factors make products, for accumulators of
 * SF_PRODUCTS. A mask selects rows: only those that it selects count as rows, and others are never looked at, NaN or
 * infinity. The bytes are those after sf_accumulator_add, or _add_products, of the selected rows. Since all columns
 * have one number of rows, a mask must not differ between them; SF_UNSUPPORTED are one that does, labels, and lists of
 * arrays. Costs 0.5 us more than the same rows, and 0.1 us more per column. */
sf_status sf_accumulator_add_arrays(sf_accumulator* accumulator, const sf_arrays* arrays, uint32_t threads);
sf_status sf_accumulator_subtract_arrays(sf_accumulator* accumulator, const sf_arrays* arrays, uint32_t threads);

/* Adds to `into` all that was added to `from`, or subtracts it: rows, too. Both have the same shape (else
 * SF_INVALID_ARGUMENT); they may be the same accumulator. */
sf_status sf_accumulator_merge(sf_accumulator* into, const sf_accumulator* from);
sf_status sf_accumulator_unmerge(sf_accumulator* into, const sf_accumulator* from);
/* Makes it what is left of no rows after subtracting it: sums and the number of rows change their sign. */
sf_status sf_accumulator_negate(sf_accumulator* accumulator);

/* How sums stand to each other, before any rounding. Infinities are above and below all numbers, and equal to
 * themselves; NaN is SF_UNORDERED; zeros of both signs are equal. */
typedef enum sf_order { SF_LESS = -1, SF_EQUAL = 0, SF_GREATER = 1, SF_UNORDERED = 2 } sf_order;
/* Writes one for every column of two accumulators of the same shape. */
sf_status sf_accumulator_compare(const sf_accumulator* a, const sf_accumulator* b, sf_order* orders);

/* Writes a value of `type`, SF_F64 or SF_F32, for every column: SF_SUM, SF_MEAN (the sum divided by the number of rows;
 * less than one row: SF_EMPTY) or, of accumulators of SF_PRODUCTS, SF_NORM2 (the sum's root; NaN below zero). Rounded
 * once, to nearest, ties to even. NaN is the canonical one. A sum of nothing is +0.0; one that is zero is -0.0 if there
 * are rows and all of them are -0.0, as far as they are not undone. */
sf_status sf_accumulator_round(const sf_accumulator* accumulator, sf_operation operation, sf_type type, void* values);

/* Writes the accumulator as bytes for a file: the same on every machine, and a function of sums, flags and rows alone,
 * so equal accumulators have equal bytes. `*size` is how many there are: ask with `bytes` NULL and `capacity` 0. The
 * bytes of an accumulator that changes change their number. Fewer in `capacity`: SF_INVALID_ARGUMENT, nothing is
 * written. */
sf_status sf_accumulator_write(const sf_accumulator* accumulator, void* bytes, uint64_t capacity, uint64_t* size);
/* Makes an accumulator of such bytes; it has the shape of the one that was written. They are of bits version 1, which
 * all releases read that say so. Bytes of another version, damaged ones, and fewer or more than were written are
 * refused: a checksum covers them all. */
sf_status sf_accumulator_read(const void* bytes, uint64_t size, sf_accumulator** accumulator);

/* The accumulator packed for messages between machines of one byte order. All accumulators of a shape have one packed
 * size (0 for NULL), and packed ones are merged as they are: by MPI, see steadfold_mpi.h, or by any other layer. Not
 * for files. pack writes that many bytes; unpack makes `accumulator` what was packed, if it has the same shape. */
uint64_t sf_accumulator_packed_size(const sf_accumulator* accumulator);
sf_status sf_accumulator_pack(const sf_accumulator* accumulator, void* packed, uint64_t size);
sf_status sf_accumulator_unpack(sf_accumulator* accumulator, const void* packed, uint64_t size);
/* Adds to `into` what is packed in `from`, both of `size` bytes. Associative and commutative in bytes, for up to 2^31
 * of them. Operands of different shapes, and bytes that nobody packed, make `into` bytes that unpack refuses, whatever
 * they are merged with later. Does nothing else: takes no lock, allocates nothing, cannot fail. */
void sf_accumulator_merge_packed(const void* from, void* into, uint64_t size);

/* Makes the accumulator of every rank the sum of those of all ranks, rows too, in one reduction. Collective over the
 * group (steadfold_group.h), also of a team. Accumulators of different shapes are an error on all ranks, and stay as
 * they are. */
struct sf_group;
sf_status sf_accumulator_merge_ranks(sf_accumulator* accumulator, struct sf_group* group);

#ifdef __cplusplus
}
#endif

#endif
