// `steadfold run -- COMMAND`: starts a program, most often a launcher of MPI, whose ranks make their own reductions
// with the same bits on every run. docs/unmodified.md says how.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "foreground.hpp"
#include "interposer.hpp"
#include "output.hpp"
#include "program/launcher.hpp"
#include "program/methods.hpp"
#include "program/mpi_library.hpp"

namespace steadfold::command {
namespace {

struct RunRequest {
  std::string method = "tree";
  std::string extremes = "mpi";
  std::string report, record, compared;  // names of files
  std::vector<std::string> skipped;
  int callers = 0;
  bool diagnose = false;
  bool force = false;
  std::vector<std::string> words;
};

constexpr const char* outcome_variable = "STEADFOLD_INTERPOSE_OUTCOME";
constexpr const char* variables[] = {"LD_PRELOAD",
                                     "STEADFOLD_INTERPOSE_METHOD",
                                     "STEADFOLD_INTERPOSE_EXTREMES",
                                     "STEADFOLD_INTERPOSE_REPORT",
                                     "STEADFOLD_INTERPOSE_DIAGNOSE",
                                     "STEADFOLD_INTERPOSE_CALLERS",
                                     "STEADFOLD_INTERPOSE_RECORD",
                                     "STEADFOLD_INTERPOSE_COMPARE",
                                     "STEADFOLD_INTERPOSE_SKIP",
                                     outcome_variable};

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
    if (const char* const value = std::getenv(variable); value != nullptr && variable != outcome_variable)
      text += std::string(" ") + variable + "=" + value;
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

/// The file in which the ranks on this machine note the outcome of the run. The destructor removes the file.
class OutcomeFile {
 public:
  OutcomeFile() : path_((std::filesystem::temp_directory_path() / "steadfold-outcome-XXXXXX").string()) {
    const int made = mkstemp(path_.data());
    if (made < 0) throw Failure("cannot start (no temporary file " + path_ + " can be made), make room in this folder");
    close(made);
    setenv(outcome_variable, path_.c_str(), 1);
  }
  ~OutcomeFile() { std::remove(path_.c_str()); }
  OutcomeFile(const OutcomeFile&) = delete;
  OutcomeFile& operator=(const OutcomeFile&) = delete;

  /// Whether a rank has noted this outcome.
  bool has(const std::string& outcome) const {
    std::ifstream lines(path_);
    for (std::string line; std::getline(lines, line);)
      if (line == outcome) return true;
    return false;
  }

 private:
  std::string path_;
};

/// Runs a launcher, and prints a warning if no rank has reported. Returns the launcher's exit status. If the launcher
/// succeeded and the ranks compared their calls with a record, returns the exit status of the comparison.
int run_and_judge(std::vector<std::string>& words, bool is_compared) {
  const OutcomeFile outcome;
  tell_launcher(words);
  const int status = run_in_foreground(words);
  if (!outcome.has("reported"))
    std::fprintf(
        stderr,
        "steadfold: no rank has reported (no rank loaded the interposer, or rank 0 was killed or ran on another "
        "machine), check that the program is linked dynamically to a supported MPI library and that its ranks "
        "get LD_PRELOAD\n");
  if (status != 0 || !is_compared) return status;
  if (outcome.has("differs")) return check_failed;
  if (outcome.has("same") && !outcome.has("not_compared")) return all_well;
  return bad_input;
}

/// Prints how sums are handled, if this process does so for all ranks.
void tell_method(const std::string& method) {
  if (method == "plain")
    std::fprintf(stderr, "steadfold: MPI's reductions are not changed\n");
  else
    std::fprintf(
        stderr, "steadfold: MPI's reductions use method %s: the same bits on every run with the same number of ranks\n",
        method.c_str());
}

void set_variables(const RunRequest& request) {
  preload_interposer(request.method);
  request.extremes == "mpi" ? unsetenv("STEADFOLD_INTERPOSE_EXTREMES")
                            : setenv("STEADFOLD_INTERPOSE_EXTREMES", request.extremes.c_str(), 1);
  setenv("STEADFOLD_INTERPOSE_REPORT", "1", 0);
  set_file("STEADFOLD_INTERPOSE_REPORT", request.report);
  set_file("STEADFOLD_INTERPOSE_RECORD", request.record);
  set_file("STEADFOLD_INTERPOSE_COMPARE", request.compared);
  if (request.diagnose) setenv("STEADFOLD_INTERPOSE_DIAGNOSE", "1", 1);
  if (request.callers > 0) setenv("STEADFOLD_INTERPOSE_CALLERS", std::to_string(request.callers).c_str(), 1);
  std::string skipped;
  for (const std::string& word : request.skipped) skipped += (skipped.empty() ? "" : ",") + word;
  if (!skipped.empty()) setenv("STEADFOLD_INTERPOSE_SKIP", skipped.c_str(), 1);
}

Result start(const RunRequest& request, const Job& job) {
  check_files(request);
  set_variables(request);
  std::vector<std::string> words = request.words;
  join_preloads(words);
  // A launcher may have started this process as a rank. If the program cannot be started, nothing is printed.
  const bool is_rank = launch_of_this_process().launched;
  if (job.rank() == 0 && is_found(words.front())) tell_method(request.method);
  if (is_rank) become(words);
  return {.text = "", .status = static_cast<ExitStatus>(run_and_judge(words, !request.compared.empty()))};
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App& run = *app.add_subcommand("run", "Start a program whose own MPI reductions get the same bits on every run");
  const auto request = std::make_shared<RunRequest>();
  run.add_option("--method", request->method, "The method of sums")
      ->check(CLI::IsMember(built_methods()))
      ->envname("STEADFOLD_INTERPOSE_METHOD")
      ->capture_default_str();
  run.add_option("--extremes", request->extremes,
                 "MPI_MIN and MPI_MAX of floating-point numbers: mpi (the MPI library's comparison) or ieee (minimum "
                 "and maximum of IEEE 754-2019, in which a NaN stays a NaN)")
      ->check(CLI::IsMember({"mpi", "ieee"}))
      ->envname("STEADFOLD_INTERPOSE_EXTREMES")
      ->capture_default_str();
  run.add_option("--report", request->report, "Write a table of the calls of rank 0 to a file, as JSON");
  run.add_flag("--diagnose", request->diagnose,
               "Compare each call with the result of the MPI library, and print how much the results differ");
  run.add_option("--callers", request->callers,
                 "Name this many callers of each call, 0 to 8. If a library calls MPI, they begin outside the library")
      ->check(CLI::Range(0, 8))
      ->envname("STEADFOLD_INTERPOSE_CALLERS");
  CLI::Option* const record = run.add_option(
      "--record", request->record,
      "Write digests of all reductions, 24 bytes per reduction, to one file per rank: FILE.0, FILE.1, ...");
  CLI::Option* const compared =
      run.add_option("--compare", request->compared,
                     "Print the first reductions that differ from those of a record. Exit status: 0 if none differs, 1 "
                     "if one differs, 2 if the comparison is incomplete")
          ->excludes(record);
  run.add_option("--skip", request->skipped,
                 "Leave out of the comparison calls with this operator or type, or whose place contains this text")
      ->needs(compared);
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
