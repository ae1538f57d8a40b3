// `steadfold verify FILE`: starts ranks itself, one launch per rank count asked for, and compares the bits of all
// methods and schedules.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "catalogue.hpp"
#include "command.hpp"
#include "long_work.hpp"
#include "program/methods.hpp"
#include "request.hpp"
#include "table.hpp"
#include "verify_case.hpp"
#include "worker.hpp"

namespace steadfold::command {
namespace {

struct VerifyOptions {
  Request request;
  std::string ranks = "1,2,3,5,8";
  std::string methods;  // empty: all that are built
  std::string schedules = "all";
  bool yes = false;
};

/// Every combination asked for. An impossible one is a failure if method and schedule were both named, and left out if
/// one came from `all` or a default.
std::vector<Case> cases_of(const VerifyOptions& options) {
  const bool all_methods = options.methods.empty() || options.methods == "all";
  const bool all_schedules = options.schedules == "all";
  const auto methods = all_methods ? built_methods() : split(options.methods, "--methods");
  const auto schedules = all_schedules ? schedule_names() : split(options.schedules, "--schedules");
  std::vector<Case> cases;
  for (const std::string& method : methods) method_named(method);
  for (const std::string& schedule : schedules) {
    std::string refused;
    bool served = false;
    for (const std::string& method : methods) {
      const auto reason = refusal(schedule, method, options.request.rooted_by(schedule));
      if (reason && !all_schedules && !all_methods) throw Failure(*reason);
      if (reason) refused = *reason;
      if (!reason) cases.push_back({method, schedule});
      served = served || !reason;
    }
    if (!served && !all_schedules) throw Failure(refused);
  }
  if (cases.empty()) throw Failure("nothing to verify (no schedule serves what is asked for), see steadfold schedules");
  std::stable_sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.method < b.method; });
  return cases;
}

std::vector<std::string> arguments_for(const VerifyOptions& options, const std::vector<Case>& cases) {
  std::vector<std::string> arguments;
  for (const Case& each : cases) arguments.push_back("--case=" + text_of(each));
  const std::vector<std::string> request = options.request.arguments();
  arguments.insert(arguments.end(), request.begin(), request.end());
  return arguments;
}

std::string table_of_verified(const Json& rows) {
  std::vector<std::vector<std::string>> lines = {{"ranks", "method", "schedule", "bits"}};
  for (const Json& row : rows) {
    std::string schedule = row["schedule"];
    if (is_policy(schedule)) schedule += ": " + row["ran"].get<std::string>();
    if (const std::string compared = row["compared"]; !compared.empty()) schedule += ", " + compared;
    lines.push_back({std::to_string(row["ranks"].get<int>()), row["method"], schedule, row["bits"]});
    if (!row["same_on_all_ranks"].get<bool>()) lines.back().push_back("ranks differ");
  }
  return table(lines) + "\n";
}

Json rows_of(const VerifyOptions& options, const std::vector<Case>& cases) {
  const std::vector<std::string> arguments = arguments_for(options, cases);
  const std::vector<int> counts = rank_counts(options.ranks);
  const double all_ranks = std::accumulate(counts.begin(), counts.end(), 0.0);
  Json rows = Json::array();
  LongWork work(options.request.json ? LongWork::Output::json : LongWork::Output::for_people);
  double ranks_before = 0;
  for (std::size_t job = 0; job < counts.size(); ++job) {
    work.show(
        fmt::format("job {} of {}: {} combinations on {} ranks", job + 1, counts.size(), cases.size(), counts[job]),
        ranks_before / all_ranks);
    const Json answer = ask("verify-worker", arguments, counts[job], Placement::anywhere, "try it with steadfold sum");
    for (const Json& row : answer.at("rows")) rows.push_back(row);
    work.keep([rows] { return table_of_verified(rows); });
    ranks_before += counts[job];
  }
  return rows;
}

/// The different results of every method. A row whose ranks differ counts twice.
std::map<std::string, std::set<std::string>> results_of(const Json& rows) {
  std::map<std::string, std::set<std::string>> results;
  for (const Json& row : rows) {
    std::set<std::string>& found = results[row["method"]];
    found.insert(row["bits"].get<std::string>());
    if (!row["same_on_all_ranks"].get<bool>()) found.insert("ranks differ");
  }
  return results;
}

std::string text_for_people(const Json& rows, bool identical) {
  std::string text = table_of_verified(rows);
  for (const auto& [method, found] : results_of(rows)) {
    const bool promised = promises_the_same_bits(method);
    const std::string what = found.size() == 1 ? "the same bits everywhere, " + *found.begin()
                                               : fmt::format("{} different results", found.size());
    text += fmt::format("{}: {}{}\n", method, what, promised ? "" : " (it promises nothing)");
  }
  return text + (identical ? "identical\n" : "NOT identical\n");
}

Result run(const VerifyOptions& options, const std::vector<Case>& cases) {
  const Json rows = rows_of(options, cases);
  const auto results = results_of(rows);
  const bool identical = std::all_of(results.begin(), results.end(), [](const auto& each) {
    return each.second.size() == 1 || !promises_the_same_bits(each.first);
  });
  const ExitStatus status = identical ? all_well : check_failed;
  if (options.request.json) return {line_of({{"identical", identical}, {"rows", rows}}), status};
  return {text_for_people(rows, identical), status};
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  CLI::App& verify = *app.add_subcommand("verify", "Compare the bits of a sum over rank counts and schedules");
  const auto options = std::make_shared<VerifyOptions>();
  options->request.add_to(verify);
  verify.add_option("--ranks", options->ranks, "Rank counts, between commas")->capture_default_str();
  verify.add_option("--methods,--method", options->methods,
                    "Of tree, exact, binned and plain, between commas; default: all");
  verify
      .add_option("--schedules,--schedule", options->schedules,
                  "Names of `steadfold schedules`, auto, mpich, between commas, or all that have a name")
      ->capture_default_str();
  verify.add_flag("--yes", options->yes, yes_help);
  verify.callback([options, &action] {
    options->request.check();
    const std::vector<int> counts = rank_counts(options->ranks);
    if (launch_of_this_process().rank_count > 1)
      throw Failure("verify cannot run under a launcher (it starts the ranks itself), start it without mpirun");
    readers::open(options->request.file, options->request.reader_options());
    action = [options, cases = cases_of(*options)](const Job&) { return run(*options, cases); };
    agree_to_many(counts, options->yes);
  });
}

}  // namespace steadfold::command
