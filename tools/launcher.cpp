#include "launcher.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string_view>

#include "command.hpp"
#include "mpi_library.hpp"

extern char** environ;

namespace steadfold::command {
namespace {

/// The number in an environment variable, or -1.
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

/// The program of that name on the path, or "".
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

/// The launcher and its own arguments.
std::vector<std::string> find_launcher() {
  if (const char* wanted = std::getenv("STEADFOLD_MPIRUN"); wanted != nullptr && *wanted != '\0') {
    if (is_program(wanted)) return {wanted};  // blanks in its path and all
    std::vector<std::string> words = words_of(wanted);
    if (!words.empty() && words[0].find('/') == std::string::npos) words[0] = on_path(words[0]);
    if (!words.empty() && is_program(words[0])) return words;
    throw Failure("cannot start ranks (STEADFOLD_MPIRUN is '" + std::string(wanted) +
                  "', which is no program), name a launcher of " + mpi_library().name);
  }
  if (is_program(mpi_library().launcher)) return {mpi_library().launcher};
  for (const std::string& name : mpi_library().launcher_names) {
    const std::string program = on_path(name);
    if (!program.empty()) return {program};
  }
  throw Failure("cannot start ranks (no launcher of " + mpi_library().name + " is found), set STEADFOLD_MPIRUN to one");
}

/// Whether a launcher set it for the process it started; a launcher started from there must not see it.
bool is_of_a_rank(std::string_view variable) {
  for (const std::string_view prefix :
       {"OMPI_COMM_WORLD_", "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_UNIVERSE_SIZE", "OMPI_APP_CTX",
        "OMPI_FILE_LOCATION", "OMPI_ARGV", "OMPI_COMMAND", "OMPI_FIRST_RANKS", "OMPI_NUM_APP", "OMPI_MCA_initial_wdir",
        "PMIX_", "PMI_", "PRTE_LAUNCHED", "MPI_LOCAL", "HYDI_"}) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

/// What a rank was told by its launcher is not for others.
std::vector<std::string> environment_without_launch() {
  const bool launched = launch_of_this_process().launched;
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!(launched && is_of_a_rank(*entry))) result.emplace_back(*entry);
  }
  return result;
}

/// The environment for a launcher: more ranks than cores are fine, and so is root. The user's own settings stay.
std::vector<std::string> environment_for_launcher() {
  std::vector<std::string> result = environment_without_launch();
  for (const auto& [name, value] : mpi_library().launcher_environment) {
    if (std::getenv(name.c_str()) == nullptr) result.push_back(name + "=" + value);
  }
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Starts the program with its output going to the two streams; 0 when it cannot be started.
pid_t start(std::vector<std::string>& words, std::vector<std::string>& environment, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, pointers_to(words).data(),
                                   pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? child : 0;
}

std::string content_of(std::FILE* stream) {
  std::string result;
  std::array<char, 4096> block{};
  std::rewind(stream);
  for (std::size_t got; (got = std::fread(block.data(), 1, block.size(), stream)) > 0;)
    result.append(block.data(), got);
  return result;
}

/// The first line that says something; launchers draw rules.
std::string first_words(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r-=*") != std::string::npos) return line;
  }
  return "";
}

/// `name` is for messages.
Ran run(const std::string& name, std::vector<std::string> words, std::vector<std::string> environment) {
  // Files, not pipes: nobody has to empty two of them at once.
  const Stream out(std::tmpfile(), std::fclose);
  const Stream err(std::tmpfile(), std::fclose);
  if (!out || !err) throw Failure("cannot start ranks (no temporary file can be made), make room in /tmp");
  const pid_t child = start(words, environment, ::fileno(out.get()), ::fileno(err.get()));
  if (child == 0) throw Failure("cannot start ranks (" + words[0] + " does not start), set STEADFOLD_MPIRUN");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return {.command = name,
          .status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = content_of(out.get()),
          .complaint = first_words(content_of(err.get()))};
}

std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace

Launch launch_of_this_process() {
  for (const auto& [rank, size] :
       {std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}}) {
    const Launch launch{true, number_in(rank), number_in(size)};
    if (launch.rank >= 0 && launch.rank_count > launch.rank) return launch;
  }
  return {};
}

Ran run_ranks(int rank_count, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = find_launcher();
  const std::string name = std::filesystem::path(words[0]).filename().string();
  words.insert(words.end(), {"-n", std::to_string(rank_count), this_program().string()});
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
  // Installed side by side, or in the build directory, where one library's programs are not in a place of its name.
  for (const auto& place :
       {own.parent_path(), own.parent_path() / ".." / library / "bin", own.parent_path() / ".." / ".." / "bin"}) {
    if (is_program(place / name)) return place / name;
  }
  throw Failure("no command for the MPI library " + library + " (" + name + " is not beside " + own.string() +
                "), build for it, or leave it out of --libraries");
}

}  // namespace steadfold::command
