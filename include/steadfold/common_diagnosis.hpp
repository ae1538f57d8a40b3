// What the APIs for C++20 and C++17 share of how far a sum can be trusted: the numbers. Included by diagnosis.hpp and
// cxx17.hpp, which are the headers to include.
#pragma once

#include "steadfold/common.hpp"

#if __cplusplus >= 201703L

#include <cmath>

namespace steadfold {

/// All numbers are of the whole job.
template <class T>
struct Diagnosis {
  static_assert(std::is_floating_point_v<T>, "a diagnosis is of floating-point numbers");

  T sum = 0;           ///< rounded once
  T plain = 0;         ///< added in the order of memory, ranks and messages, as a loop and MPI_Allreduce do
  T absolute_sum = 0;  ///< of absolute values, rounded once
  std::uint64_t count = 0;

  /// |plain - sum| / |sum|; 0 where both are equal, infinite where only the sum is 0.
  T difference() const { return plain == sum ? T{0} : ratio(std::abs(plain - sum)); }
  /// The sum of |x| divided by |sum|, at least 1 unless all terms are 0: the relative error of a sum is about as many
  /// times that of its terms.
  T condition() const { return ratio(absolute_sum); }
  /// The relative error of the sum by `tree`, at most: h u / (1 - h u) times the condition, where h is the tree's
  /// height and u half the distance between 1 and the next number. Source: N. J. Higham, Accuracy and Stability of
  /// Numerical Algorithms (2002), section 4.2. Infinite or NaN where nothing is known.
  T tree_bound() const {
    int height = 0;
    while (height < 64 && (count - (count > 0)) >> height != 0) ++height;
    const T lost = static_cast<T>(height) * (std::numeric_limits<T>::epsilon() / 2);
    return lost == 0 ? T{0} : lost / (1 - lost) * condition();
  }

 private:
  T ratio(T distance) const { return distance == 0 ? T{0} : distance / std::abs(sum); }
};

}  // namespace steadfold

#endif
