// Programs that leave nothing behind: launchers, their ranks, and whatever else these start.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace steadfold::command {

/// Runs a program, with its output going to the two files and no input, and waits. Returns its exit status as a shell
/// would; 127, with the reason in `err`, if it cannot be started.
///
/// A process of its own, the keeper, runs between. It leads a process group. Once the program has ended, or this
/// process has (interrupted, terminated, killed), it ends all processes started below it, even those in groups and
/// sessions of their own: it asks them to end (SIGTERM) and kills them two seconds later, or soon if a signal asked it.
int run_kept(std::vector<std::string>& words, std::vector<std::string>& environment, int out, int err);

/// Before this process ends itself: ends what another thread runs by `run_kept`, which does not return any more, and
/// waits until nothing is left, but no longer than `most_wait`.
void end_kept(std::chrono::milliseconds most_wait);

}  // namespace steadfold::command
