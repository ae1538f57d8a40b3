// Studies and benchmarks of the laboratory, which another program runs: steadfold-lab, in the folder of the command.
// Packages and wheels do not have steadfold-lab.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command.hpp"

namespace steadfold::command {

/// The benchmarks of the laboratory. Helps and errors of the command name them, too.
inline constexpr std::string_view laboratory_benchmarks[] = {"shared", "teams", "splitphase", "solver-loop"};

/// Whether the arguments name `study`, or a benchmark of the laboratory.
bool is_for_laboratory(std::span<char* const> arguments);

/// If the arguments are for the laboratory and steadfold-lab is installed, replaces this process by it and does not
/// return. Call it before MPI_Init.
void continue_in_laboratory(std::span<char* const> arguments) noexcept;

/// The error for a missing laboratory. `what` is the subcommand or the benchmark.
Failure missing_laboratory(const std::string& what);

/// Declares `study` in a program without the laboratory. The subcommand fails with the error for a missing laboratory.
void add_missing_study(CLI::App& app, Action& action);

}  // namespace steadfold::command
