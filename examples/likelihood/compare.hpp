// Runs the job on several rank counts, one after the other, and compares the bits.
#pragma once

#include <vector>

#include "job.hpp"

namespace likelihood {

/// Prints a table. Returns the exit status: 1 if Steadfold's bits differ between rank counts. Throws std::runtime_error
/// if a job cannot be run.
int compare(const Size& size, const std::vector<int>& rank_counts);

}  // namespace likelihood
