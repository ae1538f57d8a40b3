// Runs a program in the foreground: with this process's input, output and terminal.
#pragma once

#include <string>
#include <vector>

namespace steadfold::command {

/// Runs a program, looked up in PATH, and waits for its end. Returns its exit status as a shell would. The program gets
/// the signals that other processes send to this process, and SIGTERM if this process is killed. Throws Failure if the
/// program cannot be started.
int run_in_foreground(std::vector<std::string>& words);

/// Replaces this process by the program. Throws Failure if the program cannot be started.
[[noreturn]] void become(std::vector<std::string>& words);

}  // namespace steadfold::command
