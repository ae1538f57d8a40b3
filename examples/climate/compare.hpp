// Runs the job on several rank counts, and once with a restart on another number of ranks, and compares the bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace climate {

/// Prints a table. `arguments` are the job's but for the steps, words for the shell. Returns the exit status: 1 if
/// Steadfold's bits differ between jobs. Throws std::runtime_error if a job cannot be run.
int compare(const std::string& arguments, std::uint64_t steps, const std::vector<int>& rank_counts);

}  // namespace climate
