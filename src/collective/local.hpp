// A reduction within one process: no schedule, no transport.
// Rank order: that of the indices. Cost: the builder's; allocates where the shape is not that of the last call.
// Source: ours.
#pragma once

#include "collective/call.hpp"

namespace steadfold::collective {

/// Reduces the call's rows into `result`. Any number of threads at once. Throws Failure.
void reduce_locally(const Call& call, const std::byte* first, const std::byte* second, std::byte* result);

}  // namespace steadfold::collective
