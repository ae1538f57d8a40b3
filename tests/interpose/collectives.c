/* A program that knows nothing of Steadfold. It reduces hostile numbers by every function of MPI that reduces and
 * compares each result, bit for bit, with the tree over ranks, which it works out level by level on numbers that every
 * rank can make by itself. Every call is made in another floating-point environment, and every rank is in another one;
 * the expected results are worked out in the usual one. Without the interposer the program fails. */
#define _GNU_SOURCE /* for feenableexcept */
#include <float.h>
#include <math.h>
#include <mpi.h>
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h> /* persistent calls */
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "mixed.h"

enum { most_ranks = 16 };

static int failures = 0;
static int world_rank = 0;
static int environment = 0; /* the program's own */

static void fail(const char* function, const char* what, int size, long index) {
  if (++failures <= 5)
    fprintf(stderr, "rank %d: %s of %s on %d ranks is wrong at %ld\n", world_rank, function, what, size, index);
}

/* --- numbers --- */

/* Cancellation, wide exponents, zeros of both signs, and now and then an infinity or a NaN. At some indices all ranks
 * have subnormal numbers. */
static double hostile(int rank, long index) {
  const uint64_t bits = mixed((uint64_t)index * 64 + (uint64_t)rank);
  const double sign = bits & 1 ? -1.0 : 1.0;
  if (index % 31 == 30) return sign * (double)(bits >> 60) * 0x1p-1074;
  if (index % 97 == 96 && rank == index % 5) return bits & 2 ? (double)NAN : sign * (double)INFINITY;
  if (bits % 11 == 3) return sign * 0.0;
  const int exponent = (int)(bits >> 8 & 63) - 32;
  return sign * ldexp(1.0 + (double)(bits >> 12) * 0x1p-52, bits % 7 == 0 ? exponent * 8 : exponent / 8);
}

static double complex_part(int rank, long index, int part) { return hostile(rank, 2 * index + part); }

/* --- what is reduced --- */

typedef union {
  double d[4];
  float f[2];
  long double l;
  uint64_t u;
  struct {
    double value;
    int index;
  } at;
} Element;

typedef struct {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  size_t bytes; /* of an element in memory */
  void (*make)(int rank, long index, void* element);
  void (*combine)(const void* left, void* right); /* right = left op right */
  size_t compared;                                /* bytes of an element that count; 0: all */
} Case;

static void make_double(int rank, long index, void* e) { *(double*)e = hostile(rank, index); }
static void make_float(int rank, long index, void* e) {
  const double number = hostile(rank, index);
  *(float*)e = (float)(index % 31 == 30 ? number * 0x1p925 : number); /* also subnormal */
}
static void make_complex(int rank, long index, void* e) {
  ((double*)e)[0] = complex_part(rank, index, 0);
  ((double*)e)[1] = complex_part(rank, index, 1);
}
static void make_factor(int rank, long index, void* e) { *(double*)e = 1.0 + hostile(rank, index % 90) * 0x1p-30; }
static void make_long_double(int rank, long index, void* e) {
  memset(e, 0, sizeof(long double));
  *(long double*)e = index % 7 == 3 ? LDBL_MAX : (long double)hostile(rank, index % 96) * 1.1L; /* some overflow */
}
static void make_zero(int rank, long index, void* e) {
  memset(e, 0, sizeof(long double));
  *(long double*)e = mixed((uint64_t)(index + rank)) & 1 ? -0.0L : 0.0L;
}
static void make_word(int rank, long index, void* e) {
  const uint64_t word = mixed((uint64_t)index * 64 + (uint64_t)rank);
  memcpy(e, &word, sizeof word);
}
static void make_subnormal(int rank, long index, void* e) {
  *(double*)e = (double)((int)(mixed((uint64_t)index * 64 + (uint64_t)rank) % 201) - 100) * 0x1p-1074;
}
static void make_pair(int rank, long index, void* e) {
  memset(e, 0, 16);
  if (index % 2 == 0)
    *(double*)e = mixed((uint64_t)(index + rank)) & 1 ? -0.0 : 0.0;
  else
    make_subnormal(rank, index, e);
  ((int*)e)[2] = rank;
}
static void make_gap(int rank, long index, void* e) { /* two doubles, and one between them that does not count */
  ((double*)e)[0] = hostile(rank, index % 96);
  ((double*)e)[1] = 7.0;
  ((double*)e)[2] = hostile(rank, index % 96 + 1);
}

static void canonical(double* x) {
  const uint64_t quiet = 0x7ff8000000000000u;
  if (isnan(*x)) memcpy(x, &quiet, sizeof quiet);
}
static void add_double(const void* left, void* right) { *(double*)right = *(const double*)left + *(double*)right; }
static void add_float(const void* left, void* right) { *(float*)right = *(const float*)left + *(float*)right; }
static void add_complex(const void* left, void* right) {
  ((double*)right)[0] = ((const double*)left)[0] + ((double*)right)[0];
  ((double*)right)[1] = ((const double*)left)[1] + ((double*)right)[1];
}
static void multiply_double(const void* left, void* right) { *(double*)right = *(const double*)left * *(double*)right; }
static void multiply_complex(const void* left, void* right) {
  const double a = ((const double*)left)[0], b = ((const double*)left)[1];
  const double c = ((double*)right)[0], d = ((double*)right)[1];
  const volatile double ac = a * c, bd = b * d, ad = a * d, bc = b * c;
  ((double*)right)[0] = ac - bd;
  ((double*)right)[1] = ad + bc;
}
static void add_long_double(const void* left, void* right) {
  *(long double*)right = *(const long double*)left + *(long double*)right;
}
static void max_double(const void* left, void* right) {
  if (*(const double*)left > *(double*)right) memcpy(right, left, sizeof(double));
}
/* Of long doubles, since Open MPI takes other instructions for some doubles of a vector than for a single one. */
static void max_by_library(const void* left, void* right) {
  MPI_Reduce_local(left, right, 1, MPI_LONG_DOUBLE, MPI_MAX);
}
static void minloc_by_library(const void* left, void* right) {
  MPI_Reduce_local(left, right, 1, MPI_DOUBLE_INT, MPI_MINLOC);
}

/* Tells every order and every shape of a tree from all others. */
static void mix(const void* left, void* right) {
  uint64_t a, b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  b = mixed(a) * 3 + mixed(b + 1);
  memcpy(right, &b, sizeof b);
}
static void mix_all(void* left, void* right, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) mix((uint64_t*)left + i, (uint64_t*)right + i);
}

static void mix_none(void* left, void* right, int* count, MPI_Datatype* type) {
  (void)left;
  (void)type;
  memset(right, 0, 8 * (size_t)*count);
}

/* x, y op z, w = x + z, y - w / 3: the order counts. */
static void skew(const void* left, void* right) {
  ((double*)right)[0] = ((const double*)left)[0] + ((double*)right)[0];
  ((double*)right)[2] = ((const double*)left)[2] - ((double*)right)[2] / 3;
}
static void skew_all(void* left, void* right, int* count, MPI_Datatype* type) {
  MPI_Aint lowest, extent;
  MPI_Type_get_extent(*type, &lowest, &extent);
  if (*count > 0) set_environment(0); /* its own matter, which the interposer ends */
  for (int i = 0; i < *count; ++i) skew((char*)left + i * extent, (char*)right + i * extent);
}

/* --- the tree over ranks --- */

static const Case* now;

/* The element at `index` of the reduction of ranks 0 to size - 1; ranks[r] has the numbers of rank r. */
static void oracle(const int* ranks, int size, long index, void* result) {
  Element level[most_ranks];
  int count = size;
  for (int r = 0; r < size; ++r) now->make(ranks[r], index, &level[r]);
  while (count > 1) {
    int up = 0;
    for (int i = 0; i + 1 < count; i += 2) {
      now->combine(&level[i], &level[i + 1]);
      level[up++] = level[i + 1];
    }
    if (count % 2 == 1) level[up++] = level[count - 1]; /* passes through */
    count = up;
  }
  if (size > 1 && (now->op == MPI_SUM || now->op == MPI_PROD)) {
    if (now->type == MPI_DOUBLE || now->type == MPI_C_DOUBLE_COMPLEX)
      for (size_t i = 0; i < now->bytes / sizeof(double); ++i) canonical(&level[0].d[i]);
    if (now->type == MPI_FLOAT && isnan(level[0].f[0])) {
      const uint32_t quiet = 0x7fc00000u;
      memcpy(&level[0], &quiet, sizeof quiet);
    }
  }
  memcpy(result, &level[0], now->bytes);
}

static int is_equal(const void* a, const void* b) {
  if (now->type == MPI_DOUBLE || now->type == MPI_FLOAT || now->bytes == sizeof(uint64_t))
    return memcmp(a, b, now->bytes) == 0;
  if (now->combine == skew) return memcmp(a, b, 8) == 0 && memcmp((const char*)a + 16, (const char*)b + 16, 8) == 0;
  return memcmp(a, b, now->compared > 0 ? now->compared : now->bytes) == 0;
}

static const unsigned char untouched = 0xA5;

static void check(const char* function, const int* ranks, int size, long first, long count, const char* found) {
  char expected[sizeof(Element)];
  if (environment_in_force() != environment) fail(function, "the environment", size, environment);
  environment = 0;
  set_environment(0);
  for (long i = 0; i < count; ++i) {
    oracle(ranks, size, first + i, expected);
    const char* const at = found + (size_t)i * now->bytes;
    if (!is_equal(at, expected)) {
      fail(function, now->name, size, first + i);
      return;
    }
    if (now->combine == skew && (unsigned char)at[8] != untouched && *(const double*)(at + 8) != 7.0)
      fail(function, "what stands in the gap", size, first + i);
  }
}

/* --- the calls --- */

/* How a function is called. */
typedef enum { blocking, started, persistent, large, large_started, large_persistent } Way;
enum { ways = MPI_VERSION >= 4 ? 6 : 3 };

/* By another function each time. MPI_Testall of a persistent collective call is an error in MPICH 4.0.2 and
 * 5.0.2, which is met by the standard's binary interface, too. */
static void end(MPI_Request* request, int is_persistent) {
  static int turn = 0;
  int flag = 0, index = 7, count = 0;
  (void)is_persistent;
  switch (turn++ % 9) {
    case 0: MPI_Wait(request, MPI_STATUS_IGNORE); break;
    case 1: MPI_Waitall(1, request, MPI_STATUSES_IGNORE); break;
    case 2: MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE); break;
    case 3: MPI_Waitsome(1, request, &count, &index, MPI_STATUSES_IGNORE); break;
    case 4:
      while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
      break;
    case 5:
#if defined(MPICH) || defined(MPI_ABI_VERSION)
      if (is_persistent) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
        break;
      }
#endif
      while (!flag) MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE);
      break;
    case 6:
      while (!flag) MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE);
      break;
    case 7:
      while (count == 0) MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE); /* MPI_UNDEFINED ends it, too */
      break;
    case 8:
      while (!flag) MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
  }
}

/* Input and output of the running call, and what they hold before it. */
static struct {
  void *from, *to;
  const void *fresh_from, *fresh_to;
  size_t bytes;
} buffers;
static void refresh(void) {
  memcpy(buffers.from, buffers.fresh_from, buffers.bytes);
  memcpy(buffers.to, buffers.fresh_to, buffers.bytes);
}

/* Before a persistent call is made nothing stands there that counts. */
static void spoil(void) {
  memset(buffers.from, untouched, buffers.bytes);
  memset(buffers.to, untouched, buffers.bytes);
}

/* Twice; what it takes stands there only when it is started. */
static void repeat(MPI_Request* request) {
  for (int i = 0; i < 2; ++i) {
    refresh();
    if (i == 0)
      MPI_Start(request);
    else
      MPI_Startall(1, request);
    end(request, 1);
    if (*request == MPI_REQUEST_NULL) fail("a persistent call", "the request", i, 0);
    char* const result = malloc(buffers.bytes);
    memcpy(result, buffers.to, buffers.bytes);
    memset(buffers.to, untouched, buffers.bytes);
    MPI_Wait(request, MPI_STATUS_IGNORE); /* which does nothing */
    for (size_t k = 0; k < buffers.bytes; ++k)
      if (((unsigned char*)buffers.to)[k] != untouched) fail("a persistent call", "its second end", i, (long)k);
    memcpy(buffers.to, result, buffers.bytes);
    free(result);
  }
  MPI_Request_free(request);
}

/* The environment of the next call. */
static void set_next_environment(void) {
  static int turn = 0;
  environment = (turn++ * 5 + world_rank) % environment_count;
  set_environment(environment);
}

#if MPI_VERSION >= 4
#define PREPARED(name, suffix) MPI_##name##_init##suffix
#define LARGE(Name, name, count, ...)                                                 \
  case large: MPI_##Name##_c(from, to, count, __VA_ARGS__); return;                   \
  case large_started: MPI_I##name##_c(from, to, count, __VA_ARGS__, &request); break; \
  case large_persistent:                                                              \
    spoil();                                                                          \
    PREPARED(Name, _c)(from, to, count, __VA_ARGS__, MPI_INFO_NULL, &request);        \
    repeat(&request);                                                                 \
    return;
#else
#define PREPARED(name, suffix) MPIX_##name##_init
#define LARGE(Name, name, count, ...) \
  default: return;
#endif
/* Calls MPI_Name in one of the ways. */
#define CALL(Name, name, int_count, large_count, ...)                              \
  MPI_Request request = MPI_REQUEST_NULL;                                          \
  set_next_environment();                                                          \
  switch (way) {                                                                   \
    case blocking: MPI_##Name(from, to, int_count, __VA_ARGS__); return;           \
    case started: MPI_I##name(from, to, int_count, __VA_ARGS__, &request); break;  \
    case persistent:                                                               \
      spoil();                                                                     \
      PREPARED(Name, )(from, to, int_count, __VA_ARGS__, MPI_INFO_NULL, &request); \
      repeat(&request);                                                            \
      return;                                                                      \
      LARGE(Name, name, large_count, __VA_ARGS__)                                  \
  }                                                                                \
  end(&request, 0);                                                                \
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* behind MPI_Request_get_status; else it does nothing */

static void call_all(const void* from, void* to, long count, MPI_Comm comm, Way way) {
  CALL(Allreduce, allreduce, (int)count, count, now->type, now->op, comm)
}
static void call_reduce(const void* from, void* to, long count, int root, MPI_Comm comm, Way way) {
  CALL(Reduce, reduce, (int)count, count, now->type, now->op, root, comm)
}
static void call_scan(const void* from, void* to, long count, MPI_Comm comm, Way way) {
  CALL(Scan, scan, (int)count, count, now->type, now->op, comm)
}
static void call_exscan(const void* from, void* to, long count, MPI_Comm comm, Way way) {
  CALL(Exscan, exscan, (int)count, count, now->type, now->op, comm)
}
static void call_block(const void* from, void* to, long count, MPI_Comm comm, Way way) {
  CALL(Reduce_scatter_block, reduce_scatter_block, (int)count, count, now->type, now->op, comm)
}
static void call_scatter(const void* from, void* to, const int* counts, int size, MPI_Comm comm, Way way) {
  MPI_Count large_counts[most_ranks];
  for (int r = 0; r < size; ++r) large_counts[r] = counts[r];
  (void)large_counts;
  CALL(Reduce_scatter, reduce_scatter, counts, large_counts, now->type, now->op, comm)
}

/* Every function with `count` elements on a communicator whose rank r has the numbers of ranks[r]. */
static void reduce_all_ways(MPI_Comm comm, const int* ranks, long count, int is_in_place, Way way) {
  int size, rank;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  const size_t bytes = now->bytes * (size_t)(count > 0 ? count : 1);
  const long wide = count * size; /* of what is scattered */
  char* const from = malloc(bytes * (size_t)size + 64);
  char* const to = malloc(bytes * (size_t)size + 64);
  char* const own = calloc(1, bytes * (size_t)size + 64); /* what was in `from` */
  for (long i = 0; i < wide; ++i) now->make(ranks[rank], i, own + (size_t)i * now->bytes);
  const void* const input = is_in_place ? MPI_IN_PLACE : from;
  const size_t all_bytes = bytes * (size_t)size;
  char* const garbage = malloc(all_bytes);
  memset(garbage, untouched, all_bytes);
  buffers.from = from;
  buffers.to = to;
  buffers.fresh_from = own;
  buffers.fresh_to = is_in_place ? own : garbage;
  buffers.bytes = now->bytes * (size_t)(wide > 0 ? wide : 1);
  refresh();
  call_all(input, to, count, comm, way);
  check("Allreduce", ranks, size, 0, count, to);
  if (memcmp(from, own, now->bytes * (size_t)count) != 0) fail("Allreduce", "the input", size, 0);

  for (int root = 0; root<size; root += size> 1 ? size - 1 : 1) {
    refresh();
    call_reduce(rank == root ? input : from, to, count, root, comm, way);
    if (rank == root) check("Reduce", ranks, size, 0, count, to);
  }

  refresh();
  call_scan(input, to, count, comm, way);
  check("Scan", ranks, rank + 1, 0, count, to);
  refresh();
  call_exscan(input, to, count, comm, way);
  if (rank > 0) check("Exscan", ranks, rank, 0, count, to);
  if (rank == 0 && count > 0 && memcmp(to, buffers.fresh_to, now->bytes) != 0)
    fail("Exscan", "the buffer of rank 0", size, 0);

  refresh();
  call_block(input, to, count, comm, way);
  check("Reduce_scatter_block", ranks, size, count * rank, count, to);

  int counts[most_ranks]; /* none, all of one rank's, and so on */
  long begin = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = (int)(r % 3 == 1 ? 0 : count / (r + 1));
    if (r < rank) begin += counts[r];
  }
  refresh();
  call_scatter(input, to, counts, size, comm, way);
  check("Reduce_scatter", ranks, size, begin, counts[rank], to);
  free(from);
  free(to);
  free(own);
  free(garbage);
}

/* More than one round of the way that wide vectors take. */
static void reduce_many(const int* ranks) {
  const long count = 600000;
  char* const to = malloc(now->bytes * (size_t)count);
  for (long i = 0; i < count; ++i) now->make(world_rank, i, to + (size_t)i * now->bytes);
  call_all(MPI_IN_PLACE, to, count, MPI_COMM_WORLD, blocking);
  check("Allreduce", ranks, 3, 0, count, to);
  free(to);
}

/* Of each number of elements some ways to call, from `turn` on: all come in turn. */
static void reduce_on(MPI_Comm comm, const int* ranks, int is_thorough, int turn) {
  static const long counts[] = {1, 255, 0, 3, 700};
  for (int c = 0; c < (is_thorough ? 5 : 2); ++c)
    for (int each = 0; each < (is_thorough ? 3 : 1); ++each, turn += 5)
      reduce_all_ways(comm, ranks, counts[c], turn / ways % 2 == 1, (Way)(turn % ways));
}

/* On communicators whose ranks stand in another order, and of some ranks alone. Ranks of one half make more calls there
 * before they meet all others. */
static void reduce_on_parts(int size, int turn) {
  int reversed[most_ranks], part[most_ranks], all[most_ranks];
  MPI_Comm backwards, half;
  int part_size = 0;
  for (int r = 0; r < size; ++r) {
    all[r] = r;
    reversed[r] = size - 1 - r;
    if (r % 2 == world_rank % 2) part[part_size++] = r;
  }
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - world_rank, &backwards);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  reduce_on(half, part, 0, turn);
  if (world_rank % 2 == 0) reduce_on(half, part, 0, turn + 1);
  reduce_on(backwards, reversed, 0, turn + 2);
  if (world_rank % 2 == 1) reduce_on(half, part, 0, turn + 1);
  reduce_on(MPI_COMM_WORLD, all, 0, turn + 3);
  reduce_on(MPI_COMM_SELF, &world_rank, 0, turn + 4);
  MPI_Comm_free(&backwards);
  MPI_Comm_free(&half);
}

/* Sums of small integers between two groups: passed on, and right. */
static void reduce_between_groups(int size) {
  MPI_Comm half, between;
  double mine = world_rank + 1, found = 0, expected = 0;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 5, &between);
  MPI_Allreduce(&mine, &found, 1, MPI_DOUBLE, MPI_SUM, between);
  for (int r = 0; r < size; ++r)
    if (r % 2 != world_rank % 2) expected += r + 1;
  if (memcmp(&found, &expected, sizeof found) != 0) fail("Allreduce", "an intercommunicator", size, 0);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/* The operator and the type are freed before their last call's result is looked at, and made again with other meanings.
 * Where calls are started, two of them use the operator, and the first ends before the second. */
static void reduce_and_free(int size) {
  for (int i = 0; i < 20; ++i) {
    MPI_Op op;
    MPI_Datatype type;
    uint64_t mine[2], found[2], first[2];
    const int ranks[most_ranks] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const Case one = {"a freed operator", MPI_UINT64_T, MPI_OP_NULL, 8, make_word, mix, 0};
    MPI_Op_create(mix_all, i % 2, &op);
    MPI_Type_contiguous(1, MPI_UINT64_T, &type);
    MPI_Type_commit(&type);
    now = &one;
    make_word(world_rank, 0, &mine[0]);
    make_word(world_rank, 1, &mine[1]);
    MPI_Request request = MPI_REQUEST_NULL, first_request = MPI_REQUEST_NULL;
    if (i % 4 < 2) {
      MPI_Allreduce(mine, found, 2, type, op, MPI_COMM_WORLD);
    } else {
      MPI_Iallreduce(mine, first, 2, type, op, MPI_COMM_WORLD, &first_request);
      MPI_Iallreduce(mine, found, 2, type, op, MPI_COMM_WORLD, &request);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Wait(&first_request, MPI_STATUS_IGNORE);
    MPI_Op others;
    MPI_Op_create(mix_none, 1, &others); /* may get the freed one's handle */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Op_free(&others);
    if (i % 4 >= 2) check("Allreduce", ranks, size, 0, 2, (const char*)first);
    check("Allreduce", ranks, size, 0, 2, (const char*)found);
  }
}

enum { words_of_large = 25000 };
static void mix_large(void* left, void* right, int* count, MPI_Datatype* type) {
  (void)type;
  for (long i = 0; i < (long)*count * words_of_large; ++i) mix((uint64_t*)left + i, (uint64_t*)right + i);
}

/* Fewer elements than ranks, so large that they are gathered one by one. */
static void reduce_large(const int* ranks, int size) {
  enum { count = 2 };
  const Case words = {"words of large elements", MPI_UINT64_T, MPI_OP_NULL, 8, make_word, mix, 0};
  uint64_t* const from = malloc(2 * count * words_of_large * sizeof(uint64_t));
  uint64_t* const to = from + count * words_of_large;
  MPI_Op op;
  MPI_Datatype type;
  now = &words;
  for (long i = 0; i < count * words_of_large; ++i) make_word(ranks[world_rank], i, &from[i]);
  MPI_Op_create(mix_large, 0, &op);
  MPI_Type_contiguous(words_of_large, MPI_UINT64_T, &type);
  MPI_Type_commit(&type);
  MPI_Allreduce(from, to, count, type, op, MPI_COMM_WORLD);
  check("Allreduce", ranks, size, 0, count * words_of_large, (const char*)to);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  free(from);
}

/* Started reductions and messages at once, which ranks wait for in orders of their own. */
static void reduce_mixed(const int* ranks, int size) {
  enum { most = 24, count = 5 };
  for (int round = 0; round < 20; ++round) {
    double from[most][count], to[most][count], message[most], received[most];
    MPI_Request requests[3 * most], all[3 * most];
    int left = 0, indices[3 * most];
    uint64_t random = mixed((uint64_t)(round * 100 + world_rank));
    for (int i = 0; i < most; ++i) {
      for (int k = 0; k < count; ++k) from[i][k] = hostile(ranks[world_rank], i * count + k);
      memset(to[i], 0, sizeof to[i]);
      message[i] = i;
      MPI_Irecv(&received[i], 1, MPI_DOUBLE, (world_rank + 1) % size, i, MPI_COMM_WORLD, &requests[left++]);
      if (i % 3 == 0)
        MPI_Ireduce(from[i], to[i], count, MPI_DOUBLE, MPI_SUM, i % size, MPI_COMM_WORLD, &requests[left++]);
      else
        MPI_Iallreduce(from[i], to[i], count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[left++]);
      MPI_Isend(&message[i], 1, MPI_DOUBLE, (world_rank + size - 1) % size, i, MPI_COMM_WORLD, &requests[left++]);
    }
    for (int i = left; i > 0; --i) { /* shuffled */
      random = mixed(random);
      const int other = (int)(random % (uint64_t)i);
      all[i - 1] = requests[other];
      requests[other] = requests[i - 1];
    }
    set_next_environment();
    for (int i = 0; i < left;) { /* some at a time, in one of four ways */
      random = mixed(random);
      const int some = (int)(random % 7) + 1 < left - i ? (int)(random % 7) + 1 : left - i;
      int ended = 0, index = 0;
      if (random >> 8 & 1) {
        MPI_Waitall(some, all + i, MPI_STATUSES_IGNORE);
        i += some;
      } else if (random >> 9 & 1) {
        while (ended < some) {
          int now_ended = 0;
          MPI_Waitsome(some, all + i, &now_ended, indices, MPI_STATUSES_IGNORE);
          ended += now_ended;
        }
        i += some;
      } else if (random >> 10 & 1) {
        for (; ended < some; ++ended) MPI_Waitany(some, all + i, &index, MPI_STATUS_IGNORE);
        i += some;
      } else {
        int flag = 0;
        while (!flag) MPI_Test(all + i, &flag, MPI_STATUS_IGNORE);
        ++i;
      }
    }
    for (int i = 0; i < most; ++i) {
      if (received[i] != i) fail("Irecv", "a message", size, i);
      if (i % 3 != 0 || world_rank == i % size) check("Iallreduce", ranks, size, i * count, count, (char*)to[i]);
    }
  }
}

int main(int argc, char** argv) {
  int size;
  MPI_Op ordered, unordered, skewed;
  MPI_Datatype gap, resized;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > most_ranks) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Op_create(mix_all, 0, &ordered);
  MPI_Op_create(mix_all, 1, &unordered); /* it says so, and it is not true: the tree's order is kept all the same */
  MPI_Op_create(skew_all, 0, &skewed);
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &gap);
  MPI_Type_create_resized(gap, 0, 24, &resized);
  MPI_Type_commit(&resized);
  const Case cases[] = {
      {"sums of doubles", MPI_DOUBLE, MPI_SUM, 8, make_double, add_double, 0},
      {"sums of floats", MPI_FLOAT, MPI_SUM, 4, make_float, add_float, 0},
      {"complex sums", MPI_C_DOUBLE_COMPLEX, MPI_SUM, 16, make_complex, add_complex, 0},
      {"products", MPI_DOUBLE, MPI_PROD, 8, make_factor, multiply_double, 0},
      {"complex products", MPI_C_DOUBLE_COMPLEX, MPI_PROD, 16, make_complex, multiply_complex, 0},
      {"sums of long doubles", MPI_LONG_DOUBLE, MPI_SUM, sizeof(long double), make_long_double, add_long_double, 10},
      {"the greatest of zeros", MPI_LONG_DOUBLE, MPI_MAX, sizeof(long double), make_zero, max_by_library, 10},
      {"the greatest of subnormal numbers", MPI_DOUBLE, MPI_MAX, 8, make_subnormal, max_double, 0},
      {"the place of the least of zeros", MPI_DOUBLE_INT, MPI_MINLOC, 16, make_pair, minloc_by_library, 12},
      {"an operator with an order", MPI_UINT64_T, ordered, 8, make_word, mix, 0},
      {"an operator that hides its order", MPI_UINT64_T, unordered, 8, make_word, mix, 0},
      {"a type with gaps", resized, skewed, 24, make_gap, skew, 0},
  };
  int all[most_ranks];
  for (int r = 0; r < size; ++r) all[r] = r;
  for (int i = 0; i < environment_count; ++i) {
    set_environment(i);
    if (environment_in_force() != i) fail("this program", "the environment", size, i);
  }
  set_environment(0);
  const char* const only = argc > 1 ? argv[1] : "";
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    now = &cases[i];
    if (strstr(now->name, only) == NULL) continue;
    reduce_on(MPI_COMM_WORLD, all, 1, (int)i);
    reduce_on_parts(size, (int)i);
  }
  now = &cases[0];
  reduce_all_ways(MPI_COMM_WORLD, all, 40000, 1, blocking); /* in several rounds */
  reduce_all_ways(MPI_COMM_WORLD, all, 40000, 0, started);
  if (size == 3) reduce_many(all);
  reduce_mixed(all, size);
  reduce_large(all, size);
  if (size > 1) reduce_between_groups(size);
  reduce_and_free(size);
  MPI_Op_free(&ordered);
  MPI_Op_free(&unordered);
  MPI_Op_free(&skewed);
  MPI_Type_free(&gap);
  MPI_Type_free(&resized);
  int all_failures = 0;
  MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0) printf("%d results are wrong\n", all_failures);
  MPI_Finalize();
  return all_failures != 0;
}
