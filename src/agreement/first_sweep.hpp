// The reduction that goes before another one whose rows are gone through twice: what all ranks' surveys come to.
// Rank order: irrelevant, it is a maximum. Cost: recursive doubling with a byte a column. Source: [S2], double sweep.
#pragma once

#include "agreement/agreement.hpp"

namespace steadfold::agreement {

/// The maximum of `bytes` bytes, one row of them a rank, for all ranks.
Call first_sweep(Bytes bytes) noexcept;

/// Ranks need not ask each other for it: it follows from what they agreed on.
Agreement agreed_first_sweep(const Call& call, Rank rank_count);

}  // namespace steadfold::agreement
