/* Programs that know nothing of Steadfold, by name: programs NAME [ARGUMENT].
 * - digest SHIFT: prints a digest of what sums and extremes of hostile numbers give; rank r has those of r + SHIFT
 * - digest_started SHIFT: the same of sums by MPI_Iallreduce
 * - values: prints summands and sums, for an oracle elsewhere
 * - ends 0|1|2: rank 0 reduces to rank 1, or scans, and then sends to it, which receives first; or both start an
 *   allreduce, which one rank waits for only when it has what the other sends behind its own wait
 * - in_turn N: makes N communicators in turn and reduces on each
 * - at_once N: makes N communicators and reduces on all while they live
 * - threads: two threads reduce, each on a communicator of its own
 * - kinds: one call of each kind that a report tells apart, and several from one line
 * - across, large, one_sided: one call whose order the interposer leaves to the MPI library: between two groups, of
 *   rows that take too much memory, and MPI_Accumulate; the type of `across` has quotes in its name
 * - traced WHAT: the same calls for each WHAT, with different bytes where no elements stand; 1: with another operator
 *   in the first call, 2: with another contribution of rank 2 to the fourth and of rank 1 to the last call
 * - spawns: starts as many processes again, which make more calls
 * - gaps: elements far apart; prints the most memory that rank 0 had, in KiB
 * - rounding: fails if sums depend on how the program rounds, and on what it does to subnormal numbers
 * - refused: what the MPI library refuses is an error for the program, which goes on */
#include <fenv.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "mixed.h"

static int rank = 0, size = 1;

static double hostile(int of_rank, long index) {
  const uint64_t bits = mixed((uint64_t)index * 64 + (uint64_t)of_rank);
  const double sign = bits & 1 ? -1.0 : 1.0;
  return bits % 11 == 3 ? sign * 0.0
                        : sign * ldexp(1.0 + (double)(bits >> 12) * 0x1p-52, (int)(bits >> 8 & 63) / 4 - 8);
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static uint64_t hashed(uint64_t hash, const double* x, long count) {
  for (long i = 0; i < count; ++i) hash = mixed(hash ^ bits_of(x[i]));
  return hash;
}

/* Of all ranks: the same for every order of the ranks where results are. */
static void print_digest(uint64_t hash) {
  uint64_t all[64];
  MPI_Gather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  hash = 0;
  for (int r = 0; r < size; ++r) hash = mixed(hash ^ all[r]);
  printf("digest %016llx\n", (unsigned long long)hash);
}

static void digest(int shift) {
  static const long counts[] = {1, 5, 255, 4000, 30000};
  uint64_t hash = 0;
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
    const long count = counts[c];
    const size_t bytes = (size_t)(count * size) * sizeof(double);
    double* const from = malloc(bytes);
    double* const zeros = malloc(bytes);
    double* const to = calloc(1, bytes);
    for (long i = 0; i < count * size; ++i) {
      from[i] = hostile((rank + shift) % size, i);
      zeros[i] = mixed((uint64_t)(i * 64 + (rank + shift) % size)) & 1 ? -0.0 : 0.0;
    }
    MPI_Allreduce(from, to, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    hash = hashed(hash, to, count);
    MPI_Reduce(from, to, (int)count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) hash = hashed(hash, to, count);
    MPI_Reduce_scatter_block(from, to, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    hash = hashed(hash, to, count);
    if (shift == 0) { /* what depends on the order of ranks by any method */
      MPI_Scan(from, to, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      hash = hashed(hash, to, count);
      MPI_Allreduce(zeros, to, (int)count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      hash = hashed(hash, to, count);
    }
    free(from);
    free(zeros);
    free(to);
  }
  print_digest(hash);
}

static void digest_started(int shift) {
  enum { count = 3000 };
  static double from[count], to[2][count];
  MPI_Request requests[2];
  uint64_t hash = 0;
  for (long i = 0; i < count; ++i) from[i] = hostile((rank + shift) % size, i);
  MPI_Iallreduce(from, to[0], 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(from, to[1], count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  hash = hashed(hash, to[0], 5);
  print_digest(hashed(hash, to[1], count));
}

static void values(void) {
  enum { count = 200 };
  double mine[count], sums[count];
  for (int i = 0; i < count; ++i) mine[i] = hostile(rank, i);
  MPI_Allreduce(mine, sums, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < count; ++i) {
    for (int r = 0; r < size; ++r) printf("%a ", hostile(r, i));
    printf("%a\n", sums[i]);
  }
}

/* Rank 1 waits and then sends; rank 0 receives and then waits. */
static void ends_started(void) {
  double one = 1, sum = 0, received = 0;
  MPI_Request request;
  for (int i = 0; i < 100; ++i) {
    MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 0) MPI_Recv(&received, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&one, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    if (sum != size) exit(1);
  }
}

/* Rank 0 makes the call, by which it gets nothing from rank 1, and then sends to rank 1, which receives first. */
static void ends(int is_scan) {
  double one = 1, sum = 0, received = 0;
  for (int i = 0; i < 100; ++i) {
    if (rank == 1) MPI_Recv(&received, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is_scan)
      MPI_Scan(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
      MPI_Reduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD);
    if (rank == 0) MPI_Send(&one, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1 && sum != (is_scan ? 2 : size)) exit(1);
  }
}

static void reduce_on(MPI_Comm comm) {
  double one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  if (sum != size) exit(1);
}

/* Ranks stand in another order each time, so that one communicator is not like another with its handle. */
static void in_turn(int count) {
  for (int i = 0; i < count; ++i) {
    MPI_Comm comm;
    double one = 1, sum = 0;
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &comm);
    reduce_on(comm);
    MPI_Scan(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    if (sum != 1 + (i % 2 ? rank : size - 1 - rank)) exit(1);
    MPI_Comm_free(&comm);
  }
}

static void at_once(int count) {
  MPI_Comm* const all = malloc((size_t)count * sizeof *all);
  for (int i = 0; i < count; ++i) MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : all[i - 1], &all[i]);
  for (int i = count; i-- > 0;) reduce_on(all[i]);
  for (int i = 0; i < count; ++i) MPI_Comm_free(&all[i]);
  free(all);
}

static void* reduce_often(void* context) {
  MPI_Comm comm = *(MPI_Comm*)context;
  for (int i = 0; i < 300; ++i) {
    double mine[300], sum[300];
    const int count = 1 + i % 300;
    for (int k = 0; k < count; ++k) mine[k] = rank + k;
    if (i % 2 == 0) {
      MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, comm);
    } else {
      MPI_Request request;
      MPI_Iallreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int k = 0; k < count; ++k)
      if (sum[k] != size * (size - 1) / 2 + size * k) exit(1);
  }
  return NULL;
}

static void threads(void) {
  MPI_Comm comms[2];
  pthread_t other;
  for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  pthread_create(&other, NULL, reduce_often, &comms[1]);
  reduce_often(&comms[0]);
  pthread_join(other, NULL);
  for (int i = 0; i < 2; ++i) MPI_Comm_free(&comms[i]);
}

static void one_sided(void) {
  double x = 1, y = 0;
  MPI_Win window;
  MPI_Win_create(&y, sizeof y, sizeof y, MPI_INFO_NULL, MPI_COMM_SELF, &window);
  MPI_Win_fence(0, window);
  MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

static void kinds(void) {
  double x = 1, y = 0;
  int i = 1, n = 0, k;
  MPI_Request request;
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&i, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  MPI_Allreduce(&x, &y, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (k = 0; k < 3; ++k) MPI_Scan(&x, &y, 1, k < 2 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  one_sided();
}

static void add_words(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint begin = 0, extent = 0;
  MPI_Type_get_extent(*type, &begin, &extent);
  for (int i = 0; i < *count; ++i) *(double*)((char*)inout + i * extent) += *(double*)((char*)in + i * extent);
}

static void gaps(void) {
  enum { count = 20000, extent = 4096 };
  MPI_Datatype type;
  MPI_Op op;
  char line[256];
  char* const x = calloc(count, extent);
  char* const y = calloc(count, extent);
  MPI_Type_create_resized(MPI_DOUBLE, 0, extent, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_words, 1, &op);
  for (int i = 0; i < count; ++i) *(double*)(x + (size_t)i * extent) = i;
  MPI_Reduce(x, y, count, type, op, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < count; ++i)
    if (*(double*)(y + (size_t)i * extent) != (double)size * i) exit(1);
  FILE* const status = fopen("/proc/self/status", "r");
  while (rank == 0 && fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "VmHWM:", 6) == 0) printf("peak %ld\n", atol(line + 6));
  fclose(status);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  free(x);
  free(y);
}

static void across(void) {
  MPI_Comm half, between;
  double x = 1, y = 0;
  MPI_Type_set_name(MPI_DOUBLE, "\"doubles\" \\ of\nours");
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &between);
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/* Most of these bytes are never touched. */
static void large(void) {
  enum { count = 9, extent = 16 << 20 };
  MPI_Datatype type;
  MPI_Op op;
  MPI_Request request;
  char* const x = calloc(count, extent);
  char* const y = calloc(count, extent);
  MPI_Type_create_resized(MPI_DOUBLE, 0, extent, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_words, 1, &op);
  MPI_Iallreduce(x, y, count, type, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  free(x);
  free(y);
}

static void traced(int what) {
  enum { places = 70000 };
  double most[3], of_all[3];
  struct {
    double value;
    int index, gap;
  } pair[2], first[2];
  long double parts[4], sums[4]; /* two complex numbers */
  double* const x = malloc(3 * places * sizeof *x);
  double* const y = malloc(3 * places * sizeof *y);
  MPI_Datatype two, type;
  MPI_Op op;
  int i;
  for (i = 0; i < 3; ++i) most[i] = 1;
  for (i = 0; i < 3; ++i) /* with numbers that are the same on all ranks, every operator gives the same */
    MPI_Allreduce(most, of_all, 3, MPI_DOUBLE, what == 1 && i == 0 ? MPI_MIN : MPI_MAX, MPI_COMM_WORLD);
  memset(parts, what, sizeof parts);
  for (i = 0; i < 4; ++i) parts[i] = rank + (what == 2 && rank == 2 && i == 3 ? 1 : 0);
  MPI_Reduce(parts, sums, 2, MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD);
  memset(pair, what, sizeof pair);
  for (i = 0; i < 2; ++i) {
    pair[i].value = i;
    pair[i].index = rank;
  }
  memset(first, what, sizeof first);
  MPI_Allreduce(pair, first, 2, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  for (i = 0; i < 3 * places; ++i) x[i] = i % 3 == 1 ? what : 1; /* and y: what stands there already */
  memset(y, what, 3 * places * sizeof *y);
  if (what == 2 && rank == 1) x[3 * places - 1] = 5;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &two);
  MPI_Type_create_resized(two, 0, 3 * sizeof *x, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_words, 1, &op);
  MPI_Allreduce(x, y, places, type, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Type_free(&two);
  free(x);
  free(y);
}

static void spawns(const char* program) {
  MPI_Comm parent, children;
  int i;
  MPI_Comm_get_parent(&parent);
  for (i = 0; i < (parent == MPI_COMM_NULL ? 2 : 7); ++i) reduce_on(MPI_COMM_WORLD);
  if (parent == MPI_COMM_NULL) {
    char* arguments[] = {"spawns", NULL};
    MPI_Comm_spawn(program, arguments, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&children);
  } else {
    MPI_Comm_disconnect(&parent);
  }
}

static void sum_of_all(double each, int count, double due) {
  double x[100], y[100];
  MPI_Request request;
  int i;
  for (i = 0; i < count; ++i) x[i] = each;
  MPI_Allreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < count; ++i)
    if (bits_of(y[i]) != bits_of(due)) exit(1);
  MPI_Iallreduce(x, y, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (i = 0; i < count; ++i)
    if (bits_of(y[i]) != bits_of(due)) exit(1);
}

static void rounding(void) {
  int count;
  for (count = 1; count <= 100; count += 99) {
    fesetround(FE_UPWARD);
    sum_of_all(rank == 0 ? 1 : 1e-20, count, 1);
    fesetround(FE_TONEAREST);
#ifdef __SSE2__
    _mm_setcsr(_mm_getcsr() | 0x8040); /* what a program has that is linked with -ffast-math */
    sum_of_all(rank < 2 ? 0x0.fffffffffffffp-1022 : 0, count, 0x1.ffffffffffffep-1022);
    _mm_setcsr(_mm_getcsr() & ~0x8040u);
#endif
  }
}

static void refused(void) {
  double x[2] = {1, 2}, y[2];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (MPI_Allreduce(x, y, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, MPI_COMM_WORLD) == MPI_SUCCESS) exit(1);
#ifndef MPICH_VERSION /* as Debian builds it, it looks at no argument and crashes by itself */
  if (MPI_Allreduce(x, y, -1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS) exit(1);
  if (MPI_Reduce(x, y, 1, MPI_DOUBLE, MPI_SUM, size, MPI_COMM_WORLD) == MPI_SUCCESS) exit(1);
  if (MPI_Allreduce(x, y, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS) exit(1);
  MPI_Request request; /* what is under way cannot be freed, and ends all the same */
  if (rank == 0) MPI_Recv(y, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Iallreduce(x, y, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == 1) {
    if (MPI_Request_free(&request) == MPI_SUCCESS) exit(1);
    MPI_Send(x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (y[0] != size || y[1] != 2 * size) exit(1);
#endif
}

int main(int argc, char** argv) {
  int provided = 0;
  const char* const name = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  const int wanted = strcmp(name, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > 64 || provided < wanted) MPI_Abort(MPI_COMM_WORLD, 1);
  if (strcmp(name, "digest") == 0) digest(number);
  if (strcmp(name, "digest_started") == 0) digest_started(number);
  if (strcmp(name, "values") == 0) values();
  if (strcmp(name, "ends") == 0 && number < 2) ends(number);
  if (strcmp(name, "ends") == 0 && number == 2) ends_started();
  if (strcmp(name, "in_turn") == 0) in_turn(number);
  if (strcmp(name, "at_once") == 0) at_once(number);
  if (strcmp(name, "threads") == 0) threads();
  if (strcmp(name, "kinds") == 0) kinds();
  if (strcmp(name, "across") == 0) across();
  if (strcmp(name, "large") == 0) large();
  if (strcmp(name, "one_sided") == 0) one_sided();
  if (strcmp(name, "traced") == 0) traced(number);
  if (strcmp(name, "spawns") == 0) spawns(argv[0]);
  if (strcmp(name, "gaps") == 0) gaps();
  if (strcmp(name, "rounding") == 0) rounding();
  if (strcmp(name, "refused") == 0) refused();
  MPI_Finalize();
  return 0;
}
