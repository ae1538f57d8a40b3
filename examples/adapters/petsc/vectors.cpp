// The operations that take the place of PETSc's, and the plans that they run; see vectors.hpp.
#include "vectors.hpp"

#include <petsc/private/vecimpl.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

static_assert(std::is_same_v<PetscScalar, double>, "this adapter is for a PETSc of real numbers in double precision");

namespace {

constexpr const char* key = "steadfold_reductions";  // the name of the object that vectors are composed with
constexpr const char* type_name = "steadfold";

/// What a vector and its duplicates share. Their ranks bind and run its plans in the same order, since they make and
/// use vectors collectively.
struct Reductions {
  MPI_Comm comm;
  sf_method method;
  std::uint64_t rows;  // on this rank
  PetscErrorCode (*duplicate)(Vec, Vec*);
  std::map<std::pair<sf_operation, PetscInt>, sf_plan*> plans;  // by operation and number of vectors

  Reductions(Vec vector, sf_method chosen)
      : comm(PetscObjectComm(reinterpret_cast<PetscObject>(vector))),
        method(chosen),
        rows(static_cast<std::uint64_t>(vector->map->n)),
        duplicate(vector->ops->duplicate) {}
  Reductions(const Reductions&) = delete;
  Reductions& operator=(const Reductions&) = delete;
  ~Reductions() {
    for (const auto& [what, plan] : plans) sf_plan_free(plan);
  }
};

PetscErrorCode check(sf_status status) {
  PetscFunctionBegin;
  if (status != SF_OK) SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", sf_error_text());
  PetscFunctionReturn(0);
}

PetscErrorCode reductions_of(Vec vector, Reductions** reductions) {
  PetscContainer container = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(vector), key, reinterpret_cast<PetscObject*>(&container)));
  PetscCheck(container, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "no plans (the vector was composed anew), apply SteadfoldVecUse to it");
  PetscCall(PetscContainerGetPointer(container, reinterpret_cast<void**>(reductions)));
  PetscFunctionReturn(0);
}

/// The plan of an operation over one vector, or of the products of `count` vectors with one (SF_DOT).
PetscErrorCode plan_of(Reductions& shared, sf_operation operation, PetscInt count, sf_plan** plan) {
  PetscFunctionBegin;
  sf_plan*& known = shared.plans[{operation, count}];
  if (known == nullptr) {
    sf_call call = sf_call_default();
    sf_arrays arrays = sf_arrays_default();
    std::vector<const void*> none(static_cast<std::size_t>(count));  // runs bring their own
    call.operation = operation;
    if (operation != SF_NORMINF) call.method = shared.method;  // whose greatest value no order can change
    call.rows = shared.rows;
    if (operation == SF_DOT) {
      arrays.x.type = arrays.factors.type = SF_F64;
      arrays.x.axis_count = arrays.factors.axis_count = 1;
      arrays.x.shape[0] = arrays.factors.shape[0] = shared.rows;
      arrays.x.strides[0] = arrays.factors.strides[0] = sizeof(double);
      arrays.xs = none.data();
      arrays.x_count = static_cast<std::uint64_t>(count);
      call.arrays = &arrays;
    }
    PetscCall(check(sf_plan_bind(&call, shared.comm, &known)));
  }
  *plan = known;
  PetscFunctionReturn(0);
}

/// One vector's sum or norm.
PetscErrorCode reduce(Vec x, sf_operation operation, PetscReal* result) {
  Reductions* shared = nullptr;
  sf_plan* plan = nullptr;
  const PetscScalar* values = nullptr;
  PetscFunctionBegin;
  PetscCall(reductions_of(x, &shared));
  PetscCall(plan_of(*shared, operation, 1, &plan));
  PetscCall(VecGetArrayRead(x, &values));
  PetscCall(check(sf_plan_run(plan, values, nullptr, result)));
  PetscCall(VecRestoreArrayRead(x, &values));
  PetscFunctionReturn(0);
}

/// results[j] = (x, y[j]), all of them in one message.
PetscErrorCode products(Vec x, PetscInt count, const Vec y[], PetscScalar* results) {
  Reductions* shared = nullptr;
  sf_plan* plan = nullptr;
  const PetscScalar* factors = nullptr;
  PetscFunctionBegin;
  if (count == 0) PetscFunctionReturn(0);
  PetscCall(reductions_of(x, &shared));
  PetscCall(plan_of(*shared, SF_DOT, count, &plan));
  std::vector<const PetscScalar*> values(static_cast<std::size_t>(count));
  PetscCall(VecGetArrayRead(x, &factors));
  for (PetscInt j = 0; j < count; ++j) PetscCall(VecGetArrayRead(y[j], &values[static_cast<std::size_t>(j)]));
  PetscCall(check(sf_plan_run(plan, values.data(), factors, results)));
  for (PetscInt j = 0; j < count; ++j) PetscCall(VecRestoreArrayRead(y[j], &values[static_cast<std::size_t>(j)]));
  PetscCall(VecRestoreArrayRead(x, &factors));
  PetscFunctionReturn(0);
}

PetscErrorCode dot(Vec x, Vec y, PetscScalar* result) { return products(x, 1, &y, result); }

PetscErrorCode norm(Vec x, NormType type, PetscReal* result) {
  PetscFunctionBegin;
  switch (type) {
    case NORM_1: PetscCall(reduce(x, SF_NORM1, result)); break;
    case NORM_1_AND_2:
      PetscCall(reduce(x, SF_NORM1, result));
      PetscCall(reduce(x, SF_NORM2, result + 1));
      break;
    case NORM_INFINITY: PetscCall(reduce(x, SF_NORMINF, result)); break;
    default: PetscCall(reduce(x, SF_NORM2, result));
  }
  PetscFunctionReturn(0);
}

/// (x, y) and (y, y).
PetscErrorCode dot_and_norm(Vec x, Vec y, PetscScalar* product, PetscScalar* square) {
  const Vec both[] = {x, y};
  PetscScalar results[2] = {};
  PetscFunctionBegin;
  PetscCall(products(y, 2, both, results));
  *product = results[0];
  *square = results[1];
  PetscFunctionReturn(0);
}

// VecSum, VecDotBegin and their like ask for each rank's own part, which they then add by MPI. One number per rank
// can't keep the bits. So rank 0's part is the whole, and that of the others is -0.0, which changes no sum.
PetscErrorCode on_rank_0_alone(Vec x, PetscInt count, PetscScalar* results) {
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm(reinterpret_cast<PetscObject>(x)), &rank));
  for (PetscInt j = 0; rank != 0 && j < count; ++j) results[j] = -0.0;
  PetscFunctionReturn(0);
}
PetscErrorCode sum_part(Vec x, PetscScalar* result) {
  PetscFunctionBegin;
  PetscCall(reduce(x, SF_SUM, result));
  PetscCall(on_rank_0_alone(x, 1, result));
  PetscFunctionReturn(0);
}
PetscErrorCode products_part(Vec x, PetscInt count, const Vec y[], PetscScalar* results) {
  PetscFunctionBegin;
  PetscCall(products(x, count, y, results));
  PetscCall(on_rank_0_alone(x, count, results));
  PetscFunctionReturn(0);
}
PetscErrorCode dot_part(Vec x, Vec y, PetscScalar* result) { return products_part(x, 1, &y, result); }
/// PETSc squares parts of 2-norms before it adds them, and takes the root afterwards, which gives the norm back (unless
/// its square leaves the range of doubles, as with PETSc's own).
PetscErrorCode norm_part(Vec x, NormType type, PetscReal* result) {
  PetscFunctionBegin;
  PetscCall(norm(x, type, result));
  if (type != NORM_INFINITY) PetscCall(on_rank_0_alone(x, type == NORM_1_AND_2 ? 2 : 1, result));
  PetscFunctionReturn(0);
}

// PETSc takes y + a x from BLAS. Some of these (OpenBLAS for Haswell and Zen) round what is left over at the end of a
// vector in another way than the rest, so that bits would depend on where a rank's part ends.
PetscErrorCode axpby(Vec y, PetscScalar a, PetscScalar b, Vec x) {
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  const PetscInt count = y->map->n;
  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArray(y, &to));
  if (b == 1) {
    for (PetscInt i = 0; i < count; ++i) to[i] += a * from[i];
  } else {
    for (PetscInt i = 0; i < count; ++i) to[i] = a * from[i] + b * to[i];
  }
  PetscCall(VecRestoreArray(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(0);
}
PetscErrorCode axpy(Vec y, PetscScalar a, Vec x) { return axpby(y, a, 1, x); }

PetscErrorCode duplicate(Vec vector, Vec* copy);

PetscErrorCode take_over(Vec vector, PetscContainer shared) {
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(vector), key, reinterpret_cast<PetscObject>(shared)));
  _VecOps& ops = *vector->ops;
  ops.duplicate = duplicate;
  ops.dot = ops.tdot = dot;  // of real numbers they are one
  ops.mdot = ops.mtdot = products;
  ops.norm = norm;
  ops.dotnorm2 = dot_and_norm;
  ops.sum = sum_part;
  ops.dot_local = ops.tdot_local = dot_part;
  ops.mdot_local = ops.mtdot_local = products_part;
  ops.norm_local = norm_part;
  ops.axpy = axpy;
  ops.axpby = axpby;
  PetscFunctionReturn(0);
}

PetscErrorCode duplicate(Vec vector, Vec* copy) {
  Reductions* shared = nullptr;
  PetscContainer container = nullptr;
  PetscFunctionBegin;
  PetscCall(reductions_of(vector, &shared));
  PetscCall((*shared->duplicate)(vector, copy));
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(vector), key, reinterpret_cast<PetscObject*>(&container)));
  PetscCall(take_over(*copy, container));
  PetscFunctionReturn(0);
}

PetscErrorCode destroy(void* shared) {
  delete static_cast<Reductions*>(shared);
  return 0;
}

PetscErrorCode create(Vec vector) {
  const char* const names[] = {"exact", "binned"};
  PetscInt chosen = 0;
  PetscFunctionBegin;
  // A vector that was of type seq or mpi still has that name, but no operations any more.
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(vector), type_name));
  PetscCall(VecSetType(vector, VECSTANDARD));
  PetscCall(PetscOptionsGetEList(nullptr, nullptr, "-steadfold_method", names, 2, &chosen, nullptr));
  PetscCall(SteadfoldVecUse(vector, chosen == 0 ? SF_EXACT : SF_BINNED));
  PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode SteadfoldVecUse(Vec vector, sf_method method) {
  const auto object = reinterpret_cast<PetscObject>(vector);
  PetscBool known = PETSC_FALSE;
  PetscContainer before = nullptr, container = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny(object, &known, VECSEQ, VECMPI, ""));
  PetscCheck(known, PetscObjectComm(object), PETSC_ERR_SUP,
             "no reductions for this type of vectors (%s), give the vector the type seq or mpi", object->type_name);
  PetscCheck(method == SF_EXACT || method == SF_BINNED, PetscObjectComm(object), PETSC_ERR_ARG_OUTOFRANGE,
             "no method for solvers (%d), choose SF_EXACT or SF_BINNED", static_cast<int>(method));
  auto* shared = new Reductions(vector, method);
  PetscCall(PetscObjectQuery(object, key, reinterpret_cast<PetscObject*>(&before)));
  if (before != nullptr) {  // another method: PETSc's own function stays what it was
    Reductions* old = nullptr;
    PetscCall(PetscContainerGetPointer(before, reinterpret_cast<void**>(&old)));
    shared->duplicate = old->duplicate;
  }
  PetscCall(PetscContainerCreate(PetscObjectComm(object), &container));
  PetscCall(PetscContainerSetPointer(container, shared));
  PetscCall(PetscContainerSetUserDestroy(container, destroy));
  PetscCall(take_over(vector, container));
  PetscCall(PetscObjectStateIncrease(object));   // forgets norms that PETSc keeps
  PetscCall(PetscContainerDestroy(&container));  // the vector has it now
  PetscFunctionReturn(0);
}

PetscErrorCode SteadfoldVecRegister() {
  PetscFunctionBegin;
  PetscCall(VecRegister(type_name, create));
  PetscFunctionReturn(0);
}
