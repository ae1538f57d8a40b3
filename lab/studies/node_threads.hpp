// What the parts that measure on pinned threads share.
#pragma once

#include <span>
#include <vector>

#include "study.hpp"

namespace steadfold::command::studies::node {

/// The numbers of threads that were asked for, from `least` on. Those that are too many are left out, which `found`
/// says.
std::vector<unsigned> thread_counts(const Asked& asked, unsigned least, Findings& found);

/// Whether so many threads share the cores of this machine: then times are those of waiting for a core.
bool is_oversubscribed(unsigned threads);

/// Adds the fields `seconds` (the median), `quartiles` and `max` of samples, each the mean of some calls.
void add_times(Json& row, const std::vector<double>& seconds);

}  // namespace steadfold::command::studies::node
