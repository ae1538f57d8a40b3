// PETSc vectors whose dot products, norms and sums have the same bits on any number of ranks. For C++17, over the C
// functions of Steadfold; written for PETSc 3.18 with real numbers in double precision. To use it, compile vectors.cpp
// into your program.
#pragma once

#include <petscvec.h>
#include <steadfold/steadfold_mpi.h>

/// Makes the reductions of `vector`, of type seq or mpi, those of Steadfold by `method`, SF_EXACT or SF_BINNED: VecDot,
/// VecTDot, VecMDot, VecMTDot, VecDotNorm2, VecSum, VecNorm (1, 2, infinity and Frobenius), and their Begin and End
/// forms, whose work is all done in Begin. It stays a vector of its type. What VecDuplicate makes of it is such a
/// vector, too, and shares the plans. The first vector of an operation decides: VecDot(x, y) is Steadfold's if x is.
/// A solver duplicates its right-hand side or solution, unless KSPSetUp was called before KSPSolve: then its vectors
/// are of the type that MatSetVecType gave the matrix, so give it the type "steadfold". Collective.
PetscErrorCode SteadfoldVecUse(Vec vector, sf_method method);

/// Registers the type "steadfold" with PETSc, for VecSetType, MatSetVecType, DMSetVecType and -vec_type: a vector of
/// type seq or mpi, to which SteadfoldVecUse was applied. The method is that of the option -steadfold_method, exact or
/// binned; by default exact. Call it after PetscInitialize.
PetscErrorCode SteadfoldVecRegister();
