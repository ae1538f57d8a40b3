#include "program/launcher.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

#include "program/job.hpp"
#include "program/keeper.hpp"
#include "program/mpi_library.hpp"

extern char** environ;

namespace steadfold::command {
namespace {

struct Installation {
  std::filesystem::path program = {};    // path of this program; empty: this process's file
  std::filesystem::path libraries = {};  // path of the folder of shared libraries; empty: the program's folder
  bool has_mpi = true;
};
Installation installation;

/// Returns the number in an environment variable, or -1.
int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  int number = -1;
  if (text == nullptr) return number;
  const auto [end, failed] = std::from_chars(text, text + std::strlen(text), number);
  return failed == std::errc() && *end == '\0' ? number : -1;
}

bool is_program(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

/// Returns the path of the program with this name on PATH, or "".
std::string on_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string program = directory + "/" + std::string(name);
    if (is_program(program)) return program;
  }
  return "";
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Returns the launcher and the arguments for it.
std::vector<std::string> find_launcher() {
  if (const char* wanted = std::getenv("STEADFOLD_MPIRUN"); wanted != nullptr && *wanted != '\0') {
    if (is_program(wanted)) return {wanted};  // a path that may contain blanks
    std::vector<std::string> words = words_of(wanted);
    if (!words.empty() && words[0].find('/') == std::string::npos) words[0] = on_path(words[0]);
    if (!words.empty() && is_program(words[0])) return words;
    throw Failure("cannot start ranks (STEADFOLD_MPIRUN is '" + std::string(wanted) +
                  "', which is not a program), set it to a launcher of " + mpi_library().name);
  }
  if (is_program(mpi_library().launcher)) return {mpi_library().launcher};
  for (const std::string& name : mpi_library().launcher_names) {
    const std::string program = on_path(name);
    if (!program.empty()) return {program};
  }
  throw Failure("cannot start ranks (no launcher of " + mpi_library().name +
                " is found), set STEADFOLD_MPIRUN to the path of a launcher");
}

/// Whether a launcher set this variable for a process that it started. A launcher started by the process must not get
/// it.
bool is_of_a_rank(std::string_view variable) {
  for (const std::string_view prefix :
       {"OMPI_COMM_WORLD_", "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_UNIVERSE_SIZE", "OMPI_APP_CTX",
        "OMPI_FILE_LOCATION", "OMPI_ARGV", "OMPI_COMMAND", "OMPI_FIRST_RANKS", "OMPI_NUM_APP", "OMPI_MCA_initial_wdir",
        "PMIX_", "PMI_", "PRTE_LAUNCHED", "MPI_LOCAL", "HYDI_"}) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

/// Returns the environment without the variables that a launcher set for this rank.
std::vector<std::string> environment_without_launch() {
  const bool launched = launch_of_this_process().launched;
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!(launched && is_of_a_rank(*entry))) result.emplace_back(*entry);
  }
  return result;
}

/// Returns the environment for a launcher. The environment permits more ranks than cores, and the user root. The user's
/// settings stay.
std::vector<std::string> environment_for_launcher() {
  std::vector<std::string> result = environment_without_launch();
  for (const auto& [name, value] : mpi_library().launcher_environment) {
    if (std::getenv(name.c_str()) == nullptr) result.push_back(name + "=" + value);
  }
  return result;
}

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string content_of(std::FILE* stream) {
  std::string result;
  std::array<char, 4096> block{};
  std::rewind(stream);
  for (std::size_t got; (got = std::fread(block.data(), 1, block.size(), stream)) > 0;)
    result.append(block.data(), got);
  return result;
}

/// Returns the first line with words. Some launchers first print lines of dashes.
std::string first_words(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r-=*") != std::string::npos) return line;
  }
  return "";
}

/// Runs the program `words`; error texts call it `name`.
Ran run(const std::string& name, std::vector<std::string> words, std::vector<std::string> environment) {
  // Files are used instead of pipes, because two pipes would have to be read at the same time.
  const Stream out(std::tmpfile(), std::fclose);
  const Stream err(std::tmpfile(), std::fclose);
  if (!out || !err) throw Failure("cannot start ranks (no temporary file can be made), make room in /tmp");
  const int status = run_kept(words, environment, ::fileno(out.get()), ::fileno(err.get()));
  return {
      .command = name, .status = status, .out = content_of(out.get()), .complaint = first_words(content_of(err.get()))};
}

/// Whether the launcher understands the MPI library's binding options and the user has not chosen a binding.
bool may_bind(const std::vector<std::string>& launcher) {
  return is_launcher(launcher[0]) && launcher.size() == 1 &&
         std::ranges::none_of(mpi_library().binding_settings,
                              [](const auto& each) { return std::getenv(each.c_str()); });
}

}  // namespace

std::filesystem::path this_program() {
  return installation.program.empty() ? std::filesystem::read_symlink("/proc/self/exe") : installation.program;
}

std::vector<std::filesystem::path> library_folders() {
  if (!installation.libraries.empty()) return {installation.libraries};
  const std::filesystem::path own = this_program().parent_path().parent_path();
  return {own / "lib", own / "lib64", own / "lib/x86_64-linux-gnu", own / "lib/aarch64-linux-gnu"};
}

bool has_mpi() { return installation.has_mpi; }

void steadfold_set_installation(const char* program, const char* libraries, int with_mpi) {
  installation = {.program = program, .libraries = libraries, .has_mpi = with_mpi != 0};
}

bool is_launcher(const std::string& program) {
  const MpiLibrary& library = mpi_library();
  const std::string name = std::filesystem::path(program).filename();
  return program == library.launcher || std::ranges::count(library.launcher_names, name) > 0;
}

bool is_found(const std::string& program) {
  return program.find('/') == std::string::npos ? !on_path(program).empty() : is_program(program);
}

Launch launch_of_this_process() {
  for (const auto& [rank, size] : {std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   {"PMI_RANK", "PMI_SIZE"},
                                   {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}}) {
    const Launch launch{true, number_in(rank), number_in(size)};
    if (launch.rank >= 0 && launch.rank_count > launch.rank) return launch;
  }
  return {};
}

int core_count() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  std::set<std::string> cores;  // the lists of the hardware threads of each core, which identify the core
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::string threads = std::to_string(cpu);  // used if the system gives no list
    std::ifstream file("/sys/devices/system/cpu/cpu" + threads + "/topology/thread_siblings_list");
    std::getline(file, threads);
    cores.insert(threads);
  }
  return static_cast<int>(cores.size());
}

Ran run_ranks(int rank_count, Placement placement, const std::string& program,
              const std::vector<std::string>& arguments) {
  std::vector<std::string> words = find_launcher();
  const std::string name = std::filesystem::path(words[0]).filename().string();
  if (placement == Placement::on_cores && rank_count <= core_count() && may_bind(words)) {
    const auto& binding = mpi_library().binding;
    words.insert(words.end(), binding.begin(), binding.end());
  }
  words.insert(words.end(), {"-n", std::to_string(rank_count), program});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run(name + " -n " + std::to_string(rank_count), std::move(words), environment_for_launcher());
}

Ran run_program(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = environment_without_launch();
  std::erase_if(environment, [](std::string_view entry) { return entry.starts_with("STEADFOLD_MPIRUN="); });
  return run(program, std::move(words), std::move(environment));
}

std::string command_for(const std::string& library) {
  const std::filesystem::path own = this_program();
  const std::string name = own.stem().string() + "." + library;
  // Searches the places of other commands. The commands are installed in neighbouring folders, or are all in the build
  // folder.
  for (const auto& place :
       {own.parent_path(), own.parent_path() / ".." / library / "bin", own.parent_path() / ".." / ".." / "bin"}) {
    if (is_program(place / name)) return place / name;
  }
  throw Failure("no command for the MPI library " + library + " (" + name + " is not in the directory of " +
                own.string() + "), build Steadfold for this MPI library, or leave the library out of --libraries");
}

}  // namespace steadfold::command
