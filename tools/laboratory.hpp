// Studies and benchmarks of the laboratory, which another program runs: steadfold-lab, in the folder of the command.
// Packages and wheels do not have steadfold-lab.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command.hpp"

namespace steadfold::command {

struct BenchmarkText {
  std::string_view name;
  std::string_view about;  // the comparison that the benchmark makes
};

/// The benchmarks of the laboratory. The command's help and errors name them, too.
inline constexpr BenchmarkText laboratory_benchmarks[] = {
    {"shared", "allreduces between threads, compared with OpenMP's reduction"},
    {"teams", "teams of the threads of all ranks, compared with MPI_Allreduce between two thread barriers"},
    {"splitphase", "started allreduces, compared with MPI_Iallreduce"},
    {"solver-loop", "a sea-ice solver, compared with other ways to compute its scalar products"},
};

/// Whether the arguments name `study`, or a benchmark of the laboratory.
bool is_for_laboratory(std::span<char* const> arguments);

/// Replaces this process by steadfold-lab and does not return, if the arguments are for the laboratory and
/// steadfold-lab is installed. Call this function before MPI_Init.
void continue_in_laboratory(std::span<char* const> arguments) noexcept;

/// Makes the error for a missing laboratory. `what` is the subcommand or the benchmark.
Failure missing_laboratory(const std::string& what);

/// Declares `study` in a program without the laboratory. The subcommand fails with the error for a missing laboratory.
void add_missing_study(CLI::App& app, Action& action);

}  // namespace steadfold::command
