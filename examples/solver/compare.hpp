// Runs the job on several rank and thread counts, one after the other, and compares the bits.
#pragma once

#include <string>
#include <vector>

namespace solver {

/// Prints a table. `arguments` are the job's, words for the shell. Returns the exit status: 1 if Steadfold's bits
/// differ between jobs. Throws std::runtime_error if a job cannot be run.
int compare(const std::string& arguments, const std::vector<int>& rank_counts,
            const std::vector<unsigned>& thread_counts);

}  // namespace solver
