// hypre's conjugate gradients and GMRES for ParCSR matrices, with the same bits on any number of ranks: the inner
// product is Steadfold's, and the matrix-vector product adds the terms of a row in the order of its columns. For C++17;
// written for hypre 2.26 with real numbers in double precision, in the memory of the host. To use it, compile
// solvers.cpp and ordered.cpp into your program.
#pragma once

#include <HYPRE_parcsr_ls.h>
#include <mpi.h>

namespace steadfold_hypre {

/// The method of inner products: correctly rounded, or pre-rounded in three bins, which takes less time.
enum class Method { exact, binned };
/// own: hypre's, whose bits depend on how rows are dealt to ranks.
enum class Product { ordered, own };

/// Solvers for hypre's functions HYPRE_PCG... and HYPRE_GMRES..., in place of those of HYPRE_ParCSRPCGCreate and
/// HYPRE_ParCSRGMRESCreate. End them with HYPRE_ParCSRPCGDestroy and HYPRE_ParCSRGMRESDestroy. HYPRE_PCGSetup copies
/// the matrix, sorted, if the product is `ordered`: call it again after the matrix has changed. If a reduction fails
/// hypre's error flag is raised, and the solver meets a NaN.
HYPRE_Solver create_pcg(Method method, Product product = Product::ordered);
HYPRE_Solver create_gmres(Method method, Product product = Product::ordered);

/// (x, y) in place of HYPRE_ParVectorInnerProd. Collective over the communicator of x.
HYPRE_Real inner_product(HYPRE_ParVector x, HYPRE_ParVector y, Method method);

}  // namespace steadfold_hypre
