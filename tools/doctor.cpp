// `steadfold doctor`: what is installed, and whether it gives the bits that every installation gives.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "info.hpp"
#include "program/doctor/examination.hpp"
#include "steadfold/steadfold_group.h"
#include "transport/hardware.hpp"

namespace steadfold::command {
namespace {

Json found(const Job& job, sf_group* group, const Examination& examination) {
  Json json = installation();
  json["ranks"] = job.rank_count();
  json["transport"] = group == nullptr ? Json() : Json(sf_group_transport(group));
  const cpu_set_t processors = transport::usable_processors();
  json["processors_of_rank_0"] = CPU_COUNT(&processors);
  json["cases"] = examination.cases;
  json["checked"] = examination.checked;
  json["wrong"] = examination.wrong;
  json["digest"] = examination.digest;
  return json;
}

std::string text_of(Json json) {
  const Json wrong = json["wrong"];
  json["wrong"] = wrong.size();
  std::string text = table_of(json);
  if (wrong.empty()) return text + "\nAll results have the bits that they have everywhere.\n";
  constexpr std::size_t most = 20;
  text += "\nWrong bits. Tell the makers, with all that stands here:\n";
  for (std::size_t i = 0; i < std::min(most, wrong.size()); ++i) text += "  " + wrong[i].get<std::string>() + "\n";
  return text + (wrong.size() > most ? "  ...\n" : "");
}

Result examine_all(const Job& job, bool as_json) {
  sf_group* const group = job.group();
  Examination examination;
  job.together([&] {
    examination = examine(group);
    if (job.rank() > 0 && !examination.wrong.empty())
      throw Failure("wrong bits on rank " + std::to_string(job.rank()) + " (" + examination.wrong.front() +
                        "), try that rank's machine alone",
                    check_failed);
  });
  if (job.rank() > 0) return {"", examination.wrong.empty() ? all_well : check_failed};
  const Json json = found(job, group, examination);
  return {as_json ? line_of(json) : text_of(json), examination.wrong.empty() ? all_well : check_failed};
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App& doctor =
      *app.add_subcommand("doctor", "Tell what is installed, and whether its results have the right bits");
  const auto as_json = std::make_shared<bool>(false);
  doctor.add_flag("--json", *as_json, "Print one JSON object");
  doctor.callback([as_json, &action] { action = [as_json](const Job& job) { return examine_all(job, *as_json); }; });
}

}  // namespace steadfold::command
