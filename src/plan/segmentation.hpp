// Cuts a call's columns into segments, as the schedule's parameters say, or as the pipelining lemma recommends. For
// reduce_scatter every rank's block is cut separately.
// Cost: O(1). The result depends only on the call, so all ranks agree. Source: the lemma of Gruber & Freinberger,
// section 2.5.
#pragma once

#include <span>
#include <vector>

#include "plan/network.hpp"
#include "schedule/registry.hpp"

namespace steadfold::plan {

using order::Bytes;
using order::Count;

/// An upper estimate of the bytes that a message of one partial or value has besides its elements.
inline constexpr Bytes most_head = 64;

/// Returns the number of segments, from 1 to `columns`, for columns of `column_bytes` bytes. Ignores the rank and the
/// segments of the context, which must have a schedule.
std::uint32_t segments_of(const schedule::Context& context, Count columns, Bytes column_bytes,
                          const transport::LogGP& link = assumed_link);

/// The segments of a call: which columns each segment has.
class Segmentation {
 public:
  /// Makes segments of equal size, as far as possible.
  Segmentation(Count columns, std::uint32_t segments) : columns_(columns), segments_(segments) {}
  /// Makes segments for reduce_scatter: no segment has columns of two ranks, or more than `most` columns (0: no limit).
  Segmentation(std::span<const Count> blocks, Count most);

  std::uint32_t segments() const noexcept { return segments_; }
  order::Interval columns(std::uint32_t segment) const noexcept {
    if (!begins_.empty()) return {begins_[segment], begins_[segment + 1]};
    return {columns_ * segment / segments_, columns_ * (segment + 1) / segments_};
  }
  /// Returns the context from which a schedule makes a rank's steps, with the columns cut into these segments. The
  /// segmentation must outlive the context.
  schedule::Context cut(schedule::Context context, order::Rank rank = 0) const noexcept {
    context.rank = rank;
    context.segments = segments_;
    context.blocks = blocks_;
    return context;
  }
  /// Returns the segments of which a rank may get the result: the segments of its block, or all segments.
  order::Interval segments_of(order::Rank rank) const noexcept {
    if (blocks_.empty()) return {0, segments_};
    const auto block = static_cast<std::size_t>(rank);
    return {blocks_[block], blocks_[block + 1]};
  }

 private:
  Count columns_ = 0;
  std::uint32_t segments_ = 0;
  std::vector<Count> begins_;          // reduce_scatter: the first column of each segment, and the number of columns
  std::vector<std::uint32_t> blocks_;  // the first segment of each rank, and the number of segments
};

/// Returns the segmentation of a call. `blocks` are used only for reduce_scatter.
Segmentation segmentation_of(const schedule::Context& context, Count columns, Bytes column_bytes,
                             std::span<const Count> blocks, const transport::LogGP& link = assumed_link);

/// The shortest time of a pipeline, and its number of blocks. The first block takes `first` rounds, and each further
/// block arrives after `period` more rounds: T(m) = (d-s)a + 2 sqrt(s(d-s)abm) + sbm. The blocks are either all above
/// the eager limit or all below it, whichever is faster. Likewise they are either all at most `long_from` long or all
/// at least as long.
struct Pipeline {
  double blocks = 1;
  double seconds = 0;
};
Pipeline best_pipeline(Count first, Count period, Bytes bytes, const transport::LogGP& link);

}  // namespace steadfold::plan
