// Together, one wide row per rank. Where ranks see all of each other's memory, or have taken rows and results from the
// library, every rank reduces its share of the columns where they are. Else rows are posted piece by piece.
// Rank order: kept. Cost: each byte of a row is read by one other core, and written where results are due; pieces are
// copied once more.
#pragma once

#include "execution/together.hpp"

namespace steadfold::execution {

/// As make_together, which has found that this form serves.
std::unique_ptr<Together> make_together_wide(const agreement::Member& agreed, RowsPayload& rows,
                                             transport::Transport& transport, std::uint32_t tag);

}  // namespace steadfold::execution
