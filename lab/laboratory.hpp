// What the laboratory adds to the command.
#pragma once

#include <span>

#include "tools/benchmarks.hpp"

namespace steadfold::command::laboratory {

/// The command's benchmarks and those of the laboratory.
std::span<const Benchmark> benchmarks();

/// `study`.
void add_study(CLI::App& app, Action& action);
/// The ranks that `study topology` starts for its control.
void add_control_worker(CLI::App& app, Action& action);

}  // namespace steadfold::command::laboratory
