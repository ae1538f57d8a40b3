// The tables of functions that hypre's solvers call; see solvers.hpp.
#include "solvers.hpp"

#include <_hypre_parcsr_ls.h>
#include <krylov.h>

#include <exception>
#include <limits>
#include <steadfold/mpi.hpp>
#include <type_traits>

#include "ordered.hpp"

static_assert(std::is_same_v<HYPRE_Complex, double>, "this adapter is for a hypre of real numbers in double precision");

namespace steadfold_hypre {
namespace {

sf::View<const double> values_of(hypre_ParVector* vector) {
  const hypre_Vector* own = hypre_ParVectorLocalVector(vector);
  return {hypre_VectorData(own), static_cast<std::size_t>(hypre_VectorSize(own))};
}

// hypre's tables have no place for a method, so there is a function for each.
HYPRE_Real exact_product(void* x, void* y) {
  return inner_product(static_cast<HYPRE_ParVector>(x), static_cast<HYPRE_ParVector>(y), Method::exact);
}
HYPRE_Real binned_product(void* x, void* y) {
  return inner_product(static_cast<HYPRE_ParVector>(x), static_cast<HYPRE_ParVector>(y), Method::binned);
}

/// Entries of both tables.
struct Functions {
  HYPRE_Real (*inner_product)(void*, void*);
  void* (*create)(void*, void*);
  HYPRE_Int (*multiply)(void*, HYPRE_Complex, void*, void*, HYPRE_Complex, void*);
  HYPRE_Int (*destroy)(void*);

  Functions(Method method, Product product)
      : inner_product(method == Method::exact ? exact_product : binned_product),
        create(product == Product::ordered ? create_ordered : hypre_ParKrylovMatvecCreate),
        multiply(product == Product::ordered ? multiply_ordered : hypre_ParKrylovMatvec),
        destroy(product == Product::ordered ? destroy_ordered : hypre_ParKrylovMatvecDestroy) {}
};

}  // namespace

HYPRE_Solver create_pcg(Method method, Product product) {
  const Functions ours(method, product);
  return static_cast<HYPRE_Solver>(hypre_PCGCreate(hypre_PCGFunctionsCreate(
      hypre_ParKrylovCAlloc, hypre_ParKrylovFree, hypre_ParKrylovCommInfo, hypre_ParKrylovCreateVector,
      hypre_ParKrylovDestroyVector, ours.create, ours.multiply, ours.destroy, ours.inner_product,
      hypre_ParKrylovCopyVector, hypre_ParKrylovClearVector, hypre_ParKrylovScaleVector, hypre_ParKrylovAxpy,
      hypre_ParKrylovIdentitySetup, hypre_ParKrylovIdentity)));
}

HYPRE_Solver create_gmres(Method method, Product product) {
  const Functions ours(method, product);
  return static_cast<HYPRE_Solver>(hypre_GMRESCreate(hypre_GMRESFunctionsCreate(
      hypre_ParKrylovCAlloc, hypre_ParKrylovFree, hypre_ParKrylovCommInfo, hypre_ParKrylovCreateVector,
      hypre_ParKrylovCreateVectorArray, hypre_ParKrylovDestroyVector, ours.create, ours.multiply, ours.destroy,
      ours.inner_product, hypre_ParKrylovCopyVector, hypre_ParKrylovClearVector, hypre_ParKrylovScaleVector,
      hypre_ParKrylovAxpy, hypre_ParKrylovIdentitySetup, hypre_ParKrylovIdentity)));
}

HYPRE_Real inner_product(HYPRE_ParVector x, HYPRE_ParVector y, Method method) {
  try {
    return sf::dot(values_of(x), values_of(y), hypre_ParVectorComm(x),
                   method == Method::exact ? sf::exact() : sf::binned());
  } catch (const std::exception& error) {
    hypre_error_w_msg(HYPRE_ERROR_GENERIC, error.what());
    return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace steadfold_hypre
