/* Steadfold over MPI: the C interface. One library per MPI implementation.
 *
 * All functions with a communicator or a plan are collective: every rank calls them, in the same order. When a call
 * fails on one rank or ranks disagree, every rank returns an error (in a rooted call the root and the rank that caused
 * it; in a scan's plan the ranks above that rank, and itself). */
#ifndef STEADFOLD_STEADFOLD_MPI_H
#define STEADFOLD_STEADFOLD_MPI_H

#include <mpi.h>

#include "steadfold/steadfold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MPI handles differ between MPI libraries, so code compiled with one library's mpi.h must not be linked with the
 * Steadfold built for another. Every source that includes this file refers to the variable named here, and each
 * Steadfold library defines only its own: a mismatch is an undefined reference when the program is linked. */
#if defined(OPEN_MPI)
#define SF_MPI_LINK sf_compiled_with_open_mpi_so_link_libsteadfold_openmpi
#elif defined(MPICH_VERSION) /* also those derived from it, which share its handles */
#define SF_MPI_LINK sf_compiled_with_mpich_so_link_libsteadfold_mpich
#else
#define SF_MPI_LINK sf_compiled_with_another_mpi_so_link_its_libsteadfold_mpi
#endif
extern const char SF_MPI_LINK;
#if defined(__has_attribute)
#if __has_attribute(retain) /* by linkers that drop what nobody refers to */
static const char* const sf_mpi_link __attribute__((used, retain)) = &SF_MPI_LINK;
#elif __has_attribute(used)
static const char* const sf_mpi_link __attribute__((used)) = &SF_MPI_LINK;
#endif
#endif

/* Reduces the rows of all ranks at once. `result` (columns results, for SF_REDUCE_SCATTER those of this rank's block;
 * may be `first`) is written on the ranks that get one, see sf_collective; on other ranks it may be NULL. The first
 * call on a communicator duplicates it; later calls of the same shape allocate nothing. */
sf_status sf_reduce(const sf_call* call, const void* first, const void* second, void* result, MPI_Comm comm);

/* Which rows [mine->begin, mine->end) this rank has if rank 0's `rows` rows come first, then rank 1's, and so on; and
 * how many there are in all. Collective. */
sf_status sf_rank_order(uint64_t rows, MPI_Comm comm, sf_interval* mine, uint64_t* element_count);

/* A reduction agreed on once and run often. */
typedef struct sf_plan sf_plan;

/* All ranks agree on layout, schedule and validity of the call. The call's intervals and texts are copied; user
 * operator context must live as long as the plan. Free it with sf_plan_free. */
sf_status sf_plan_bind(const sf_call* call, MPI_Comm comm, sf_plan** plan);

/* Reduces the rows at `first` (and `second`) into `result`. Allocates nothing. One thread at a time. After a failure
 * `result` may be written in part; so it may after a failed one-shot call. */
sf_status sf_plan_run(sf_plan* plan, const void* first, const void* second, void* result);

/* The same in two phases: memory given to start must stay valid until the run ends. test sets *done; wait blocks. */
sf_status sf_plan_start(sf_plan* plan, const void* first, const void* second, void* result);
sf_status sf_plan_test(sf_plan* plan, int* done);
sf_status sf_plan_wait(sf_plan* plan);

/* Binds a bundle: several reductions that share every message. All calls have the same root and schedule; operation,
 * type, method, columns and layout are each call's own. The results are those of the calls by themselves. Run and start
 * a bundle with the functions below; test, wait and free as above. */
sf_status sf_bundle_bind(const sf_call* calls, size_t count, MPI_Comm comm, sf_plan** plan);

/* Where one call of a bundle has its rows, and where its result goes. */
typedef struct sf_data {
  const void* first;
  const void* second; /* the other factors of SF_DOT, the mask of SF_MASKED_SUM, else NULL */
  void* result;       /* may be NULL on ranks that get none */
} sf_data;

/* `data` has one entry per call. A null pointer where data are needed, or another `count` than was bound, fails the run
 * on every rank. Calls succeed or fail together, except for SF_EMPTY: then the other calls' results are valid, and
 * sf_bundle_status says which call was empty. */
sf_status sf_bundle_run(sf_plan* plan, const sf_data* data, size_t count);
sf_status sf_bundle_start(sf_plan* plan, const sf_data* data, size_t count);
/* How the last run ended for one call of the bundle. On ranks that get no result none is SF_EMPTY. */
sf_status sf_bundle_status(const sf_plan* plan, size_t call);

/* What the last run cost this rank. */
typedef struct sf_figures {
  uint64_t messages; /* sent by this rank */
  uint64_t bytes;    /* payload of these, headers included */
  uint32_t rounds;   /* messages on the longest chain before this rank was done; 0 unless traced */
} sf_figures;

/* Turns tracing on or off: messages carry their logical time, so that rounds are counted; each message is copied. */
sf_status sf_plan_trace(sf_plan* plan, int on);
sf_status sf_plan_figures(const sf_plan* plan, sf_figures* figures);

/* What was agreed, for people: a few lines of text, valid as long as the plan. */
const char* sf_plan_describe(const sf_plan* plan);
/* The name of the schedule in force. */
const char* sf_plan_schedule(const sf_plan* plan);

/* Frees a plan, in any order and on each rank by itself, even after MPI_Finalize. A run under way is given up: the
 * other ranks must give it up as well. Does nothing while another thread is using the plan. */
void sf_plan_free(sf_plan* plan);

/* The MPI library's own name and version. */
const char* sf_mpi_library(void);

#ifdef __cplusplus
}
#endif

#endif
