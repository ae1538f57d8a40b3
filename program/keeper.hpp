// Runs programs and makes sure that all their processes end: launchers, their ranks, and all processes that these
// start.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace steadfold::command {

/// Returns the addresses of the strings, and null at the end, as exec takes them.
std::vector<char*> pointers_to(std::vector<std::string>& strings);

/// Runs a program without input, with its output in the two files, and waits for its end. Returns its exit status as a
/// shell would; 127, with the reason in `err`, if the program cannot be started.
///
/// This process starts the program through another process, the keeper, which leads a process group. When the program
/// has ended, or this process was interrupted, terminated or killed, the keeper ends all its descendants, even
/// descendants in other process groups and sessions. The keeper sends SIGTERM to the descendants, and kills them two
/// seconds later, or sooner if a signal ended this process.
int run_kept(std::vector<std::string>& words, std::vector<std::string>& environment, int out, int err);

/// Ends the program that another thread runs with `run_kept`, which then does not return. Call this function before
/// this process ends itself. Waits until no process is left, but at most `most_wait`.
void end_kept(std::chrono::milliseconds most_wait);

}  // namespace steadfold::command
