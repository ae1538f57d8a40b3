// The command line: a table of subcommands, one of which is run on all ranks.
#pragma once

#include <span>

#include "command.hpp"

namespace steadfold::command {

struct SubcommandRow {
  const char* name;
  /// Declares the subcommand. When a user chooses the subcommand, its options are checked and `action` is set.
  void (*add)(CLI::App& app, Action& action);
  Job::Mpi mpi = Job::Mpi::under_a_launcher;
};

/// Returns the subcommands of `steadfold`, in the order in which the help lists them.
std::span<const SubcommandRow> subcommands();

/// Runs the subcommand that the arguments name on all ranks, and prints on rank 0. Returns the exit status: 0 for
/// success; 1 if a check failed; 2 if the command line or the data are wrong.
int run_command_line(std::span<const SubcommandRow> rows, int argc, char** argv);

}  // namespace steadfold::command
