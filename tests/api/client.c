/* A client in C11: the mean of numbers spread over the ranks, in the fixed tree, once and by a plan; and their exact
 * sum by a call, over groups and teams, by a bundle, and by an accumulator in MPI's own reduction. Exits with 0 when
 * both ways give the same bits on every rank. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "steadfold/steadfold.h"
#include "steadfold/steadfold_accumulator.h"
#include "steadfold/steadfold_fortran.h"
#include "steadfold/steadfold_mpi.h"

static int32_t in_fortran(MPI_Comm comm) {
#if defined(MPI_ABI_VERSION) && !defined(MPICH_VERSION) && !defined(OPEN_MPI)
  /* The standard's binary interface is C's alone, and has another name for it. */
  return (int32_t)MPI_Comm_toint(comm);
#else
  return (int32_t)MPI_Comm_c2f(comm);
#endif
}

static int failed(sf_status status) {
  if (status != SF_OK) fprintf(stderr, "%s\n", sf_error_text());
  return status != SF_OK;
}

/* Both ways to the sum of this rank's `rows` numbers and everybody else's. */
static int sum_twice(const double* x, uint64_t rows, double* once, double* planned) {
  sf_call call = sf_call_default();
  sf_plan* plan = NULL;
  int wrong;
  call.method = SF_TREE;
  call.layout = SF_RANK_ORDER;
  call.rows = rows;
  if (failed(sf_reduce(&call, x, NULL, once, MPI_COMM_WORLD))) return 1;
  if (failed(sf_plan_bind(&call, MPI_COMM_WORLD, &plan))) return 1;
  wrong = failed(sf_plan_run(plan, x, NULL, planned));
  sf_plan_free(plan);
  return wrong;
}

/* Both ways to the exact sum. */
static int sum_exactly(const double* x, uint64_t rows, double* called, double* kept) {
  sf_call call = sf_call_default();
  sf_accumulator* accumulator = NULL;
  unsigned char packed[1024];
  MPI_Datatype type;
  MPI_Op merge;
  uint64_t size;
  int wrong;
  call.method = SF_EXACT;
  call.rows = rows;
  if (failed(sf_reduce(&call, x, NULL, called, MPI_COMM_WORLD))) return 1;
  if (failed(sf_accumulator_create(SF_F64, SF_ELEMENTS, 1, &accumulator))) return 1;
  size = sf_accumulator_packed_size(accumulator);
  if (size > sizeof packed || failed(sf_accumulator_mpi_type(accumulator, &type))) return 1;
  if (failed(sf_accumulator_mpi_op(&merge))) return 1;
  wrong = failed(sf_accumulator_add(accumulator, x, rows, 1)) || failed(sf_accumulator_pack(accumulator, packed, size));
  MPI_Allreduce(MPI_IN_PLACE, packed, 1, type, merge, MPI_COMM_WORLD);
  wrong = wrong || failed(sf_accumulator_unpack(accumulator, packed, size)) ||
          failed(sf_accumulator_round(accumulator, SF_SUM, SF_F64, kept));
  MPI_Op_free(&merge);
  MPI_Type_free(&type);
  sf_accumulator_free(accumulator);
  return wrong;
}

/* Five exact sums: over the groups of a communicator, of its Fortran handle, and of a team with one worker per rank;
 * and two by a bundle. */
static int sum_over_groups(const double* x, uint64_t rows, double* sums) {
  sf_call calls[2];
  sf_group* groups[3];
  sf_team *team = NULL, *other = NULL;
  sf_plan* bundle = NULL;
  sf_data data[2];
  int i, wrong;
  calls[0] = calls[1] = sf_call_default();
  calls[0].rows = calls[1].rows = rows;
  calls[0].method = calls[1].method = SF_EXACT;
  wrong = failed(sf_group_of(MPI_COMM_WORLD, groups)) ||
          failed(sf_group_of_fortran(in_fortran(MPI_COMM_WORLD), groups + 1)) ||
          failed(sf_team_create_over(MPI_COMM_WORLD, 1, &team)) || failed(sf_team_group(team, 0, groups + 2)) ||
          failed(sf_team_create_over_fortran(in_fortran(MPI_COMM_WORLD), 1, &other));
  for (i = 0; !wrong && i < 3; ++i) wrong = failed(sf_group_reduce(calls, x, NULL, sums + i, groups[i]));
  wrong = wrong || groups[0] != groups[1] || sf_team_size(other) != 1;
  wrong = wrong || failed(sf_bundle_bind(calls, 2, MPI_COMM_WORLD, &bundle));
  memset(data, 0, sizeof data);
  data[0].first = data[1].first = x;
  data[0].result = sums + 3;
  data[1].result = sums + 4;
  wrong = wrong || failed(sf_bundle_run(bundle, data, 2));
  sf_plan_free(bundle);
  sf_team_free(other);
  sf_team_free(team);
  return wrong;
}

int main(int argc, char** argv) {
  double x[3] = {0.1, 0.2, 0.3};
  double once = 0, planned = 0, called = 0, kept = 1, sums[5] = {0, 0, 0, 0, 0};
  sf_interval mine;
  uint64_t count = 0;
  int wrong, ranks, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  wrong = failed(sf_rank_order(3, MPI_COMM_WORLD, &mine, &count)) || sum_twice(x, 3, &once, &planned);
  wrong = wrong || sum_exactly(x, 3, &called, &kept) || memcmp(&called, &kept, sizeof called) != 0;
  wrong = wrong || sum_over_groups(x, 3, sums);
  for (i = 0; i < 5; ++i) wrong = wrong || memcmp(&called, sums + i, sizeof called) != 0;
  wrong = wrong || count != 3 * (uint64_t)ranks || memcmp(&once, &planned, sizeof once) != 0;
  if (!wrong && mine.begin == 0)
    printf("%s, Steadfold %s: mean %.17g\n", sf_mpi_library(), sf_version(), once / (double)count);
  MPI_Finalize();
  return wrong;
}
