// The product in the order of columns; see ordered.hpp. PETSc stores a rank's rows as two matrices: the columns that
// belong to the rank, and the others, packed, in ascending order. So a row is three runs: packed columns below the
// rank's own, its own, packed columns above.
#include "ordered.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace {

struct Ordered {
  Mat matrix = nullptr;
  Mat own = nullptr, others = nullptr;  // parts of it; no others on one rank
  PetscObjectState pattern = 0;
  Vec ghosts = nullptr;  // x at the packed columns
  VecScatter scatter = nullptr;
  std::vector<PetscInt> above;  // per row: where packed columns above the rank's own begin

  ~Ordered() {
    VecScatterDestroy(&scatter);
    VecDestroy(&ghosts);
    MatDestroy(&matrix);
  }
};

/// The rows of a part, as PETSc stores them.
struct Rows {
  PetscInt count = 0;
  const PetscInt* begin = nullptr;
  const PetscInt* columns = nullptr;
  const PetscScalar* values = nullptr;
};

PetscErrorCode open(Mat part, Rows* rows) {
  PetscBool done = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &rows->count, &rows->begin, &rows->columns, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "rows cannot be read (not a matrix of type aij), convert it");
  PetscCall(MatSeqAIJGetArrayRead(part, &rows->values));
  PetscFunctionReturn(0);
}

PetscErrorCode close(Mat part, Rows* rows) {
  PetscBool done = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(part, &rows->values));
  PetscCall(MatRestoreRowIJ(part, 0, PETSC_FALSE, PETSC_FALSE, &rows->count, &rows->begin, &rows->columns, &done));
  PetscFunctionReturn(0);
}

bool ascending(const Rows& rows) {
  for (PetscInt i = 0; i < rows.count; ++i)
    if (!std::is_sorted(rows.columns + rows.begin[i], rows.columns + rows.begin[i + 1])) return false;
  return true;
}

/// sum += the terms of entries begin to end-1, one after the other.
inline void add(const Rows& rows, PetscInt begin, PetscInt end, const PetscScalar* x, PetscScalar& sum) {
  for (PetscInt k = begin; k < end; ++k) sum += rows.values[k] * x[rows.columns[k]];
}

PetscErrorCode multiply(Mat shell, Vec x, Vec y) {
  Ordered* it = nullptr;
  Rows own, others;
  PetscObjectState pattern = 0;
  const PetscScalar *here = nullptr, *ghosts = nullptr;
  PetscScalar* result = nullptr;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, &it));
  PetscCall(MatGetNonzeroState(it->matrix, &pattern));
  PetscCheck(pattern == it->pattern, PetscObjectComm(reinterpret_cast<PetscObject>(shell)), PETSC_ERR_ARG_WRONGSTATE,
             "no product (the pattern of the matrix has changed), create the ordered matrix again");
  PetscCall(open(it->own, &own));
  if (it->others != nullptr) {
    PetscCall(open(it->others, &others));
    PetscCall(VecScatterBegin(it->scatter, x, it->ghosts, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(it->scatter, x, it->ghosts, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(it->ghosts, &ghosts));
  }
  PetscCall(VecGetArrayRead(x, &here));
  PetscCall(VecGetArrayWrite(y, &result));
  for (PetscInt i = 0; i < own.count; ++i) {
    PetscScalar sum = 0;
    const PetscInt middle = it->others == nullptr ? 0 : it->above[static_cast<std::size_t>(i)];
    if (it->others != nullptr) add(others, others.begin[i], middle, ghosts, sum);
    add(own, own.begin[i], own.begin[i + 1], here, sum);
    if (it->others != nullptr) add(others, middle, others.begin[i + 1], ghosts, sum);
    result[i] = sum;
  }
  PetscCall(VecRestoreArrayWrite(y, &result));
  PetscCall(VecRestoreArrayRead(x, &here));
  if (it->others != nullptr) {
    PetscCall(VecRestoreArrayRead(it->ghosts, &ghosts));
    PetscCall(close(it->others, &others));
  }
  PetscCall(close(it->own, &own));
  PetscFunctionReturn(0);
}

PetscErrorCode diagonal(Mat shell, Vec d) {
  Ordered* it = nullptr;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, &it));
  PetscCall(MatGetDiagonal(it->matrix, d));
  PetscFunctionReturn(0);
}

PetscErrorCode destroy(Mat shell) {
  Ordered* it = nullptr;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, &it));
  delete it;
  PetscFunctionReturn(0);
}

/// Finds the parts, where packed columns stand, and how x comes to them.
PetscErrorCode prepare(Ordered* it, PetscBool is_parallel) {
  const PetscInt* packed = nullptr;
  PetscInt begin = 0, packed_count = 0;
  Vec x = nullptr;
  IS from = nullptr;
  Rows rows;
  PetscBool sorted = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatGetNonzeroState(it->matrix, &it->pattern));
  it->own = it->matrix;
  if (is_parallel) {
    PetscCall(MatMPIAIJGetSeqAIJ(it->matrix, &it->own, &it->others, &packed));
    PetscCall(MatGetSize(it->others, nullptr, &packed_count));
    PetscCall(MatGetOwnershipRangeColumn(it->matrix, &begin, nullptr));
    PetscCall(MatCreateVecs(it->matrix, &x, nullptr));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, packed_count, &it->ghosts));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, packed_count, packed, PETSC_USE_POINTER, &from));
    PetscCall(VecScatterCreate(x, from, it->ghosts, nullptr, &it->scatter));
    PetscCall(ISDestroy(&from));
    PetscCall(VecDestroy(&x));
    PetscCall(open(it->others, &rows));
    const auto first_above = static_cast<PetscInt>(std::lower_bound(packed, packed + packed_count, begin) - packed);
    for (PetscInt i = 0; i < rows.count; ++i) {
      const PetscInt *low = rows.columns + rows.begin[i], *high = rows.columns + rows.begin[i + 1];
      it->above.push_back(static_cast<PetscInt>(std::lower_bound(low, high, first_above) - rows.columns));
    }
    sorted = ascending(rows) && std::is_sorted(packed, packed + packed_count) ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(close(it->others, &rows));
    PetscCheck(sorted, PETSC_COMM_SELF, PETSC_ERR_SUP, "columns in no order (of other ranks), use MatSetValues");
  }
  PetscCall(open(it->own, &rows));
  sorted = ascending(rows) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(close(it->own, &rows));
  PetscCheck(sorted, PETSC_COMM_SELF, PETSC_ERR_SUP, "columns in no order (the rank's own), use MatSetValues");
  PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode SteadfoldMatCreateOrdered(Mat matrix, Mat* ordered) {
  const auto object = reinterpret_cast<PetscObject>(matrix);
  PetscBool is_serial = PETSC_FALSE, is_parallel = PETSC_FALSE;
  PetscInt rows = 0, columns = 0, all_rows = 0, all_columns = 0;
  VecType type = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(object, MATSEQAIJ, &is_serial));
  PetscCall(PetscObjectTypeCompare(object, MATMPIAIJ, &is_parallel));
  PetscCheck(is_serial || is_parallel, PetscObjectComm(object), PETSC_ERR_SUP,
             "no ordered product for this type of matrix, convert it to aij");
  auto* it = new Ordered;
  PetscCall(PetscObjectReference(object));
  it->matrix = matrix;
  PetscCall(prepare(it, is_parallel));
  PetscCall(MatGetLocalSize(matrix, &rows, &columns));
  PetscCall(MatGetSize(matrix, &all_rows, &all_columns));
  PetscCall(MatCreateShell(PetscObjectComm(object), rows, columns, all_rows, all_columns, it, ordered));
  PetscCall(MatShellSetOperation(*ordered, MATOP_MULT, reinterpret_cast<void (*)()>(multiply)));
  PetscCall(MatShellSetOperation(*ordered, MATOP_GET_DIAGONAL, reinterpret_cast<void (*)()>(diagonal)));
  PetscCall(MatShellSetOperation(*ordered, MATOP_DESTROY, reinterpret_cast<void (*)()>(destroy)));
  PetscCall(MatGetVecType(matrix, &type));
  PetscCall(MatSetVecType(*ordered, type));
  PetscFunctionReturn(0);
}
