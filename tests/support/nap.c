/* Preloaded into tests over MPI, and into some tests of teams. A thread that waits sleeps for a short time (a nap). In
 * Open MPI the nap replaces sched_yield; in MPICH over UCX it follows a poll that found nothing.
 * The reason: if other work wants the core, a thread that yields may wait for a time slice of the system, a hundred
 * times as long as a nap. A test beside a compiler took a minute instead of a second.
 * Shorter naps are slower, because timers may be expensive in virtual machines. With naps of 2 us, a test of five ranks
 * on two cores took 20 s instead of 0.8 s, nearly all of it in the system. If there are three or more ranks, which are
 * more than the cores of small machines, naps are three times as long. Otherwise waiting ranks took half of the cores'
 * time from working ranks.
 * STEADFOLD_TEST_NAP sets another length, in nanoseconds. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

unsigned ucp_worker_progress(void* worker);

static long length_of_naps(void) {
  const char* const given = getenv("STEADFOLD_TEST_NAP");
  const char* ranks = getenv("OMPI_COMM_WORLD_SIZE");
  if (given != NULL) return atol(given);
  if (ranks == NULL) ranks = getenv("PMI_SIZE");
  return ranks != NULL && atol(ranks) > 2 ? 60000 : 20000;
}

int sched_yield(void) {
  static __thread int is_punctual = 0;
  static __thread struct timespec nap = {0, 0};
  if (nap.tv_nsec == 0) nap.tv_nsec = length_of_naps();
  if (!is_punctual) is_punctual = prctl(PR_SET_TIMERSLACK, 1000) == 0; /* without it every nap is 50 us longer */
  nanosleep(&nap, NULL);
  return 0;
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*real)(void*) = NULL;
  unsigned events;
  if (real == NULL) *(void**)&real = dlsym(dlopen("libucp.so.0", RTLD_LAZY), "ucp_worker_progress");
  events = real(worker);
  if (events == 0) sched_yield();
  return events;
}
