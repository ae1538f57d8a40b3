// All that this program adds up over ranks goes through here: by a plain loop and MPI_Allreduce (the control) or by
// Steadfold. Every value that a reduction gives leaves its bits in a fingerprint.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <steadfold/mpi.hpp>

#include "common/bits.hpp"
#include "pruning.hpp"

namespace likelihood {

using example::Fingerprint;

/// Sums over the elements of all ranks; every rank gets the result. Collective.
class Reduction {
 public:
  Reduction(MPI_Comm comm, Fingerprint& fingerprint) : comm_(comm), fingerprint_(fingerprint) {}
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;
  virtual ~Reduction() = default;

  double sum(std::span<const double> values) { return noted(reduce(values)); }
  Score sum(std::span<const Score> scores);

 protected:
  MPI_Comm comm() const { return comm_; }
  double noted(double value) { return fingerprint_.add(value); }

 private:
  virtual double reduce(std::span<const double> values) = 0;
  virtual Score reduce(std::span<const Score> scores) = 0;

  MPI_Comm comm_;
  Fingerprint& fingerprint_;
};

class PlainReduction final : public Reduction {
 public:
  using Reduction::Reduction;

 private:
  double reduce(std::span<const double> values) override;
  Score reduce(std::span<const Score> scores) override;
};

/// Sums in the fixed tree over the indices of all elements, which stand in rank order.
class SteadfoldReduction final : public Reduction {
 public:
  /// Every sum has `count` elements on this rank. Collective.
  SteadfoldReduction(std::uint64_t count, MPI_Comm comm, Fingerprint& fingerprint);

  /// The correctly rounded sum instead, which needs no tree and no order.
  double exact_sum(std::span<const double> values) { return noted(sf::sum(values, comm())); }

 private:
  double reduce(std::span<const double> values) override;
  Score reduce(std::span<const Score> scores) override;

  sf::Options in_tree_;
};

}  // namespace likelihood
