// The work of one `mpirun` job, and its record.
#pragma once

#include "adapters/common/library.hpp"
#include "common/launch.hpp"

namespace adapters {

/// Collective. Every rank gets the record that --json prints; its times are medians of the slowest rank's.
example::Record run_job(const Library& library, const Task& task, const example::Ranks& ranks);

/// The record for people.
std::string describe(const example::Record& record);

/// Runs the job on several numbers of ranks and prints a row for each. `words` are the job's. Returns the exit status:
/// 1 if Steadfold's bits differ between jobs. Throws std::runtime_error if a job cannot be run.
int compare(const std::string& words, const std::vector<int>& rank_counts);

}  // namespace adapters
