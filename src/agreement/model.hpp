// What a schedule would cost, in a closed form that can be asked of every row: rounds, bytes through the busiest ports,
// and what is merged and finished there. What a rank makes of its own elements is left out: all schedules need that.
// Cost: O(1) per schedule if elements are in rank order. Source: the linear model of [S1]
// and [S3], for records whose size follows their rows.
#pragma once

#include <optional>
#include <vector>

#include "agreement/segmentation.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::agreement {

/// A kind of partial, and the sizes that were asked for before: those of rows in many intervals take long to find.
class PartialSizes {
 public:
  PartialSizes(const arithmetic::PartialKind& kind) noexcept : kind_(&kind) {}  // NOLINT(google-explicit-constructor)

  const arithmetic::PartialKind& kind() const noexcept { return *kind_; }
  /// Bytes of a partial of these ranks' rows.
  Bytes of(const order::Layout& layout, order::RankRange range) const;

 private:
  struct Known {
    const order::Layout* layout;
    order::RankRange range;
    Bytes bytes;
  };
  const arithmetic::PartialKind* kind_;
  mutable std::vector<Known> known_;
};

/// Seconds; nothing if the row has no formulas. The context names the layout and the schedule; its rank and segments
/// are ignored.
std::optional<double> modelled_seconds(schedule::Context context, const PartialSizes& sizes, Count columns,
                                       const Network& network = {});

/// Seconds if the ranks of a node share one link for all that they send to other nodes, and one for what comes from
/// there; or if each has its own (parts of one node). What passes it is counted on one node's steps: that of the root,
/// or the first of the largest; where ranks have their own, on those of its rank by whose link most passes. As many
/// rounds wait for the latency between nodes as one of the counted ranks gets messages from other nodes, at most; the
/// others wait for the latency inside. Nothing if the row has no formulas, or that node has more than 65536 steps.
/// Cost: O(steps of that node).
std::optional<double> modelled_seconds_on(const order::Nodes& nodes, const schedule::Context& context,
                                          const PartialSizes& sizes, Count columns, const Network& network = {});

}  // namespace steadfold::agreement
