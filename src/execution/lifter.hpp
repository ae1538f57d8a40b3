// Turns one rank's rows into one partial, on one thread or several: each pushes a run of rows into a builder of its
// own, and the partials are merged in the order of memory. Rank order: kept. Cost: the builders' and a merge for each
// further thread; a second round of the same shape allocates nothing. Source: ours.
#pragma once

#include <memory>
#include <vector>

#include "agreement/call.hpp"
#include "arithmetic/partial.hpp"
#include "execution/thread_team.hpp"

namespace steadfold::execution {

using agreement::Data;
using order::Bytes;
using order::Count;

inline constexpr order::Interval all_rows{0, ~order::Index{0}};

/// The rows of `intervals`, which stand one after the other from `data` on, `row_bytes` apart; of these, those of
/// `part`. `first_byte` is where in a row the columns begin.
struct Placed {
  std::span<const order::Interval> intervals;
  Data data;
  Bytes row_bytes = 0;
  Bytes first_byte = 0;
  order::Interval part = all_rows;
  bool is_masked = false;  // `data.second` has one byte per row
};

/// Lifts rows into partials of one kind, which must outlive it.
class Lifter {
 public:
  explicit Lifter(const arithmetic::PartialKind& kind) : kind_(&kind), builder_(kind.builder()) {}

  /// Writes the partial by `threads` of the team, or as many as it has; returns its size. `out` has the kind's working
  /// capacity for the rows.
  Bytes lift(const Placed& rows, ThreadTeam& team, unsigned threads, std::span<std::byte> out);

  /// Finishes all rows of one process without a partial, by this thread, if the kind offers that.
  bool finishes_alone() const noexcept { return builder_->finishes_alone(); }
  Status finish_alone(const arithmetic::Block& rows, Count element_count, std::byte* values, std::byte* spare);

  /// The same for what a first sweep finds out, of the kind's `survey_bytes`.
  void survey(const Placed& rows, ThreadTeam& team, unsigned threads, std::span<std::byte> out);
  /// What the first sweeps of all ranks found out: for every `lift` to come.
  void expect(std::span<const std::byte> surveyed);

 private:
  /// What one thread does: rows first, ..., last - 1 of those in the order of memory.
  struct ThreadRows {
    std::unique_ptr<arithmetic::Builder> builder;
    Count first = 0;
    Count last = 0;
    std::vector<std::byte> partial;
    Bytes size = 0;
    std::vector<std::byte> merged;  // of these rows and those of the threads before
  };

  Bytes alone(const Placed& rows, std::span<std::byte> out);
  unsigned divide(const Placed& rows, const ThreadTeam& team, unsigned threads);
  std::span<const std::byte> merged(unsigned threads, std::span<std::byte> out);

  const arithmetic::PartialKind* kind_;
  std::unique_ptr<arithmetic::Builder> builder_;
  std::vector<ThreadRows> rows_of_threads_;
  std::vector<std::byte> expected_;
  Bytes bytes_of_none_ = 0;    // a partial of no rows, and
  Bytes bytes_of_a_node_ = 0;  // what every node may add; 0 until it is needed
};

}  // namespace steadfold::execution
