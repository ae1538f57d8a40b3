/* Preloaded into tests over MPI, and a part of those of teams: who waits naps, in Open MPI instead of yielding its
 * core, in MPICH over UCX instead of polling on. Where other work wants the core, who yields may have to wait a time
 * slice of the system each time, a hundred times as long as a nap; so a test beside a compiler took a minute instead of
 * a second. Naps are not shorter, since in virtual machines timers may be expensive: with naps of 2 us five ranks on
 * two cores took 20 s for what takes 0.8 s with these, nearly all of it in the system. Three ranks and more, which
 * outnumber the cores of small machines, nap three times as long: those that wait took half of the cores' time from
 * those that work. STEADFOLD_TEST_NAP: another length in nanoseconds. */
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
  if (!is_punctual) is_punctual = prctl(PR_SET_TIMERSLACK, 1000) == 0; /* else 50 microseconds are added to every nap */
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
