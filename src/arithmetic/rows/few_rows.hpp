// A builder's first few rows, which stay in the caller's memory until other rows come. If no other rows come, two
// doubles may hold their sum,
// or a builder sums them without digits. Cost: four words.
#pragma once

#include <cstring>
#include <utility>

#include "arithmetic/partial.hpp"
#include "kernels/double_double.hpp"

namespace steadfold::arithmetic {

class FewRows {
 public:
  /// The rows that wait have one column, of elements of `element_bytes` bytes. `kernel` may be null. `most`: the most
  /// rows that wait if the kernel cannot sum them.
  FewRows(kernels::SumAsDoubleDouble kernel, Bytes element_bytes, Count most = 0) noexcept
      : kernel_(kernel), element_bytes_(element_bytes), most_(most) {}

  /// Whether the builder may leave these rows in the caller's memory until other rows come.
  bool may_wait(const Block& block) const noexcept {
    return block.row_stride == element_bytes_ && (block.rows <= most_ || fit_double_double(block.rows));
  }
  /// Remembers these rows. The function copies words instead of the whole block. The caller has just written the
  /// block, word by word. A copy in wider pieces would have to wait until these writes reach the cache, which takes 5
  /// ns of a call of 40 ns.
  void let_wait(const Block& block) noexcept {
    first_ = block.first;
    rows_ = block.rows;
    second_ = block.second;
  }
  bool empty() const noexcept { return rows_ == 0; }
  /// Returns the waiting rows. Afterwards no rows wait.
  Block take() noexcept {
    return {.first = first_, .second = second_, .rows = std::exchange(rows_, 0), .row_stride = element_bytes_};
  }
  void clear() noexcept { rows_ = 0; }

  /// Sums the waiting rows with the kernel. Returns false if there is none, or if two doubles cannot hold their sum.
  bool sum(kernels::DoubleDoubleSum& found) const noexcept {
    return fit_double_double(rows_) && kernel_(first_, rows_, found);
  }

  /// Writes the sum, rounded once. Returns false if it would be rounded twice.
  static bool write(const kernels::DoubleDoubleSum& found, bool is_float, std::byte* value) noexcept {
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
  bool fit_double_double(Count rows) const noexcept {
    return kernel_ != nullptr && rows <= kernels::most_in_double_double;
  }

  kernels::SumAsDoubleDouble kernel_;
  Bytes element_bytes_;
  Count most_;
  const std::byte* first_ = nullptr;
  Count rows_ = 0;  // between the addresses, so that compilers do not copy both at once (let_wait)
  const std::byte* second_ = nullptr;
};

}  // namespace steadfold::arithmetic
