// Predicts the time of a schedule. Every schedule of the registry has formulas for the rounds, for the bytes that pass
// the busiest ports, and for the bytes that are merged and finished there. The prediction leaves out the time to build
// partials of rows, because all schedules need it.
// Cost: O(1) per schedule if elements are in rank order.
// Source: the linear models of Gruber & Freinberger and of Balaji & Kimpe, extended to records whose size depends on
// their rows.
#pragma once

#include <optional>
#include <vector>

#include "arithmetic/partial.hpp"
#include "plan/segmentation.hpp"

namespace steadfold::plan {

/// A kind of partial with a cache of sizes, because the size of a partial of many intervals takes long to compute.
class PartialSizes {
 public:
  PartialSizes(const arithmetic::PartialKind& kind) noexcept : kind_(&kind) {}

  const arithmetic::PartialKind& kind() const noexcept { return *kind_; }
  /// Returns the size in bytes of a partial of these ranks' rows.
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

/// Returns the predicted time in seconds, or `nullopt` if the row has no formulas. The context must have the layout and
/// the schedule; its rank and segments are ignored.
std::optional<double> modelled_seconds(schedule::Context context, const PartialSizes& sizes, Count columns,
                                       const Network& network = {});

/// Returns the predicted time in seconds on several nodes. The ranks of a node share one link for messages to other
/// nodes, and one for messages from other nodes. If the nodes are parts of one node, each rank has separate links. The
/// load of a link is counted on the steps of one node: the root's, or the first of the largest. If ranks have separate
/// links, the busiest link of a rank of this node counts. The number of rounds with the latency between nodes is at
/// most the largest number of messages that one of these ranks receives from other nodes. The other rounds have the
/// latency inside a node. Returns `nullopt` if the row has no formulas, or if the node has more than 65536 steps.
/// Cost: proportional to the number of steps of that node.
std::optional<double> modelled_seconds_on(const order::Nodes& nodes, const schedule::Context& context,
                                          const PartialSizes& sizes, Count columns, const Network& network = {});

}  // namespace steadfold::plan
