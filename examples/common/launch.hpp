// Starts this program under the launcher of the MPI library that it was built for.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace example {

/// The output of --json: one object, in the order of reading.
using Record = nlohmann::ordered_json;

/// How many processes the launcher that started this one started, from its environment; 1 without a launcher.
int ranks_of_outer_job();

/// Prepares the environment for jobs started here: a job inside another would take itself for a part of that.
void prepare_environment();

/// Runs this program with --json on that many ranks. `arguments` are words for the shell. Throws std::runtime_error if
/// the job fails.
Record run_ranks(int rank_count, const std::string& arguments);

/// Says so, if more workers than cores were compared.
void warn_of_few_cores(int worker_count);

}  // namespace example
