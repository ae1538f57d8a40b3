// Predicts the time of a schedule with a closed formula for every row: rounds, bytes through the busiest ports, and
// bytes that are merged and finished there. It leaves out lifting, which all schedules need.
// Cost: O(1) per schedule if elements are in rank order.
// Source: the linear models of Gruber & Freinberger and of Balaji & Kimpe, extended to records whose size depends on
// their rows.
#pragma once

#include <optional>
#include <vector>

#include "agreement/segmentation.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::agreement {

/// A kind of partial, with a cache of sizes, since the size of a partial of many intervals takes long to compute.
class PartialSizes {
 public:
  PartialSizes(const arithmetic::PartialKind& kind) noexcept : kind_(&kind) {}  // NOLINT(google-explicit-constructor)

  const arithmetic::PartialKind& kind() const noexcept { return *kind_; }
  /// The size in bytes of a partial of these ranks' rows.
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

/// The predicted seconds, or `nullopt` if the row has no formulas. The context must have the layout and the schedule;
/// its rank and segments are ignored.
std::optional<double> modelled_seconds(schedule::Context context, const PartialSizes& sizes, Count columns,
                                       const Network& network = {});

/// The predicted seconds if the ranks of a node share one link for messages to other nodes and one for messages from
/// them, or, for the parts of one node, if each rank has its own. The load of a link is counted on the steps of one
/// node: the root's, or the first of the largest. If ranks have separate links, the busiest link of a rank of this node
/// counts. The number of rounds with the latency between nodes is at most the largest number of messages that one of
/// these ranks receives from other nodes. The other rounds have the latency inside a node. Returns `nullopt` if the row
/// has no formulas, or if the node has more than 65536 steps.
/// Cost: O(steps of that node).
std::optional<double> modelled_seconds_on(const order::Nodes& nodes, const schedule::Context& context,
                                          const PartialSizes& sizes, Count columns, const Network& network = {});

}  // namespace steadfold::agreement
