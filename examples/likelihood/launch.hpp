// Starts this program under the launcher of the MPI library that it was built for.
#pragma once

#include <string>

namespace likelihood {

/// How many processes the launcher that started this one started, from its environment; 1 without a launcher.
int ranks_of_outer_job();

/// Prepares the environment for jobs started here: a job inside another would take itself for a part of that.
void prepare_environment();

/// The command line of a job; `arguments` are words for the shell.
std::string job_command(int rank_count, const std::string& arguments);

/// What a command writes to its standard output. Throws std::runtime_error if it fails.
std::string output_of(const std::string& command);

}  // namespace likelihood
