// `steadfold doctor`: shows the installation, and checks that it gives the bits that every installation gives.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "findings.hpp"
#include "info.hpp"
#include "program/doctor/examination.hpp"
#include "steadfold/steadfold_group.h"
#include "transport/hardware.hpp"

namespace steadfold::command {
namespace {

/// Collects the findings of all ranks. The digest is that of the first rank with wrong results, if any. Collective.
/// Throws Failure if the library refuses a call.
Examination examine(const Job& job, sf_group* group) {
  Examination alone;
  Examination over;
  job.together([&] { alone = examine_alone(); });  // an error is thrown before any rank waits for another rank
  if (group != nullptr) job.together([&] { over = examine_over(*group); });
  std::vector<std::string> wrong = alone.wrong;
  wrong.insert(wrong.end(), over.wrong.begin(), over.wrong.end());
  const bool is_of_all = group != nullptr && alone.wrong.empty();
  const std::vector<std::string> digests = job.gather((is_of_all ? over : alone).digest);
  const std::vector<std::size_t> counts = job.gather(wrong.size());
  const auto first_wrong = std::ranges::find_if(counts, [](std::size_t count) { return count > 0; });
  const auto shown = first_wrong == counts.end() ? 0 : first_wrong - counts.begin();
  return {.cases = alone.cases,
          .checked = alone.checked,
          .digest = digests[static_cast<std::size_t>(shown)],
          .wrong = lines_of_all_ranks(job, wrong)};
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
  const std::vector<std::string> wrong = json["wrong"];
  json["wrong"] = wrong.size();
  std::string text = table_of(json);
  if (wrong.empty()) return text + "\nAll results have the same bits as on every other machine.\n";
  text +=
      "\nSome results have wrong bits. Report this error to the developers of Steadfold, with all of this output:\n";
  return text + first_lines(wrong);
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
