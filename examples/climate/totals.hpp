// Sums over the globe, all that this program reduces: by Steadfold (steadfold.cpp) or by loops and MPI_Allreduce
// (plain.cpp, the control).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ocean.hpp"

namespace climate {

class Totals {
 public:
  Totals() = default;
  Totals(const Totals&) = delete;
  Totals& operator=(const Totals&) = delete;
  virtual ~Totals() = default;

  /// The sums of value times area over all cells with water, one per field and level. Collective.
  virtual std::vector<double> sums(const Fields& fields) const = 0;
  /// The area of all cells with water, one per level. Collective.
  virtual std::vector<double> areas() const = 0;

  /// The budget: what came through the surface in all steps, times area. Adds those of this rank in one step. Local.
  virtual void keep(const Fields& fluxes) = 0;
  /// The budget over all ranks, one sum per flux. Collective.
  virtual std::vector<double> budget() const = 0;
  /// The budget over all ranks, for a file; the same on all ranks. Collective.
  virtual std::vector<std::byte> saved() const = 0;
  /// Goes on from there, on any number of ranks: every rank calls it with the same bytes.
  virtual void restore(std::span<const std::byte> bytes) = 0;
};

/// Both refer to the ocean.
std::unique_ptr<Totals> steadfold_totals(const Ocean& ocean);
std::unique_ptr<Totals> plain_totals(const Ocean& ocean);

}  // namespace climate
