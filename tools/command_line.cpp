#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "laboratory.hpp"
#include "schedule/registry.hpp"
#include "steadfold/steadfold.h"
#include "values.hpp"

namespace steadfold::command {
namespace {

/// Whether these arguments make a benchmark start its ranks itself, even if a launcher started it.
bool starts_ranks(std::span<char* const> arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](std::string_view word) {
    return word.starts_with("--ranks") || word.starts_with("--launches") || word.starts_with("--libraries");
  });
}

constexpr SubcommandRow all_subcommands[] = {
    {"sum", add_sum, Job::Mpi::always},
    {"verify", add_verify, Job::Mpi::never},
    {"schedules", add_schedules},
    {"check-schedules", add_check_schedules},
    {"simulate", add_simulate},
    {"draw", add_draw},
    {"report", add_report},
    {"run", add_run, Job::Mpi::handed_on},
    {"info", add_info},
    {"doctor", add_doctor},
    {"vectors", add_vectors},
    {"bench", add_bench},
    {"bench-worker", add_bench_worker, Job::Mpi::always},
    {"tune", add_tune},
    {"tune-worker", add_tune_worker},
    {"bench-launch", add_bench_launch},
    {"study", add_missing_study, Job::Mpi::never},
    {"verify-worker", add_verify_worker, Job::Mpi::always},
    {"completion", add_completion, Job::Mpi::never},
};

Job::Mpi mpi_for(std::span<const SubcommandRow> rows, std::span<char* const> arguments) {
  const std::string_view subcommand = arguments.size() > 1 ? arguments[1] : "";
  if (subcommand == "bench" && starts_ranks(arguments)) return Job::Mpi::never;
  const auto row = std::ranges::find(rows, subcommand, &SubcommandRow::name);
  return row == rows.end() ? Job::Mpi::under_a_launcher : row->mpi;
}

/// Writes a text on one line: control characters become blanks.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

std::string unknown_subcommand(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* const each : app.get_subcommands([](const CLI::App* of) { return !of->get_group().empty(); }))
    names.push_back(each->get_name());
  return schedule::unknown_name("subcommand", name, names);
}

/// Two examples, the last lines of a help. `subcommand` is empty for the command itself.
struct Examples {
  std::string_view subcommand;
  const char* first;
  const char* second;
};

constexpr Examples all_examples[] = {
    {"", "steadfold sum data.npy", "steadfold verify --help"},
    {"sum", "steadfold sum data.npy", "mpirun -n 4 steadfold sum data.csv --column 2 --method tree"},
    {"verify", "steadfold verify data.npy --ranks 1,2,3,5,8",
     "steadfold verify data.npy --ranks 4 --methods plain,tree"},
    {"schedules", "steadfold schedules", "steadfold schedules --json"},
    {"check-schedules", "steadfold check-schedules --max-ranks 16",
     "steadfold check-schedules --max-ranks 64 --threads 8"},
    {"simulate", "steadfold simulate --ranks 256 --elements 1e6",
     "steadfold simulate --ranks 64 --elements 1e6 --method tree --schedule recursive_doubling"},
    {"draw", "steadfold draw schedule recursive_doubling --ranks 8 --output schedule.svg",
     "steadfold draw tree --ranks 3 --elements 20 --output tree.svg"},
    {"report", "steadfold report bench.json --output report.html",
     "steadfold report verify.json bench.json --title 'Results of node 7' --output report.html"},
    {"run", "steadfold run -- mpirun -n 8 ./app", "steadfold run --method exact --diagnose -- mpirun -n 8 ./app"},
    {"info", "steadfold info", "steadfold info --json"},
    {"doctor", "steadfold doctor", "mpirun -n 3 steadfold doctor"},
    {"vectors", "steadfold vectors", "steadfold vectors --print f64.json"},
    {"bench", "steadfold bench local --sizes 1000,1000000",
     "steadfold bench allreduce --ranks 2,4 --counts 1,1000 --json"},
    {"tune", "steadfold tune", "steadfold tune --output profile.json --launches 3"},
    {"study", "steadfold study --list", "steadfold study thesis --json"},
    {"completion", "eval \"$(steadfold completion bash)\"", "steadfold completion fish | source"},
};

/// Ends the help of the command and of each subcommand with two examples.
void add_examples(CLI::App& app) {
  for (const auto& [subcommand, first, second] : all_examples) {
    CLI::App& of = subcommand.empty() ? app : *app.get_subcommand(std::string(subcommand));
    of.footer(of.get_footer() + "Examples:\n  " + first + "\n  " + second);
  }
}

constexpr const char* what_most_people_want = R"(Reductions with the same bits, every time. What most people want:

  steadfold sum FILE                         the sum of a file's numbers, and its bits
  steadfold verify FILE --ranks 1,2,3,5,8    whether the bits are the same on these numbers of ranks
  steadfold bench local                      what sums cost on this machine
  steadfold doctor                           what is installed, and whether its results have the right bits

steadfold --help lists all subcommands, steadfold SUBCOMMAND --help the options of one.
)";

/// Whether the arguments before "--" ask for help.
bool asks_for_help(std::span<char* const> arguments) {
  const auto end = std::ranges::find(arguments, std::string_view("--"));
  return std::any_of(arguments.begin(), end, [](std::string_view word) { return word == "--help" || word == "-h"; });
}

/// Makes the error for a command line that CLI11 refuses. Unknown words are reported before wrong values and missing
/// words.
Failure fault_of(const CLI::App& app, const CLI::ParseError& error, std::span<char* const> arguments) {
  const auto chosen = app.get_subcommands();
  const std::string first = arguments.size() > 1 ? arguments[1] : "";
  if (chosen.empty() && !first.starts_with('-')) return Failure(unknown_subcommand(app, first));
  if (auto unknown = unknown_word(chosen.empty() ? app : *chosen.front(), arguments)) return *unknown;
  return Failure(std::string("the command line cannot be understood (") + error.what() + "), see steadfold " +
                 (chosen.empty() ? "" : chosen.front()->get_name() + " ") + "--help");
}

/// Throws Failure if the line has an unknown option before its first word. CLI11 would take the value of this option as
/// a word, and report that as the error.
void refuse_unknown_before_words(const CLI::App& app, std::span<char* const> arguments) {
  if (arguments.size() < 3 || *arguments[2] != '-' || asks_for_help(arguments)) return;
  const std::string_view name = arguments[1];
  const auto found = app.get_subcommands([name](const CLI::App* each) { return each->get_name() == name; });
  if (found.empty() || found.front()->get_positionals_at_end())
    return;  // unknown options may belong to the program that the line starts
  if (auto unknown = unknown_word(*found.front(), arguments)) throw Failure(*unknown);
}

/// Reads the command line. Returns the text to print at once (help, version), or `nullopt` if `action` has been set.
std::optional<std::string> parse(std::span<const SubcommandRow> rows, int argc, char** argv, Action& action) {
  if (argc == 1) return what_most_people_want;
  CLI::App app("Reduces distributed data to the same bits for any number of ranks, threads and any data layout.",
               "steadfold");
  app.set_version_flag("--version", std::string("steadfold ") + sf_version());
  app.set_help_all_flag("--help-all", "Print the help of all subcommands and exit");
  app.require_subcommand(1);
  for (const SubcommandRow& row : rows) row.add(app, action);
  add_examples(app);
  refuse_odd_values(app);
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  refuse_empty_options(arguments);
  try {
    refuse_unknown_before_words(app, arguments);
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    std::ostringstream unused;
    app.exit(help, text, unused);
    return text.str();
  } catch (const CLI::ParseError& error) {
    if (asks_for_help(arguments)) return app.help();
    throw fault_of(app, error, arguments);
  } catch (const std::exception&) {  // an exception for a word or a value
    if (asks_for_help(arguments)) return app.help();
    throw;
  }
  return std::nullopt;
}

/// Whether the command only prints a help or its version. Then it needs no other rank, and the launcher of another MPI
/// library may start it.
bool needs_no_ranks(std::span<char* const> arguments) {
  if (arguments.size() < 2 || asks_for_help(arguments)) return true;
  const std::string_view first = arguments[1];
  return first == "--help-all" || first == "--version";
}

Result run(std::span<const SubcommandRow> rows, const Job& job, int argc, char** argv) {
  if (!needs_no_ranks({argv, static_cast<std::size_t>(argc)})) job.check_start(argc, argv);
  Action action;
  std::optional<std::string> text;
  job.together([&] { text = parse(rows, argc, argv, action); });
  return text ? Result{*text} : action(job);
}

/// Prints the result on rank 0, and returns the exit status.
int print(const Job& job, const Result& result) {
  if (job.rank() != 0) return result.status;
  const bool written = std::fwrite(result.text.data(), 1, result.text.size(), stdout) == result.text.size();
  if (std::fflush(stdout) == 0 && written) return result.status;
  std::fputs(
      "the result could not be written (standard output is full or closed), check the destination of standard output\n",
      stderr);
  return bad_input;
}

}  // namespace

std::span<const SubcommandRow> subcommands() { return all_subcommands; }

int run_command_line(std::span<const SubcommandRow> rows, int argc, char** argv) {
  const Job job(mpi_for(rows, {argv, static_cast<std::size_t>(argc)}), argc, argv);
  Result result;
  try {
    job.together([&] { result = run(rows, job, argc, argv); });
  } catch (const Failure& failure) {
    if (job.rank() == 0) std::fprintf(stderr, "%s\n", one_line(failure.what()).c_str());
    return failure.status();
  }
  return print(job, result);
}

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace steadfold::command
