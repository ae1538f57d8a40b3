// Reductions over MPI: the functions of group.hpp for MPI communicators.
//
//   double s = sf::sum(x, MPI_COMM_WORLD);              // correctly rounded, for every distribution of the elements
//   sf::allreduce(buffer, sf::plus, MPI_COMM_WORLD);    // MPI's shape
//   sf::Team team(MPI_COMM_WORLD, threads);             // one team of the threads of all ranks, see team.hpp
//
// Header-only over the C functions of steadfold_mpi.h. Link the library that was built for your MPI.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 201703L

#include <mpi.h>

#include <utility>

#include "steadfold/steadfold_mpi.h"

namespace steadfold::detail {

/// MPI communicators, and types that convert to one.
template <class C>
struct GroupOf<
    C, std::enable_if_t<std::is_same_v<C, MPI_Comm> || (std::is_class_v<C> && std::is_convertible_v<C, MPI_Comm>)>>
    : HasGroup {
  static Group group(MPI_Comm comm) {
    sf_group* group = nullptr;
    check(sf_group_of(comm, &group));
    return Group(group);
  }
  static sf_team* team(MPI_Comm comm, int workers) {
    sf_team* team = nullptr;
    check(sf_team_create_over(comm, workers, &team));
    return team;
  }
};

}  // namespace steadfold::detail

namespace steadfold {

/// MPI handles for accumulators (accumulator.hpp) of one shape: with them MPI's own functions merge accumulators. The
/// object owns the handles and must be destroyed before MPI is finalised. Movable, not copyable.
class MpiAccumulators {
 public:
  /// Makes the handles for accumulators with the same shape as `shaped`; the argument for an Accumulator `a` is
  /// `a.get()`. Throws Error.
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

  /// Returns the MPI type of one packed accumulator, see Accumulator::packed.
  MPI_Datatype type() const noexcept { return type_; }
  /// Returns the operation that merges packed accumulators. It is commutative.
  MPI_Op op() const noexcept { return op_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
};

}  // namespace steadfold

#endif
