// `steadfold doctor`: shows the installation, and checks that it gives the bits that every installation gives.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "info.hpp"
#include "program/doctor/examination.hpp"
#include "steadfold/steadfold_group.h"
#include "transport/hardware.hpp"

namespace steadfold::command {
namespace {

/// Adds the findings of one rank, as lines: the digest, then the wrong results. The digest shown is that of the first
/// rank with wrong results, if any.
void add(Examination& all, const std::string& lines, const std::string& whose) {
  std::istringstream stream(lines);
  std::string digest;
  std::getline(stream, digest);
  const bool were_right = all.wrong.empty();
  for (std::string line; std::getline(stream, line);) all.wrong.push_back(whose + line);
  if (all.digest.empty() || (were_right && !all.wrong.empty())) all.digest = digest;
}

/// Collects the findings of all ranks. Collective. Throws Failure if the library refuses a call.
Examination examine(const Job& job, sf_group* group) {
  Examination alone;
  Examination over;
  job.together([&] { alone = examine_alone(); });  // an error is thrown before any rank waits for another rank
  job.together([&] { over = group == nullptr ? alone : examine_over(*group); });
  std::string lines = (alone.wrong.empty() ? over : alone).digest;
  for (const std::string& line : alone.wrong) lines += "\n" + line;
  for (const std::string& line : over.wrong)
    if (group != nullptr) lines += "\n" + line;
  Examination all{.cases = alone.cases, .checked = alone.checked};
  const std::vector<std::string> told = job.gather(lines);
  for (std::size_t rank = 0; rank < told.size(); ++rank)
    add(all, told[rank], told.size() > 1 ? "rank " + std::to_string(rank) + ": " : "");
  return all;
}

Json found(const Job& job, sf_group* group, const Examination& all) {
  Json json = installation();
  json["ranks"] = job.rank_count();
  json["transport"] = group == nullptr ? Json() : Json(sf_group_transport(group));
  const cpu_set_t processors = transport::usable_processors();
  json["processors_of_rank_0"] = CPU_COUNT(&processors);
  json["cases"] = all.cases;
  json["checked"] = all.checked;
  json["wrong"] = all.wrong;
  json["digest"] = all.digest;
  return json;
}

std::string text_of(Json json) {
  const Json wrong = json["wrong"];
  json["wrong"] = wrong.size();
  std::string text = table_of(json);
  if (wrong.empty()) return text + "\nAll results have the same bits as on every other machine.\n";
  constexpr std::size_t most = 20;
  text +=
      "\nSome results have wrong bits. Report this error to the developers of Steadfold, with all of this output:\n";
  for (std::size_t i = 0; i < std::min(most, wrong.size()); ++i) text += "  " + wrong[i].get<std::string>() + "\n";
  return text + (wrong.size() > most ? "  ...\n" : "");
}

Result examine_all(const Job& job, bool as_json) {
  sf_group* const group = job.group();
  const Examination all = examine(job, group);
  const Json json = found(job, group, all);
  return {as_json ? line_of(json) : text_of(json), all.wrong.empty() ? all_well : check_failed};
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App& doctor =
      *app.add_subcommand("doctor", "Show the installation, and check that its results have the expected bits");
  const auto as_json = std::make_shared<bool>(false);
  doctor.add_flag("--json", *as_json, "Print one JSON object");
  doctor.callback([as_json, &action] { action = [as_json](const Job& job) { return examine_all(job, *as_json); }; });
}

}  // namespace steadfold::command
