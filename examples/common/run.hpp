// How a program runs on all ranks, for files that do not call MPI themselves: they are compiled once for every MPI
// library.
#pragma once

#include <functional>
#include <string>

namespace example {

inline constexpr int usage_error = 2;  // an exit status

struct Ranks;

/// Whether this is the rank that prints.
bool is_first(const Ranks& ranks);

/// Runs `job` on every rank, from MPI's beginning to its end, and returns the exit status. A `complaint` about the
/// command line, the same on all ranks, takes the job's place. `job` throws sf::Error or std::invalid_argument on all
/// ranks or on none; anything else ends the job, with `advice` on what to try.
int run_on_ranks(std::string complaint, const std::string& advice, const std::function<void(const Ranks&)>& job);

}  // namespace example
