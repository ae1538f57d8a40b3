/* PETSc's pipelined conjugate gradients, whose dot products are non-blocking reductions, on a Laplacian with uneven
 * coefficients. Prints a digest of all residual norms and of the solution. */
#include <petscksp.h>

#include "mixed.h"

enum { size = 400 };
static uint64_t digest = 0;

static void add(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  digest = mixed(digest ^ bits);
}

static PetscErrorCode watch(KSP solver, PetscInt iteration, PetscReal norm, void* context) {
  (void)solver;
  (void)iteration;
  (void)context;
  add(norm);
  return 0;
}

static double coefficient(PetscInt row) { return 1.0 + (double)(mixed((uint64_t)row) >> 12) * 0x1p-52; }

int main(int argc, char** argv) {
  Mat matrix;
  Vec solution, right;
  KSP solver;
  PC preconditioner;
  PetscInt begin, end;
  uint64_t all[64];
  int rank, ranks;
  PetscInitialize(&argc, &argv, NULL, NULL);
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, size, size, 3, NULL, 2, NULL, &matrix);
  MatGetOwnershipRange(matrix, &begin, &end);
  for (PetscInt row = begin; row < end; ++row) {
    if (row > 0) MatSetValue(matrix, row, row - 1, -coefficient(row), INSERT_VALUES);
    if (row + 1 < size) MatSetValue(matrix, row, row + 1, -coefficient(row + 1), INSERT_VALUES);
    MatSetValue(matrix, row, row, coefficient(row) + coefficient(row + 1) + 1e-3, INSERT_VALUES);
  }
  MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
  MatCreateVecs(matrix, &solution, &right);
  for (PetscInt row = begin; row < end; ++row) VecSetValue(right, row, coefficient(row + size), INSERT_VALUES);
  VecAssemblyBegin(right);
  VecAssemblyEnd(right);
  KSPCreate(PETSC_COMM_WORLD, &solver);
  KSPSetOperators(solver, matrix, matrix);
  KSPSetType(solver, KSPPIPECG);
  KSPGetPC(solver, &preconditioner);
  PCSetType(preconditioner, PCJACOBI);
  KSPSetTolerances(solver, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 200);
  KSPMonitorSet(solver, watch, NULL, NULL);
  KSPSolve(solver, right, solution);
  const PetscScalar* values;
  VecGetArrayRead(solution, &values);
  for (PetscInt i = 0; i < end - begin; ++i) add(values[i]);
  VecRestoreArrayRead(solution, &values);
  MPI_Gather(&digest, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, PETSC_COMM_WORLD);
  digest = 0;
  for (int r = 0; rank == 0 && r < ranks; ++r) digest = mixed(digest ^ all[r]);
  if (rank == 0) printf("digest %016llx\n", (unsigned long long)digest);
  KSPDestroy(&solver);
  VecDestroy(&solution);
  VecDestroy(&right);
  MatDestroy(&matrix);
  PetscFinalize();
  return 0;
}
