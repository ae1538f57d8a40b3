// The reduction of all ranks' surveys, which comes before a reduction that goes through its rows twice.
// Rank order: irrelevant, it is a maximum. Cost: recursive doubling with one byte per column. Source: [S2], double
// sweep.
#pragma once

#include "agreement/agreement.hpp"

namespace steadfold::agreement {

/// The byte-wise maximum of one row of `bytes` bytes per rank, on all ranks.
Call first_sweep(Bytes bytes) noexcept;

/// Ranks need not ask each other for it: it follows from what they agreed on, with these nodes (null: one, or nobody
/// knows).
Agreement agreed_first_sweep(const Call& call, Rank rank_count, const std::shared_ptr<const order::Nodes>& nodes);

}  // namespace steadfold::agreement
