// Reductions of one wide row per rank in common memory. If ranks see all of each other's memory, or have allocated rows
// and results with the library, every rank reduces its share of the columns in place. Otherwise rows are posted piece
// by piece.
// Rank order: kept. Cost: each byte of a row is read by one other core and written to each result. Posted pieces are
// copied once more.
#pragma once

#include "plan/board_reduction.hpp"

namespace steadfold::plan {

/// Makes the object that make_board_reduction returns for one wide row per rank. make_board_reduction has checked that
/// this form can be used.
std::unique_ptr<BoardReduction> make_wide_board_reduction(const Member& agreed, RowsPayload& rows,
                                                          transport::Transport& transport, std::uint32_t tag);

}  // namespace steadfold::plan
