// How subcommands start ranks of this command, and how the ranks answer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command.hpp"
#include "program/launcher.hpp"

namespace steadfold::command {

/// What a worker prints: what `work` wrote to the answer, or why it failed. A failure too is printed with exit status
/// 0: after any other, launchers surround the output with remarks. Collective.
Result answer(const Job& job, const std::string& worker, const std::function<void(Json& answer)>& work);

/// Starts the worker with these arguments on that many ranks and returns its answer. Throws Failure with the ranks'
/// complaint, or with why there is no answer; `suggestion` is what to try then.
Json ask(const std::string& worker, const std::vector<std::string>& arguments, int rank_count, Placement placement,
         const std::string& suggestion);

/// Returns a worker's answer as another command prints it, which starts the worker's ranks itself. Throws as `ask`.
Json ask_command(const std::string& command, const std::string& worker, const std::vector<std::string>& arguments);

/// Comma-separated rank counts, 1 to 1024. Throws Failure.
std::vector<int> rank_counts(const std::string& text);

/// Asks on a terminal before more than 64 ranks are started, unless `yes` (`--yes`) is set. Throws Failure if the
/// answer is no or there is nobody to ask.
void agree_to_many(const std::vector<int>& rank_counts, bool yes);
inline constexpr const char* yes_help = "Start more than 64 ranks without a question";

}  // namespace steadfold::command
