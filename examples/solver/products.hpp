// Scalar products over all ranks, all that this program reduces: by plain loops and MPI_Allreduce (the control), or by
// Steadfold. Every value that is reduced leaves its bits in a fingerprint.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/bits.hpp"
#include "common/ranks.hpp"
#include "task.hpp"

namespace solver {

/// This rank's part of two vectors, whose elements stand in rank order.
struct Pair {
  std::span<const double> x, y;
};

/// The scalar products of some pairs, by one reduction, as often as one likes. Refers to the vectors' memory. All calls
/// are collective.
class Products {
 public:
  explicit Products(example::Fingerprint& fingerprint) : fingerprint_(fingerprint) {}
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  virtual ~Products() = default;

  /// One value per pair, the same on all ranks; valid until the next run.
  std::span<const double> run() { return noted(reduce()); }

  /// In two phases; `test` now and then moves the reduction on.
  virtual void start() = 0;
  virtual void test() = 0;
  std::span<const double> wait() { return noted(finish()); }

 private:
  virtual std::span<const double> reduce() = 0;
  virtual std::span<const double> finish() = 0;
  std::span<const double> noted(std::span<const double> values) {
    for (const double value : values) fingerprint_.add(value);
    return values;
  }

  example::Fingerprint& fingerprint_;
};

/// How scalar products are computed.
struct Dots {
  Dot dot;
  MPI_Comm comm;
  unsigned threads;  // that go through a rank's own elements
  example::Fingerprint& fingerprint;

  /// All pairs have equally many elements on a rank. Collective.
  std::unique_ptr<Products> bind(std::vector<Pair> pairs) const;
};

}  // namespace solver
