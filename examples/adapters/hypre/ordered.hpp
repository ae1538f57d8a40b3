// A matrix-vector product for hypre's ParCSR matrices whose bits do not depend on how rows are dealt to ranks: three
// functions for the tables of its Krylov solvers, which solvers.cpp fills in.
#pragma once

#include <HYPRE_parcsr_mv.h>

namespace steadfold_hypre {

/// A copy of the hypre_ParCSRMatrix `matrix` whose rows are sorted by column, for the two functions below. Collective.
/// nullptr, and hypre's error flag, if there is no memory.
void* create_ordered(void* matrix, void* vector);
/// y = alpha A x + beta y, vectors of type hypre_ParVector; the terms of a row are added in the order of its columns.
HYPRE_Int multiply_ordered(void* ordered, HYPRE_Complex alpha, void* matrix, void* x, HYPRE_Complex beta, void* y);
HYPRE_Int destroy_ordered(void* ordered);

}  // namespace steadfold_hypre
