// Which schedule serves a call, and why one that was asked for does not.
// Rank order: the choice keeps it where the operator needs it. Cost: O(rows of the registry). Source: ours.
#pragma once

#include <string>

#include "collective/call.hpp"

namespace steadfold::collective {

/// The library's choice: never changes the bits of tree and exact.
std::string chosen_schedule(const Description& description, Rank rank_count);

/// Parses a schedule's name and checks that it serves the call. Throws Failure.
schedule::Spec checked_schedule(const std::string& text, const Description& description);

}  // namespace steadfold::collective
