// Starting ranks, and knowing whether one was started as a rank.
#pragma once

#include <string>
#include <vector>

namespace steadfold::command {

/// What the launcher told this process through its environment; a process alone when there was none.
struct Launch {
  bool launched = false;
  int rank = 0;
  int rank_count = 1;
};
Launch launch_of_this_process();

/// What became of a launcher and its ranks.
struct Ran {
  std::string command;    // for messages
  int status = 0;         // of the launcher, as a shell would say it
  std::string out;        // standard output of the ranks
  std::string complaint;  // the first line of standard error
};

/// Runs a program with these arguments and waits. The launchers that it starts are its own business: what this command
/// was told of them is left out of its environment.
Ran run_program(const std::string& program, const std::vector<std::string>& arguments);

/// The command that was built beside this one for the MPI library of that name (`openmpi`, `mpich`); this one itself
/// where it is its own. Throws Failure where there is none.
std::string command_for(const std::string& library);

/// Cores that this process may use; hardware threads of one core count once.
int core_count();

/// Where ranks run: wherever the system likes, or, to be measured, each on a core of its own while there are enough.
/// The user's word (in STEADFOLD_MPIRUN or in settings of the launcher) goes before.
enum class Placement { anywhere, on_cores };

/// Runs this command with these arguments on so many ranks and waits. The launcher is that of the MPI library the
/// command is built for, or what STEADFOLD_MPIRUN says. Throws Failure when it cannot be started.
Ran run_ranks(int rank_count, Placement placement, const std::vector<std::string>& arguments);

}  // namespace steadfold::command
