/* Preloaded into tests over MPI, built for each MPI library. It makes the library as slow and as disorderly as the MPI
 * standard allows:
 * - completions are reported late, or in another order;
 * - ranks fall behind;
 * - sends wait for their receives, as large sends do;
 * - a write to a window arrives in two parts;
 * - a read from a window leaves other numbers in the buffer until it is done;
 * - there are few tags.
 * So a test that fails with it shows a fault of Steadfold.
 *
 * STEADFOLD_TEST_UNSTEADY is a seed; if it is unset or 0, nothing changes. Every thread of every rank draws its own
 * random numbers, so a seed repeats the kinds of trouble, but not their moments.
 *
 * The file has only functions that src/ calls, by their PMPI_ names. Launchers, which do not use MPI, inherit the
 * preloaded library. So it is not linked to MPI, and looks the library's functions up when they are called. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef OPEN_MPI /* whose constants are objects of the library */
#pragma weak ompi_request_null
#pragma weak ompi_mpi_uint64_t
#endif

/* Finds the function of the MPI library, or of a test that replaces it. */
#define FIND(real, name) ((real) != NULL ? (void)0 : (void)(*(void**)&(real) = dlsym(RTLD_NEXT, name)))

typedef int (*Test)(MPI_Request*, int*, MPI_Status*);

/* --- chance --- */

static __thread struct {
  int is_known;
  uint64_t seed; /* 0: nothing changes */
  uint64_t state;
  uint64_t season;
  uint64_t seasons;
  uint64_t polls_left; /* until the season ends */
} own;

/* The last step of splitmix64. */
static uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

static uint64_t number(void) { return mixed(own.state += 0x9e3779b97f4a7c15u); }
static uint64_t below(uint64_t end) { return number() % end; }

static uint64_t number_in_environment(const char* name) {
  const char* const text = getenv(name);
  return text == NULL ? 0 : strtoull(text, NULL, 0);
}

static int is_unsteady(void) {
  static uint64_t threads = 0;
  if (!own.is_known) {
    const uint64_t rank = number_in_environment("OMPI_COMM_WORLD_RANK") + number_in_environment("PMI_RANK");
    own.is_known = 1;
    own.seed = number_in_environment("STEADFOLD_TEST_UNSTEADY");
    own.state = mixed(own.seed) ^ mixed(rank << 32 | __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED));
  }
  return own.seed != 0;
}

static int one_in(uint64_t calls) { return is_unsteady() && below(calls) == 0; }

static void nap(void) {
  const struct timespec length = {0, (long)below(200000)};
  nanosleep(&length, NULL);
}

/* Sleeps at random, so that ranks get out of step. */
static void lag(void) {
  if (one_in(32)) nap();
}

/* --- reads of a window --- */

static pthread_mutex_t windows_mutex = PTHREAD_MUTEX_INITIALIZER; /* guards `reads` and `parts` */

/* A read arrives in memory of this file first. The caller gets a request of this file, because MPI libraries return the
 * same request for all reads that are done at once. */
static struct Read {
  MPI_Request given; /* the request that the caller has */
  MPI_Request real;
  void* words; /* NULL: not in use */
  void* target;
  size_t bytes;
} reads[64];

static struct Read* end_of_reads(void) { return reads + sizeof reads / sizeof reads[0]; }

static int end_if_done(struct Read* read) {
  static __thread Test test = NULL;
  static __thread int (*complete)(MPI_Request) = NULL;
  int done = 0;
  FIND(test, "PMPI_Test");
  FIND(complete, "PMPI_Grequest_complete");
  if (test(&read->real, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) abort();
  if (!done) return 0;
  memcpy(read->target, read->words, read->bytes);
  free(read->words);
  read->words = NULL;
  complete(read->given);
  return 1;
}

static int is_being_read(MPI_Request request) {
  int is_open = 0;
  pthread_mutex_lock(&windows_mutex);
  for (struct Read* read = reads; read != end_of_reads(); ++read)
    if (read->words != NULL && read->given == request) is_open = !end_if_done(read);
  pthread_mutex_unlock(&windows_mutex);
  return is_open;
}

static int query_nothing(void* state, MPI_Status* status) { return (void)state, (void)status, MPI_SUCCESS; }
static int free_nothing(void* state) { return (void)state, MPI_SUCCESS; }
static int cancel_nothing(void* state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

/* Takes a free entry of `reads`, with memory and a request; NULL: there is none. */
static struct Read* begin_read(void* target, int count) {
  static __thread int (*start)(MPI_Grequest_query_function*, MPI_Grequest_free_function*, MPI_Grequest_cancel_function*,
                               void*, MPI_Request*) = NULL;
  struct Read* read = reads;
  FIND(start, "PMPI_Grequest_start");
  while (read != end_of_reads() && read->words != NULL) ++read;
  if (read == end_of_reads()) return NULL;
  read->target = target;
  read->bytes = (size_t)count * sizeof(uint64_t);
  read->words = malloc(read->bytes);
  if (read->words == NULL) return NULL;
  if (start(query_nothing, free_nothing, cancel_nothing, NULL, &read->given) != MPI_SUCCESS) abort();
  return read;
}

/* Overwrites words with random numbers, or with numbers a little larger than before. */
static void scribble(uint64_t* words, int count) {
  for (int i = 0; i < count; ++i) words[i] = below(2) == 0 ? words[i] + below(8) : number() >> below(64);
}

int PMPI_Rget_accumulate(const void* data, int count, MPI_Datatype type, void* found, int found_count,
                         MPI_Datatype of_found, int target, MPI_Aint place, int there, MPI_Datatype of_there, MPI_Op op,
                         MPI_Win window, MPI_Request* request) {
  static __thread int (*real)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Aint, int,
                              MPI_Datatype, MPI_Op, MPI_Win, MPI_Request*) = NULL;
  FIND(real, "PMPI_Rget_accumulate");
  lag();
  pthread_mutex_lock(&windows_mutex);
  struct Read* const read = of_found == MPI_UINT64_T && one_in(2) ? begin_read(found, found_count) : NULL;
  const int error = real(data, count, type, read != NULL ? read->words : found, found_count, of_found, target, place,
                         there, of_there, op, window, read != NULL ? &read->real : request);
  if (read != NULL) {
    if (error != MPI_SUCCESS) abort();
    *request = read->given;
    scribble(found, found_count);
  }
  pthread_mutex_unlock(&windows_mutex);
  return error;
}

/* --- completions --- */

/* Counts a poll. Some requests are held back for a season of up to 256 polls. In every third season no request is held
 * back, so everything is reported in the end. */
static void count_poll(void) {
  if (own.polls_left == 0) {
    own.polls_left = 1 + below((uint64_t)2 << below(8));
    own.season = number();
    own.seasons += 1;
  }
  own.polls_left -= 1;
}

static int is_held_back(MPI_Request request) {
  return own.seasons % 3 != 0 && mixed(own.season ^ (uint64_t)(uintptr_t)request) % 8 == 0;
}

int PMPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  static __thread Test real = NULL;
  FIND(real, "PMPI_Test");
  if (is_unsteady() && *request != MPI_REQUEST_NULL) {
    count_poll();
    if (is_held_back(*request) || is_being_read(*request)) {
      *done = 0;
      return MPI_SUCCESS;
    }
  }
  return real(request, done, status);
}

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  static __thread int (*real)(MPI_Request*, MPI_Status*) = NULL;
  FIND(real, "PMPI_Wait");
  lag();
  while (is_being_read(*request)) continue;
  return real(request, status);
}

/* Some tests read windows, and call MPI_Wait themselves. */
int MPI_Wait(MPI_Request* request, MPI_Status* status) { return PMPI_Wait(request, status); }

int PMPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  static __thread int (*real)(int, MPI_Request*, MPI_Status*) = NULL;
  FIND(real, "PMPI_Waitall");
  lag();
  for (int i = 0; i < count; ++i)
    while (is_being_read(requests[i])) continue;
  return real(count, requests, statuses);
}

enum { most_requests = 64 };

static void shuffle(int count, int* order) {
  for (int i = 0; i < count; ++i) {
    const int at = (int)below((uint64_t)i + 1);
    order[i] = order[at];
    order[at] = i;
  }
}

/* Tests one request after the other, in random order. Half the time it stops at the first request that is done. The
 * requests are never reads of windows. */
int PMPI_Testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  static __thread int (*real)(int, MPI_Request*, int*, int*, MPI_Status*) = NULL;
  FIND(real, "PMPI_Testsome");
  if (!is_unsteady() || count > most_requests) return real(count, requests, done, indices, statuses);
  count_poll();
  int order[most_requests];
  shuffle(count, order);
  const int most = below(2) == 0 ? 1 : count;
  int open = 0;
  int result = MPI_SUCCESS;
  *done = 0;
  for (int i = 0; i < count && *done < most; ++i) {
    MPI_Request* const request = &requests[order[i]];
    if (*request == MPI_REQUEST_NULL) continue;
    open += 1;
    if (is_held_back(*request)) continue;
    int found = 0;
    int index = 0;
    MPI_Status status;
    const int error = real(1, request, &found, &index, &status);
    if (found == 1) {
      if (error == MPI_SUCCESS) status.MPI_ERROR = MPI_SUCCESS;
      if (error != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;
      if (statuses != MPI_STATUSES_IGNORE) statuses[*done] = status;
      indices[(*done)++] = order[i];
    } else if (error != MPI_SUCCESS && *done == 0) {
      return error;
    }
  }
  if (open == 0) *done = MPI_UNDEFINED;
  return result;
}

/* Called for progress only. Sometimes it makes none. */
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* is_there, MPI_Status* status) {
  static __thread int (*real)(int, int, MPI_Comm, int*, MPI_Status*) = NULL;
  FIND(real, "PMPI_Iprobe");
  if (!one_in(4)) return real(source, tag, comm, is_there, status);
  *is_there = 0;
  return MPI_SUCCESS;
}

/* --- beginnings --- */

/* Sends become synchronous: the library must not copy their data and complete them early. */
int PMPI_Isend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
               MPI_Request* request) {
  static __thread int (*real)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = NULL;
  static __thread int (*waiting)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = NULL;
  FIND(real, "PMPI_Isend");
  FIND(waiting, "PMPI_Issend");
  lag();
  return (one_in(4) ? waiting : real)(data, count, type, target, tag, comm, request);
}

#define LAGS(name, parameters, arguments)         \
  int name parameters {                           \
    static __thread int(*real) parameters = NULL; \
    FIND(real, #name);                            \
    lag();                                        \
    return real arguments;                        \
  }

LAGS(PMPI_Irecv, (void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request),
     (data, count, type, source, tag, comm, request))
LAGS(PMPI_Iallreduce,
     (const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
     (data, result, count, type, op, comm, request))
LAGS(PMPI_Iallgather,
     (const void* data, int count, MPI_Datatype type, void* all, int each, MPI_Datatype of_all, MPI_Comm comm,
      MPI_Request* request),
     (data, count, type, all, each, of_all, comm, request))
LAGS(PMPI_Iallgatherv,
     (const void* data, int count, MPI_Datatype type, void* all, const int* counts, const int* places,
      MPI_Datatype of_all, MPI_Comm comm, MPI_Request* request),
     (data, count, type, all, counts, places, of_all, comm, request))
LAGS(PMPI_Comm_idup, (MPI_Comm comm, MPI_Comm* made, MPI_Request* request), (comm, made, request))
LAGS(PMPI_Allreduce, (const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (data, result, count, type, op, comm))
LAGS(PMPI_Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type, root, comm))
LAGS(PMPI_Win_sync, (MPI_Win window), (window))
LAGS(PMPI_Win_flush_all, (MPI_Win window), (window))

/* --- writes to a window --- */

typedef int (*Accumulate)(const void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Op, MPI_Win,
                          MPI_Request*);

/* Words that are written before the other words of their call. The caller's request does not cover them. */
static struct Part {
  MPI_Request request;
  void* words; /* a copy; NULL: not in use */
} parts[32];

/* Frees the parts that are done. Returns a free part, or NULL. */
static struct Part* free_part(void) {
  static __thread Test test = NULL;
  struct Part* found = NULL;
  FIND(test, "PMPI_Test");
  for (struct Part* part = parts; part != parts + sizeof parts / sizeof parts[0]; ++part) {
    int done = 0;
    if (part->words != NULL && test(&part->request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done) {
      free(part->words);
      part->words = NULL;
    }
    if (part->words == NULL) found = part;
  }
  return found;
}

/* Starts to write the words. Returns whether there was a free part. */
static int write_part(Accumulate real, const uint64_t* words, int count, int target, MPI_Aint place, MPI_Op op,
                      MPI_Win window) {
  const size_t bytes = (size_t)count * sizeof *words;
  int is_written = 0;
  pthread_mutex_lock(&windows_mutex);
  struct Part* const part = free_part();
  if (part != NULL && (part->words = malloc(bytes)) != NULL) {
    memcpy(part->words, words, bytes);
    is_written = real(part->words, count, MPI_UINT64_T, target, place, count, MPI_UINT64_T, op, window,
                      &part->request) == MPI_SUCCESS;
    if (!is_written) {
      free(part->words);
      part->words = NULL;
    }
  }
  pthread_mutex_unlock(&windows_mutex);
  return is_written;
}

/* Writes of words are atomic, calls are not: in some calls the first or the last words arrive before the others. src/
 * counts displacements in windows in words. */
int PMPI_Raccumulate(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int there,
                     MPI_Datatype of_there, MPI_Op op, MPI_Win window, MPI_Request* request) {
  static __thread Accumulate real = NULL;
  FIND(real, "PMPI_Raccumulate");
  lag();
  const int is_of_words = type == MPI_UINT64_T && of_there == MPI_UINT64_T && count == there;
  if (!is_of_words || count < 2 || !one_in(4))
    return real(data, count, type, target, place, there, of_there, op, window, request);
  const uint64_t* const words = data;
  const int first = 1 + (int)below((uint64_t)count - 1);
  const int ends_first = (int)below(2);
  const int early = ends_first ? first : 0;
  const int early_count = ends_first ? count - first : first;
  const int late = ends_first ? 0 : first;
  const int late_count = count - early_count;
  if (!write_part(real, words + early, early_count, target, place + early, op, window))
    return real(data, count, type, target, place, there, of_there, op, window, request);
  if (below(4) == 0) nap();
  return real(words + late, late_count, type, target, place + late, late_count, of_there, op, window, request);
}

int PMPI_Win_unlock_all(MPI_Win window) {
  static __thread int (*real)(MPI_Win) = NULL;
  FIND(real, "PMPI_Win_unlock_all");
  lag();
  const int error = real(window); /* completes all writes */
  pthread_mutex_lock(&windows_mutex);
  free_part();
  pthread_mutex_unlock(&windows_mutex);
  return error;
}

/* --- tags --- */

/* With an odd seed the last tag is the least that the standard allows. */
int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* known) {
  static int last_tag = 32767;
  static __thread int (*real)(MPI_Comm, int, void*, int*) = NULL;
  FIND(real, "PMPI_Comm_get_attr");
  const int error = real(comm, keyval, value, known);
  if (error == MPI_SUCCESS && *known && keyval == MPI_TAG_UB && is_unsteady() && own.seed % 2 == 1)
    *(int**)value = &last_tag;
  return error;
}
