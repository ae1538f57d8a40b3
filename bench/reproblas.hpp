// ReproBLAS, an optional rival: sums of doubles with the same bits in any order. The user names its folder.
// Source: ReproBLAS 2.1 (Ahrens, Demmel, Nguyen), binned.h and binnedBLAS.h.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <string>

namespace steadfold::bench {

/// The functions of one installation, loaded by the constructor. The object uses K = 3, the default of ReproBLAS, as
/// Stelz 2022 does.
class ReproBlas {
 public:
  /// Loads `prefix`/lib/libreproblas.so, which must contain all of ReproBLAS. Throws Failure if it does not.
  explicit ReproBlas(const std::string& prefix);

  /// Returns the number of doubles in a partial sum. For MPI they are one value.
  int partial_size() const noexcept { return partial_size_; }
  /// Computes `partial` as the sum of `values`.
  void sum(std::span<const double> values, double* partial) const noexcept {
    constexpr std::size_t most = std::numeric_limits<int>::max();  // number of elements per call
    set_zero_(fold, partial);
    for (std::size_t done = 0; done < values.size(); done += most)
      add_all_(fold, static_cast<int>(std::min(values.size() - done, most)), values.data() + done, 1, partial);
  }
  void merge(const double* from, double* into) const noexcept { merge_(fold, from, into); }
  double value_of(const double* partial) const noexcept { return value_of_(fold, partial); }

 private:
  static constexpr int fold = 3;

  int partial_size_ = 0;
  void (*set_zero_)(int, double*) = nullptr;
  void (*add_all_)(int, int, const double*, int, double*) = nullptr;
  void (*merge_)(int, const double*, double*) = nullptr;
  double (*value_of_)(int, const double*) = nullptr;
};

}  // namespace steadfold::bench
