// A builder's first few rows, which wait where they stand: if no others come, two doubles may hold their sum.
// Cost: a copy of a Block. Source: ours.
#pragma once

#include <cstring>
#include <utility>

#include "arithmetic/partial.hpp"
#include "kernels/pair.hpp"

namespace steadfold::arithmetic {

class FewRows {
 public:
  /// Null: rows never wait.
  explicit FewRows(kernels::SumAsPair kernel) noexcept : kernel_(kernel) {}

  /// Whether these rows, one column of elements of so many bytes, may wait here until others come.
  bool may_wait(const Block& block, Bytes element_bytes) const noexcept {
    return kernel_ != nullptr && block.rows <= kernels::most_in_pair && block.row_stride == element_bytes;
  }
  void let_wait(const Block& block) noexcept { rows_ = block; }
  bool empty() const noexcept { return rows_.rows == 0; }
  /// The rows that wait; none wait afterwards.
  Block take() noexcept { return std::exchange(rows_, {}); }
  void clear() noexcept { rows_ = {}; }

  /// What the kernel finds in them; false if two doubles do not hold their sum.
  bool sum(kernels::PairSum& found) const noexcept { return kernel_(rows_.first, rows_.rows, found); }

  /// Writes the sum that was found, rounded once; false if it would be rounded twice.
  static bool write(const kernels::PairSum& found, bool is_float, std::byte* value) noexcept {
    const double sum = found.high + found.low;
    if (!is_float) {
      std::memcpy(value, &sum, sizeof sum);
      return true;
    }
    const auto narrow = static_cast<float>(sum);
    std::memcpy(value, &narrow, sizeof narrow);
    const double of_low = sum - found.high;
    return (found.high - (sum - of_low)) + (found.low - of_low) == 0;
  }

 private:
  kernels::SumAsPair kernel_;
  Block rows_;
};

}  // namespace steadfold::arithmetic
