// example_hypre: a linear system by hypre's solvers, with hypre's own inner products and with Steadfold's.
//   mpirun -n 3 example_hypre [--json]          one job
//   example_hypre --compare                     starts the jobs itself, on several numbers of ranks
// The adapter is solvers.hpp; this program shows how a solver takes it.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <_hypre_parcsr_ls.h>
#include <fmt/format.h>
#include <krylov.h>

#include <cmath>
#include <stdexcept>

#include "adapters/common/library.hpp"
#include "solvers.hpp"

namespace {

using adapters::Outcome;
using adapters::Task;
using steadfold_hypre::Method;
using steadfold_hypre::Product;

/// After calls that must not fail.
void check() {
  if (HYPRE_GetError() != 0) throw std::runtime_error(fmt::format("hypre failed, error flag {}", HYPRE_GetError()));
}

/// The matrix, the right-hand side and the solution, as any user assembles them.
class System {
 public:
  System(const solver::Problem& problem, const example::Ranks& ranks) {
    const sf::Interval rows = ranks.share(problem.count());
    const auto begin = static_cast<HYPRE_BigInt>(rows.begin), last = static_cast<HYPRE_BigInt>(rows.end) - 1;
    HYPRE_IJMatrixCreate(ranks.comm, begin, last, begin, last, &matrix_);
    HYPRE_IJMatrixSetObjectType(matrix_, HYPRE_PARCSR);
    HYPRE_IJMatrixInitialize(matrix_);
    for (HYPRE_IJVector* vector : {&f_, &u_}) {
      HYPRE_IJVectorCreate(ranks.comm, begin, last, vector);
      HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR);
      HYPRE_IJVectorInitialize(*vector);
    }
    for (HYPRE_BigInt i = begin; i <= last; ++i) {
      adapters::Row row = adapters::row_of(problem, static_cast<std::uint64_t>(i));
      const double source = adapters::source_of(problem, static_cast<std::uint64_t>(i)), zero = 0;
      HYPRE_IJMatrixSetValues(matrix_, 1, &row.count, &i, row.columns.data(), row.values.data());
      HYPRE_IJVectorSetValues(f_, 1, &i, &source);
      HYPRE_IJVectorSetValues(u_, 1, &i, &zero);
    }
    HYPRE_IJMatrixAssemble(matrix_);
    HYPRE_IJVectorAssemble(f_);
    HYPRE_IJVectorAssemble(u_);
    check();
  }
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    HYPRE_IJMatrixDestroy(matrix_);
    HYPRE_IJVectorDestroy(f_);
    HYPRE_IJVectorDestroy(u_);
  }

  HYPRE_ParCSRMatrix matrix() const {
    void* object = nullptr;
    HYPRE_IJMatrixGetObject(matrix_, &object);
    return static_cast<HYPRE_ParCSRMatrix>(object);
  }
  HYPRE_ParVector f() const { return vector(f_); }
  HYPRE_ParVector u() const { return vector(u_); }

 private:
  static HYPRE_ParVector vector(HYPRE_IJVector it) {
    void* object = nullptr;
    HYPRE_IJVectorGetObject(it, &object);
    return static_cast<HYPRE_ParVector>(object);
  }

  HYPRE_IJMatrix matrix_ = nullptr;
  HYPRE_IJVector f_ = nullptr, u_ = nullptr;
};

/// Records the results of a solver's inner products, because hypre keeps no history of GMRES.
std::vector<double> noted;
HYPRE_Real (*unnoted_product)(void*, void*) = nullptr;
HYPRE_Real noted_product(void* x, void* y) {
  noted.push_back(unnoted_product(x, y));
  return noted.back();
}
/// Has the solver's inner products noted. If `dot` is plain, these are hypre's own; nothing else of the solver changes.
template <class Data>
void note_products(HYPRE_Solver solver, const std::string& dot) {
  auto& functions = *reinterpret_cast<Data*>(solver)->functions;
  unnoted_product = dot == "plain" ? hypre_ParKrylovInnerProd : functions.InnerProd;
  functions.InnerProd = noted_product;
  noted.clear();
}

/// Solves, and fills in all but the solution.
Outcome by_pcg(const Task& task, HYPRE_Solver solver, const System& system) {
  Outcome outcome;
  HYPRE_Int iterations = 0, converged = 0;
  HYPRE_PCGSetTol(solver, task.tolerance);
  HYPRE_PCGSetMaxIter(solver, task.most_iterations);
  HYPRE_PCGSetTwoNorm(solver, 1);
  if (task.preconditioner == "jacobi")
    HYPRE_PCGSetPrecond(solver, reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_ParCSRDiagScale),
                        reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_ParCSRDiagScaleSetup), nullptr);
  const auto matrix = reinterpret_cast<HYPRE_Matrix>(system.matrix());
  const auto f = reinterpret_cast<HYPRE_Vector>(system.f()), u = reinterpret_cast<HYPRE_Vector>(system.u());
  HYPRE_PCGSetup(solver, matrix, f, u);
  const double begin = MPI_Wtime();
  HYPRE_PCGSolve(solver, matrix, f, u);
  outcome.seconds = MPI_Wtime() - begin;
  HYPRE_PCGGetNumIterations(solver, &iterations);
  HYPRE_PCGGetConverged(solver, &converged);
  HYPRE_PCGGetFinalRelativeResidualNorm(solver, &outcome.residual);
  outcome.iterations = static_cast<std::uint64_t>(iterations);
  outcome.converged = converged != 0;
  return outcome;
}

Outcome by_gmres(const Task& task, HYPRE_Solver solver, const System& system) {
  Outcome outcome;
  HYPRE_Int iterations = 0, converged = 0;
  HYPRE_GMRESSetTol(solver, task.tolerance);
  HYPRE_GMRESSetKDim(solver, 30);
  HYPRE_GMRESSetMaxIter(solver, task.most_iterations);
  if (task.preconditioner == "jacobi")
    HYPRE_GMRESSetPrecond(solver, reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_ParCSRDiagScale),
                          reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_ParCSRDiagScaleSetup), nullptr);
  const auto matrix = reinterpret_cast<HYPRE_Matrix>(system.matrix());
  const auto f = reinterpret_cast<HYPRE_Vector>(system.f()), u = reinterpret_cast<HYPRE_Vector>(system.u());
  HYPRE_GMRESSetup(solver, matrix, f, u);
  const double begin = MPI_Wtime();
  HYPRE_GMRESSolve(solver, matrix, f, u);
  outcome.seconds = MPI_Wtime() - begin;
  HYPRE_GMRESGetNumIterations(solver, &iterations);
  HYPRE_GMRESGetConverged(solver, &converged);
  HYPRE_GMRESGetFinalRelativeResidualNorm(solver, &outcome.residual);
  outcome.iterations = static_cast<std::uint64_t>(iterations);
  outcome.converged = converged != 0;
  return outcome;
}

Outcome solve(const Task& task, const std::string& dot, const example::Ranks& ranks) {
  const System system(task.problem, ranks);
  const Method method = dot == "binned" ? Method::binned : Method::exact;
  const Product product = task.product == "ordered" ? Product::ordered : Product::own;
  const bool cg = task.solver == "cg";
  HYPRE_Solver solver =
      cg ? steadfold_hypre::create_pcg(method, product) : steadfold_hypre::create_gmres(method, product);
  cg ? note_products<hypre_PCGData>(solver, dot) : note_products<hypre_GMRESData>(solver, dot);
  MPI_Barrier(ranks.comm);
  Outcome outcome = cg ? by_pcg(task, solver, system) : by_gmres(task, solver, system);
  outcome.history = noted;
  HYPRE_ClearError(HYPRE_ERROR_CONV);  // the record says whether it converged
  cg ? HYPRE_ParCSRPCGDestroy(solver) : HYPRE_ParCSRGMRESDestroy(solver);
  check();

  const hypre_Vector* own = hypre_ParVectorLocalVector(system.u());
  outcome.solution.assign(hypre_VectorData(own), hypre_VectorData(own) + hypre_VectorSize(own));
  double product_of_both = 0;
  const auto multiply = [&] {
    if (dot == "plain") {
      HYPRE_ParVectorInnerProd(system.u(), system.f(), &product_of_both);
    } else {
      product_of_both = steadfold_hypre::inner_product(system.u(), system.f(), method);
    }
  };
  outcome.dot_seconds = adapters::time_of(multiply, ranks);
  outcome.reductions = {{"dot", product_of_both}};
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  const adapters::Library library = {"hypre", fmt::format("hypre {}", HYPRE_RELEASE_VERSION), solve};
  return adapters::run_program(
      argc, argv, library, [] { HYPRE_Init(); }, [] { HYPRE_Finalize(); });
}
