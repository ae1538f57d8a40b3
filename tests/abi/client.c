/* A client in C that calls every function of the interface without MPI, on hostile values, and checks the results. It
 * is compiled three times: as C11 and as C17 with the present headers, and with the older headers of tests/abi/older,
 * whose sf_call is shorter. All run with the present library. Exits with 0 if all is well. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steadfold/steadfold.h"
#include "steadfold/steadfold_accumulator.h"
#include "steadfold/steadfold_group.h"
#include "steadfold/steadfold_memory.h"
#include "steadfold/steadfold_team.h"
#ifndef WITH_OLDER_HEADERS
#include "steadfold/steadfold_gaspi.h"
#include "steadfold/steadfold_names.h"
#endif

/* Their exact sum is 0.75 + 2^-1074, which is 0.75 in double; a loop gets something else. */
static const double hostile[8] = {1e300, 0.5, 4.9406564584124654e-324, -1e300, -0.0, 1e16, 0.25, -1e16};

static void require(int is_so, const char* what, int line) {
  if (is_so) return;
  fprintf(stderr, "client.c:%d: %s (%s)\n", line, what, sf_error_text());
  exit(1);
}
#define REQUIRE(what) require((what), #what, __LINE__)
#define OK(call) REQUIRE((call) == SF_OK)

static int is_same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static sf_call exact_sum(void) {
  sf_call call;
  OK(sf_call_init(&call, sizeof call));
  call.method = SF_EXACT;
  call.rows = 8;
  return call;
}

static void reduce_locally(void) {
  sf_call call = exact_sum();
  double sum = 0, plain = 0;
  size_t i;
  for (i = 0; i < 8; ++i) plain += hostile[i];
  OK(sf_reduce_local(&call, hostile, NULL, &sum));
  REQUIRE(is_same(sum, 0.75) && !is_same(plain, sum));
  call.columns = 0;
  REQUIRE(sf_reduce_local(&call, hostile, NULL, &sum) == SF_INVALID_ARGUMENT);
  REQUIRE(strlen(sf_error_text()) > 0 && strlen(sf_version()) > 0);
  sf_set_error_text("mine");
  REQUIRE(strcmp(sf_error_text(), "mine") == 0);
}

/* The last row of a matrix, read from behind, without the column that a mask leaves out. */
static void reduce_arrays(void) {
  static const double field[2][4] = {{NAN, NAN, NAN, NAN}, {1, 2, NAN, 8}};
  static const unsigned char ocean[4] = {1, 0, 1, 1};
  sf_arrays arrays;
  sf_call call = sf_call_default();
  double sum = 0;
  OK(sf_arrays_init(&arrays, sizeof arrays));
  arrays.x.data = &field[1][3];
  arrays.x.axis_count = 1;
  arrays.x.shape[0] = 4;
  arrays.x.strides[0] = -(int64_t)sizeof(double);
  arrays.mask.data = ocean;
  arrays.mask.type = SF_BYTES;
  arrays.mask.element_bytes = 1;
  arrays.mask.axis_count = 1;
  arrays.mask.shape[0] = 4;
  arrays.mask.strides[0] = 1;
  call.arrays = &arrays;
  OK(sf_reduce_local(&call, NULL, NULL, &sum));
  REQUIRE(sum == 11);
}

static int subtract(const void* left, const void* right, void* result, size_t count, void* context) {
  size_t i;
  for (i = 0; i < count; ++i) ((double*)result)[i] = ((const double*)left)[i] - ((const double*)right)[i];
  ++*(int*)context;
  return 0;
}

static void reduce_by_own_operator(void) {
  int calls = 0;
  sf_call call = sf_call_default();
  double x[3] = {1, 2, 4}, result = 0;
  call.operation = SF_USER;
  call.type = call.result_type = SF_BYTES;
  call.element_bytes = sizeof(double);
  call.user = subtract;
  call.context = &calls;
  call.rows = 3;
  OK(sf_reduce_local(&call, x, NULL, &result));
  REQUIRE(result == (1 - 2) - 4 && calls > 0);
}

static void run_plan(sf_group* group) {
  sf_call call = exact_sum();
  sf_plan* plan = NULL;
  sf_figures figures;
  double sum = 0;
  int done = 0;
  OK(sf_group_bind(&call, 1, group, &plan));
  OK(sf_plan_trace(plan, 1));
  OK(sf_plan_run(plan, hostile, NULL, &sum));
  REQUIRE(is_same(sum, 0.75));
  OK(sf_plan_start(plan, hostile, NULL, &sum));
  OK(sf_plan_wait_for(plan, SF_FOREVER, &done));
  OK(sf_plan_start(plan, hostile, NULL, &sum));
  while (sf_plan_test(plan, &done) == SF_OK && !done) continue;
  OK(sf_plan_start(plan, hostile, NULL, &sum));
  OK(sf_plan_wait(plan));
  REQUIRE(done && is_same(sum, 0.75));
  OK(sf_plan_figures(plan, &figures));
  REQUIRE(figures.messages == 0 && strlen(sf_plan_describe(plan)) > 0 && strlen(sf_plan_schedule(plan)) > 0);
  sf_plan_free(plan);
}

/* Two calls, one behind the other as this compiler has them. */
static void run_bundle(sf_group* group) {
  sf_call calls[2];
  sf_data data[2];
  sf_plan* plan = NULL;
  double results[2] = {0, 0};
  memset(data, 0, sizeof data);
  calls[0] = exact_sum();
  calls[1] = sf_call_default();
  calls[1].operation = SF_DOT;
  calls[1].rows = 2;
  data[0].first = hostile;
  data[0].result = results;
  data[1].first = data[1].second = hostile + 5;
  data[1].result = results + 1;
  OK(sf_group_bind(calls, 2, group, &plan));
  OK(sf_bundle_run(plan, data, 2));
  OK(sf_bundle_start(plan, data, 2));
  OK(sf_plan_wait(plan));
  OK(sf_bundle_status(plan, 1));
  REQUIRE(is_same(results[0], 0.75) && is_same(results[1], 1e32 + 0.0625));
  sf_plan_free(plan);
}

static void start_calls(sf_group* group) {
  sf_call call = exact_sum();
  sf_request* requests[4];
  sf_plan* plan = NULL;
  sf_interval mine;
  uint64_t count = 0;
  double sum = 0;
  int done = 0;
  OK(sf_group_start_reduce(&call, hostile, NULL, &sum, group, &requests[0]));
  OK(sf_group_start_bind(&call, 1, group, &plan, &requests[1]));
  OK(sf_group_start_rank_order(5, group, &mine, &count, &requests[2]));
  OK(sf_group_start_barrier(group, &requests[3]));
  OK(sf_request_wait(requests[3]));
  while (sf_request_test(requests[0], &done) == SF_OK && !done) continue;
  OK(sf_request_wait_for(requests[1], SF_FOREVER, &done));
  OK(sf_request_wait(requests[2]));
  REQUIRE(done && is_same(sum, 0.75) && plan != NULL && mine.end == 5 && count == 5);
  for (done = 0; done < 4; ++done) sf_request_free(requests[done]);
  sf_plan_free(plan);
}

#ifndef WITH_OLDER_HEADERS
static int is_to_stop(void) { return 1; }

/* A second worker that never comes: by the team's limit, and by what the program asks. */
static void wait_in_vain(void) {
  int by_limit;
  for (by_limit = 0; by_limit <= 1; ++by_limit) {
    sf_team* team = NULL;
    sf_group* group = NULL;
    sf_set_interrupt(by_limit ? NULL : is_to_stop);
    OK(sf_team_create(2, &team));
    if (by_limit) OK(sf_team_set_timeout(team, 1000000));
    OK(sf_team_group(team, 0, &group));
    REQUIRE(sf_group_barrier(group) == SF_TRANSPORT_FAILED);
    REQUIRE(sf_group_barrier(group) == SF_TRANSPORT_FAILED);
    sf_team_free(team);
  }
  REQUIRE(sf_team_set_timeout(NULL, 1) == SF_INVALID_ARGUMENT);
}
#endif

static void use_team(void) {
  sf_team* team = NULL;
  sf_group* group = NULL;
  sf_call call = exact_sum();
  sf_interval mine;
  uint64_t count = 0;
  double sum = 0;
  OK(sf_team_create(1, &team));
  OK(sf_team_bind(team, 0));
  OK(sf_team_group(team, 0, &group));
  REQUIRE(sf_team_size(team) == 1 && sf_group_size(group) == 1 && sf_group_rank(group) == 0);
  REQUIRE(strcmp(sf_group_transport(group), "shared") == 0);
  OK(sf_group_reduce(&call, hostile, NULL, &sum, group));
  REQUIRE(is_same(sum, 0.75));
  OK(sf_group_rank_order(3, group, &mine, &count));
  OK(sf_group_barrier(group));
  OK(sf_group_progress_thread(group, 1));
  OK(sf_group_progress_thread(group, 0));
  run_plan(group);
  run_bundle(group);
  start_calls(group);
#ifndef WITH_OLDER_HEADERS
  REQUIRE(sf_gaspi_allreduce(hostile, &sum, 1, SF_GASPI_OP_SUM, SF_GASPI_TYPE_DOUBLE, group, SF_GASPI_BLOCK) ==
          SF_GASPI_SUCCESS);
  REQUIRE(is_same(sum, 1e300) && sf_gaspi_barrier(group, SF_GASPI_BLOCK) == SF_GASPI_SUCCESS);
#endif
  sf_team_free(team);
}

static void keep_sums(void) {
  sf_accumulator *a = NULL, *b = NULL, *read = NULL, *products = NULL;
  sf_accumulator_shape shape;
  sf_order order;
  unsigned char bytes[2048], packed[2048];
  uint64_t size = 0, packed_size;
  int64_t rows = 0;
  double value = 0;
  OK(sf_accumulator_create(SF_F64, SF_ELEMENTS, 1, &a));
  OK(sf_accumulator_add(a, hostile, 8, 1));
  OK(sf_accumulator_copy(a, &b));
  OK(sf_accumulator_merge(a, b));
  OK(sf_accumulator_unmerge(a, b));
  OK(sf_accumulator_subtract(a, hostile, 1, 1));
  OK(sf_accumulator_add(a, hostile, 1, 1));
  OK(sf_accumulator_compare(a, b, &order));
  REQUIRE(order == SF_EQUAL);
  OK(sf_accumulator_write(a, bytes, sizeof bytes, &size));
  OK(sf_accumulator_read(bytes, size, &read));
  packed_size = sf_accumulator_packed_size(read);
  REQUIRE(packed_size > 0 && packed_size <= sizeof packed);
  OK(sf_accumulator_pack(read, packed, packed_size));
  sf_accumulator_merge_packed(packed, packed, packed_size);
  OK(sf_accumulator_unpack(read, packed, packed_size));
  OK(sf_accumulator_round(read, SF_SUM, SF_F64, &value));
  REQUIRE(is_same(value, 1.5));
  OK(sf_accumulator_negate(read));
  OK(sf_accumulator_describe(read, &shape, &rows));
  REQUIRE(shape.columns == 1 && shape.type == SF_F64 && rows == -16);
  OK(sf_accumulator_assign(read, b));
  OK(sf_accumulator_clear(b));
  OK(sf_accumulator_create(SF_F64, SF_PRODUCTS, 1, &products));
  OK(sf_accumulator_add_products(products, hostile, hostile, 8, 1));
  OK(sf_accumulator_subtract_products(products, hostile, hostile, 8, 1));
  OK(sf_accumulator_round(products, SF_NORM2, SF_F64, &value));
  REQUIRE(is_same(value, 0));
  sf_accumulator_free(a);
  sf_accumulator_free(b);
  sf_accumulator_free(read);
  sf_accumulator_free(products);
}

static void use_memory(void) {
  void* memory = NULL;
  OK(sf_allocate(100000, &memory));
  memset(memory, 1, 100000);
  sf_free(memory);
}

#ifndef WITH_OLDER_HEADERS
static void use_names(void) {
  sf_call call = exact_sum();
  double sum = 0;
  size_t entry = 0;
  OK(sf_call_set(&call, "method", "binned"));
  OK(sf_call_set(&call, "bins", "4"));
  OK(sf_call_set(&call, "rows", "3"));
  OK(sf_reduce_local(&call, hostile + 5, NULL, &sum));
  REQUIRE(sum == 0.25);
  OK(sf_list_find(SF_LIST_SCHEDULES, "binomial", &entry));
  REQUIRE(entry < sf_list_size(SF_LIST_SCHEDULES));
  REQUIRE(strcmp(sf_list_name(SF_LIST_SCHEDULES, entry), "binomial") == 0);
  REQUIRE(strlen(sf_list_text(SF_LIST_SCHEDULES, entry, "about")) > 0);
}
#endif

int main(void) {
  reduce_locally();
  reduce_arrays();
  reduce_by_own_operator();
#ifndef WITH_OLDER_HEADERS
  wait_in_vain();
#endif
  use_team();
  keep_sums();
  use_memory();
#ifndef WITH_OLDER_HEADERS
  use_names();
#endif
  printf("sf_call of %u bytes: all functions called\n", (unsigned)sizeof(sf_call));
  return 0;
}
