// Starting ranks, and telling whether this process was started as a rank.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace steadfold::command {

/// What the launcher told this process through its environment; one process alone if there was no launcher.
struct Launch {
  bool launched = false;
  int rank = 0;
  int rank_count = 1;
};
Launch launch_of_this_process();

/// The result of a launcher and its ranks.
struct Ran {
  std::string command;    // for messages
  int status = 0;         // of the launcher, as a shell would give it
  std::string out;        // standard output of the ranks
  std::string complaint;  // the first line of standard error
};

/// Runs a program with these arguments and waits. The launchers that it starts are its own choice: its environment
/// leaves out what this command was told about launchers.
Ran run_program(const std::string& program, const std::vector<std::string>& arguments);

/// The file of this program, which starts it again.
std::filesystem::path this_program();

/// Where the project's shared libraries may be, as this program is built or installed.
std::vector<std::filesystem::path> library_folders();

/// Whether there is an MPI library: where not, this process is alone, and no function of MPI may be called.
bool has_mpi();

/// For the Python package, where the command is a module that a script has loaded: the script's file, the folder of the
/// project's shared libraries, and whether an MPI library was loaded before (0: none). Without a call the process's own
/// file says the first two, and there is an MPI library.
extern "C" void steadfold_set_installation(const char* program, const char* libraries, int with_mpi);

/// Whether a program is known to be a launcher of the command's MPI library.
bool is_launcher(const std::string& program);
/// Whether there is a program of that path, or of that name on PATH.
bool is_found(const std::string& program);

/// The command that was built beside this one for the MPI library of that name (`openmpi`, `mpich`), which may be this
/// one. Throws Failure if there is none.
std::string command_for(const std::string& library);

/// How many cores this process may use; hardware threads of one core count once.
int core_count();

/// Where ranks run: anywhere, or, for measurements, each on a core of its own while there are enough. What the user
/// says (in STEADFOLD_MPIRUN or in settings of the launcher) takes precedence.
enum class Placement { anywhere, on_cores };

/// Runs the program with these arguments on that many ranks and waits. The launcher is that of the command's MPI
/// library, or what STEADFOLD_MPIRUN names. Throws Failure if it cannot be started.
Ran run_ranks(int rank_count, Placement placement, const std::string& program,
              const std::vector<std::string>& arguments);

}  // namespace steadfold::command
