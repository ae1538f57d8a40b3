// Turns one rank's rows into one partial, on one thread or several: each pushes a run of rows into a builder of its
// own, and the partials are merged in the order of memory. Rank order: kept. Cost: the builders' and a merge for each
// further thread; a third round of the same shape allocates nothing: two tiles take turns.
#pragma once

#include <optional>
#include <vector>

#include "agreement/description.hpp"
#include "arithmetic/partial.hpp"
#include "arithmetic/rows/intake.hpp"
#include "execution/thread_team.hpp"

namespace steadfold::execution {

using agreement::Data;
using order::Bytes;
using order::Count;

inline constexpr order::Interval all_rows{0, ~order::Index{0}};

/// The rows of `intervals`, one interval after the other as the strides say, from `data` on. Those of `part` are taken,
/// which counts them from 0 as they stand in memory. `surveyed`: what the first sweeps of all ranks found out, if the
/// kind wants one.
struct Placed {
  std::span<const order::Interval> intervals;
  arithmetic::Operands data;
  const arithmetic::Strides& strides;
  order::Interval part = all_rows;
  std::span<const std::byte> surveyed = {};
};

/// Lifts rows of one shape into partials of one kind, which must outlive it.
class Lifter {
 public:
  Lifter(const arithmetic::PartialKind& kind, const arithmetic::RowShape& shape) : kind_(&kind), shape_(shape) {}
  /// Allocates what lifting by one thread needs; else its first use does. Many calls of wide rows lift nothing.
  void prepare() { builder(); }

  /// Writes the partial by `threads` of the team, or as many as it has; returns its size. `out` has the kind's working
  /// capacity for the rows.
  Bytes lift(const Placed& rows, ThreadTeam& team, unsigned threads, std::span<std::byte> out);

  /// Finishes all rows of one process without a partial, by this thread, if the kind offers that.
  bool finishes_alone() { return builder().finishes_alone(); }
  Status finish_alone(const arithmetic::Operands& data, Count rows, const arithmetic::Strides& strides,
                      Count element_count, std::byte* result, std::byte* spare) {
    builder().clear();
    if (rows > 0) intake_->push(0, data, rows, strides);
    return builder().finish_alone(element_count, result, spare);
  }

  /// Writes what a first sweep over the rows finds out, by threads as `lift`. `out` has the kind's `survey_bytes`.
  void survey(const Placed& rows, ThreadTeam& team, unsigned threads, std::span<std::byte> out);

 private:
  /// What one thread does: rows first, ..., last - 1 of those in the order of memory.
  struct ThreadRows {
    std::optional<arithmetic::Intake> intake;
    Count first = 0;
    Count last = 0;
    std::vector<std::byte> partial;
    Bytes size = 0;
    std::vector<std::byte> merged;  // of these rows and those of the threads before
  };

  arithmetic::Builder& builder() {
    if (!intake_) intake_.emplace(kind_->builder(), shape_);
    return intake_->builder();
  }
  Bytes alone(const Placed& rows, std::span<std::byte> out);
  unsigned divide(const Placed& rows, const ThreadTeam& team, unsigned threads);
  std::span<const std::byte> merged(unsigned threads, std::span<std::byte> out);

  const arithmetic::PartialKind* kind_;
  arithmetic::RowShape shape_;
  std::optional<arithmetic::Intake> intake_;
  std::vector<ThreadRows> rows_of_threads_;
  Bytes bytes_of_none_ = 0;    // a partial of no rows, and
  Bytes bytes_of_a_node_ = 0;  // what every node may add; 0 until it is needed
};

}  // namespace steadfold::execution
