// A matrix-vector product for PETSc whose bits do not depend on how rows are dealt to ranks. For C++17. It is
// independent of vectors.hpp: compile ordered.cpp into your program.
#pragma once

#include <petscmat.h>

/// Creates `*ordered`, a MATSHELL whose MatMult is that of `matrix`, an assembled matrix of type seqaij or mpiaij, but
/// adds the terms of every row in the order of their columns. PETSc's own adds those of the rank's own columns first,
/// then the others, and on one rank may take several rows together. MatGetDiagonal works, transposed products do not.
/// No value is copied: after MatSetValues the product has the new values; after a change of the pattern MatMult fails.
/// For KSPSetOperators(ksp, ordered, matrix): preconditioners see `matrix`. Collective; end it with MatDestroy.
PetscErrorCode SteadfoldMatCreateOrdered(Mat matrix, Mat* ordered);
