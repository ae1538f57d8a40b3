/* Collectives as in GASPI: calls with a timeout, which are repeated until they have ended.
 *
 *   sf_gaspi_return done;
 *   while ((done = sf_gaspi_allreduce(mine, sums, 255, SF_GASPI_OP_SUM, SF_GASPI_TYPE_DOUBLE, group, 1)) ==
 *          SF_GASPI_TIMEOUT)
 *     compute();
 *
 * Names, arguments and outcomes follow the sections on collectives of the GASPI standard. A group is the result of
 * sf_group_of for a communicator. Unlike in GASPI, the bits are fixed: they are the same as with sf_group_reduce in
 * MPI's shape, which combines the ranks' elements in the binary tree over ranks. This holds for sums and for your own
 * operations, which need not be commutative. The number of elements has no upper limit. */
#ifndef STEADFOLD_STEADFOLD_GASPI_H
#define STEADFOLD_STEADFOLD_GASPI_H

#include "steadfold/steadfold_group.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The return value of a call. */
typedef enum sf_gaspi_return {
  SF_GASPI_ERROR = -1, /* sf_error_text() has the text; the collective has ended */
  SF_GASPI_SUCCESS = 0,
  SF_GASPI_TIMEOUT = 1 /* the call's timeout, or that of the operation, has expired; make the same call again */
} sf_gaspi_return;

/* A timeout in milliseconds. */
typedef uint64_t sf_gaspi_timeout;
#define SF_GASPI_BLOCK UINT64_MAX /* waits without limit */
#define SF_GASPI_TEST 0           /* checks once and returns */

/* The operation that combines the elements. */
typedef enum sf_gaspi_operation { SF_GASPI_OP_MIN, SF_GASPI_OP_MAX, SF_GASPI_OP_SUM } sf_gaspi_operation;

/* The type of the elements. */
typedef enum sf_gaspi_datatype {
  SF_GASPI_TYPE_INT,
  SF_GASPI_TYPE_UINT,
  SF_GASPI_TYPE_LONG,
  SF_GASPI_TYPE_ULONG,
  SF_GASPI_TYPE_FLOAT,
  SF_GASPI_TYPE_DOUBLE
} sf_gaspi_datatype;

/* Combines result[i] = one[i] op two[i] for all i < num. The elements of `one` come from the lower ranks. `result` may
 * be `one`. `timeout_ms` is the time that the collective has left.
 *
 * Returns SF_GASPI_SUCCESS; SF_GASPI_ERROR, which ends the collective with this error on all ranks; or
 * SF_GASPI_TIMEOUT, in which case the operation must have changed neither `result` nor its operands. After
 * SF_GASPI_TIMEOUT the collective returns SF_GASPI_TIMEOUT, too. When the collective is called again, the next call of
 * the operation is for the same operands at the same addresses, so `state` may record the progress. Meanwhile the other
 * ranks wait, as for any late rank. A collective that was called with SF_GASPI_BLOCK does not return after
 * SF_GASPI_TIMEOUT but calls the operation again. Other calls that advance the unfinished collective call the operation
 * with SF_GASPI_TEST. */
typedef sf_gaspi_return (*sf_gaspi_reduce_operation)(const void* one, const void* two, void* result, void* state,
                                                     uint32_t num, size_t element_size, sf_gaspi_timeout timeout_ms);

/* Combines the `num` elements of all ranks, element by element; every rank gets the result. A group can have one
 * unfinished collective. Resume it by the same call with equal arguments; until it has ended, any other call returns
 * SF_GASPI_ERROR. The memory at `send` and `receive` must stay valid until the collective has ended. */
sf_gaspi_return sf_gaspi_allreduce(const void* send, void* receive, uint32_t num, sf_gaspi_operation operation,
                                   sf_gaspi_datatype datatype, sf_group* group, sf_gaspi_timeout timeout_ms);

/* Combines elements of any size, `element_size` bytes, with your own operation, which receives `state`. In all else the
 * same as sf_gaspi_allreduce. */
sf_gaspi_return sf_gaspi_allreduce_user(const void* send, void* receive, uint32_t num, size_t element_size,
                                        sf_gaspi_reduce_operation operation, void* state, sf_group* group,
                                        sf_gaspi_timeout timeout_ms);

/* Waits until every rank has made the call, or the timeout has expired. */
sf_gaspi_return sf_gaspi_barrier(sf_group* group, sf_gaspi_timeout timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
