// What a call's bits do not depend on: the table of docs/guarantees.md.
// Cost: O(1). Source: ours.
#pragma once

#include "agreement/call.hpp"

namespace steadfold::agreement {

/// All that a call of this description keeps.
Guarantees kept(const Description& description) noexcept;

/// Throws Failure where a call requires what it cannot keep.
void require_kept(const Call& call);

}  // namespace steadfold::agreement
