// Subcommands that start ranks of this command, and what the ranks say to them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command.hpp"
#include "launcher.hpp"

namespace steadfold::command {

/// What a worker prints: what `work` put in, or why it failed. Failures too go to standard output: what comes with a
/// bad exit status has the launcher's remarks around it. Collective.
Result answer(const Job& job, const std::string& worker, const std::function<void(Json& answer)>& work);

/// Starts the worker with these arguments on so many ranks, placed so: its answer. Throws Failure with what the ranks
/// complained of, or with why there is no answer; `suggestion` is what to try then.
Json ask(const std::string& worker, const std::vector<std::string>& arguments, int rank_count, Placement placement,
         const std::string& suggestion);

/// The same of another command, which starts the worker's ranks itself and prints its answer; or what it complained of.
Json ask_command(const std::string& command, const std::string& worker, const std::vector<std::string>& arguments);

/// Rank counts between commas, 1 to 1024. Throws Failure.
std::vector<int> rank_counts(const std::string& text);

/// What `--yes` is for: above 64 ranks in one of the counts, somebody must agree before they are started. Asks on a
/// terminal; throws Failure where the answer is no, or where there is nobody to ask.
void agree_to_many(const std::vector<int>& rank_counts, bool yes);
inline constexpr const char* yes_help = "Start more than 64 ranks without asking";

/// Says on a terminal what is being done, in place of what it said before; nothing where there is none.
class Progress {
 public:
  ~Progress();
  void show(const std::string& text);

 private:
  bool shown_ = false;
};

}  // namespace steadfold::command
