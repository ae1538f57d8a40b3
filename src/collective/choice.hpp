// Which schedule serves a call, and why one that was asked for does not.
// Rank order: the choice keeps it where the operator needs it. Cost: O(rows of the registry). Source: ours.
#pragma once

#include <span>
#include <string>

#include "collective/call.hpp"

namespace steadfold::collective {

/// The library's choice for calls of one root that go together: never changes the bits of tree and exact.
std::string chosen_schedule(std::span<const Description> calls);

/// Parses a schedule's name and checks that it serves the calls. Throws Failure.
schedule::Spec checked_schedule(const std::string& text, std::span<const Description> calls);

}  // namespace steadfold::collective
