// The index at which each rank's elements begin, and the rank that holds an element: startIndex and rankFromIndex of
// Stelz 2022.
// Cost: closed forms take O(1) and 24 bytes for any rank count; a table takes O(log p) per look-up.
// Source: Stelz 2022, eq. 3.2-3.4 and section 3.1.3; chapter 5 proposes the closed forms as future work.
#pragma once

#include <algorithm>
#include <span>

#include "order/interval.hpp"

namespace steadfold::order {

/// Element counts in closed form: the first `boundary` ranks hold `first_share` elements each, all others `last_share`.
/// `lower`, `upper` and `power2` have this form.
class TwoShares {
 public:
  constexpr TwoShares(Rank rank_count, Rank boundary, Count first_share, Count last_share) noexcept
      : rank_count_(rank_count), boundary_(boundary), first_share_(first_share), last_share_(last_share) {}

  constexpr Rank rank_count() const noexcept { return rank_count_; }
  constexpr Count element_count() const noexcept { return start(rank_count_); }
  constexpr Count count(Rank rank) const noexcept { return rank < boundary_ ? first_share_ : last_share_; }

  /// Returns the index at which a rank's elements begin; start(rank_count()) is the element count.
  constexpr Index start(Rank rank) const noexcept {
    const Rank first = std::min(rank, boundary_);
    return static_cast<Count>(first) * first_share_ + static_cast<Count>(rank - first) * last_share_;
  }
  /// Returns the elements of ranks begin, ..., end - 1.
  constexpr Interval rows(Rank begin, Rank end) const noexcept { return {start(begin), start(end)}; }

  /// Returns the rank that holds element `x`, which must be below element_count(). Cost: one division.
  constexpr Rank rank_of(Index x) const noexcept {
    const Index boundary = start(boundary_);
    return x < boundary ? static_cast<Rank>(x / first_share_)
                        : boundary_ + static_cast<Rank>((x - boundary) / last_share_);
  }

  friend constexpr bool operator==(const TwoShares&, const TwoShares&) = default;

 private:
  Rank rank_count_;
  Rank boundary_;
  Count first_share_;
  Count last_share_;
};

/// Returns the rank that holds element `x`, which must be below the element count. `starts[i]` is the index at which
/// the elements of rank i begin. The first start is 0, and starts ascend. Returns the last rank that starts at or
/// before `x`, so never an empty rank. Cost: O(log ranks).
inline Rank rank_of(std::span<const Index> starts, Index x) noexcept {
  return static_cast<Rank>(std::ranges::upper_bound(starts, x) - starts.begin()) - 1;
}

}  // namespace steadfold::order
