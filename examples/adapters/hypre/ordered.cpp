// The product in the order of columns; see ordered.hpp. hypre stores a rank's rows as two matrices, one of the columns
// that belong to the rank, where a row begins with its diagonal entry, and one of the others, packed.
#include "ordered.hpp"

#include <_hypre_parcsr_mv.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

namespace steadfold_hypre {
namespace {

struct Entry {
  HYPRE_BigInt column;
  std::size_t place;  // of x[column]: the rank's own first, then packed ones
  double value;
};

struct Ordered {
  std::vector<std::size_t> begin = {0};  // per row, the first of its entries
  std::vector<std::size_t> places;       // per entry
  std::vector<double> values;
  std::vector<double> x, sent;  // own elements and those of others; what others ask for
};

void append(hypre_CSRMatrix* part, HYPRE_Int row, std::vector<Entry>& entries, HYPRE_BigInt first_column,
            const HYPRE_BigInt* packed, std::size_t own_count) {
  for (HYPRE_Int k = hypre_CSRMatrixI(part)[row]; k < hypre_CSRMatrixI(part)[row + 1]; ++k) {
    const HYPRE_Int j = hypre_CSRMatrixJ(part)[k];
    const auto place = static_cast<std::size_t>(j);
    entries.push_back({packed == nullptr ? first_column + j : packed[j], packed == nullptr ? place : own_count + place,
                       hypre_CSRMatrixData(part)[k]});
  }
}

Ordered* sorted_copy(hypre_ParCSRMatrix* matrix) {
  hypre_CSRMatrix *own = hypre_ParCSRMatrixDiag(matrix), *others = hypre_ParCSRMatrixOffd(matrix);
  const auto own_count = static_cast<std::size_t>(hypre_CSRMatrixNumCols(own));
  auto* copy = new Ordered;
  copy->x.resize(own_count + static_cast<std::size_t>(hypre_CSRMatrixNumCols(others)));
  std::vector<Entry> row;
  for (HYPRE_Int i = 0; i < hypre_CSRMatrixNumRows(own); ++i) {
    row.clear();
    append(own, i, row, hypre_ParCSRMatrixFirstColDiag(matrix), nullptr, own_count);
    if (hypre_CSRMatrixNumCols(others) > 0) append(others, i, row, 0, hypre_ParCSRMatrixColMapOffd(matrix), own_count);
    std::sort(row.begin(), row.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
    for (const Entry& entry : row) {
      copy->places.push_back(entry.place);
      copy->values.push_back(entry.value);
    }
    copy->begin.push_back(copy->values.size());
  }
  return copy;
}

/// Fills x with the rank's own elements, and with the elements of other ranks that its rows need.
void exchange(Ordered& it, hypre_ParCSRMatrix* matrix, const hypre_Vector* own) {
  hypre_ParCSRCommPkg* package = hypre_ParCSRMatrixCommPkg(matrix);
  const double* values = hypre_VectorData(own);
  const HYPRE_Int count = hypre_ParCSRCommPkgSendMapStart(package, hypre_ParCSRCommPkgNumSends(package));
  it.sent.resize(static_cast<std::size_t>(count));
  for (HYPRE_Int k = 0; k < count; ++k)
    it.sent[static_cast<std::size_t>(k)] = values[hypre_ParCSRCommPkgSendMapElmt(package, k)];
  hypre_ParCSRCommHandle* under_way =
      hypre_ParCSRCommHandleCreate(1, package, it.sent.data(), it.x.data() + hypre_VectorSize(own));
  std::copy(values, values + hypre_VectorSize(own), it.x.begin());
  hypre_ParCSRCommHandleDestroy(under_way);  // waits
}

}  // namespace

void* create_ordered(void* matrix, void* /*vector*/) {
  auto* it = static_cast<hypre_ParCSRMatrix*>(matrix);
  if (hypre_ParCSRMatrixCommPkg(it) == nullptr) hypre_MatvecCommPkgCreate(it);
  try {
    return sorted_copy(it);
  } catch (const std::exception&) {
    hypre_error_w_msg(HYPRE_ERROR_MEMORY, "no sorted copy of the matrix (out of memory), use more ranks");
    return nullptr;
  }
}

HYPRE_Int multiply_ordered(void* ordered, HYPRE_Complex alpha, void* matrix, void* x, HYPRE_Complex beta, void* y) {
  auto* it = static_cast<Ordered*>(ordered);
  if (it == nullptr) return hypre_error_flag;
  exchange(*it, static_cast<hypre_ParCSRMatrix*>(matrix), hypre_ParVectorLocalVector(static_cast<hypre_ParVector*>(x)));
  double* result = hypre_VectorData(hypre_ParVectorLocalVector(static_cast<hypre_ParVector*>(y)));
  for (std::size_t i = 0; i + 1 < it->begin.size(); ++i) {
    double sum = 0;
    for (std::size_t k = it->begin[i]; k < it->begin[i + 1]; ++k) sum += it->values[k] * it->x[it->places[k]];
    result[i] = beta == 0 ? alpha * sum : alpha * sum + beta * result[i];
  }
  return hypre_error_flag;
}

HYPRE_Int destroy_ordered(void* ordered) {
  delete static_cast<Ordered*>(ordered);
  return hypre_error_flag;
}

}  // namespace steadfold_hypre
