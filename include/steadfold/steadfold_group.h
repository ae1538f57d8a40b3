/* Steadfold over groups of ranks: the C interface that needs no MPI. steadfold_mpi.h makes groups of communicators.
 *
 * All functions with a group or a plan are collective unless they say otherwise: every rank calls them, in the same
 * order. When a call fails on one rank or ranks disagree, every rank returns an error (in a rooted call the root and
 * the rank that caused it; in a scan's plan the ranks above that rank, and itself). */
#ifndef STEADFOLD_STEADFOLD_GROUP_H
#define STEADFOLD_STEADFOLD_GROUP_H

#include "steadfold/steadfold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A group of ranks, and what the library keeps for it. One thread at a time. It belongs to what it was made of, which
 * also frees it. */
typedef struct sf_group sf_group;

/* This rank's number, from 0 on, and how many ranks there are. Local. -1 for NULL. */
int32_t sf_group_rank(const sf_group* group);
int32_t sf_group_size(const sf_group* group);
/* How bytes move between its ranks: "mpi", "shared" (memory that all of them see), "shared+mpi" (memory within nodes),
 * "rma". Valid as long as the group. Local. "" for NULL. */
const char* sf_group_transport(const sf_group* group);

/* Reduces the rows of all ranks at once. `result` (columns results, for SF_REDUCE_SCATTER those of this rank's block;
 * may be `first`) is written on the ranks that get one, see sf_collective; on other ranks it may be NULL. Calls of a
 * shape that was called before allocate nothing. */
sf_status sf_group_reduce(const sf_call* call, const void* first, const void* second, void* result, sf_group* group);

/* For layers above this interface, such as other languages: what a rank does in place of sf_group_reduce or
 * sf_group_bind where it cannot even make its call. The call fails on every rank as sf_group_reduce does, with this
 * status, which is not SF_OK, and this text, which is copied. Returns what the call comes to. */
sf_status sf_group_refuse(sf_group* group, sf_status status, const char* text);

/* Which rows [mine->begin, mine->end) this rank has if rank 0's `rows` rows come first, then rank 1's, and so on; and
 * how many there are in all. */
sf_status sf_group_rank_order(uint64_t rows, sf_group* group, sf_interval* mine, uint64_t* element_count);

/* A reduction agreed on once and run often, or a bundle: several reductions that share every message. */
typedef struct sf_plan sf_plan;

/* All ranks agree on layout, schedule and validity of `count` calls. Their intervals, grids and texts are copied; user
 * operator context must live as long as the plan. Free it with sf_plan_free. The calls of a bundle have the same root
 * and schedule; operation, type, method, columns and layout are each call's own. The results are those of the calls by
 * themselves. */
sf_status sf_group_bind(const sf_call* calls, size_t count, sf_group* group, sf_plan** plan);

/* Reduces the rows at `first` (and `second`) into `result`. Allocates nothing. One thread at a time. After a failure
 * `result` may be written in part; so it may after a failed one-shot call. */
sf_status sf_plan_run(sf_plan* plan, const void* first, const void* second, void* result);

/* Runs a plan in two phases: start, then test, which sets *done, or wait, which blocks. Memory given to start must stay
 * valid until the run ends. */
sf_status sf_plan_start(sf_plan* plan, const void* first, const void* second, void* result);
sf_status sf_plan_test(sf_plan* plan, int* done);
sf_status sf_plan_wait(sf_plan* plan);
/* Waits at most `timeout` nanoseconds and sets *done. 0: looks once, as test; SF_FOREVER: as wait. That the time is
 * over is no failure: the run goes on, call this or another of them again. */
#define SF_FOREVER UINT64_MAX
sf_status sf_plan_wait_for(sf_plan* plan, uint64_t timeout, int* done);

/* Where one call of a bundle has its rows, and where its result goes. */
typedef struct sf_data {
  const void* first;
  const void* second; /* the second vector of operations that take one, the mask of SF_MASKED_SUM, else NULL */
  void* result;       /* may be NULL on ranks that get none */
  const void* mask;   /* of arrays, else NULL */
  const void* label;  /* likewise */
} sf_data;

/* Run and start a bundle; test, wait, wait_for and free as above. `data` has one entry per call. A null pointer where
 * data are needed, or another `count` than was bound, fails the run on every rank. Calls succeed or fail together,
 * except for SF_EMPTY: then the other calls' results are valid, and sf_bundle_status says which call was empty. */
sf_status sf_bundle_run(sf_plan* plan, const sf_data* data, size_t count);
sf_status sf_bundle_start(sf_plan* plan, const sf_data* data, size_t count);
/* How the last run ended for one call of the bundle. On ranks that get no result none is SF_EMPTY. Local. */
sf_status sf_bundle_status(const sf_plan* plan, size_t call);

/* Calls that are started and go on while the caller computes, and a barrier, which is done on no rank before every rank
 * has called it. Once a group has been used, nothing below blocks but sf_group_barrier and sf_request_wait.
 *
 * Every rank starts the same calls in the same order, blocking ones and runs of plans included; they may be ended in
 * any order, which each rank chooses for itself. Many may be under way. They move on in calls of this library, made by
 * the thread that started them: whoever tests or waits for one thing moves all others on, too.
 *
 * What `first`, `second` and `result` (or `plan`, `mine`, `element_count`) point to stays, and is not changed, until
 * the call has ended; sf_call and all else that it points to are copied. `result` must not overlap memory of another
 * call under way. Each request is freed once. */
typedef struct sf_request sf_request;

sf_status sf_group_start_reduce(const sf_call* call, const void* first, const void* second, void* result,
                                sf_group* group, sf_request** request);
/* `*plan` is written at the end, by the function that ends the request. */
sf_status sf_group_start_bind(const sf_call* calls, size_t count, sf_group* group, sf_plan** plan,
                              sf_request** request);
/* So are `*mine` and `*element_count`. */
sf_status sf_group_start_rank_order(uint64_t rows, sf_group* group, sf_interval* mine, uint64_t* element_count,
                                    sf_request** request);
sf_status sf_group_start_barrier(sf_group* group, sf_request** request);
sf_status sf_group_barrier(sf_group* group);

/* Whether the call has ended, in *done; if so, the status is the call's, and stays so. test looks once, wait blocks,
 * wait_for takes at most `timeout` nanoseconds as sf_plan_wait_for does. That the time is over is no failure. */
sf_status sf_request_test(sf_request* request, int* done);
sf_status sf_request_wait(sf_request* request);
sf_status sf_request_wait_for(sf_request* request, uint64_t timeout, int* done);
/* Frees a request. Local; NULL is nothing. A call under way goes on, and uses its memory, until it has ended or the
 * program has. */
void sf_request_free(sf_request* request);

/* Starts (on != 0) or ends a thread that moves on what is started on the group, and runs of plans that were bound over
 * it, while the caller computes: a poll every 20 microseconds. It calls user operators, too. SF_UNSUPPORTED unless MPI
 * was initialised with MPI_THREAD_MULTIPLE. It ends with the group. Local; off by default. */
sf_status sf_group_progress_thread(sf_group* group, int on);

/* Sets what the calls of this process ask every tenth of a second while they wait without a timeout: where it returns
 * other than 0, the call fails with SF_TRANSPORT_FAILED, as do all later ones on its communicator or team, and those of
 * the team's other workers on this process. It counts for the teams, and the communicators first used, from then on;
 * NULL: nothing is asked. Asked on the thread that waits. For interpreters, whose users end a call by Ctrl-C. Memory
 * of a call over MPI that ended so stays in use until MPI_Finalize. Local. */
void sf_set_interrupt(int (*asked)(void));

/* What the last run cost this rank. */
typedef struct sf_figures {
  uint64_t messages; /* sent by this rank */
  uint64_t bytes;    /* payload of these, headers included */
  uint32_t rounds;   /* messages on the longest chain before this rank was done; 0 unless traced */
} sf_figures;

/* Turns tracing on or off: messages carry their logical time, so that rounds are counted; each message is copied. */
sf_status sf_plan_trace(sf_plan* plan, int on);
/* Figures of the last run. Local, as all that follow. */
sf_status sf_plan_figures(const sf_plan* plan, sf_figures* figures);

/* What was agreed, for people: a few lines of text, valid as long as the plan. */
const char* sf_plan_describe(const sf_plan* plan);
/* The name of the schedule in force. */
const char* sf_plan_schedule(const sf_plan* plan);

/* Frees a plan, in any order and on each rank by itself, even after MPI_Finalize. A run under way is given up: the
 * other ranks must give it up as well. Does nothing while another thread is using the plan. */
void sf_plan_free(sf_plan* plan);

#ifdef __cplusplus
}
#endif

#endif
