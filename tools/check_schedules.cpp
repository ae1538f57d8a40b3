// `steadfold check-schedules`: proves every schedule symbolically, for every rank count up to a limit.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "schedule/checker/checker.hpp"

namespace steadfold::command {
namespace {

struct Options {
  int max_ranks = 64;
  bool json = false;
};

Result run(const Options& options) {
  const schedule::SweepResult sweep = schedule::check_all(1, options.max_ranks);
  const ExitStatus status = sweep.failures.empty() ? all_well : check_failed;
  if (options.json)
    return {line_of({{"passed", sweep.passed}, {"failed", sweep.failures.size()}, {"failures", sweep.failures}}),
            status};
  std::string text;
  for (const std::string& failure : sweep.failures) text += failure + "\n";
  return {text + fmt::format("{} passed, {} failed\n", sweep.passed, sweep.failures.size()), status};
}

}  // namespace

void add_check_schedules(CLI::App& app, Action& action) {
  CLI::App& check = *app.add_subcommand("check-schedules", "Prove every schedule for every rank count to a limit");
  const auto options = std::make_shared<Options>();
  check.add_option("--max-ranks", options->max_ranks, "The largest rank count")->capture_default_str();
  check.add_flag("--json", options->json, "Print one JSON object");
  check.callback([options, &action] {
    constexpr int most = 100000;
    if (options->max_ranks < 1 || options->max_ranks > most)
      throw Failure(
          fmt::format("--max-ranks cannot be used ({} is not from 1 to {}), choose fewer", options->max_ranks, most));
    action = [options](const Job&) { return run(*options); };
  });
}

}  // namespace steadfold::command
