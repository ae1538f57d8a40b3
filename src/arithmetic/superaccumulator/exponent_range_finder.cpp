#include "arithmetic/superaccumulator/exponent_range_finder.hpp"

#include <algorithm>

namespace steadfold::arithmetic {
namespace {

constexpr std::uint32_t longest_wait = 63;
constexpr int no_range = kernels::highest_level_top + 1;
/// Terms that get the most levels before fewer levels are tried again; twice as many each time that these do not fit.
constexpr order::Count fewest_promoted = 2 * kernels::extraction_block;
constexpr order::Count most_promoted = 64 * kernels::extraction_block;

void set_tops(std::span<const ColumnRangeFinder::Top> tops, int levels, kernels::ExtractedColumns& found) noexcept {
  for (std::size_t i = 0; i < tops.size(); ++i)
    found.top[i] = std::clamp<int>(tops[i], kernels::lowest_level_top(levels), kernels::highest_level_top);
}

bool all_fit(const kernels::ColumnRows& rows, const kernels::ExtractedColumns& found) noexcept {
  bool all = true;
  for (order::Count i = 0; i < rows.columns; ++i) all = all & (found.fits[i] != 0);
  return all;
}

}  // namespace

Leading ExtractedSums::leading() const noexcept {
  constexpr int step = kernels::level_step;
  constexpr std::int64_t below = (std::int64_t{1} << step) - 1;
  // The sum is (high 2^(2 step) + low) in units of level 3, with 0 <= low < 2^(2 step).
  const std::int64_t of_third = sums[2] + (sums[3] >> step);
  const Int128 high = (Int128{sums[0]} << step) + sums[1] + (of_third >> step);
  const Uint128 low = static_cast<Uint128>(of_third & below) << step | static_cast<Uint128>(sums[3] & below);
  return arithmetic::leading(high, low, 2 * step, kernels::level_unit(top, 3));
}

ExponentRangeFinder::ExponentRangeFinder(kernels::ExtractedTerms terms, kernels::Target target) noexcept
    : highest_(kernels::highest_exponent(target, terms)),
      few_levels_(kernels::few_levels(terms)),
      top_(no_range),
      promoted_(fewest_promoted) {
  for (const int levels : {few_levels_, kernels::most_levels})
    add_[static_cast<std::size_t>(levels)] = kernels::add_by_extraction(target, terms, levels);
}

bool ExponentRangeFinder::fit(const void* first, const void* second, order::Count count, int levels, int top,
                              ExtractedSums& sums) noexcept {
  sums.top = std::max(top, kernels::lowest_level_top(levels));
  sums.count = add_[static_cast<std::size_t>(levels)](first, second, count, sums.top, sums.sums.data());
  return sums.count > 0;
}

ExtractedSums ExponentRangeFinder::add(const void* first, const void* second, order::Count count) noexcept {
  ExtractedSums sums;
  if (add_[kernels::most_levels] == nullptr) return sums;
  if (wait_ > 0) {
    --wait_;
    return sums;
  }
  constexpr int most_levels = kernels::most_levels;
  if (top_ != no_range && left_ > 0 && fit(first, second, std::min(count, left_), most_levels, top_, sums)) {
    left_ -= sums.count;
    return sums;
  }
  if (top_ != no_range && left_ == 0 && fit(first, second, count, few_levels_, top_, sums)) {
    promoted_ = fewest_promoted;
    return sums;
  }
  left_ = 0;
  const int top = kernels::level_top_for(highest_(first, second, std::min(count, kernels::extraction_block)));
  if (top <= kernels::highest_level_top) {
    const bool is_tried = top == top_;
    top_ = top;
    bool fits = !is_tried && fit(first, second, count, few_levels_, top, sums);
    if (!fits && fit(first, second, std::min(count, promoted_), most_levels, top, sums)) {
      left_ = promoted_ - sums.count;
      promoted_ = std::min(2 * promoted_, most_promoted);
      fits = true;
    }
    if (fits) {
      next_wait_ = 0;
      return sums;
    }
  }
  top_ = no_range;
  wait_ = next_wait_;
  next_wait_ = std::min(2 * next_wait_ + 1, longest_wait);
  return sums;
}

ColumnRangeFinder::ColumnRangeFinder(kernels::ExtractedTerms terms, kernels::Target target) noexcept
    : few_(kernels::add_columns_by_extraction(target, terms, 2)),
      most_(kernels::add_columns_by_extraction(target, terms, kernels::most_levels)),
      highest_(kernels::highest_exponents(target, terms)) {}

/// Tries other exponent ranges for the columns that fit none yet. Returns whether all columns fit afterwards.
bool ColumnRangeFinder::fit_others(const kernels::ColumnRows& rows, int levels, std::span<const Top> tops,
                                   Found& found) const noexcept {
  Found tried;
  set_tops(tops, levels, tried);
  (levels == 2 ? few_ : most_)(rows, tried);
  for (order::Count i = 0; i < rows.columns; ++i) {
    if (found.fits[i] != 0 || tried.fits[i] == 0) continue;
    found.fits[i] = tried.fits[i];
    found.top[i] = tried.top[i];
    for (std::size_t level = 0; level < static_cast<std::size_t>(levels); ++level)
      found.sums[level][i] = tried.sums[level][i];
  }
  return all_fit(rows, found);
}

int ColumnRangeFinder::add(const kernels::ColumnRows& rows, std::span<Top> tops, Found& found) const noexcept {
  const auto columns = tops.first(rows.columns);
  if (std::ranges::find(columns, no_top) == columns.end()) {
    set_tops(columns, 2, found);
    few_(rows, found);
    if (all_fit(rows, found)) return 2;
    for (std::size_t level = 2; level < found.sums.size(); ++level) found.sums[level] = {};
  } else {
    found = {};
  }
  kernels::EachColumn<std::int64_t> highest;
  highest_(rows, highest);
  for (order::Count i = 0; i < rows.columns; ++i)
    if (found.fits[i] == 0)
      columns[i] = static_cast<Top>(std::min<int>(kernels::level_top_for(static_cast<int>(highest[i])), no_top));
  if (!fit_others(rows, 2, columns, found)) fit_others(rows, kernels::most_levels, columns, found);
  return kernels::most_levels;
}

}  // namespace steadfold::arithmetic
