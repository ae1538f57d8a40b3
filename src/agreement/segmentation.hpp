// How a call's columns are cut into segments: by the schedule's parameters, or by the pipelining lemma;
// for reduce_scatter, every rank's block by itself.
// Cost: O(1); a pure function of the call, so that all ranks agree. Source: the lemma of
// [S1] section 2.5.
#pragma once

#include <span>
#include <vector>

#include "agreement/network.hpp"
#include "schedule/registry.hpp"

namespace steadfold::agreement {

using order::Bytes;
using order::Count;

/// About the most bytes that a message of one partial or value has beside its elements.
inline constexpr Bytes most_head = 64;

/// At least 1 and at most `columns`, of `column_bytes` each. The rank and the segments of the context do not count; it
/// has a schedule.
std::uint32_t segments_of(const schedule::Context& context, Count columns, Bytes column_bytes,
                          const transport::LogGP& link = assumed_link);

/// Which columns each segment has.
class Segmentation {
 public:
  /// Segments of equal size, as far as possible.
  Segmentation(Count columns, std::uint32_t segments) : columns_(columns), segments_(segments) {}
  /// For reduce_scatter: no segment has columns of two ranks, nor more than `most` columns (0: any number).
  Segmentation(std::span<const Count> blocks, Count most);

  std::uint32_t segments() const noexcept { return segments_; }
  order::Interval columns(std::uint32_t segment) const noexcept {
    if (!begins_.empty()) return {begins_[segment], begins_[segment + 1]};
    return {columns_ * segment / segments_, columns_ * (segment + 1) / segments_};
  }
  /// What a schedule makes a rank's steps of, with the columns cut like this. The segmentation must outlive it.
  schedule::Context cut(schedule::Context context, order::Rank rank = 0) const noexcept {
    context.rank = rank;
    context.segments = segments_;
    context.blocks = blocks_;
    return context;
  }
  /// The segments of which a rank may get the result: those of its block, or all.
  order::Interval segments_of(order::Rank rank) const noexcept {
    if (blocks_.empty()) return {0, segments_};
    const auto block = static_cast<std::size_t>(rank);
    return {blocks_[block], blocks_[block + 1]};
  }

 private:
  Count columns_ = 0;
  std::uint32_t segments_ = 0;
  std::vector<Count> begins_;          // reduce_scatter: the first column of each segment, and the end
  std::vector<std::uint32_t> blocks_;  // the first segment of each rank, and the end
};

/// The segmentation of a call; `blocks` only for reduce_scatter.
Segmentation segmentation_of(const schedule::Context& context, Count columns, Bytes column_bytes,
                             std::span<const Count> blocks, const transport::LogGP& link = assumed_link);

/// The least time of a pipeline whose first block takes `first` rounds and which delivers one more every `period`
/// rounds, and the number of blocks that it takes: T(m) = (d-s)a + 2 sqrt(s(d-s)abm) + sbm. Blocks all wait for the
/// receiver's leave, or are all so small that none does, whichever takes less time. Likewise none is longer than
/// `long_from`, or none is shorter.
struct Pipeline {
  double blocks = 1;
  double seconds = 0;
};
Pipeline best_pipeline(Count first, Count period, Bytes bytes, const transport::LogGP& link);

}  // namespace steadfold::agreement
