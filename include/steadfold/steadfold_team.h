/* Steadfold between the threads of one process: the C interface that needs no MPI. (steadfold_mpi.h has teams of the
 * threads of several.)
 *
 * A team has workers, one for each thread that takes part. They reduce with each other through cache lines, as the
 * ranks of a group do: steadfold_group.h says what groups can do, and how calls fail. Worker w is rank w. The threads
 * are the caller's own, of any kind; the library makes none. */
#ifndef STEADFOLD_STEADFOLD_TEAM_H
#define STEADFOLD_STEADFOLD_TEAM_H

#include "steadfold/steadfold_group.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Workers that reduce with each other, one for each thread that takes part. */
typedef struct sf_team sf_team;

/* The most workers of a team. */
#define SF_TEAM_MOST 1024

/* Makes a team of `workers`, 1 to SF_TEAM_MOST. Local: one thread makes it, all may use it. Free it with
 * sf_team_free. */
sf_status sf_team_create(int32_t workers, sf_team** team);

/* How many workers there are on this process. -1 for NULL. */
int32_t sf_team_size(const sf_team* team);

/* The group that one worker uses, `worker` counted from 0; one thread at a time. Local. The first call on the group
 * waits until every worker has made one, each on a thread of its own. The group lives as long as the team. */
sf_status sf_team_group(sf_team* team, int32_t worker, sf_group** group);

/* Binds the calling thread to the core of that worker, among the cores that the thread which made the team could use:
 * workers next to each other are close, and all cores are used. Teams of ranks on one node that may use the same cores
 * divide them. A thread that is bound stays so, also for what it starts. Worth it before the first call on the worker's
 * group, which sees in which packages workers are; the schedules `two_level` and `root_group_last` go by that. With
 * STEADFOLD_BIND=off in the environment nothing is done. Local. */
sf_status sf_team_bind(sf_team* team, int32_t worker);

/* The longest that a call may wait for other workers, in nanoseconds; 0, as a team begins: for ever. To be set before
 * any worker makes a call. A call that waits longer fails with SF_TRANSPORT_FAILED, and so do all of the team's on this
 * process, those under way included; none returns before all of them have stopped reading what belongs to others. The
 * team is of no more use. Waits with a timeout of their own, as sf_request_wait_for, go by that alone. Local. */
sf_status sf_team_set_timeout(sf_team* team, uint64_t nanoseconds);

/* Frees the team and its groups. No thread may be using them; NULL is nothing. Memory of calls under way is never
 * freed. Plans may outlive their team. */
void sf_team_free(sf_team* team);

#ifdef __cplusplus
}
#endif

#endif
