// `steadfold verify FILE`: starts ranks, one launch per requested rank count, and compares the bits of all methods and
// schedules.
#include <fmt/format.h>

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
  std::string methods;  // names of methods; empty: all methods that are built
  std::string schedules = "all";
  bool yes = false;
};

/// Returns every requested combination. An impossible combination is an error only if the user named both its method
/// and its schedule. An impossible combination is left out if one of the two comes from `all` or a default.
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
  if (cases.empty())
    throw Failure(
        "nothing to verify (no chosen schedule serves the chosen methods and ranks), see steadfold schedules");
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
    if (schedule::is_policy(schedule)) schedule += ": " + row["ran"].get<std::string>();
    if (const std::string compared = row["compared"]; !compared.empty()) schedule += ", " + compared;
    lines.push_back({std::to_string(row["ranks"].get<int>()), row["method"], schedule, row["bits"]});
    if (!row["same_on_all_ranks"].get<bool>()) lines.back().push_back("ranks differ");
  }
  return table(lines) + "\n";
}

/// The results of all ranks, and the number of rows of the file that were left out.
struct Verified {
  Json rows = Json::array();
  std::uint64_t missing_count = 0;
};

Verified verified(const VerifyOptions& options, const std::vector<Case>& cases) {
  const std::vector<std::string> arguments = arguments_for(options, cases);
  const std::vector<int> counts = rank_counts(options.ranks);
  const double all_ranks = std::accumulate(counts.begin(), counts.end(), 0.0);
  Verified all;
  LongWork work(options.request.json ? LongWork::Output::json : LongWork::Output::for_people);
  double ranks_before = 0;
  for (std::size_t job = 0; job < counts.size(); ++job) {
    work.show(
        fmt::format("job {} of {}: {} combinations on {} ranks", job + 1, counts.size(), cases.size(), counts[job]),
        ranks_before / all_ranks);
    const Json answer = ask("verify-worker", arguments, counts[job], Placement::anywhere,
                            "run mpirun with steadfold sum to see the error");
    for (const Json& row : answer.at("rows")) all.rows.push_back(row);
    all.missing_count = answer.at("missing");  // the same for every number of ranks
    work.keep([rows = all.rows] { return table_of_verified(rows); });
    ranks_before += counts[job];
  }
  return all;
}

/// The results of one method in all rows.
struct Outcome {
  std::string method;
  bool promises = false;
  std::size_t sums = 0;
  std::set<std::string> results = {};  // the different results; if ranks of a row differ, the row adds one more

  bool is_same() const { return results.size() == 1; }
  bool keeps_promise() const { return is_same() || !promises; }
};

/// Returns the results by the names of the methods.
std::vector<Outcome> outcomes_of(const Json& rows) {
  std::map<std::string, Outcome> outcomes;
  for (const Json& row : rows) {
    const std::string method = row["method"];
    Outcome& outcome =
        outcomes.try_emplace(method, Outcome{.method = method, .promises = promises_the_same_bits(method)})
            .first->second;
    ++outcome.sums;
    outcome.results.insert(row["bits"].get<std::string>());
    if (!row["same_on_all_ranks"].get<bool>()) outcome.results.insert("ranks differ");
  }
  std::vector<Outcome> all;
  for (auto& [method, outcome] : outcomes) all.push_back(std::move(outcome));
  return all;
}

std::string sentence_of(const Outcome& outcome) {
  if (!outcome.is_same())
    return fmt::format("{}: {} different results{}\n", outcome.method, outcome.results.size(),
                       outcome.promises ? "" : " (this method does not promise the same bits)");
  const std::string bits = *outcome.results.begin();
  if (outcome.sums == 1) return fmt::format("{}: one sum, {}\n", outcome.method, bits);
  if (outcome.promises) return fmt::format("{}: the same bits everywhere, {}\n", outcome.method, bits);
  return fmt::format("{}: the same bits here as well, {} (but this method does not promise the same bits)\n",
                     outcome.method, bits);
}

/// Writes sentences that tell the user whether the promises were kept.
std::string conclusion_of(const std::vector<Outcome>& outcomes) {
  std::string broken;
  std::vector<std::string> kept;
  std::size_t most_sums = 0;
  for (const Outcome& each : outcomes) {
    if (!each.promises) continue;
    most_sums = std::max(most_sums, each.sums);
    kept.push_back(each.method);
    if (!each.is_same())
      broken += fmt::format("{} gave {} different results, although it promises the same bits.\n", each.method,
                            each.results.size());
  }
  if (!broken.empty()) return broken;
  if (kept.empty()) return "No chosen method promises the same bits: method plain does not.\n";
  if (most_sums == 1) return "Nothing was compared: there is only one sum per method.\n";
  return fmt::format("Every method that promises the same bits gave the same bits: {}.\n", fmt::join(kept, ", "));
}

std::string text_for_people(const Verified& found, bool may_miss, const std::vector<Outcome>& outcomes) {
  std::string text = table_of_verified(found.rows);
  if (may_miss) text += fmt::format("rows that were left out: {}\n", found.missing_count);
  for (const Outcome& each : outcomes) text += sentence_of(each);
  return text + "\n" + conclusion_of(outcomes);
}

Result run(const VerifyOptions& options, const std::vector<Case>& cases) {
  const Verified found = verified(options, cases);
  const std::vector<Outcome> outcomes = outcomes_of(found.rows);
  const bool identical = std::ranges::all_of(outcomes, &Outcome::keeps_promise);
  const ExitStatus status = identical ? all_well : check_failed;
  const bool may_miss = !options.request.missing.empty();
  if (!options.request.json) return {text_for_people(found, may_miss, outcomes), status};
  Json json = {{"identical", identical}};
  if (may_miss) json["missing"] = found.missing_count;
  json["rows"] = found.rows;
  return {line_of(json), status};
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  CLI::App& verify = *app.add_subcommand("verify", "Compare the bits of a sum over rank counts and schedules");
  const auto options = std::make_shared<VerifyOptions>();
  options->request.add_to(verify);
  verify.add_option("--ranks", options->ranks, "Rank counts, separated by commas")->capture_default_str();
  verify.add_option("--methods,--method", options->methods,
                    fmt::format("{}, separated by commas; default: all", fmt::join(built_methods(), ", ")));
  verify
      .add_option("--schedules,--schedule", options->schedules,
                  "Names that `steadfold schedules` lists, auto or mpich, separated by commas, or all (every schedule "
                  "in the list)")
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
