// Lifts rows: turns one rank's rows into one partial, with one thread or several. Each thread pushes a contiguous part
// of the rows into its builder, and the partials are merged in the order of memory.
// Rank order: kept. Cost: the builders' cost, and one merge for each thread after the first. From the third round of
// the same shape on, nothing is allocated, because two blocks of memory are used in turn.
#pragma once

#include <optional>
#include <vector>

#include "arithmetic/partial.hpp"
#include "arithmetic/rows/intake.hpp"
#include "arithmetic/rows/room.hpp"
#include "call/description.hpp"
#include "plan/thread_pool.hpp"

namespace steadfold::plan {

using call::Data;
using order::Bytes;
using order::Count;

inline constexpr order::Interval all_rows{0, ~order::Index{0}};

/// The rows of a rank in memory: the rows of `intervals`, one interval after the other, from `data` on with the given
/// strides. `part` selects rows by their position in memory, counted from 0. `surveyed` is the result of all ranks'
/// first sweeps, if the kind needs a first sweep.
struct StoredRows {
  std::span<const order::Interval> intervals;
  arithmetic::Operands data;
  const arithmetic::Strides& strides;
  order::Interval part = all_rows;
  std::span<const std::byte> surveyed = {};
};

/// Lifts rows of one shape into partials of one kind. The kind must outlive the lifter.
class Lifter {
 public:
  Lifter(const arithmetic::PartialKind& kind, const arithmetic::RowShape& shape) : kind_(&kind), shape_(shape) {}
  /// Allocates the memory that `lift` needs with one thread. If `prepare` is not called, the first use allocates this
  /// memory: many calls of wide rows never build a partial.
  void prepare() { builder(); }

  /// Writes the partial of the rows, with up to `threads` threads of the pool, and returns its size in bytes. `out`
  /// must have the kind's working capacity for the rows.
  Bytes lift(const StoredRows& rows, ThreadPool& pool, unsigned threads, std::span<std::byte> out);

  /// Whether this thread can finish all rows of one process without a partial.
  bool finishes_alone() { return builder().finishes_alone(); }
  Status finish_alone(const arithmetic::Operands& data, Count rows, const arithmetic::Strides& strides,
                      Count element_count, std::byte* result, std::byte* spare) {
    builder().clear();
    if (rows > 0) intake_->push(0, data, rows, strides);
    return builder().finish_alone(element_count, result, spare);
  }

  /// Writes the survey of a first sweep over the rows, with up to `threads` threads of the pool. `out` must have the
  /// kind's `survey_bytes`.
  void survey(const StoredRows& rows, ThreadPool& pool, unsigned threads, std::span<std::byte> out);

 private:
  /// The work of one thread: rows `first` to `last` - 1 in the order of memory.
  struct ThreadRows {
    std::optional<arithmetic::Intake> intake;
    Count first = 0;
    Count last = 0;
    arithmetic::UnwrittenRoom partial;
    Bytes size = 0;
    arithmetic::UnwrittenRoom merged;  // memory for the partial of these rows and of the rows of the threads before
  };

  arithmetic::Builder& builder() {
    if (!intake_) intake_.emplace(kind_->builder(), shape_);
    return intake_->builder();
  }
  Bytes alone(const StoredRows& rows, std::span<std::byte> out);
  unsigned divide(const StoredRows& rows, const ThreadPool& pool, unsigned threads);
  std::span<const std::byte> merged(unsigned threads, std::span<std::byte> out);

  const arithmetic::PartialKind* kind_;
  arithmetic::RowShape shape_;
  std::optional<arithmetic::Intake> intake_;
  std::vector<ThreadRows> rows_of_threads_;
  Bytes bytes_of_none_ = 0;    // bytes of a partial that has no rows
  Bytes bytes_of_a_node_ = 0;  // the most bytes that a node adds to a partial; 0 until it is needed
};

}  // namespace steadfold::plan
