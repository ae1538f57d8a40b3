/* Steadfold in the shape of GASPI's collectives: calls with a timeout that are made again until they have ended.
 *
 *   sf_gaspi_return done;
 *   while ((done = sf_gaspi_allreduce(mine, sums, 255, SF_GASPI_OP_SUM, SF_GASPI_TYPE_DOUBLE, group, 1)) ==
 *          SF_GASPI_TIMEOUT)
 *     compute();
 *
 * Names, arguments and outcomes follow the GASPI standard, sections on collectives; a group is what sf_group_of gives
 * for a communicator. Unlike there, the bits are fixed: those of sf_group_reduce in MPI's shape, the binary tree over
 * ranks, for sums and for operations of your own, which need not commute. Nor is there a largest number of elements. */
#ifndef STEADFOLD_STEADFOLD_GASPI_H
#define STEADFOLD_STEADFOLD_GASPI_H

#include "steadfold/steadfold_group.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. */
typedef enum sf_gaspi_return {
  SF_GASPI_ERROR = -1, /* sf_error_text() says which; the collective has ended */
  SF_GASPI_SUCCESS = 0,
  SF_GASPI_TIMEOUT = 1 /* the time is over, or the operation's was; make the same call again */
} sf_gaspi_return;

/* Milliseconds. */
typedef uint64_t sf_gaspi_timeout;
#define SF_GASPI_BLOCK UINT64_MAX /* as long as it takes */
#define SF_GASPI_TEST 0           /* looks once */

/* How elements are combined. */
typedef enum sf_gaspi_operation { SF_GASPI_OP_MIN, SF_GASPI_OP_MAX, SF_GASPI_OP_SUM } sf_gaspi_operation;

/* What elements are. */
typedef enum sf_gaspi_datatype {
  SF_GASPI_TYPE_INT,
  SF_GASPI_TYPE_UINT,
  SF_GASPI_TYPE_LONG,
  SF_GASPI_TYPE_ULONG,
  SF_GASPI_TYPE_FLOAT,
  SF_GASPI_TYPE_DOUBLE
} sf_gaspi_datatype;

/* result[i] = one[i] op two[i] for i < num, `one` from the lower ranks. `result` may be `one`. Gets the time that the
 * call has left. Returns SF_GASPI_SUCCESS; SF_GASPI_ERROR, which ends the call so on all ranks; or SF_GASPI_TIMEOUT,
 * having changed neither `result` nor what it gets: then the collective returns SF_GASPI_TIMEOUT too, and when it is
 * called again the operation's next call is for the same pair, at the same addresses, so that `state` may keep how far
 * it came. The other ranks wait meanwhile, as for a rank that is late. A collective that was called with SF_GASPI_BLOCK
 * does not return then: it calls the operation again. So do other calls that move the unfinished collective on, with
 * SF_GASPI_TEST. */
typedef sf_gaspi_return (*sf_gaspi_reduce_operation)(const void* one, const void* two, void* result, void* state,
                                                     uint32_t num, size_t element_size, sf_gaspi_timeout timeout_ms);

/* Combines the `num` elements of all ranks, place by place; every rank gets the result. One collective of a group can
 * be unfinished: it is resumed by the same call with equal arguments, and SF_GASPI_ERROR for any other until then. What
 * `send` and `receive` point to stays until it has ended. */
sf_gaspi_return sf_gaspi_allreduce(const void* send, void* receive, uint32_t num, sf_gaspi_operation operation,
                                   sf_gaspi_datatype datatype, sf_group* group, sf_gaspi_timeout timeout_ms);

/* Combines elements of any size by an operation of your own, which gets `state`; all else is as sf_gaspi_allreduce. */
sf_gaspi_return sf_gaspi_allreduce_user(const void* send, void* receive, uint32_t num, size_t element_size,
                                        sf_gaspi_reduce_operation operation, void* state, sf_group* group,
                                        sf_gaspi_timeout timeout_ms);

/* Ends on no rank before every rank has made the call. */
sf_gaspi_return sf_gaspi_barrier(sf_group* group, sf_gaspi_timeout timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
