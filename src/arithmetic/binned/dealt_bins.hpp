// Binned sums of many columns to which elements come in any order: every column has a word for each bin, and second
// words only if its sum needs them.
// Rank order: none. Cost: 8 (K + 1) bytes per column; some thirty instructions per term.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "arithmetic/binned/record.hpp"

namespace steadfold::arithmetic {

/// Binned sums of many columns. Terms are doubles, or floats, which are first converted to doubles. Use the object from
/// one thread at a time.
template <class Element, std::size_t bin_count>
class DealtBins {
 public:
  using Term = Element;
  static constexpr Bytes bytes_per_column = 8 * (bin_count + 1);

  explicit DealtBins(const binned_record::BinnedShape& shape);

  Count count() const noexcept { return sums_.size(); }
  void clear() noexcept;
  /// Adds contiguous elements, each to its column.
  void add(std::span<const std::uint32_t> columns, const std::byte* elements);
  Bytes write(Count rows, std::span<std::byte> out) const noexcept;
  void finish(std::byte* values) const noexcept;

 private:
  static constexpr auto none = std::numeric_limits<std::uint32_t>::max();

  struct BinnedSum {
    std::array<std::int64_t, bin_count> bins{};
    std::uint16_t highest_exponent = 0;  // biased exponent of the largest terms that fit the bin range; 0: no term yet
    std::uint8_t top = 0;
    std::uint8_t flags = no_flags;
    std::uint32_t wide = none;  // index of the column's second words, or `none`
  };
  static_assert(sizeof(BinnedSum) == bytes_per_column);
  struct BinExtractors {
    double scale;
    std::array<double, bin_count> extractors;
  };
  using WideBins = std::array<Int128, bin_count>;

  void add_slices(BinnedSum& sum, double term) const noexcept;
  void make_room(BinnedSum& sum, int exponent) noexcept;
  void carry();
  binned_record::Column column(const BinnedSum& sum) const noexcept;
  bool is_rounded_at_once(const BinnedSum& sum) const noexcept;

  binned_record::BinnedShape shape_;
  std::vector<BinnedSum> sums_;
  std::vector<BinExtractors> extractors_;  // extractors of the bin range below each top
  std::vector<WideBins> wides_;
  Count terms_ = 0;  // number of terms since the last carry
};

}  // namespace steadfold::arithmetic
