/* Every call of the table in docs/calls.md, once. The reference on the site quotes the paragraphs that begin with the
 * names of calls; the others set up what they need. Prints "all calls are right" if all results are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steadfold/steadfold_accumulator.h"
#include "steadfold/steadfold_memory.h"
#include "steadfold/steadfold_mpi.h"
#include "steadfold/steadfold_names.h"
#include "steadfold/steadfold_team.h"

static MPI_Comm comm;
static int rank, ranks;
static double x[6], y[6];     /* this rank's part of 1, 2, ..., 6 and of 6, 5, ..., 1 */
static unsigned char even[6]; /* a mask of x: which elements are even */
static int32_t labels[6];     /* 0 for the elements 1, 2, 3, and 1 for 4, 5, 6 */
static uint64_t rows;         /* how many elements this rank has */

static void check(sf_status status) {
  if (status == SF_OK) return;
  fprintf(stderr, "%s\n", sf_error_text());
  MPI_Abort(comm, 1);
}
static void expect(double found, double expected) {
  if (found == expected) return;
  fprintf(stderr, "rank %d found %a (should be %a)\n", rank, found, expected);
  MPI_Abort(comm, 1);
}

static void deal(void) {
  int i;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (i = 6 * rank / ranks; i < 6 * (rank + 1) / ranks; ++i, ++rows) {
    x[rows] = i + 1;
    y[rows] = 6 - i;
    even[rows] = (i + 1) % 2 == 0;
    labels[rows] = i / 3;
  }
}

/* A call over this rank's doubles. */
static sf_call of_rows(sf_operation operation) {
  sf_call call = sf_call_default();
  call.operation = operation;
  call.rows = rows;
  return call;
}
/* A call in MPI's shape: one vector of `columns` doubles per rank. */
static sf_call of_vectors(sf_operation operation, uint64_t columns) {
  sf_call call = sf_call_default();
  call.operation = operation;
  call.layout = SF_ROW_PER_RANK;
  call.rows = 1;
  call.columns = columns;
  return call;
}

static void one_vector(void) {
  sf_call call;
  double result;

  /* SF_SUM */
  call = of_rows(SF_SUM);
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, 21);

  /* SF_PRODUCT */
  call = of_rows(SF_PRODUCT);
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, 720);

  /* SF_MIN */
  call = of_rows(SF_MIN);
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, 1);

  /* SF_MAX */
  call = of_rows(SF_MAX);
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, 6);

  /* SF_NORM2 */
  call = of_rows(SF_NORM2);
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, sqrt(91));

  /* SF_MEAN */
  call = of_rows(SF_MEAN);
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, 3.5);

  /* SF_ABS_SUM */
  call = of_rows(SF_ABS_SUM);
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, 21);

  /* SF_SUM_SQUARES */
  call = of_rows(SF_SUM_SQUARES);
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, 91);

  /* SF_NORMINF */
  call = of_rows(SF_NORMINF);
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, 6);
}

static void several_numbers(void) {
  sf_call call;

  /* SF_MIN_LOCATION */
  sf_located_f64 least;
  call = of_rows(SF_MIN_LOCATION);
  check(sf_reduce(&call, x, NULL, &least, comm));
  expect(least.value, 1);
  expect((double)least.index, 0);

  /* SF_MAX_LOCATION */
  sf_located_f64 greatest;
  call = of_rows(SF_MAX_LOCATION);
  check(sf_reduce(&call, x, NULL, &greatest, comm));
  expect(greatest.value, 6);
  expect((double)greatest.index, 5);

  /* SF_STATISTICS */
  sf_statistics found;
  call = of_rows(SF_STATISTICS);
  check(sf_reduce(&call, x, NULL, &found, comm));
  expect(found.mean, 3.5);
  expect(found.sample_variance, 3.5);
}

static void two_vectors(void) {
  sf_call call;
  double result;

  /* SF_DOT */
  call = of_rows(SF_DOT);
  check(sf_reduce(&call, x, y, &result, comm));
  expect(result, 56);

  /* SF_MASKED_SUM */
  call = of_rows(SF_MASKED_SUM);
  check(sf_reduce(&call, x, even, &result, comm));
  expect(result, 12);

  /* SF_WEIGHTED_MEAN */
  call = of_rows(SF_WEIGHTED_MEAN);
  check(sf_reduce(&call, x, y, &result, comm));
  expect(result, 56.0 / 21);

  /* SF_DOTC */
  call = of_rows(SF_DOTC);
  check(sf_reduce(&call, x, y, &result, comm));
  expect(result, 56);

  /* SF_COVARIANCE */
  call = of_rows(SF_COVARIANCE);
  check(sf_reduce(&call, x, y, &result, comm));
  expect(result, -35.0 / 12);

  /* SF_SAMPLE_COVARIANCE */
  call = of_rows(SF_SAMPLE_COVARIANCE);
  check(sf_reduce(&call, x, y, &result, comm));
  expect(result, -3.5);

  /* SF_CORRELATION */
  call = of_rows(SF_CORRELATION);
  check(sf_reduce(&call, x, y, &result, comm));
  expect(result, -1);
}

static int multiply(const void* left, const void* right, void* result, size_t count, void* context) {
  size_t i;
  (void)context;
  for (i = 0; i < count; ++i) ((double*)result)[i] = ((const double*)left)[i] * ((const double*)right)[i];
  return 0;
}

static void own_operator(void) {
  double result;

  /* SF_USER */
  sf_call call = of_rows(SF_USER);
  call.type = call.result_type = SF_BYTES;
  call.element_bytes = sizeof(double);
  call.user = multiply; /* result[i] = left[i] * right[i] for i < count; returns 0 */
  call.operator_name = "multiply";
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, 720);
}

static void vectors(void) {
  sf_call call;
  double* values = malloc(2 * (size_t)ranks * sizeof(double));
  int i;
  for (i = 0; i < 2 * ranks; ++i) values[i] = 1;

  /* SF_REDUCE */
  double all[2] = {1, 2};
  call = of_vectors(SF_SUM, 2); /* as MPI_Allreduce; with call.root = 0 as MPI_Reduce */
  check(sf_reduce(&call, all, NULL, all, comm));
  expect(all[1], 2 * ranks);

  /* SF_SCAN */
  double so_far[1] = {1};
  call = of_vectors(SF_SUM, 1);
  call.collective = SF_SCAN;
  check(sf_reduce(&call, so_far, NULL, so_far, comm));
  expect(so_far[0], rank + 1);

  /* SF_EXSCAN */
  double before[1] = {1};
  call = of_vectors(SF_SUM, 1);
  call.collective = SF_EXSCAN;
  check(sf_reduce(&call, before, NULL, before, comm));
  if (rank > 0) expect(before[0], rank);

  /* SF_REDUCE_SCATTER */
  double mine[2];
  call = of_vectors(SF_SUM, 2 * (uint64_t)ranks); /* two columns for every rank */
  call.collective = SF_REDUCE_SCATTER;
  check(sf_reduce(&call, values, NULL, mine, comm));
  expect(mine[1], ranks);

  free(values);
}

static void arrays_and_names(void) {
  double result;

  /* sf_arrays */
  double groups[2];
  sf_arrays arrays = sf_arrays_default(); /* x, with a label for every element */
  sf_array elements = {x, SF_F64, sizeof *x, 1, 0, {rows}, {sizeof *x}};
  sf_array names = {labels, SF_I32, sizeof *labels, 1, 0, {rows}, {sizeof *labels}};
  arrays.x = elements;
  arrays.labels = names;
  arrays.groups = 2;
  sf_call by_label = sf_call_default();
  by_label.arrays = &arrays;
  check(sf_reduce(&by_label, NULL, NULL, groups, comm));
  expect(groups[0], 6);
  expect(groups[1], 15);

  /* sf_chunk */
  uint8_t valid[1] = {0}; /* of x in two chunks: the odd numbers are null */
  uint64_t half = rows / 2, i;
  for (i = 0; i < rows; ++i) valid[0] |= (uint8_t)(even[i] << i);
  sf_chunk chunks[2] = {{x, valid, 0, half}, {x + half, valid, half, rows}};
  sf_arrays column = sf_arrays_default();
  column.x = elements;
  column.x.data = NULL;
  column.chunks = chunks;
  column.chunk_count = 2;
  column.is_nullable = 1;
  sf_call of_column = sf_call_default();
  of_column.arrays = &column;
  check(sf_reduce(&of_column, NULL, NULL, &result, comm));
  expect(result, 12);

  /* sf_list_find, sf_call_set */
  size_t operation;
  check(sf_list_find(SF_LIST_OPERATIONS, "norm2", &operation));
  sf_call named = of_rows((sf_operation)operation);
  check(sf_call_set(&named, "method", "binned"));
  check(sf_reduce(&named, x, NULL, &result, comm));
  expect(result, sqrt(91));
}

static void often_and_later(void) {
  sf_group* group;
  check(sf_group_of(comm, &group));

  /* sf_bundle_bind, sf_bundle_run */
  double sum, dot;
  sf_call calls[2] = {of_rows(SF_SUM), of_rows(SF_DOT)};
  sf_data data[2] = {{x, NULL, &sum, NULL, NULL}, {x, y, &dot, NULL, NULL}};
  sf_plan* bundle;
  check(sf_bundle_bind(calls, 2, comm, &bundle));
  check(sf_bundle_run(bundle, data, 2)); /* one message for both, as often as needed */
  expect(sum, 21);
  expect(dot, 56);
  sf_plan_free(bundle);

  /* sf_plan_bind, sf_plan_run */
  double again;
  sf_call call = of_rows(SF_DOT);
  sf_plan* plan;
  check(sf_plan_bind(&call, comm, &plan));
  check(sf_plan_run(plan, x, y, &again));
  expect(again, 56);
  sf_plan_free(plan);

  /* sf_group_start_reduce, sf_request_wait */
  double later;
  sf_call started = of_rows(SF_SUM);
  sf_request* request;
  check(sf_group_start_reduce(&started, x, NULL, &later, group, &request)); /* compute meanwhile */
  check(sf_request_wait(request));
  sf_request_free(request);
  expect(later, 21);

  /* sf_group_barrier */
  check(sf_group_barrier(group));
}

static void kept_sums(void) {
  sf_group* group;
  check(sf_group_of(comm, &group));

  /* sf_accumulator_create, sf_accumulator_round */
  double total;
  sf_accumulator* budget;
  check(sf_accumulator_create(SF_F64, SF_ELEMENTS, 1, &budget));
  check(sf_accumulator_add(budget, x, rows, 1));
  check(sf_accumulator_merge_ranks(budget, group));
  check(sf_accumulator_round(budget, SF_SUM, SF_F64, &total));
  expect(total, 21);

  /* sf_accumulator_mpi_type, sf_accumulator_mpi_op */
  MPI_Datatype type;
  MPI_Op op;
  const uint64_t size = sf_accumulator_packed_size(budget);
  void* packed = malloc(size);
  check(sf_accumulator_mpi_type(budget, &type));
  check(sf_accumulator_mpi_op(&op));
  check(sf_accumulator_pack(budget, packed, size));
  MPI_Allreduce(MPI_IN_PLACE, packed, 1, type, op, comm);
  check(sf_accumulator_unpack(budget, packed, size));
  check(sf_accumulator_round(budget, SF_SUM, SF_F64, &total));
  expect(total, 21 * ranks); /* every rank had the whole sum */
  MPI_Type_free(&type);
  MPI_Op_free(&op);

  free(packed);
  sf_accumulator_free(budget);
}

static void ranks_and_memory(void) {
  double result;

  /* sf_layout, sf_rank_order */
  sf_interval mine;
  sf_call call = of_rows(SF_SUM);
  check(sf_rank_order(rows, comm, &mine, &call.element_count)); /* which rows this rank has */
  call.layout = SF_INTERVALS;
  call.intervals = &mine;
  call.interval_count = 1;

  /* sf_method, sf_guarantee */
  call.method = SF_TREE;
  call.require = SF_RANKS | SF_LAYOUT;
  check(sf_reduce(&call, x, NULL, &result, comm));
  expect(result, 21);

  /* sf_team_create */
  sf_team* team;
  sf_group* worker;
  check(sf_team_create(1, &team));        /* one worker: more are threads of the program's own */
  check(sf_team_group(team, 0, &worker)); /* what the thread of worker 0 takes as its group */
  sf_call of_team = of_rows(SF_SUM);
  check(sf_group_reduce(&of_team, x, NULL, &result, worker));
  sf_team_free(team);

  /* sf_team_create_over */
  sf_team* wide;
  check(sf_team_create_over(comm, 1, &wide)); /* one team of the workers of all ranks */
  check(sf_team_group(wide, 0, &worker));
  check(sf_group_reduce(&of_team, x, NULL, &result, worker));
  expect(result, 21);
  sf_team_free(wide);

  /* sf_group_of */
  sf_group* group;
  check(sf_group_of(comm, &group));
  expect(sf_group_size(group), ranks);

  /* sf_allocate */
  void* memory;
  check(sf_allocate(1000 * sizeof(double), &memory)); /* all zero */
  ((double*)memory)[0] = 1;
  sf_call of_memory = of_vectors(SF_SUM, 1000);
  check(sf_reduce(&of_memory, memory, NULL, memory, comm)); /* nothing is copied between the ranks of a node */
  expect(((double*)memory)[0], ranks);
  sf_free(memory);

  /* sf_error_text */
  sf_call refused = of_rows(SF_SUM);
  refused.method = SF_PLAIN;
  refused.require = SF_RANKS;
  expect(sf_reduce(&refused, x, NULL, &result, comm), SF_UNSUPPORTED);
  expect(strlen(sf_error_text()) > 0, 1); /* it says why, and what to do */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  comm = MPI_COMM_WORLD;
  deal();
  one_vector();
  several_numbers();
  two_vectors();
  own_operator();
  vectors();
  arrays_and_names();
  often_and_later();
  kept_sums();
  ranks_and_memory();
  if (rank == 0) puts("all calls are right");
  MPI_Finalize();
  return 0;
}
