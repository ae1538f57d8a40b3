/* The calls of steadfold.f90 in MPI's shape, in which every rank has one vector, and the reductions by an operator of
 * the program; blocking and started. Rank order: kept. Cost: that of the call in C, and a copy of sections. */
#include "request.h"

/* Sets the operation of a call: an operation with a name, or an operator of the program. */
static sf_status take_vector_operation(const Arguments* from, sf_call* call) {
  sf_status status;
  if (from->name == NULL) {
    call->operation = SF_USER;
    call->user = from->user;
    call->type = call->result_type = SF_BYTES;
    call->element_bytes = from->array->elem_len;
    return SF_OK;
  }
  status = require_number(from->array, "elements", &call->type);
  call->result_type = call->type;
  return status == SF_OK ? take_operation(from->name, call) : status;
}

/* Sets the number of elements of the result on every rank. */
static sf_status take_blocks(const Arguments* from, const sf_group* group, Work* work) {
  const uint64_t ranks = (uint64_t)sf_group_size(group), own = (uint64_t)sf_group_rank(group);
  uint64_t mine = work->to.call.columns / ranks, i;
  sf_status status = from->blocks == NULL ? SF_OK : require_integers(from->blocks, "blocks");
  if (status == SF_OK && from->blocks != NULL) {
    if (count_of(from->blocks) != ranks)
      return refuse(SF_INVALID_ARGUMENT,
                    "%llu blocks for %llu ranks (each rank gets one block), give one block per rank",
                    (unsigned long long)count_of(from->blocks), (unsigned long long)ranks);
    work->blocks = malloc(ranks * sizeof *work->blocks);
    if (work->blocks == NULL) return wrong("no memory for blocks (out of memory), free memory");
    for (i = 0; i < ranks; ++i) {
      const int64_t block = integer_at(from->blocks, i);
      if (block < 0)
        return refuse(SF_INVALID_ARGUMENT,
                      "%lld elements in blocks(%llu) (a block has at least 0 elements), correct this number",
                      (long long)block, (unsigned long long)i + 1);
      work->blocks[i] = (uint64_t)block;
    }
    work->to.call.blocks = work->blocks;
    work->to.call.block_count = ranks;
    mine = work->blocks[own];
  }
  if (status == SF_OK && count_of(from->result) != mine)
    status = refuse(
        SF_INVALID_ARGUMENT,
        "a result of %llu elements (this rank's block has %llu elements), give a result of the size of the block",
        (unsigned long long)count_of(from->result), (unsigned long long)mine);
  return status;
}

static sf_status require_one_type(const Arguments* from) {
  return from->result->elem_len == from->array->elem_len && from->result->type == from->array->type
             ? SF_OK
             : wrong(
                   "the result has a different type than the elements (elements are combined without conversion), "
                   "convert one of them");
}

/* Prepares a reduce_scatter, whose results go to another array; all other calls combine in place. */
static sf_status prepare_blocks(const Arguments* from, const sf_group* group, Work* work) {
  sf_status status = require_one_type(from);
  if (status == SF_OK && group == NULL)
    status = wrong("blocks were given, but no ranks (there is no communicator), pass a communicator");
  if (status == SF_OK) status = take_blocks(from, group, work);
  if (status == SF_OK) status = gather_apart(from->array, &work->gathered);
  if (status == SF_OK && !is_contiguous(from->result) &&
      (work->room = malloc(count_of(from->result) * from->result->elem_len + 1)) == NULL)
    status = refuse(SF_INTERNAL, "%s", "no memory for results (out of memory), free memory");
  work->to.first = work->gathered == NULL ? from->array->base_addr : work->gathered;
  return status;
}

static sf_status prepare_vectors(const Arguments* from, const sf_group* group, Work* work) {
  sf_call* const call = &work->to.call;
  sf_status status = sf_call_init(call, sizeof *call);
  work->to.first = work->to.second = NULL;
  if (status == SF_OK) status = require_there(from->array, "elements");
  if (status == SF_OK) status = take_vector_operation(from, call);
  if (status == SF_OK) status = take_options(from->options, 1, &work->to);
  call->layout = SF_ROW_PER_RANK;
  call->rows = 1;
  call->columns = count_of(from->array);
  call->context = from->context;
  if (from->collective != SF_REDUCE) call->collective = from->collective;
  if (status != SF_OK) return status;
  if (from->result != from->array) return prepare_blocks(from, group, work);
  status = gather_apart(from->array, &work->room);
  work->to.first = place_of(work);
  return status;
}

/* Prepares a reduction of elements of any type by an operator of the program, in rank order, to one result. */
static sf_status prepare_elements(const Arguments* from, const sf_group* group, Work* work) {
  sf_call* const call = &work->to.call;
  sf_status status = sf_call_init(call, sizeof *call);
  (void)group;
  call->operation = SF_USER;
  call->type = call->result_type = SF_BYTES;
  call->user = from->user;
  call->context = from->context;
  call->element_bytes = from->array->elem_len;
  call->layout = SF_RANK_ORDER;
  call->rows = count_of(from->array);
  if (status == SF_OK) status = require_there(from->array, "elements");
  if (status == SF_OK && (from->result->rank != 0 || require_one_type(from) != SF_OK))
    status = wrong(
        "the result has a different type, or several elements (it must be one element of the array's type), pass a "
        "scalar of the array's type");
  if (status == SF_OK) status = take_options(from->options, 0, &work->to);
  if (status == SF_OK) status = take_layout(from->layout, &work->to);
  if (status == SF_OK) status = gather_apart(from->array, &work->gathered);
  work->to.first = work->gathered == NULL ? from->array->base_addr : work->gathered;
  work->to.second = NULL;
  return status;
}

/* --- functions called from Fortran ------------------------------------------------------------------------------- */

/* Defines each function four times: with an operation by name and with an operator of the program, both blocking and
 * started. `places` are the arrays. */
#define VECTORS(function, places, optional, given)                                                                    \
  void sf_fortran_##function(places, Argument operation, Argument comm, optional, int* ierr) {                        \
    const Arguments from = {given, .name = operation, .options = options, .comm = comm};                              \
    reduce_now(&from, prepare_vectors, ierr);                                                                         \
  }                                                                                                                   \
  void sf_fortran_##function##_by(places, sf_operator user, Argument comm, optional, int* ierr) {                     \
    const Arguments from = {given, .user = user, .options = options, .comm = comm};                                   \
    reduce_now(&from, prepare_vectors, ierr);                                                                         \
  }                                                                                                                   \
  void sf_fortran_start_##function(places, Argument operation, Argument comm, Handle* request, optional, int* ierr) { \
    const Arguments from = {given, .name = operation, .options = options, .comm = comm};                              \
    start_work(&from, prepare_vectors, request, ierr);                                                                \
  }                                                                                                                   \
  void sf_fortran_start_##function##_by(places, sf_operator user, Argument comm, Handle* request, optional,           \
                                        int* ierr) {                                                                  \
    const Arguments from = {given, .user = user, .options = options, .comm = comm};                                   \
    start_work(&from, prepare_vectors, request, ierr);                                                                \
  }
#define IN_PLACE(function, what) \
  VECTORS(function, Argument values, Argument options, LIST(.array = values, .result = values, .collective = what))

IN_PLACE(allreduce, SF_REDUCE)
IN_PLACE(scan, SF_SCAN)
IN_PLACE(exscan, SF_EXSCAN)
VECTORS(reduce_scatter, LIST(Argument values, Argument result), LIST(Argument blocks, Argument options),
        LIST(.array = values, .result = result, .blocks = blocks, .collective = SF_REDUCE_SCATTER))

void sf_fortran_reduce(Argument array, Argument result, sf_operator user, Argument comm, Argument options, int* ierr,
                       const Handle* layout, void* const* context) {
  const Arguments from = {.array = array,
                          .result = result,
                          .user = user,
                          .context = context == NULL ? NULL : *context,
                          .options = options,
                          .layout = layout,
                          .comm = comm};
  reduce_now(&from, prepare_elements, ierr);
}

void sf_fortran_start_reduce(Argument array, Argument result, sf_operator user, Argument comm, Handle* request,
                             Argument options, int* ierr, const Handle* layout, void* const* context) {
  const Arguments from = {.array = array,
                          .result = result,
                          .user = user,
                          .context = context == NULL ? NULL : *context,
                          .options = options,
                          .layout = layout,
                          .comm = comm};
  start_work(&from, prepare_elements, request, ierr);
}
