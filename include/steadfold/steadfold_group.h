/* Reductions over groups of ranks: the C interface that needs no MPI. steadfold_mpi.h makes groups of communicators,
 * steadfold_team.h of threads.
 *
 * All functions with a group or a plan are collective unless their comment says "Local": every rank calls them, in the
 * same order. If a call fails on one rank, or if the ranks disagree, every rank gets an error. Exceptions: in a call
 * with a root only the root and the rank that caused the error; in a plan of a scan only the rank that caused the error
 * and the ranks above it. */
#ifndef STEADFOLD_STEADFOLD_GROUP_H
#define STEADFOLD_STEADFOLD_GROUP_H

#include "steadfold/steadfold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A group of ranks, with the library's data for it. Only one thread at a time may use a group. The group belongs to the
 * communicator or team from which it was made, which also frees it. */
typedef struct sf_group sf_group;

/* Return this rank's number, counted from 0, and the number of ranks. -1 for NULL. Local. */
int32_t sf_group_rank(const sf_group* group);
int32_t sf_group_size(const sf_group* group);
/* Returns how bytes move between the ranks: "mpi", "shared" (memory shared by all ranks), "shared+mpi" (shared memory
 * within nodes) or "rma". The text is valid as long as the group. "" for NULL. Local. */
const char* sf_group_transport(const sf_group* group);

/* Reduces the rows of all ranks. `first` and `second` are as in sf_reduce_local. `result` receives `columns` results
 * (with SF_REDUCE_SCATTER: the results of this rank's block) on the ranks that get a result, see sf_collective; on
 * other ranks it may be NULL. `result` may be `first`. A call of the same shape as an earlier call allocates nothing.
 * */
sf_status sf_group_reduce(const sf_call* call, const void* first, const void* second, void* result, sf_group* group);

/* Tells the other ranks that this rank cannot make its call. For layers on top of this interface, such as other
 * languages: a rank that cannot even describe its call makes this call in place of sf_group_reduce or sf_group_bind.
 * The call then fails on every rank, as sf_group_reduce does, with `status`, which must not be SF_OK, and `text`, which
 * is copied. Returns the status of the failed call. */
sf_status sf_group_refuse(sf_group* group, sf_status status, const char* text);

/* Finds the indices of this rank's rows if rank 0's `rows` rows come first, then rank 1's, and so on. `*mine` receives
 * the range, `*element_count` the number of rows of all ranks. */
sf_status sf_group_rank_order(uint64_t rows, sf_group* group, sf_interval* mine, uint64_t* element_count);

/* A plan: a reduction that is agreed on once and run often; or a bundle: several reductions that share every
 * message. */
typedef struct sf_plan sf_plan;

/* Makes a plan of `count` calls. All ranks agree on the layout and the schedule, and check that the calls are valid.
 * The intervals, grids and texts of the calls are copied; the context of a user operator must live as long as the plan.
 * Free the plan with sf_plan_free. All calls of a bundle have the same root and schedule; they may differ in operation,
 * type, method, columns and layout. The results have the same bits as in separate calls. */
sf_status sf_group_bind(const sf_call* calls, size_t count, sf_group* group, sf_plan** plan);

/* Runs a plan: reduces the rows at `first` (and `second`) into `result`. Allocates nothing. Only one thread at a time
 * may use a plan. After a failure `result` may be partly written; this holds for one-shot calls, too. */
sf_status sf_plan_run(sf_plan* plan, const void* first, const void* second, void* result);

/* Run a plan in two phases. sf_plan_start begins the run. sf_plan_test sets *done to whether the run has ended;
 * sf_plan_wait blocks until it has. The memory given to sf_plan_start must stay valid until the run has ended. */
sf_status sf_plan_start(sf_plan* plan, const void* first, const void* second, void* result);
sf_status sf_plan_test(sf_plan* plan, int* done);
sf_status sf_plan_wait(sf_plan* plan);
/* Waits at most `timeout` nanoseconds for the end of the run and sets *done. With timeout 0 the function checks once,
 * as sf_plan_test does; with SF_FOREVER it waits as sf_plan_wait does. A timeout is not an error: the run continues,
 * and any of the three functions may be called again. */
#define SF_FOREVER UINT64_MAX
sf_status sf_plan_wait_for(sf_plan* plan, uint64_t timeout, int* done);

/* The memory of one call of a bundle: its rows and its result. */
typedef struct sf_data {
  const void* first;
  const void* second; /* the second vector of operations with two vectors; the mask of SF_MASKED_SUM; else NULL */
  void* result;       /* memory for the result; may be NULL on ranks that get no result */
  const void* mask;   /* the mask of a call with arrays, else NULL */
  const void* label;  /* the labels of a call with arrays, else NULL */
} sf_data;

/* Run a bundle, or start a run. sf_plan_test, sf_plan_wait, sf_plan_wait_for and sf_plan_free are used as for plans.
 * `data` has one entry per call. If a pointer is NULL where data are needed, or if `count` is not the number of bound
 * calls, the run fails on every rank. The calls succeed or fail together. The exception is SF_EMPTY: the results of the
 * other calls are valid, and sf_bundle_status tells which call had nothing to reduce. */
sf_status sf_bundle_run(sf_plan* plan, const sf_data* data, size_t count);
sf_status sf_bundle_start(sf_plan* plan, const sf_data* data, size_t count);
/* Returns how the last run ended for one call of the bundle, counted from 0. Never SF_EMPTY on ranks that get no
 * result. Local. */
sf_status sf_bundle_status(const sf_plan* plan, size_t call);

/* A started call, which proceeds while the caller computes. sf_group_start_barrier and sf_group_barrier are barriers:
 * they end on no rank before every rank has called them. After the first use of a group, only sf_group_barrier and
 * sf_request_wait block (and sf_request_wait_for up to its timeout).
 *
 * Every rank starts the same calls in the same order, relative also to blocking calls and runs of plans. Each rank may
 * end its calls in any order. Many calls may be under way. Started calls make progress inside calls of this library,
 * made by the thread that started them: a test of, or a wait for, any call advances all others, too.
 *
 * The memory at `first`, `second` and `result` (or `plan`, `mine`, `element_count`) must stay valid, and the caller
 * must not change it, until the call has ended. sf_call, and all other memory that it points to, is copied. `result`
 * must not overlap the memory of another call under way. Free each request once, with sf_request_free. */
typedef struct sf_request sf_request;

sf_status sf_group_start_reduce(const sf_call* call, const void* first, const void* second, void* result,
                                sf_group* group, sf_request** request);
/* Starts sf_group_bind. `*plan` is written by the function that ends the request. */
sf_status sf_group_start_bind(const sf_call* calls, size_t count, sf_group* group, sf_plan** plan,
                              sf_request** request);
/* Starts sf_group_rank_order. `*mine` and `*element_count` are written by the function that ends the request. */
sf_status sf_group_start_rank_order(uint64_t rows, sf_group* group, sf_interval* mine, uint64_t* element_count,
                                    sf_request** request);
sf_status sf_group_start_barrier(sf_group* group, sf_request** request);
sf_status sf_group_barrier(sf_group* group);

/* End a started call. sf_request_test checks once whether the call has ended, sf_request_wait blocks until it has, and
 * sf_request_wait_for waits at most `timeout` nanoseconds, as sf_plan_wait_for does. *done receives whether the call
 * has ended; if it has, the return value is the status of the call, also when asked again. A timeout is not an
 * error. */
sf_status sf_request_test(sf_request* request, int* done);
sf_status sf_request_wait(sf_request* request);
sf_status sf_request_wait_for(sf_request* request, uint64_t timeout, int* done);
/* Frees a request. Does nothing for NULL. If the call is still under way, it continues and uses its memory until it or
 * the program ends. Local. */
void sf_request_free(sf_request* request);

/* Starts (on != 0) or ends a thread that advances started calls on the group, and runs of plans that were bound over
 * the group, while the caller computes. The thread polls every 20 microseconds. The thread also calls user operators.
 * Returns SF_UNSUPPORTED unless MPI was initialised with MPI_THREAD_MULTIPLE. The thread ends with the group. Off by
 * default. Local. */
sf_status sf_group_progress_thread(sf_group* group, int on);

/* Sets a function that can interrupt waiting calls of this process; NULL removes it. For interpreters, whose users end
 * a call by Ctrl-C. Calls that wait without a timeout call `asked` every 0.1 seconds, on the thread that waits. If it
 * returns a value other than 0, the call fails with SF_TRANSPORT_FAILED. After that all later calls on the same
 * communicator or team fail, too, and so do the calls of the team's other workers on this process. The setting applies
 * to teams that are made, and to communicators that are first used, after it is set. The memory of an interrupted call
 * over MPI stays in use until MPI_Finalize. Local. */
void sf_set_interrupt(int (*asked)(void));

/* The cost of the last run of a plan on this rank. */
typedef struct sf_figures {
  uint64_t messages; /* messages sent by this rank */
  uint64_t bytes;    /* bytes in these messages, headers included */
  uint32_t rounds;   /* length, in messages, of the longest chain of dependent messages before this rank was done; 0
                        unless traced */
} sf_figures;

/* Turns tracing of a plan on or off. With tracing, messages carry their logical time, so that rounds can be counted,
 * and every message is copied. */
sf_status sf_plan_trace(sf_plan* plan, int on);
/* Writes the cost of the last run to `figures`. Local; the following functions are local, too. */
sf_status sf_plan_figures(const sf_plan* plan, sf_figures* figures);

/* Returns a readable description of the agreed plan, a few lines of text, valid as long as the plan. */
const char* sf_plan_describe(const sf_plan* plan);
/* Returns the name of the schedule that the plan uses. */
const char* sf_plan_schedule(const sf_plan* plan);

/* Frees a plan. Each rank may do so by itself, in any order, even after MPI_Finalize. A run under way is abandoned;
 * then the other ranks must abandon it, too. Does nothing while another thread uses the plan. */
void sf_plan_free(sf_plan* plan);

#ifdef __cplusplus
}
#endif

#endif
