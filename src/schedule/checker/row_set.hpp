// Sets of rows, which the checker compares and joins. Each set has one or two runs of consecutive rows. A run may
// continue from the last row to the first.
// Rank order: cyclic. Cost: O(1).
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "schedule/step.hpp"

namespace steadfold::schedule {

/// The rows first, first + 1, ..., modulo the number of rows.
struct RowRun {
  Index first = 0;
  Count count = 0;

  friend constexpr bool operator==(const RowRun&, const RowRun&) = default;
};

/// A set of rows. Its second run is empty, or does not touch the first.
struct RowSet {
  RowRun run;
  RowRun apart;

  constexpr RowSet() = default;
  constexpr RowSet(RowRun one) : run(one) {}
  constexpr RowSet(RowRun one, RowRun other) : run(one), apart(other) {}
  constexpr Count count() const noexcept { return run.count + apart.count; }
};

/// The rows of a job in a circle.
class Circle {
 public:
  explicit Circle(Count row_count) : row_count_(row_count) {}

  bool same(const RowSet& a, const RowSet& b) const noexcept {
    if (a.count() != b.count()) return false;
    if (a.count() == row_count_ || a.count() == 0) return true;
    if (a.apart.count == 0 && b.apart.count == 0) return a.run.first == b.run.first;
    return (a.run == b.run && a.apart == b.apart) || (a.run == b.apart && a.apart == b.run);
  }

  bool overlap(const RowSet& a, const RowSet& b) const noexcept {
    return overlap(a.run, b.run) || overlap(a.run, b.apart) || overlap(a.apart, b.run) || overlap(a.apart, b.apart);
  }

  /// Whether a and b are single runs, and b begins where a ends.
  bool follows(const RowSet& a, const RowSet& b) const noexcept {
    return a.apart.count == 0 && b.apart.count == 0 && distance(a.run.first, b.run.first) == a.run.count;
  }

  /// Returns the union of both sets, or `nullopt` if it has more than two runs.
  std::optional<RowSet> joined(const RowSet& a, const RowSet& b) const noexcept {
    if (b.count() == 0) return a;
    if (follows(a, b)) return RowSet(extended(a.run, b.run));
    std::array<RowRun, 4> runs = {a.run, b.run, a.apart, b.apart};
    for (bool again = true; again;) {
      again = false;
      for (RowRun& left : runs)
        for (RowRun& right : runs)
          if (reaches(left, right)) left = extended(left, std::exchange(right, {})), again = true;
    }
    std::size_t end = 0;
    for (const RowRun& each : runs)
      if (each.count > 0) runs[end++] = each;
    if (end > 2) return std::nullopt;
    return RowSet(end > 0 ? runs[0] : RowRun(), end > 1 ? runs[1] : RowRun());
  }

 private:
  // Returns the number of rows from `from` to `to`.
  Count distance(Index from, Index to) const noexcept { return to >= from ? to - from : to - from + row_count_; }
  bool overlap(RowRun a, RowRun b) const noexcept {
    return a.count > 0 && b.count > 0 && (distance(a.first, b.first) < a.count || distance(b.first, a.first) < b.count);
  }
  // Whether b begins inside a or where a ends.
  bool reaches(const RowRun& a, const RowRun& b) const noexcept {
    return &a != &b && a.count > 0 && b.count > 0 && distance(a.first, b.first) <= a.count;
  }
  // Returns the union of a and b, if a reaches b.
  RowRun extended(RowRun a, RowRun b) const noexcept {
    return {a.first, std::min(std::max(a.count, distance(a.first, b.first) + b.count), row_count_)};
  }

  Count row_count_;
};

}  // namespace steadfold::schedule
