// example_petsc: a linear system by PETSc's solvers, with PETSc's own dot products and with Steadfold's.
//   mpirun -n 3 example_petsc [--json]          one job
//   example_petsc --compare                     starts the jobs itself, on several numbers of ranks
// The adapter is vectors.hpp and ordered.hpp; this program shows how a solver takes them.
#include <fmt/format.h>
#include <petscksp.h>

#include <cmath>
#include <stdexcept>

#include "adapters/common/library.hpp"
#include "ordered.hpp"
#include "vectors.hpp"

namespace {

using adapters::Outcome;
using adapters::Task;

void check(PetscErrorCode code) {
  if (code != 0) throw std::runtime_error(fmt::format("PETSc failed, code {}, see above", static_cast<int>(code)));
}

/// PETSc objects that end with their scope.
template <class T, PetscErrorCode (*destroy)(T*)>
struct Owned {
  T it = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { destroy(&it); }
};
using Matrix = Owned<Mat, MatDestroy>;
using Vector = Owned<Vec, VecDestroy>;
using Solver = Owned<KSP, KSPDestroy>;

/// The matrix as any user assembles it; PETSc deals the rows.
void assemble(Mat matrix, const solver::Problem& problem) {
  PetscInt begin = 0, end = 0;
  check(MatSetSizes(matrix, PETSC_DECIDE, PETSC_DECIDE, static_cast<PetscInt>(problem.count()),
                    static_cast<PetscInt>(problem.count())));
  check(MatSetType(matrix, MATAIJ));
  check(MatSeqAIJSetPreallocation(matrix, 7, nullptr));
  check(MatMPIAIJSetPreallocation(matrix, 7, nullptr, 7, nullptr));
  check(MatGetOwnershipRange(matrix, &begin, &end));
  for (PetscInt i = begin; i < end; ++i) {
    const adapters::Row row = adapters::row_of(problem, static_cast<std::uint64_t>(i));
    check(MatSetValues(matrix, 1, &i, row.count, row.columns.data(), row.values.data(), INSERT_VALUES));
  }
  check(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  check(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
}

/// The right-hand side. It has the type that the matrix gives to all vectors, those of the solver too; a program's user
/// sets the method by -steadfold_method.
void create(Mat matrix, const solver::Problem& problem, const std::string& dot, Vec* vector) {
  PetscInt begin = 0, end = 0;
  PetscScalar* values = nullptr;
  if (dot != "plain") {
    check(PetscOptionsSetValue(nullptr, "-steadfold_method", dot.c_str()));
    check(MatSetVecType(matrix, "steadfold"));
  }
  check(MatCreateVecs(matrix, vector, nullptr));
  Vec f = *vector;
  check(VecGetOwnershipRange(f, &begin, &end));
  check(VecGetArrayWrite(f, &values));
  for (PetscInt i = begin; i < end; ++i)
    values[i - begin] = adapters::source_of(problem, static_cast<std::uint64_t>(i));
  check(VecRestoreArrayWrite(f, &values));
}

void configure(KSP solver, const Task& task) {
  PC preconditioner = nullptr;
  check(KSPSetType(solver, task.solver == "cg" ? KSPCG : KSPGMRES));
  check(KSPGetPC(solver, &preconditioner));
  check(PCSetType(preconditioner, task.preconditioner == "jacobi" ? PCJACOBI : PCNONE));
  check(KSPSetTolerances(solver, task.tolerance, PETSC_DEFAULT, PETSC_DEFAULT, task.most_iterations));
  check(KSPSetResidualHistory(solver, nullptr, task.most_iterations + 1, PETSC_TRUE));
  check(KSPSetFromOptions(solver));  // of PETSC_OPTIONS
}

/// Every other reduction of the adapter, once. Products of x and y = f, with cancellation.
std::vector<std::pair<std::string, double>> reductions(Vec x, Vec y, VecType type) {
  Vector z, lost, typed;
  PetscScalar dot = 0, tdot = 0, square = 0, sum = 0, begun = 0, anew = 0, products[3] = {};
  PetscReal both[2] = {}, one = 0, infinity = 0, begun_norm = 0, lost_norm = 0;
  check(VecDuplicate(x, &z.it));
  check(VecCopy(y, z.it));
  check(VecAXPY(z.it, -0.1, x));
  check(VecAXPBY(z.it, 0.3, 0.7, x));
  check(VecDuplicate(z.it, &lost.it));
  check(VecCopy(z.it, lost.it));
  check(VecAXPBY(lost.it, 0.2, 1, x));
  check(VecAXPY(lost.it, -1, z.it));
  check(VecAXPBY(lost.it, -0.2, 1, x));  // now the rounding error
  check(VecDuplicate(x, &typed.it));
  check(VecSetType(typed.it, type));  // anew
  check(VecCopy(x, typed.it));
  check(VecDot(typed.it, y, &anew));
  const Vec vectors[] = {x, y, z.it};
  check(VecDot(x, y, &dot));
  check(VecTDot(x, z.it, &tdot));
  check(VecMDot(x, 3, vectors, products));
  check(VecDotNorm2(x, z.it, &begun, &square));
  check(VecNorm(z.it, NORM_1, &one));
  check(VecNorm(x, NORM_1_AND_2, both));
  check(VecNorm(z.it, NORM_INFINITY, &infinity));
  check(VecSum(z.it, &sum));
  check(VecNorm(lost.it, NORM_1, &lost_norm));
  std::vector<std::pair<std::string, double>> found = {{"dot", dot},
                                                       {"tdot", tdot},
                                                       {"mdot_0", products[0]},
                                                       {"mdot_1", products[1]},
                                                       {"mdot_2", products[2]},
                                                       {"dot_of_two", begun},
                                                       {"square", square},
                                                       {"norm1", one},
                                                       {"norm1_of_two", both[0]},
                                                       {"norm2", both[1]},
                                                       {"norminf", infinity},
                                                       {"sum", sum},
                                                       {"lost", lost_norm},
                                                       {"anew", anew}};
  check(VecDotBegin(x, y, &begun));
  check(VecNormBegin(z.it, NORM_2, &begun_norm));
  check(VecDotEnd(x, y, &begun));
  check(VecNormEnd(z.it, NORM_2, &begun_norm));
  found.insert(found.end(), {{"begun_dot", begun}, {"begun_norm", begun_norm}});
  return found;
}

Outcome solve(const Task& task, const std::string& dot, const example::Ranks& ranks) {
  Matrix matrix, ordered;
  Vector f, u;
  Solver solver;
  check(MatCreate(ranks.comm, &matrix.it));
  assemble(matrix.it, task.problem);
  create(matrix.it, task.problem, dot, &f.it);
  check(VecDuplicate(f.it, &u.it));
  check(KSPCreate(ranks.comm, &solver.it));
  if (task.product == "ordered") check(SteadfoldMatCreateOrdered(matrix.it, &ordered.it));
  check(KSPSetOperators(solver.it, ordered.it == nullptr ? matrix.it : ordered.it, matrix.it));
  configure(solver.it, task);
  check(KSPSetUp(solver.it));

  Outcome outcome;
  MPI_Barrier(ranks.comm);
  const double begin = MPI_Wtime();
  check(KSPSolve(solver.it, f.it, u.it));
  outcome.seconds = MPI_Wtime() - begin;

  const PetscReal* history = nullptr;
  PetscInt count = 0, mine = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  const PetscScalar* values = nullptr;
  check(KSPGetResidualHistory(solver.it, &history, &count));
  check(KSPGetConvergedReason(solver.it, &reason));
  outcome.iterations = static_cast<std::uint64_t>(count - 1);
  outcome.converged = reason > 0;
  outcome.history.assign(history, history + count);
  outcome.residual = outcome.history.back();
  check(VecGetLocalSize(u.it, &mine));
  check(VecGetArrayRead(u.it, &values));
  outcome.solution.assign(values, values + mine);
  check(VecRestoreArrayRead(u.it, &values));
  outcome.reductions = reductions(u.it, f.it, dot == "plain" ? VECSTANDARD : "steadfold");
  PetscScalar product = 0;
  outcome.dot_seconds = adapters::time_of([&] { check(VecDot(u.it, f.it, &product)); }, ranks);
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  const adapters::Library library = {
      "petsc", fmt::format("PETSc {}.{}.{}", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR), solve};
  return adapters::run_program(
      argc, argv, library,
      [] {
        check(PetscInitializeNoArguments());
        check(SteadfoldVecRegister());
      },
      [] { check(PetscFinalize()); });
}
