// How points are dealt to ranks: slabs along z, so that the points of all ranks, in rank order, stand as they would on
// one rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/ranks.hpp"
#include "problem.hpp"

namespace solver {

/// This rank's planes in z, maybe none, and the ranks that have the planes next to them (at the walls MPI_PROC_NULL).
struct Slab {
  sf::Interval planes;
  int below = MPI_PROC_NULL, above = MPI_PROC_NULL;

  std::uint64_t height() const { return planes.end - planes.begin; }
};

/// Equal shares, or as many planes as `counts` says, one count per rank. Throws std::invalid_argument, on all ranks, if
/// those do not fit.
Slab deal(const Problem& problem, const std::vector<std::uint64_t>& counts, const example::Ranks& ranks);

/// One value per point of a slab, and a plane below and above it, with zeros or with the values of the neighbours.
class Field {
 public:
  Field(const Problem& problem, const Slab& slab)
      : plane_(problem.plane()), values_((slab.height() + 2) * problem.plane()) {}

  std::span<double> own() { return std::span(values_).subspan(plane_, values_.size() - 2 * plane_); }
  std::span<const double> own() const { return std::span(values_).subspan(plane_, values_.size() - 2 * plane_); }

  /// Planes 1, 2, ... are the rank's own; 0 is the one below.
  double* plane(std::uint64_t number) { return values_.data() + number * plane_; }
  const double* plane(std::uint64_t number) const { return values_.data() + number * plane_; }

 private:
  std::uint64_t plane_;
  std::vector<double> values_;
};

}  // namespace solver
