// Starts ranks of this command as workers, and reads their answer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command.hpp"
#include "program/launcher.hpp"

namespace steadfold::command {

/// Runs `work`, and returns the output of a worker: the answer that `work` wrote, or the reason of its failure. The
/// exit status is 0 even after a failure, because launchers add remarks to the output after any other exit status.
/// Collective.
Result answer(const Job& job, const std::string& worker, const std::function<void(Json& answer)>& work);

/// Starts the worker with these arguments on `rank_count` ranks and returns its answer. Throws Failure with the error
/// of the ranks, or with the reason why there is no answer; `suggestion` then ends the message.
Json ask(const std::string& worker, const std::vector<std::string>& arguments, int rank_count, Placement placement,
         const std::string& suggestion);

/// Returns a worker's answer from another command, which starts the worker's ranks itself. Throws as `ask` does.
Json ask_command(const std::string& command, const std::string& worker, const std::vector<std::string>& arguments);

/// Reads comma-separated rank counts, 1 to 1024 each. Throws Failure.
std::vector<int> rank_counts(const std::string& text);

/// Asks on a terminal before more than 64 ranks are started, unless `yes` (`--yes`) is set. Throws Failure if the
/// answer is no or there is no terminal.
void agree_to_many(const std::vector<int>& rank_counts, bool yes);
inline constexpr const char* yes_help = "Start more than 64 ranks without asking";

}  // namespace steadfold::command
