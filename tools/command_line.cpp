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

/// The text on one line, whatever it holds.
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
  return schedule::unknown_name("subcommand", name, std::vector<std::string_view>(names.begin(), names.end()));
}

constexpr const char* what_most_people_want = R"(Reductions with the same bits, every time. What most people want:

  steadfold sum FILE                         the sum of a file's numbers, and its bits
  steadfold verify FILE --ranks 1,2,3,5,8    whether the bits are the same on these numbers of ranks
  steadfold bench local                      what sums cost on this machine
  steadfold doctor                           what is installed, and whether its results have the right bits

steadfold --help lists all subcommands, steadfold SUBCOMMAND --help the options of one.
)";

/// Reads the command line. Returns the text to print at once (help, version), or `nullopt` once `action` is set.
std::optional<std::string> parse(std::span<const SubcommandRow> rows, int argc, char** argv, Action& action) {
  if (argc == 1) return what_most_people_want;
  CLI::App app("Folds distributed data to the same bits, every time.", "steadfold");
  app.set_version_flag("--version", std::string("steadfold ") + sf_version());
  app.set_help_all_flag("--help-all", "Print the help of all subcommands and exit");
  app.require_subcommand(1);
  for (const SubcommandRow& row : rows) row.add(app, action);
  refuse_odd_values(app);
  refuse_empty_options({argv, static_cast<std::size_t>(argc)});
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    std::ostringstream unused;
    app.exit(help, text, unused);
    return text.str();
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    if (chosen.empty() && argc > 1 && *argv[1] != '-') throw Failure(unknown_subcommand(app, argv[1]));
    throw Failure(std::string("the command line cannot be understood (") + error.what() + "), see steadfold " +
                  (chosen.empty() ? "" : chosen.front()->get_name() + " ") + "--help");
  }
  return std::nullopt;
}

Result run(std::span<const SubcommandRow> rows, const Job& job, int argc, char** argv) {
  job.check_start(argc, argv);
  Action action;
  std::optional<std::string> text;
  job.together([&] { text = parse(rows, argc, argv, action); });
  return text ? Result{*text} : action(job);
}

/// Prints on rank 0; returns the exit status.
int print(const Job& job, const Result& result) {
  if (job.rank() != 0) return result.status;
  const bool written = std::fwrite(result.text.data(), 1, result.text.size(), stdout) == result.text.size();
  if (std::fflush(stdout) == 0 && written) return result.status;
  std::fputs("the result could not be written (standard output is full or closed), check where it goes\n", stderr);
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
