// Steadfold for C++20 over MPI: the functions of group.hpp for MPI's communicators.
//
//   double s = sf::sum(x, MPI_COMM_WORLD);              // correctly rounded, whoever holds which elements
//   sf::allreduce(buffer, sf::plus, MPI_COMM_WORLD);    // MPI's shape
//
// Header-only over the C functions of steadfold_mpi.h; link the library built for your MPI.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 202002L

#include <utility>

#include "steadfold/common_mpi.hpp"

namespace steadfold {

/// MPI's handles for accumulators (accumulator.hpp) of one shape: `type()` is what `packed()` gives, `op()` merges
/// such. Freed at the end, which comes before MPI's. Moves, does not copy.
class MpiAccumulators {
 public:
  explicit MpiAccumulators(const sf_accumulator* shaped) {
    detail::check(sf_accumulator_mpi_type(shaped, &type_));
    const sf_status status = sf_accumulator_mpi_op(&op_);
    if (status != SF_OK) MPI_Type_free(&type_);
    detail::check(status);
  }
  MpiAccumulators(MpiAccumulators&& other) noexcept
      : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)), op_(std::exchange(other.op_, MPI_OP_NULL)) {}
  MpiAccumulators& operator=(MpiAccumulators&& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(op_, other.op_);
    return *this;
  }
  ~MpiAccumulators() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    if (op_ != MPI_OP_NULL) MPI_Op_free(&op_);
  }

  MPI_Datatype type() const noexcept { return type_; }
  MPI_Op op() const noexcept { return op_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
};

/// Makes the accumulator the sum of those of all ranks, by one MPI_Allreduce. Collective. Ranks whose accumulators have
/// different shapes get an Error, or MPI's own where their sizes differ.
template <class A>
  requires requires(A& a) { a.unpack(a.packed()); }
void merge_ranks(A& accumulator, MPI_Comm comm) {
  const MpiAccumulators handles(accumulator.get());
  auto packed = accumulator.packed();
  if (MPI_Allreduce(MPI_IN_PLACE, packed.data(), 1, handles.type(), handles.op(), comm) != MPI_SUCCESS)
    throw Error(SF_TRANSPORT_FAILED, "accumulators were not merged (MPI_Allreduce failed), see the MPI library");
  accumulator.unpack(packed);
}

}  // namespace steadfold

#endif
