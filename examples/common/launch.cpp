// The launcher and its environment; see launch.hpp.
#include "launch.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

extern char** environ;

namespace example {
namespace {

constexpr std::string_view mpi_name = STEADFOLD_MPI_NAME;

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

bool belongs_to_a_launcher(std::string_view variable) {
  for (const std::string_view prefix : {"OMPI_", "PMIX_", "PMI_", "PRTE_", "MPI_LOCAL"})
    if (variable.starts_with(prefix)) return true;
  return false;
}

std::vector<std::string> search_path() {
  const char* path = std::getenv("PATH");
  std::istringstream text(path == nullptr ? "" : path);
  std::vector<std::string> directories;
  for (std::string directory; std::getline(text, directory, ':');) directories.push_back(directory);
  return directories;
}

/// The launcher that the build found, or one in PATH.
std::string launcher() {
  if (access(STEADFOLD_MPIRUN, X_OK) == 0) return STEADFOLD_MPIRUN;
  for (const std::string& program :
       {fmt::format("mpirun.{}", mpi_name), std::string("mpirun"), std::string("mpiexec")}) {
    for (const std::string& directory : search_path()) {
      const std::string candidate = directory + "/" + program;
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
  }
  throw std::runtime_error(
      fmt::format("cannot start ranks ({} is gone and PATH has no mpirun), put the mpirun of {} into PATH",
                  STEADFOLD_MPIRUN, mpi_name));
}

std::string quoted(const std::string& word) {
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string command_of(int rank_count, const std::string& arguments) {
  // More ranks than cores are fine here: waiting ranks yield to others.
  const std::string_view options =
      mpi_name == "openmpi" ? "--oversubscribe --bind-to none --mca mpi_yield_when_idle 1 " : "";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  return fmt::format("{} {}-n {} {} {} </dev/null", quoted(launcher()), options, rank_count, quoted(self), arguments);
}

std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a shell (popen failed), end some processes");
  std::string output;
  std::array<char, 4096> block;
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), pipe)) output.append(block.data(), count);
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(fmt::format("a job failed (status {}), run it by itself: {}",
                                         WIFEXITED(status) ? WEXITSTATUS(status) : status, command));
  return output;
}

}  // namespace

int ranks_of_outer_job() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (is_set(variable)) return std::atoi(std::getenv(variable));
  return 1;
}

void prepare_environment() {
  if (is_set("OMPI_COMM_WORLD_RANK") || is_set("PMI_RANK") || is_set("PMIX_RANK")) {
    std::vector<std::string> names;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
      if (belongs_to_a_launcher(name)) names.emplace_back(name);
    }
    for (const std::string& name : names) unsetenv(name.c_str());
  }
  if (geteuid() == 0) {  // Open MPI wants it said twice
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  }
}

Record run_ranks(int rank_count, const std::string& arguments) {
  const std::string command = command_of(rank_count, "--json " + arguments);
  Record record = Record::parse(output_of(command), nullptr, false);
  if (record.is_discarded() || record.at("ranks") != rank_count)
    throw std::runtime_error(
        fmt::format("a job did not print one record of {} ranks (the launcher may belong to another "
                    "MPI library), run it by itself: {}",
                    rank_count, command));
  return record;
}

void warn_of_few_cores(int worker_count) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores > 0 && worker_count > cores)
    fmt::print("This machine has {} core{}: on more ranks, times are mostly those of waiting for a core.\n", cores,
               cores == 1 ? "" : "s");
}

}  // namespace example
