// The matrix: the 7-point stencil of -div(k grad u), and the exchange between slabs.
#pragma once

#include <functional>

#include "slab.hpp"

namespace solver {

class Stencil {
 public:
  Stencil(const Problem& problem, const Slab& slab, MPI_Comm comm, unsigned threads);

  Field zeros() const { return {problem_, slab_}; }
  Field source() const;

  /// result = A u. Takes the planes beside u's slab from the neighbours, and calls `meanwhile`, on this thread, between
  /// its own. A point's terms are added in one order wherever it is, so no bit depends on how points are dealt.
  /// Collective.
  void apply(Field& u, Field& result, const std::function<void()>& meanwhile = {}) const;

 private:
  void compute(const Field& u, Field& result, std::uint64_t plane) const;

  Problem problem_;
  Slab slab_;
  MPI_Comm comm_;
  unsigned threads_;
  Field conductivity_;
  std::vector<double> wall_;  // a row of zeros
};

}  // namespace solver
