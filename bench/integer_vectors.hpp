// Sums of fields as vectors of integers. Climate codes use them to make sums independent of the distribution: one
// reduction finds the greatest and the least exponent of every field, a second reduction adds integers. Several levels
// of integers together hold all bits. This rival follows A. Mirin and P. Worley, "Improving the performance scalability
// of the community atmosphere model", 2012, with products by powers of two instead of shifts. Cost: two passes over the
// elements, two reductions.
#pragma once

#include <mpi.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace steadfold::bench {

class IntegerVectors {
 public:
  explicit IntegerVectors(std::size_t field_count) : extremes_(2 * field_count + 1), field_count_(field_count) {}

  /// Writes the sums of the fields over all ranks. The fields are stored one after the other. Numbers must be normal or
  /// zero. Collective.
  void sum(std::span<const double> fields, std::span<double> sums) {
    const std::size_t points = fields.size() / field_count_;
    find_extremes(fields, points);
    const int levels = most_levels();
    digits_.assign(field_count_ * static_cast<std::size_t>(levels), 0);
    for (std::size_t k = 0; k < field_count_; ++k) add(k, fields.subspan(k * points, points), levels);
    MPI_Allreduce(MPI_IN_PLACE, digits_.data(), static_cast<int>(digits_.size()), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (std::size_t k = 0; k < field_count_; ++k) sums[k] = value_of(k, levels);
  }

 private:
  static int exponent(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 2047) - 1022; }
  static double power(int exponent) { return std::ldexp(1.0, exponent); }

  /// Finds, for every field, the largest exponent and the negated smallest exponent; then the largest number of
  /// summands per rank.
  void find_extremes(std::span<const double> fields, std::size_t points) {
    for (std::size_t k = 0; k < field_count_; ++k) {
      int greatest = -1022;
      int least = 1024;
      for (std::size_t i = 0; i < points; ++i) {
        const int found = exponent(fields[k * points + i]);
        greatest = std::max(greatest, found);
        least = std::min(least, fields[k * points + i] == 0 ? least : found);
      }
      extremes_[2 * k] = greatest;
      extremes_[2 * k + 1] = -least;
    }
    extremes_.back() = static_cast<int>(points);
    MPI_Allreduce(MPI_IN_PLACE, extremes_.data(), static_cast<int>(extremes_.size()), MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const double summands = static_cast<double>(extremes_.back()) * ranks + 1;
    bits_ = 62 - exponent(summands);  // number of bits per level with which no sum of integers overflows
  }

  int most_levels() const {
    int most = 1;
    for (std::size_t k = 0; k < field_count_; ++k) {
      const int range = extremes_[2 * k] + extremes_[2 * k + 1];
      most = std::max(most, 1 + (std::numeric_limits<double>::digits + std::max(range, 0)) / bits_);
    }
    return most;
  }

  void add(std::size_t field, std::span<const double> elements, int levels) {
    std::int64_t* const digits = digits_.data() + field * static_cast<std::size_t>(levels);
    const double down = power(-extremes_[2 * field]);
    const double up = power(bits_);
    for (const double element : elements) {
      double left = element * down * up;
      for (int level = 0; level < levels; ++level) {
        const auto whole = static_cast<std::int64_t>(left);
        digits[level] += whole;
        left = (left - static_cast<double>(whole)) * up;
      }
    }
  }

  /// Returns the value of a field. Adds from the lowest level up, so that rounding loses little.
  double value_of(std::size_t field, int levels) const {
    double value = 0;
    for (int level = levels - 1; level >= 0; --level) {
      const auto digit = digits_[field * static_cast<std::size_t>(levels) + static_cast<std::size_t>(level)];
      value += std::ldexp(static_cast<double>(digit), extremes_[2 * field] - bits_ * (level + 1));
    }
    return value;
  }

  std::vector<int> extremes_;
  std::vector<std::int64_t> digits_;
  std::size_t field_count_;
  int bits_ = 0;
};

}  // namespace steadfold::bench
