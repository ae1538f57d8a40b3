// `steadfold sum FILE`: reduces a file to one number. Each rank reads a part of the file.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "catalogue.hpp"
#include "command.hpp"
#include "measure.hpp"
#include "program/methods.hpp"
#include "table.hpp"

namespace steadfold::command {
namespace {

struct SumOptions {
  Request request;
  std::string method = "exact";
  std::string schedule = "auto";
};

Json json_of(const Job& job, const SumOptions& options, const Share& share, const Summed& summed) {
  Json json;
  json["elements"] = share.element_count;
  if (share.has_header) json["header"] = *share.has_header ? "yes" : "no";
  json["ranks"] = job.rank_count();
  json["method"] = options.method;
  json["schedule"] = summed.schedule;
  json["distribution"] = options.request.distribution;
  json["collective"] = options.request.collective_by(options.schedule);
  json["type"] = std::holds_alternative<std::vector<double>>(share.elements) ? "f64" : "f32";
  json["value"] = std::isfinite(summed.value) ? Json(summed.value) : Json();
  json["bits"] = summed.bits;
  json["messages"] = summed.traffic ? Json(summed.traffic->messages) : Json();
  json["rounds"] = summed.traffic ? Json(summed.traffic->rounds) : Json();
  json["bytes"] = summed.traffic ? Json(summed.traffic->bytes) : Json();
  json["seconds"] = summed.seconds;
  return json;
}

/// Returns the shortest decimal text that gives the same number when it is read in the file's type.
std::string decimal_of(const Share& share, double value) {
  const bool is_float = std::holds_alternative<std::vector<float>>(share.elements);
  return is_float ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

/// Writes the value and its bits, then a table with the other fields.
std::string text_for_people(const Json& json, const std::string& value) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, field] : json.items()) {
    if (name == "value" || name == "bits") continue;
    std::string text = field.is_string() ? field.get<std::string>() : field.dump();
    if (name == "seconds") text = fmt::format("{:.3g}", field.get<double>());
    rows.push_back({name, field.is_null() ? "unknown (the MPI library decides)" : text});
  }
  return fmt::format("{}  (bits {})\n\n", value, json["bits"].get<std::string>()) + table(rows);
}

Result run(const Job& job, const SumOptions& options) {
  const Share share = load(job, options.request);
  const Summed summed = command::summed(job, share,
                                        {.method = options.method,
                                         .schedule = options.schedule,
                                         .rooted = options.request.rooted_by(options.schedule),
                                         .measured = true});
  if (!summed.same_on_all_ranks)
    throw Failure("the ranks got results with different bits (schedule " + summed.schedule + ", method " +
                      options.method + "), report this error with this command line",
                  check_failed);
  if (!summed.same_in_all_runs && promises_the_same_bits(options.method))
    throw Failure("a second run gave different bits (schedule " + summed.schedule + ", method " + options.method +
                      "), report this error with this command line",
                  check_failed);
  const Json json = json_of(job, options, share, summed);
  return {options.request.json ? line_of(json) : text_for_people(json, decimal_of(share, summed.value))};
}

}  // namespace

void add_sum(CLI::App& app, Action& action) {
  CLI::App& sum = *app.add_subcommand("sum", "Reduce a file to one number (also under mpirun)");
  const auto options = std::make_shared<SumOptions>();
  options->request.add_to(sum);
  sum.add_option("--method", options->method, method_help())->capture_default_str();
  sum.add_option("--schedule", options->schedule, schedule_help)->capture_default_str();
  sum.callback([options, &action] {
    options->request.check();
    method_named(options->method);
    if (options->schedule.empty())
      throw Failure("--schedule is empty (a schedule name is needed), give a name or auto");
    action = [options](const Job& job) { return run(job, *options); };
  });
}

}  // namespace steadfold::command
