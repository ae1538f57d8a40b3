/* Reductions between the threads of one process: the C interface that needs no MPI. (steadfold_mpi.h has teams of the
 * threads of several processes.)
 *
 * A team has workers, one for each thread that takes part. The workers reduce with each other through shared memory, as
 * the ranks of a group do: steadfold_group.h describes the functions of groups, and how calls fail. Worker w is rank w.
 * The threads are the caller's, of any kind; the library makes none. */
#ifndef STEADFOLD_STEADFOLD_TEAM_H
#define STEADFOLD_STEADFOLD_TEAM_H

#include "steadfold/steadfold_group.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A team of workers that reduce with each other, one for each thread that takes part. */
typedef struct sf_team sf_team;

/* The largest number of workers of a team. */
#define SF_TEAM_MOST 1024

/* Makes a team of `workers` workers, 1 to SF_TEAM_MOST. One thread makes the team, all may use it. Free the team with
 * sf_team_free. Local. */
sf_status sf_team_create(int32_t workers, sf_team** team);

/* Returns the number of workers on this process. -1 for NULL. */
int32_t sf_team_size(const sf_team* team);

/* Returns the group of one worker, `worker` counted from 0. Only one thread at a time may use it. The group lives as
 * long as the team. The first call on the group waits until every worker has made a call, each on its own thread.
 * Local. */
sf_status sf_team_group(sf_team* team, int32_t worker, sf_group** group);

/* Binds the calling thread to the core of a worker. The library chooses among the cores that were available to the
 * thread that made the team; neighbouring workers get neighbouring cores, and all cores are used. Teams of ranks on one
 * node that may use the same cores divide them. The thread stays bound, and threads that it starts inherit the binding.
 * Bind before the first call on the worker's group: that call finds the package (socket) of every worker, which the
 * schedules `two_level` and `root_group_last` use. Does nothing if STEADFOLD_BIND=off is in the environment. Local. */
sf_status sf_team_bind(sf_team* team, int32_t worker);

/* Sets the longest time, in nanoseconds, that a call waits for other workers. 0, the default: without limit. Set it
 * before any worker makes a call. A call that waits longer fails with SF_TRANSPORT_FAILED, and so do all calls of the
 * team on this process, including calls under way. None of them returns before all have stopped reading the memory of
 * others. After that the team cannot be used any more. Calls with their own timeout, such as sf_request_wait_for, use
 * only that. Local. */
sf_status sf_team_set_timeout(sf_team* team, uint64_t nanoseconds);

/* Frees the team and its groups. No thread may be using the team or a group of it. Does nothing for NULL. The memory of
 * calls under way is never freed. Plans may outlive their team. */
void sf_team_free(sf_team* team);

#ifdef __cplusplus
}
#endif

#endif
