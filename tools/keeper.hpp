// Programs that leave nothing behind: launchers, their ranks, and whatever else these start.
#pragma once

#include <string>
#include <vector>

namespace steadfold::command {

/// Runs a program, its output going to the two files and nothing coming in, and waits: its exit status as a shell would
/// say it; 127 where it cannot be started, and the reason in `err`.
///
/// A process of its own, the keeper, stands between. It leads a process group, and once the program has ended, or this
/// process has (interrupted, terminated, killed), it ends all that was started below it, whatever groups and sessions
/// these processes made for themselves. They are asked to end first (SIGTERM) and killed two seconds later.
int run_kept(std::vector<std::string>& words, std::vector<std::string>& environment, int out, int err);

}  // namespace steadfold::command
