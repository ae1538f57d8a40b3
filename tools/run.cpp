// `steadfold run -- COMMAND`: starts a program, most often a launcher of MPI, whose ranks make their own reductions
// with the same bits on every run. docs/unmodified.md says how.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "interposer.hpp"
#include "output.hpp"
#include "program/launcher.hpp"
#include "program/mpi_library.hpp"

namespace steadfold::command {
namespace {

struct RunRequest {
  std::string method = "tree";
  std::string report, record, compared;  // names of files
  bool diagnose = false;
  bool force = false;
  std::vector<std::string> words;
};

constexpr const char* variables[] = {"LD_PRELOAD",
                                     "STEADFOLD_INTERPOSE_METHOD",
                                     "STEADFOLD_INTERPOSE_REPORT",
                                     "STEADFOLD_INTERPOSE_DIAGNOSE",
                                     "STEADFOLD_INTERPOSE_RECORD",
                                     "STEADFOLD_INTERPOSE_COMPARE"};

/// Whether the program is a launcher of a batch system, which needs other options to pass variables on to ranks.
bool is_of_batch_system(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename();
  return name == "srun" || name == "aprun" || name == "jsrun" || name == "flux" || name == "ibrun";
}

/// Prints the variables that the user must pass on if the launcher does not pass them on.
void tell_user(const std::string& launcher) {
  std::string text = "steadfold: if " + launcher +
                     " does not pass its environment on to the ranks, set these variables for the ranks:";
  for (const char* const variable : variables)
    if (const char* const value = std::getenv(variable)) text += std::string(" ") + variable + "=" + value;
  std::fprintf(stderr, "%s\n", text.c_str());
}

/// Adds the names of the variables to the command line, if the launcher passes named variables on to other nodes.
void tell_launcher(std::vector<std::string>& words) {
  if (is_of_batch_system(words.front())) tell_user(words.front());
  const std::string& option = mpi_library().handing_on;
  if (option.empty() || !is_launcher(words.front())) return;
  std::vector<std::string> told;
  for (const char* const variable : variables)
    if (std::getenv(variable) != nullptr) told.insert(told.end(), {option, variable});
  words.insert(words.begin() + 1, told.begin(), told.end());
}

/// Whether the file is the record of a rank: NAME.0, NAME.1 and so on.
bool is_record_of(const std::filesystem::path& file, const std::string& name) {
  const std::string beginning = std::filesystem::absolute(name).lexically_normal().string() + ".";
  const std::string path = std::filesystem::absolute(file).lexically_normal().string();
  return path.size() > beginning.size() && path.starts_with(beginning) &&
         path.find_first_not_of("0123456789", beginning.size()) == std::string::npos;
}

std::vector<std::string> records_of(const std::string& name) {
  std::vector<std::string> found;
  std::error_code none;
  for (const auto& each : std::filesystem::directory_iterator(std::filesystem::absolute(name).parent_path(), none))
    if (is_record_of(each.path(), name)) found.push_back(each.path().string());
  return found;
}

/// Checks, before the program may run for hours, that no record overwrites another record, and that no report
/// overwrites a record.
void check_files(const RunRequest& request) {
  std::vector<std::string> older = request.record.empty() ? std::vector<std::string>{} : records_of(request.record);
  std::ranges::sort(older);
  for (const std::string& each : older) {
    if (!request.force)
      throw Failure("cannot write a record " + request.record + " (" + each +
                    " exists already), name another record, or " + "use --force to remove all " +
                    std::to_string(older.size()));
    if (!std::filesystem::is_regular_file(each))
      throw Failure("cannot write the record " + each + " (it is not a regular file), name another file with --record");
  }
  if (!request.compared.empty() && records_of(request.compared).empty())
    throw Failure("cannot compare with the record " + request.compared + " (there is no " + request.compared +
                  ".0, and no file of another rank), name a record that `steadfold run --record` wrote");
  if (!request.report.empty()) {
    if (!request.record.empty() && is_record_of(request.report, request.record))
      throw Failure("cannot write the report " + request.report +
                    " (a file of the record has this name), name another file");
    std::vector<std::string> inputs = request.compared.empty() ? older : records_of(request.compared);
    require_writable("--report", request.report, inputs);
  }
  for (const std::string& each : older) std::filesystem::remove(each);
}

/// Sets a variable to the absolute path of a file, because ranks may run in another folder.
void set_file(const char* variable, const std::string& file) {
  if (!file.empty()) setenv(variable, std::filesystem::absolute(file).c_str(), 1);
}

/// Puts the interposer before libraries that the command line itself preloads: `env LD_PRELOAD=x mpirun`,
/// `mpirun -x LD_PRELOAD=x`, `mpirun -genv LD_PRELOAD x`. Otherwise these words would replace the interposer.
void join_preloads(std::vector<std::string>& words) {
  constexpr std::string_view named = "LD_PRELOAD=";
  const std::string own = std::getenv("LD_PRELOAD");
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool follows_name =
        i > 1 && words[i - 1] == "LD_PRELOAD" && words[i - 2].starts_with("-") && words[i - 2].ends_with("env");
    if (words[i].starts_with(named)) words[i].insert(named.size(), own + ":");
    if (follows_name) words[i].insert(0, own + ":");
  }
}

Result start(const RunRequest& request, const Job& job) {
  check_files(request);
  preload_interposer(request.method);
  setenv("STEADFOLD_INTERPOSE_REPORT", "1", 0);
  set_file("STEADFOLD_INTERPOSE_REPORT", request.report);
  set_file("STEADFOLD_INTERPOSE_RECORD", request.record);
  set_file("STEADFOLD_INTERPOSE_COMPARE", request.compared);
  if (request.diagnose) setenv("STEADFOLD_INTERPOSE_DIAGNOSE", "1", 1);
  std::vector<std::string> words = request.words;
  join_preloads(words);
  tell_launcher(words);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // Whether this process prints the variables. A launcher may have started this process, too. If the program cannot be
  // started, no variables are printed.
  const bool tells = job.rank() == 0 && is_found(words.front());
  if (tells && request.method == "plain") std::fprintf(stderr, "steadfold: MPI's reductions are not changed\n");
  if (tells && request.method != "plain")
    std::fprintf(
        stderr, "steadfold: MPI's reductions use method %s: the same bits on every run with the same number of ranks\n",
        request.method.c_str());
  execvp(arguments.front(), arguments.data());
  throw Failure("'" + words.front() + "' cannot be started (" + std::strerror(errno) + "), name a program");
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App& run = *app.add_subcommand("run", "Start a program whose own MPI reductions get the same bits on every run");
  const auto request = std::make_shared<RunRequest>();
  run.add_option("--method", request->method, "The method of sums")
      ->check(CLI::IsMember({"tree", "exact", "binned", "plain"}))
      ->envname("STEADFOLD_INTERPOSE_METHOD")
      ->capture_default_str();
  run.add_option("--report", request->report, "Write a table of the calls of rank 0 to a file, as JSON");
  run.add_flag("--diagnose", request->diagnose,
               "Compare each call with the result of the MPI library, and print how much the results differ");
  CLI::Option* const record = run.add_option(
      "--record", request->record,
      "Write digests of all reductions, 24 bytes per reduction, to one file per rank: FILE.0, FILE.1, ...");
  run.add_option("--compare", request->compared, "Print the first reductions that differ from those of a record")
      ->excludes(record);
  run.add_flag("--force", request->force, "Remove older records that have the name given with --record")->needs(record);
  run.add_option("command", request->words, "The program and its arguments, after --")->required();
  run.positionals_at_end();
  run.callback([request, &action] {
    if (request->diagnose && request->method == "plain")
      throw Failure(
          "--diagnose cannot be used with --method plain (it compares the other methods with plain), leave out one of "
          "the two options");
    action = [request](const Job& job) { return start(*request, job); };
  });
}

}  // namespace steadfold::command
