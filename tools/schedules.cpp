// `steadfold schedules`: lists the schedules of the registry.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "call/methods.hpp"
#include "command.hpp"
#include "schedule/registry.hpp"
#include "table.hpp"

namespace steadfold::command {
namespace {

using schedule::Algorithm;
using schedule::Collective;

std::vector<std::string> collectives_of(const Algorithm& algorithm) {
  std::vector<std::string> names;
  for (const Collective each : schedule::every_collective) {
    if (offers(algorithm.collectives, each)) names.emplace_back(name_of(each));
  }
  return names;
}

std::vector<std::string_view> methods_of(const Algorithm& algorithm) {
  std::vector<std::string_view> names;
  for (const call::MethodProperties& each : call::methods()) {
    if (serves(algorithm, each.merging)) names.push_back(each.merging.method);
  }
  return names;
}

Json json_of(const Algorithm& algorithm) {
  return {{"name", algorithm.name},
          {"sentence", algorithm.sentence},
          {"collectives", collectives_of(algorithm)},
          {"keeps_rank_order", algorithm.keeps_order(0)},  // for root 0, which is the root of the command's calls
          {"same_on_all_ranks", algorithm.same_on_all_ranks == schedule::SameOnAllRanks::yes},
          {"restrictions", algorithm.restrictions},
          {"methods", methods_of(algorithm)},
          {"parameters", algorithm.parameters},
          {"source", algorithm.source}};
}

std::string joined(const Json& names) {
  std::string text;
  for (const Json& name : names) text += (text.empty() ? "" : " ") + name.get<std::string>();
  return text;
}

Result run(bool as_json) {
  Json rows = Json::array();
  for (const Algorithm& algorithm : schedule::registry()) rows.push_back(json_of(algorithm));
  if (as_json) return {line_of({{"schedules", rows}})};
  std::vector<std::vector<std::string>> lines = {
      {"name", "collectives", "rank order", "methods", "source", "what it does"}};
  for (const Json& row : rows) {
    const std::string restrictions = row["restrictions"];
    lines.push_back({row["name"], joined(row["collectives"]), row["keeps_rank_order"].get<bool>() ? "kept" : "not kept",
                     joined(row["methods"]), row["source"],
                     row["sentence"].get<std::string>() + (restrictions.empty() ? "" : " (" + restrictions + ")")});
  }
  return {table(lines)};
}

}  // namespace

void add_schedules(CLI::App& app, Action& action) {
  CLI::App& schedules = *app.add_subcommand("schedules", "List the algorithms");
  const auto json = std::make_shared<bool>(false);
  schedules.add_flag("--json", *json, "Print one JSON object");
  schedules.callback([json, &action] { action = [json](const Job&) { return run(*json); }; });
}

}  // namespace steadfold::command
