// The first sweep: a maximum of all ranks' surveys, which precedes a reduction that reads its rows twice. Cost:
// recursive doubling with one byte per column. Source: Lapillonne & Peltekov 2013, double sweep.
#pragma once

#include "plan/agreement.hpp"

namespace steadfold::plan {

/// Makes the call for a first sweep: the byte-wise maximum of one row of `bytes` bytes per rank, on all ranks.
call::Call first_sweep(Bytes bytes) noexcept;

/// Makes the agreement for this call. The agreement follows from the facts that the ranks have agreed on, so the ranks
/// need not communicate. `nodes` is null if there is one node or the nodes are unknown.
Agreement agreed_first_sweep(const call::Call& call, Rank rank_count, const std::shared_ptr<const order::Nodes>& nodes);

}  // namespace steadfold::plan
