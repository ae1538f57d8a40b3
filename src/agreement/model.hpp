// What a schedule would cost, in a closed form that can be asked of every row: rounds, bytes through the busiest ports,
// and what is merged there.
// Rank order: not concerned. Cost: O(1) a schedule where elements stand in rank order. Source: the linear model of [S1]
// and [S3], for records whose size follows their rows.
#pragma once

#include <optional>

#include "agreement/segmentation.hpp"
#include "arithmetic/partial.hpp"

namespace steadfold::agreement {

/// Of merging, beside a link's seconds for moving: memory's.
inline constexpr double assumed_merge_per_byte = 1e-10;

/// Seconds; nothing where the row has no formulas. The context names the layout; its rank and segments do not count.
std::optional<double> modelled_seconds(const schedule::Spec& spec, schedule::Context context,
                                       const arithmetic::PartialKind& kind, Count columns,
                                       const transport::LogGP& link = assumed_link);

}  // namespace steadfold::agreement
