// A builder's first few rows, which wait where they stand: if no others come, two doubles may hold their sum.
// Cost: two words.
#pragma once

#include <cstring>
#include <utility>

#include "arithmetic/partial.hpp"
#include "kernels/pair.hpp"

namespace steadfold::arithmetic {

class FewRows {
 public:
  /// Rows are one column of elements of so many bytes. Null: they never wait.
  FewRows(kernels::SumAsPair kernel, Bytes element_bytes) noexcept : kernel_(kernel), element_bytes_(element_bytes) {}

  /// Whether these rows may wait here until others come.
  bool may_wait(const Block& block) const noexcept {
    return kernel_ != nullptr && block.rows <= kernels::most_in_pair && block.row_stride == element_bytes_;
  }
  /// Copies two words instead of the whole block. The caller has only just written it, word by word, and a copy in
  /// wider pieces would have to wait until those writes reach the cache: 5 ns in a call of 40.
  void let_wait(const Block& block) noexcept {
    first_ = block.first;
    rows_ = block.rows;
  }
  bool empty() const noexcept { return rows_ == 0; }
  /// The rows that wait; none wait afterwards.
  Block take() noexcept { return {.first = first_, .rows = std::exchange(rows_, 0), .row_stride = element_bytes_}; }
  void clear() noexcept { rows_ = 0; }

  /// What the kernel finds in them; false if two doubles do not hold their sum.
  bool sum(kernels::PairSum& found) const noexcept { return kernel_(first_, rows_, found); }

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
  Bytes element_bytes_;
  const std::byte* first_ = nullptr;
  Count rows_ = 0;
};

}  // namespace steadfold::arithmetic
