/* The calls of the C interface over a group, on the values of calls.hpp. What each one came to is handed to `note`
 * under the name that the same call has in C++, whose outcome it must be. What is no reduction is checked here. */
#include "every_call/c.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "steadfold/steadfold_accumulator.h"
#include "steadfold/steadfold_gaspi.h"
#include "steadfold/steadfold_names.h"

typedef struct setting {
  const struct values* v;
  struct notes* notes;
  sf_group* group;
} setting;

static void note(const setting* s, const char* name, sf_status status, const void* values, size_t size, size_t count) {
  s->notes->take(s->notes, name, status, status == SF_OK ? "" : sf_error_text(), values, size, count);
}
static void require(const setting* s, int is_so, const char* what) {
  if (!is_so) s->notes->fail(s->notes, what);
}
#define REQUIRE(s, what) require((s), (what), #what)
#define OK(s, call) require((s), (call) == SF_OK, #call)

static sf_call call_for(const setting* s, sf_operation operation, sf_method method) {
  sf_call call;
  OK(s, sf_call_init(&call, sizeof call));
  call.operation = operation;
  call.method = method;
  call.rows = s->v->count;
  return call;
}
static void reduce(const setting* s, const char* name, const sf_call* call, const void* second, size_t size) {
  unsigned char result[sizeof(sf_statistics)];
  const sf_status status = sf_group_reduce(call, s->v->x, second, result, s->group);
  note(s, name, status, result, size, ONE_VALUE);
}

/* The difference from a third, as in calls.hpp: in the usual environment, which the library ends. */
static int less_a_third(const void* left, const void* right, void* result, size_t count, void* context) {
  const double *a = left, *b = right;
  double* r = result;
  size_t i;
  (void)context;
  fesetenv(FE_DFL_ENV);
  for (i = 0; i < count; ++i) r[i] = a[i] - b[i] / 3;
  return 0;
}
static sf_call own_call(const setting* s) {
  sf_call call = call_for(s, SF_USER, SF_AUTOMATIC);
  call.type = call.result_type = SF_BYTES;
  call.element_bytes = sizeof(double);
  call.user = less_a_third;
  call.operator_name = "less a third";
  return call;
}

static void reduce_all(const setting* s) {
  static const struct {
    const char* name;
    sf_operation operation;
    sf_method method;
    size_t size;
  } one[] = {{"sum", SF_SUM, SF_EXACT, 8},
             {"sum by tree", SF_SUM, SF_TREE, 8},
             {"sum by binned", SF_SUM, SF_BINNED, 8},
             {"abs_sum", SF_ABS_SUM, SF_AUTOMATIC, 8},
             {"norm1", SF_NORM1, SF_AUTOMATIC, 8},
             {"sum_squares", SF_SUM_SQUARES, SF_AUTOMATIC, 8},
             {"norm2", SF_NORM2, SF_AUTOMATIC, 8},
             {"norminf", SF_NORMINF, SF_AUTOMATIC, 8},
             {"mean", SF_MEAN, SF_AUTOMATIC, 8},
             {"statistics", SF_STATISTICS, SF_AUTOMATIC, sizeof(sf_statistics)},
             {"times", SF_PRODUCT, SF_TREE, 8},
             {"min", SF_MIN, SF_AUTOMATIC, 8},
             {"max", SF_MAX, SF_AUTOMATIC, 8}};
  static const struct {
    const char* name;
    sf_operation operation;
  } two[] = {{"dot", SF_DOT},
             {"dotc", SF_DOTC},
             {"weighted_mean", SF_WEIGHTED_MEAN},
             {"covariance", SF_COVARIANCE},
             {"sample_covariance", SF_SAMPLE_COVARIANCE},
             {"correlation", SF_CORRELATION}};
  sf_call call;
  size_t i;
  for (i = 0; i < sizeof one / sizeof *one; ++i) {
    call = call_for(s, one[i].operation, one[i].method);
    reduce(s, one[i].name, &call, NULL, one[i].size);
  }
  for (i = 0; i < sizeof two / sizeof *two; ++i) {
    call = call_for(s, two[i].operation, SF_AUTOMATIC);
    reduce(s, two[i].name, &call, s->v->y, 8);
  }
  call = call_for(s, SF_MASKED_SUM, SF_AUTOMATIC);
  reduce(s, "masked_sum", &call, s->v->mask, 8);
  call = own_call(s);
  reduce(s, "reduce", &call, NULL, 8);
  call = call_for(s, SF_SUM, SF_AUTOMATIC);
  OK(s, sf_call_set(&call, "schedule", "none such"));
  reduce(s, "no such schedule", &call, NULL, 8);
}

/* Rows of 4 as calls.hpp has them: their columns, where the first byte of a row's mask says so. */
static sf_array array_of(const void* data, sf_type type, size_t bytes, uint64_t rows, uint64_t columns) {
  sf_array array;
  memset(&array, 0, sizeof array);
  array.data = data;
  array.type = type;
  array.element_bytes = bytes;
  array.axis_count = 2;
  array.shape[0] = rows;
  array.shape[1] = columns;
  array.strides[0] = (int64_t)(4 * bytes);
  array.strides[1] = (int64_t)bytes;
  return array;
}
static sf_arrays columns_of(const setting* s) {
  sf_arrays arrays;
  OK(s, sf_arrays_init(&arrays, sizeof arrays));
  arrays.x = array_of(s->v->x, SF_F64, 8, s->v->count / 4, 4);
  arrays.mask = array_of(s->v->mask, SF_BYTES, 1, s->v->count / 4, 1);
  arrays.kept = 2;
  return arrays;
}
static void reduce_arrays(const setting* s) {
  sf_arrays arrays = columns_of(s);
  sf_call call = call_for(s, SF_SUM, SF_EXACT);
  sf_plan* plan = NULL;
  double sums[4] = {0, 0, 0, 0};
  sf_status status;
  call.arrays = &arrays;
  status = sf_group_reduce(&call, NULL, NULL, sums, s->group);
  note(s, "sum, axes", status, sums, 8, 4);
  OK(s, sf_group_bind(&call, 1, s->group, &plan));
  status = sf_plan_run(plan, NULL, NULL, sums);
  note(s, "ArrayPlan", status, sums, 8, 4);
  sf_plan_free(plan);
}

static void reduce_rows(const setting* s) {
  double results[12];
  sf_call call = call_for(s, SF_SUM, SF_AUTOMATIC);
  sf_status status;
  const size_t own = s->v->blocks[sf_group_rank(s->group)];
  call.layout = SF_ROW_PER_RANK;
  call.rows = 1;
  call.columns = 12;
  status = sf_group_reduce(&call, s->v->row, NULL, results, s->group);
  note(s, "allreduce", status, results, 8, 12);
  call.collective = SF_SCAN;
  status = sf_group_reduce(&call, s->v->row, NULL, results, s->group);
  note(s, "scan", status, results, 8, 12);
  call.collective = SF_EXSCAN;
  call.operation = SF_MAX;
  memcpy(results, s->v->row, sizeof results);
  status = sf_group_reduce(&call, s->v->row, NULL, results, s->group);
  note(s, "exscan", status, results, 8, 12);
  call.collective = SF_REDUCE_SCATTER;
  call.operation = SF_SUM;
  call.blocks = s->v->blocks;
  call.block_count = (size_t)sf_group_size(s->group);
  status = sf_group_reduce(&call, s->v->row, NULL, results, s->group);
  note(s, "reduce_scatter", status, results, 8, own);
}

static void run_plans(const setting* s) {
  sf_call calls[2];
  sf_data data[2];
  sf_plan *plan = NULL, *bundle = NULL;
  sf_figures figures;
  double results[2];
  sf_status status;
  int done = 0;
  calls[0] = call_for(s, SF_SUM, SF_TREE);
  calls[1] = call_for(s, SF_DOT, SF_AUTOMATIC);
  OK(s, sf_group_bind(calls + 1, 1, s->group, &plan));
  OK(s, sf_plan_trace(plan, 1));
  status = sf_plan_run(plan, s->v->x, s->v->y, results);
  note(s, "Plan of dot", status, results, 8, ONE_VALUE);
  OK(s, sf_plan_start(plan, s->v->x, s->v->y, results));
  OK(s, sf_plan_test(plan, &done));
  OK(s, sf_plan_wait_for(plan, 1000, &done));
  OK(s, sf_plan_wait(plan));
  note(s, "Plan of dot", SF_OK, results, 8, ONE_VALUE);
  OK(s, sf_plan_figures(plan, &figures));
  REQUIRE(s, strlen(sf_plan_describe(plan)) > 0 && strlen(sf_plan_schedule(plan)) > 0);
  sf_plan_free(plan);

  memset(data, 0, sizeof data);
  data[0].first = data[1].first = s->v->x;
  data[1].second = s->v->y;
  data[0].result = results;
  data[1].result = results + 1;
  OK(s, sf_group_bind(calls, 2, s->group, &bundle));
  OK(s, sf_bundle_run(bundle, data, 2));
  note(s, "Plan, started", sf_bundle_status(bundle, 1), results, 8, 2);
  OK(s, sf_bundle_start(bundle, data, 2));
  OK(s, sf_plan_wait(bundle));
  note(s, "Plan, started", sf_bundle_status(bundle, 0), results, 8, 2);
  sf_plan_free(bundle);
}

static void start_calls(const setting* s) {
  sf_call own = own_call(s), dot = call_for(s, SF_DOT, SF_BINNED), norm = call_for(s, SF_NORM2, SF_AUTOMATIC),
          sum = call_for(s, SF_SUM, SF_AUTOMATIC), tree = call_for(s, SF_SUM, SF_TREE);
  sf_request* requests[7];
  sf_plan* plan = NULL;
  sf_interval mine;
  uint64_t count = 0;
  double results[4] = {0, 0, 0, 0};
  sf_status status = SF_OK, each;
  int i, done = 0;
  if (s->v->count_of_job == 0) return; /* an operator of nothing has no result */
  OK(s, sf_group_start_reduce(&own, s->v->x, NULL, results, s->group, requests));
  OK(s, sf_group_start_reduce(&dot, s->v->x, s->v->y, results + 1, s->group, requests + 1));
  OK(s, sf_group_start_reduce(&norm, s->v->x, NULL, results + 2, s->group, requests + 2));
  OK(s, sf_group_start_reduce(&sum, s->v->x, NULL, results + 3, s->group, requests + 3));
  OK(s, sf_group_start_rank_order(s->v->count, s->group, &mine, &count, requests + 4));
  OK(s, sf_group_start_barrier(s->group, requests + 5));
  OK(s, sf_group_start_bind(&tree, 1, s->group, &plan, requests + 6));
  OK(s, sf_request_test(requests[6], &done));
  OK(s, sf_request_wait_for(requests[6], 1000, &done));
  for (i = 7; i-- > 0;) {
    each = sf_request_wait(requests[i]);
    if (each > status) status = each;
    sf_request_free(requests[i]);
  }
  note(s, "start", status, results, 8, 4);
  REQUIRE(s, count == s->v->count_of_job && mine.end - mine.begin == s->v->count);
  status = sf_plan_run(plan, s->v->x, NULL, results);
  note(s, "start_bind", status, results, 8, ONE_VALUE);
  sf_plan_free(plan);
  OK(s, sf_group_rank_order(s->v->count, s->group, &mine, &count));
  REQUIRE(s, count == s->v->count_of_job);
  OK(s, sf_group_barrier(s->group));
  sf_group_progress_thread(s->group, 0);
}

static void note_bytes(const setting* s, const char* name, const sf_accumulator* accumulator) {
  uint64_t size = 0;
  unsigned char* bytes;
  OK(s, sf_accumulator_write(accumulator, NULL, 0, &size));
  bytes = malloc(size);
  OK(s, sf_accumulator_write(accumulator, bytes, size, &size));
  note(s, name, SF_OK, bytes, 1, size);
  free(bytes);
}
/* As note_accumulators in calls.hpp. */
static void accumulate(const setting* s) {
  const double *x = s->v->x, *y = s->v->y, one = 1, two = 2, three = 3;
  const uint64_t n = s->v->count;
  sf_accumulator *sum = NULL, *other = NULL, *copy = NULL, *read = NULL;
  sf_accumulator_shape shape;
  sf_order order;
  double values[2];
  unsigned char *packed, *more;
  uint64_t i, size;
  int64_t rows;
  sf_status status;
  OK(s, sf_accumulator_create(SF_F64, SF_ELEMENTS, 1, &sum));
  OK(s, sf_accumulator_create(SF_F64, SF_ELEMENTS, 1, &other));
  for (i = 0; i < n; ++i) OK(s, sf_accumulator_add(sum, x + i, 1, 1));
  OK(s, sf_accumulator_subtract(sum, &one, 1, 1));
  OK(s, sf_accumulator_add(sum, y, n, 1));
  OK(s, sf_accumulator_subtract(sum, x, n, 1));
  OK(s, sf_accumulator_add(sum, &three, 1, 1));
  OK(s, sf_accumulator_subtract(sum, &two, 1, 1));
  OK(s, sf_accumulator_add(other, y, n, 2));
  OK(s, sf_accumulator_subtract(other, x, n, 1));
  note_bytes(s, "add", sum);
  status = sf_accumulator_round(sum, SF_SUM, SF_F64, values);
  if (status == SF_OK) status = sf_accumulator_round(sum, SF_MEAN, SF_F64, values + 1);
  note(s, "values", status, values, 8, 2);
  status = sf_accumulator_compare(sum, other, &order);
  note(s, "compare", status, &order, sizeof order, 1);

  size = sf_accumulator_packed_size(sum);
  packed = malloc(size);
  more = malloc(size);
  OK(s, sf_accumulator_pack(sum, packed, size));
  OK(s, sf_accumulator_pack(other, more, size));
  sf_accumulator_merge_packed(more, packed, size);
  OK(s, sf_accumulator_copy(other, &copy));
  OK(s, sf_accumulator_unpack(copy, packed, size));
  note_bytes(s, "packed", copy);
  free(packed);
  free(more);

  OK(s, sf_accumulator_assign(copy, sum)); /* sum + other - (-other) */
  OK(s, sf_accumulator_merge(copy, other));
  OK(s, sf_accumulator_negate(other));
  OK(s, sf_accumulator_unmerge(copy, other));
  note_bytes(s, "operators", copy);
  OK(s, sf_accumulator_clear(copy));
  OK(s, sf_accumulator_add(copy, x, n, 1));
  OK(s, sf_accumulator_merge_ranks(copy, s->group));
  OK(s, sf_accumulator_describe(copy, &shape, &rows));
  REQUIRE(s, shape.columns == 1 && rows == (int64_t)s->v->count_of_job);
  note_bytes(s, "merge_ranks", copy);
  OK(s, sf_accumulator_write(copy, NULL, 0, &size));
  packed = malloc(size);
  OK(s, sf_accumulator_write(copy, packed, size, &size));
  OK(s, sf_accumulator_read(packed, size, &read));
  note_bytes(s, "merge_ranks", read);
  free(packed);
  sf_accumulator_free(read);
  sf_accumulator_free(copy);
  sf_accumulator_free(other);
  sf_accumulator_free(sum);
}
/* As note_columns there. */
static void accumulate_columns(const setting* s) {
  sf_accumulator *columns = NULL, *products = NULL;
  sf_arrays arrays = columns_of(s), half = arrays;
  const uint64_t rows = s->v->count / 4;
  double values[4];
  sf_status status;
  memset(&half.mask, 0, sizeof half.mask);
  half.x.shape[0] = rows / 2;
  OK(s, sf_accumulator_create(SF_F64, SF_ELEMENTS, 4, &columns));
  OK(s, sf_accumulator_add(columns, s->v->x, rows, 1));
  status = sf_accumulator_round(columns, SF_SUM, SF_F64, values);
  note(s, "rows", status, values, 8, 4);
  OK(s, sf_accumulator_add_arrays(columns, &arrays, 1));
  status = sf_accumulator_round(columns, SF_MEAN, SF_F64, values);
  note(s, "arrays", status, values, 8, 4);
  OK(s, sf_accumulator_subtract_arrays(columns, &half, 2));
  note_bytes(s, "columns", columns);
  sf_accumulator_free(columns);
  OK(s, sf_accumulator_create(SF_F64, SF_PRODUCTS, 1, &products));
  OK(s, sf_accumulator_add_products(products, s->v->x, s->v->x, s->v->count, 2));
  status = sf_accumulator_round(products, SF_NORM2, SF_F64, values);
  note(s, "norm2 of products", status, values, 8, ONE_VALUE);
  OK(s, sf_accumulator_subtract_products(products, s->v->x, s->v->x, s->v->count, 1));
  sf_accumulator_free(products);
}

static sf_gaspi_return add_in_gaspi(const void* one, const void* two, void* result, void* state, uint32_t num,
                                    size_t element_size, sf_gaspi_timeout timeout_ms) {
  uint32_t i;
  (void)state;
  (void)element_size;
  (void)timeout_ms;
  fesetenv(FE_DFL_ENV);
  for (i = 0; i < num; ++i) ((double*)result)[i] = ((const double*)one)[i] + ((const double*)two)[i];
  return SF_GASPI_SUCCESS;
}
static void call_gaspi(const setting* s) {
  double results[12];
  sf_gaspi_return done;
  done = sf_gaspi_allreduce(s->v->row, results, 12, SF_GASPI_OP_SUM, SF_GASPI_TYPE_DOUBLE, s->group, SF_GASPI_BLOCK);
  note(s, "allreduce", done == SF_GASPI_SUCCESS ? SF_OK : SF_INTERNAL, results, 8, 12);
  if (s->v->is_finite) { /* an own operation makes NaNs of its own */
    done = sf_gaspi_allreduce_user(s->v->row, results, 12, 8, add_in_gaspi, NULL, s->group, SF_GASPI_BLOCK);
    note(s, "allreduce", done == SF_GASPI_SUCCESS ? SF_OK : SF_INTERNAL, results, 8, 12);
  }
  REQUIRE(s, sf_gaspi_barrier(s->group, SF_GASPI_BLOCK) == SF_GASPI_SUCCESS);
}

static void refuse(const setting* s) {
  sf_call call = call_for(s, SF_SUM, SF_AUTOMATIC);
  double result;
  const int last = sf_group_size(s->group) - 1;
  const sf_status status = sf_group_rank(s->group) == last
                               ? sf_group_refuse(s->group, SF_UNSUPPORTED, "no such array (it is elsewhere), move it")
                               : sf_group_reduce(&call, s->v->x, NULL, &result, s->group);
  REQUIRE(s, status == SF_UNSUPPORTED);
  REQUIRE(s, strstr(sf_error_text(), "it is elsewhere") != NULL);
  sf_set_error_text("mine");
  REQUIRE(s, strcmp(sf_error_text(), "mine") == 0);
}

void every_call_in_c(const struct values* v, sf_group* group, struct notes* notes) {
  setting s;
  s.v = v;
  s.notes = notes;
  s.group = group;
  reduce_all(&s);
  reduce_arrays(&s);
  reduce_rows(&s);
  run_plans(&s);
  start_calls(&s);
  accumulate(&s);
  accumulate_columns(&s);
  call_gaspi(&s);
  refuse(&s);
}
