// `steadfold study NAME`: makes the tables and figures of a source again; `study --list` lists the studies.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "laboratory.hpp"
#include "schedule/registry.hpp"
#include "studies/study.hpp"
#include "tools/long_work.hpp"
#include "tools/request.hpp"
#include "tools/table.hpp"
#include "tools/values.hpp"
#include "tools/worker.hpp"

namespace steadfold::command {
namespace {

using studies::Part;
using studies::Study;

struct StudyOptions {
  std::string name;
  std::string parts = "all";
  bool list = false;
  bool json = false;
  bool yes = false;
  studies::Asked asked;
};

template <class Rows>
const auto& named(const Rows& rows, const std::string& name, const std::string& what) {
  const auto found = std::ranges::find_if(rows, [&](const auto& row) { return row.name == name; });
  if (found != std::end(rows)) return *found;
  std::vector<std::string_view> known;
  for (const auto& row : rows) known.push_back(row.name);
  throw Failure(schedule::unknown_name(what, name, known));
}

std::vector<Part> parts_of(const Study& study, const std::string& asked) {
  if (asked == "all") return {study.parts.begin(), study.parts.end()};
  std::vector<Part> parts;
  for (const std::string& name : split(asked, "--part")) parts.push_back(named(study.parts, name, "part"));
  return parts;
}

std::string cell(const Json& field) {
  if (field.is_null()) return "-";
  if (field.is_number_float()) return fmt::format("{:.4g}", field.get<double>());
  if (field.is_array()) {
    std::string cells;
    for (const Json& each : field) cells += (cells.empty() ? "" : ", ") + cell(each);
    return "[" + cells + "]";
  }
  return field.is_string() ? field.get<std::string>() : field.dump();
}

/// Whether the field has the same value in all of several rows.
bool is_constant(const Json& rows, const std::string& name) {
  const Json& first = rows.front()[name];
  return rows.size() > 1 && first.is_string() &&
         std::ranges::all_of(rows, [&](const Json& row) { return row[name] == first; });
}

bool is_known(const Json& rows, const std::string& name) {
  return std::ranges::any_of(rows, [&](const Json& row) { return !row[name].is_null(); });
}

/// A table with a column per field. A field that is the same everywhere is printed once, an empty one not at all.
std::string table_of_rows(const Json& rows) {
  if (rows.empty()) return "";
  std::string constants;
  std::vector<std::vector<std::string>> lines(1 + rows.size());
  for (const auto& [name, field] : rows.front().items()) {
    if (name == "part" || !is_known(rows, name)) continue;
    if (is_constant(rows, name)) {
      constants += fmt::format("{}: {}\n", name, field.get<std::string>());
      continue;
    }
    lines[0].push_back(name);
    for (std::size_t i = 0; i < rows.size(); ++i) lines[i + 1].push_back(cell(rows[i][name]));
  }
  return constants + table(lines);
}

Result list(bool as_json) {
  Json rows = Json::array();
  std::vector<std::vector<std::string>> lines;
  for (const Study& study : studies::all()) {
    Json parts = Json::array();
    for (const Part& part : study.parts) parts.push_back(part.name);
    rows.push_back({{"name", study.name}, {"source", study.source}, {"sentence", study.sentence}, {"parts", parts}});
    lines.push_back({std::string(study.name), std::string(study.source), std::string(study.sentence)});
  }
  return {as_json ? line_of({{"study", nullptr}, {"rows", rows}}) : table(lines)};
}

Result run(const StudyOptions& options) {
  const Study& study = named(studies::all(), options.name, "study");
  Json rows = Json::array();
  Json left_out = Json::array();
  std::string text = fmt::format("{} [{}]: {}\n", study.name, study.source, study.sentence);
  const std::vector<Part> parts = parts_of(study, options.parts);
  if (parts.size() == study.parts.size() && study.takes_minutes)
    announce_minutes(fmt::format("all {} parts of {}", parts.size(), study.name));
  LongWork work(options.json ? LongWork::Output::json : LongWork::Output::for_people);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    work.show(fmt::format("part {} of {}: {}", i + 1, parts.size(), part.name),
              static_cast<double>(i) / static_cast<double>(parts.size()));
    const studies::Findings found = part.run(options.asked);
    text += fmt::format("\n{}: {}\n{}", part.name, part.sentence, table_of_rows(found.rows));
    for (const std::string& each : found.left_out) text += "left out: " + each + "\n";
    rows.insert(rows.end(), found.rows.begin(), found.rows.end());
    for (const std::string& each : found.left_out) left_out.push_back(each);
    work.keep([text] { return text; });
  }
  if (!options.json) return {text};
  return {line_of({{"study", study.name}, {"source", study.source}, {"rows", rows}, {"left_out", left_out}})};
}

const std::vector<OptionUse> uses_of_studies = {
    {"--data", {"thesis"}},
    {"--largest", {"thesis", "pipelines", "node", "topology"}},
    {"--ranks", {"thesis", "pipelines", "node"}},
    {"--most-ranks", {"butterfly"}},
    {"--rounds", {"thesis", "pipelines", "node"}},
    {"--configurations", {"pipelines"}},
    {"--distribution", {"thesis"}},
    {"--reproblas", {"thesis"}},
    {"--latency", {"thesis", "pipelines", "topology", "butterfly"}},
    {"--gap", {"thesis", "pipelines", "topology", "butterfly"}},
    {"--per-byte", {"thesis", "pipelines", "topology", "butterfly"}},
};

/// A list takes nothing but --json.
void check_list(const CLI::App& app) {
  for (const CLI::Option* const option : app.get_options())
    if (option->count() > 0 && option->get_name() != "--list" && option->get_name() != "--json")
      throw Failure(option->get_name() + " cannot be used with --list (it lists all studies), leave it out");
}

void check(const CLI::App& app, const StudyOptions& options) {
  if (options.list) return check_list(app);
  check_time("--latency", options.asked.link.latency);
  check_time("--gap", options.asked.link.gap);
  check_time("--per-byte", options.asked.link.per_byte);
  if (options.name.empty()) throw Failure("no study is named (study takes one), see steadfold study --list");
  if (launch_of_this_process().rank_count > 1)
    throw Failure("study cannot run under a launcher (it starts the ranks itself), start it without mpirun");
  parts_of(named(studies::all(), options.name, "study"), options.parts);
  refuse_unused(app, options.name, uses_of_studies);
  if (!options.asked.data.empty() && !std::filesystem::is_directory(options.asked.data))
    throw Failure("--data cannot be used (" + options.asked.data + " is no directory), name one with the data sets");
  agree_to_many(options.asked.ranks, options.yes);
}

}  // namespace

void laboratory::add_study(CLI::App& app, Action& action) {
  CLI::App& study = *app.add_subcommand("study", "Repeat the tables and figures of a publication");
  const auto o = std::make_shared<StudyOptions>();
  check_words(*study.add_option("NAME", o->name, "The name of a study; --list shows the names"),
              [](const std::string& name) { named(studies::all(), name, "study"); });
  study.add_flag("--list", o->list, "List the studies: name, publication, description");
  study.add_option("--part,--parts", o->parts, "Parts of the study, separated by commas, or all")
      ->capture_default_str();
  study.add_option("--data", o->asked.data, "A directory with the source's data sets; default: generated ones");
  study.add_option("--largest", o->asked.largest, "Leave out data sets and vectors of more elements")
      ->check(from_to(0, most_reckoned));
  study.add_option("--ranks", o->asked.ranks, "Rank counts that are started, between commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  study
      .add_option("--most-ranks", o->asked.most_ranks, "The most ranks that are predicted, in studies of every number")
      ->check(CLI::Range(2, 4096))
      ->capture_default_str();
  study.add_flag("--yes", o->yes, yes_help);
  study.add_option("--rounds", o->asked.rounds, "Samples of every time")->check(CLI::Range(3, 10001));
  study.add_option("--configurations", o->asked.configurations, "Nodes x processes that are predicted, as 20x16,36x32")
      ->delimiter(',')
      ->capture_default_str();
  study
      .add_option("--distribution", o->asked.distribution,
                  "How elements are distributed, for sums over ranks that are started")
      ->capture_default_str();
  study.add_option("--reproblas", o->asked.reproblas, std::string("thesis: ") + reproblas_help);
  study
      .add_option(
          "--latency", o->asked.link.latency,
          "The latency in seconds of predicted networks: the time from the sender's port to the receiver's port")
      ->capture_default_str();
  study
      .add_option("--gap", o->asked.link.gap,
                  "The time in seconds for which a message occupies a port, apart from its bytes")
      ->capture_default_str();
  study
      .add_option("--per-byte", o->asked.link.per_byte,
                  "The time in seconds for which each byte of a message occupies a port")
      ->capture_default_str();
  study.add_flag("--json", o->json, "Print one JSON object");
  study.callback([o, &study, &action] {
    check(study, *o);
    action = [o](const Job&) { return o->list ? list(o->json) : run(*o); };
  });
}

}  // namespace steadfold::command
