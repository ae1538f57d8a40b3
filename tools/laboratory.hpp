// What the command has from the laboratory: studies and benchmarks that steadfold-lab, a program beside it, runs.
// Packages and wheels don't have that program.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command.hpp"

namespace steadfold::command {

/// The laboratory's benchmarks, which help and errors name too.
inline constexpr std::string_view laboratory_benchmarks[] = {"shared", "teams", "splitphase", "solver-loop"};

/// Whether these arguments are those of `study`, or of a benchmark of the laboratory.
bool is_for_laboratory(std::span<char* const> arguments);

/// If these arguments are for the laboratory, and it is here, it takes the place of this process, and this does not
/// return. To be called before MPI_Init.
void continue_in_laboratory(std::span<char* const> arguments) noexcept;

/// That the laboratory is not here; `what` is what was asked of it.
Failure missing_laboratory(const std::string& what);

/// `study` where the laboratory is not here: it says so.
void add_missing_study(CLI::App& app, Action& action);

}  // namespace steadfold::command
