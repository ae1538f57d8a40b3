// Starts ranks, and finds out whether this process was started as a rank.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace steadfold::command {

/// The facts that the launcher gave this process through its environment; a single process if there was no launcher.
struct Launch {
  bool launched = false;
  int rank = 0;
  int rank_count = 1;
};
Launch launch_of_this_process();

/// The result of a launcher and its ranks.
struct Ran {
  std::string command;    // text of the command, for error texts
  int status = 0;         // exit status of the launcher, as a shell would report it
  std::string out;        // standard output of the ranks
  std::string complaint;  // the first line of standard error
};

/// Runs a program with these arguments and waits for its end. The program may start launchers: its environment does not
/// have the variables that a launcher set for this command.
Ran run_program(const std::string& program, const std::vector<std::string>& arguments);

/// Returns the file of this program, with which the program can be started again.
std::filesystem::path this_program();

/// Returns the folders that may contain the project's shared libraries, as this program was built or installed.
std::vector<std::filesystem::path> library_folders();

/// Whether there is an MPI library. If not, this process is alone and must not call MPI.
bool has_mpi();

/// Called by the Python package, in which the command is a module that a script loads. Gives the script's file, the
/// folder of the project's shared libraries, and whether an MPI library is loaded (0: none). If it is not called, the
/// process's own file determines the first two, and there is an MPI library.
extern "C" void steadfold_set_installation(const char* program, const char* libraries, int with_mpi);

/// Whether a program is known to be a launcher of the command's MPI library.
bool is_launcher(const std::string& program);
/// Whether a program exists at that path, or with that name on PATH.
bool is_found(const std::string& program);

/// Returns the path of the command that was built for the MPI library of that name (`openmpi`, `mpich`), in the same
/// installation; this may be this command. Throws Failure if there is none.
std::string command_for(const std::string& library);

/// Returns the number of cores that this process may use. The hardware threads of a core are counted once.
int core_count();

/// Where ranks run: anywhere, or, for measurements, each on a separate core if there are enough cores. The user's
/// choice (in STEADFOLD_MPIRUN or in the launcher's settings) takes precedence.
enum class Placement { anywhere, on_cores };

/// Runs the program with these arguments on `rank_count` ranks and waits for its end. Uses the launcher of the
/// command's MPI library, or the launcher that STEADFOLD_MPIRUN names. Throws Failure if the launcher cannot be
/// started.
Ran run_ranks(int rank_count, Placement placement, const std::string& program,
              const std::vector<std::string>& arguments);

}  // namespace steadfold::command
