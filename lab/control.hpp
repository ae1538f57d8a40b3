// The control of `study topology`: a table whose columns are added up over ranks or threads, by their own library's
// reduction and by this one. Source: [S3] section V.
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "program/methods.hpp"
#include "program/site_likelihoods.hpp"
#include "steadfold/group.hpp"
#include "tools/command.hpp"

namespace steadfold::command {

using Bits = std::vector<std::uint64_t>;  // of all columns

inline Bits bits_of(const std::vector<double>& values) {
  Bits bits;
  for (const double value : values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

/// One member's rows of the table, which is the same for any number of members.
class ControlShare {
 public:
  static constexpr std::size_t columns = 64;
  static constexpr std::size_t all_rows = 4096;

  ControlShare(int member, int members)
      : first_(all_rows * static_cast<std::size_t>(member) / static_cast<std::size_t>(members)),
        rows_(all_rows * static_cast<std::size_t>(member + 1) / static_cast<std::size_t>(members) - first_) {
    for (std::uint64_t column = 0; column < columns; ++column)
      for (std::uint64_t row = first_; row < first_ + rows_; ++row)
        elements_.push_back(studies::site_likelihood((column << 32) + row));
  }

  /// Every column added up by a loop.
  std::vector<double> loops() const {
    std::vector<double> sums;
    for (std::size_t column = 0; column < columns; ++column) {
      const double* const first = elements_.data() + column * rows_;
      sums.push_back(std::accumulate(first, first + rows_, 0.0));
    }
    return sums;
  }
  const double* column(std::size_t number) const { return elements_.data() + number * rows_; }

  /// Every column of all members added up by this library. `comm`: MPI_COMM_WORLD, or a member of a team. Collective.
  template <class C>
  Bits sums(const std::string& method, const C& comm) const {
    const Array<double> array(elements_.data(), {columns, rows_});
    return bits_of(steadfold::sum(array, {.keep = {0}}, comm, {.method = method_named(method)}));
  }

 private:
  std::size_t first_;
  std::size_t rows_;
  std::vector<double> elements_;  // column after column
};

/// The sums that one member has in the end.
struct ControlSums {
  static constexpr int runs = 8;

  std::vector<Bits> plain;  // by the other library, run after run
  Bits tree;
  Bits exact;
};

/// All ranks of MPI_COMM_WORLD: loops and MPI_Allreduce, and this library. Collective.
ControlSums control_sums(const Job& job);

}  // namespace steadfold::command
