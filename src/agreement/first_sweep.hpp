// The reduction of all ranks' surveys, which precedes a reduction that goes through its rows twice. It takes a maximum.
// Cost: recursive doubling with one byte per column. Source: Lapillonne & Peltekov 2013, double sweep.
#pragma once

#include "agreement/agreement.hpp"

namespace steadfold::agreement {

/// A call for the byte-wise maximum of one row of `bytes` bytes per rank, on all ranks.
Call first_sweep(Bytes bytes) noexcept;

/// The agreement for this call, which follows from what the ranks have agreed on, so they need not communicate. `nodes`
/// is null if there is one node or the nodes are unknown.
Agreement agreed_first_sweep(const Call& call, Rank rank_count, const std::shared_ptr<const order::Nodes>& nodes);

}  // namespace steadfold::agreement
