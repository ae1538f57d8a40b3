#include "arithmetic/binned/dealt_bins.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "arithmetic/rows/dealt_builder.hpp"

namespace steadfold::arithmetic {
namespace {

using binned_record::BinnedShape;
using binned_record::Column;
using binned_record::columns_of_group;
using binned_record::has_groups;
using binned_record::put;
using binned_record::put_in_group;
using binned_record::write_value;

// The number of terms between two carries. A slice has at most 2^39 quanta, so the remainder of a carry and the terms
// until the next carry add up to at most 2^62.
constexpr Count terms_between_carries_of_bins = Count{1} << 22;
constexpr std::int64_t most_kept = std::int64_t{1} << 61;

constexpr int fraction_bits = Format<double>::precision - 1;
constexpr int highest_finite = 2046;  // biased exponent of the largest finite doubles

}  // namespace

template <class Element, std::size_t bin_count>
DealtBins<Element, bin_count>::DealtBins(const BinnedShape& shape)
    : shape_(shape),
      sums_(shape.columns, BinnedSum{.top = static_cast<std::uint8_t>(shape.lowest_top())}),
      extractors_(static_cast<std::size_t>(shape.grid.highest_top()) + 1) {
  for (int top = shape_.lowest_top(); top <= shape_.grid.highest_top(); ++top) {
    BinExtractors& bins = extractors_[static_cast<std::size_t>(top)];
    bins.scale = shape_.grid.scale(top);
    shape_.grid.extractors(top, bins.extractors);
  }
}

template <class Element, std::size_t bin_count>
void DealtBins<Element, bin_count>::clear() noexcept {
  std::ranges::fill(sums_, BinnedSum{.top = static_cast<std::uint8_t>(shape_.lowest_top())});
  wides_.clear();
  terms_ = 0;
}

template <class Element, std::size_t bin_count>
void DealtBins<Element, bin_count>::add(std::span<const std::uint32_t> columns, const std::byte* elements) {
  if (terms_ + columns.size() > terms_between_carries_of_bins) carry();
  terms_ += columns.size();
  for_each_dealt<Element>(columns, elements, sums_.data(), [this](BinnedSum& sum, double term) {
    const auto exponent = static_cast<unsigned>(std::bit_cast<std::uint64_t>(term) << 1 >> (fraction_bits + 1));
    if (exponent - 1 >= sum.highest_exponent) [[unlikely]] {
      if (!note_dealt(term, sum.flags)) return;
      make_room(sum, static_cast<int>(exponent));
    }
    add_slices(sum, term);
  });
}

/// Adds a term that fits the bin range of its column.
template <class Element, std::size_t bin_count>
inline void DealtBins<Element, bin_count>::add_slices(BinnedSum& sum, double term) const noexcept {
  const BinExtractors& bins = extractors_[sum.top];
  double rest = term * bins.scale;
  for (std::size_t bin = 0; bin < bin_count; ++bin) {
    const double extractor = bins.extractors[bin];
    const double together = extractor + rest;
    rest -= together - extractor;
    sum.bins[bin] += std::bit_cast<std::int64_t>(together) - std::bit_cast<std::int64_t>(extractor);
  }
}

/// Moves the column's bin range up until terms with this exponent fit. Subnormal terms fit every bin range.
template <class Element, std::size_t bin_count>
inline void DealtBins<Element, bin_count>::make_room(BinnedSum& sum, int exponent) noexcept {
  const int top = std::max<int>((exponent + fraction_bits) / bin_width, sum.top);  // see BinGrid::top_of
  if (sum.highest_exponent != 0) {
    const auto move_up = [](auto& bins) {
      for (std::size_t bin = bin_count; --bin > 0;) bins[bin] = bins[bin - 1];
      bins[0] = 0;
    };
    for (int by = std::min(top - sum.top, static_cast<int>(bin_count)); by > 0; --by) {
      move_up(sum.bins);
      if (sum.wide != none) move_up(wides_[sum.wide]);
    }
  }
  sum.top = static_cast<std::uint8_t>(top);
  const int highest = bin_width * (top + 1) - fraction_bits - 1;
  sum.highest_exponent = static_cast<std::uint16_t>(std::min(highest, highest_finite));
}

/// Moves the high parts of the columns' sums to second words, before a word can overflow.
template <class Element, std::size_t bin_count>
void DealtBins<Element, bin_count>::carry() {
  terms_ = 0;
  for (BinnedSum& sum : sums_) {
    const bool is_full =
        std::ranges::any_of(sum.bins, [](std::int64_t bin) { return bin > most_kept || bin < -most_kept; });
    if (!is_full) continue;
    if (sum.wide == none) {
      wides_.emplace_back();
      sum.wide = static_cast<std::uint32_t>(wides_.size() - 1);
    }
    for (std::size_t bin = 0; bin < bin_count; ++bin) wides_[sum.wide][bin] += std::exchange(sum.bins[bin], 0);
  }
}

template <class Element, std::size_t bin_count>
Column DealtBins<Element, bin_count>::column(const BinnedSum& sum) const noexcept {
  Column column;
  column.bins.top = sum.top;
  column.flags = sum.flags;
  for (std::size_t bin = 0; bin < bin_count; ++bin) {
    column.bins.sums[bin] = sum.bins[bin];
    if (sum.wide != none) column.bins.sums[bin] += wides_[sum.wide][bin];
  }
  return column;
}

template <class Element, std::size_t bin_count>
Bytes DealtBins<Element, bin_count>::write(Count rows, std::span<std::byte> out) const noexcept {
  if (out.size() < sizeof(Header)) return 0;
  const Bytes size = shape_.record_bytes(rows);
  if (out.size() < size) return write_failure(out, Header{}, Status::transport_failed);
  set_header(out, Header{});
  std::memcpy(out.data() + sizeof(Header), &rows, sizeof rows);
  BinnedGroup group;
  for (Count i = 0; i < sums_.size(); ++i) {
    if (has_groups(rows))
      put_in_group(shape_, column(sums_[i]), i, group, out);
    else
      put(shape_, column(sums_[i]), i, out);
  }
  return size;
}

/// Whether the bins together are one integer that rounds to +0.0 or to a normal double.
template <class Element, std::size_t bin_count>
bool DealtBins<Element, bin_count>::is_rounded_at_once(const BinnedSum& sum) const noexcept {
  const std::int64_t magnitude = sum.bins[0] ^ (sum.bins[0] >> 63);
  const bool is_one_number = bin_count <= 3 && sum.wide == none && magnitude < most_of_one_number;
  return is_one_number && (sum.flags == no_flags || (sum.flags == not_minus_zero && shape_.is_normal(sum.top)));
}

template <class Element, std::size_t bin_count>
void DealtBins<Element, bin_count>::finish(std::byte* values) const noexcept {
  const bool is_plain_sum = shape_.is_plain_sum_of_doubles();
  for (const BinnedSum& sum : sums_) {
    if (is_plain_sum && is_rounded_at_once(sum)) [[likely]] {
      Int128 all = sum.bins[0];
      for (std::size_t bin = 1; bin < bin_count; ++bin) all = (all << bin_width) + sum.bins[bin];
      const std::uint64_t bits = rounded_normal(all, shape_.unit(sum.top));
      std::memcpy(values, &bits, sizeof bits);
    } else {
      write_value(shape_, column(sum), 0, values);
    }
    values += size_of(shape_.result);
  }
}

template class DealtBins<float, 2>;
template class DealtBins<float, 3>;
template class DealtBins<float, 4>;
template class DealtBins<double, 2>;
template class DealtBins<double, 3>;
template class DealtBins<double, 4>;

}  // namespace steadfold::arithmetic
