// `steadfold sum FILE`: reduces a file to its sum, or to another number. Each rank reads a part of the file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
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
  std::string operation = "sum";
  std::string method = "exact";
  std::string schedule = "auto";
};

std::string bits_of(double value) { return fmt::format("{:016X}", std::bit_cast<std::uint64_t>(value)); }

/// Returns the statistics, with the bits of numbers that are not whole.
Json json_of(const Statistics& found) {
  Json json;
  json["count"] = found.count;
  const auto add = [&](const char* name, double value) {
    json[name] = {{"value", std::isfinite(value) ? Json(value) : Json()}, {"bits", bits_of(value)}};
  };
  add("min", found.min);
  add("max", found.max);
  if (found.count > 0 && found.min_index != Statistics::no_index) {
    json["min_index"] = found.min_index;
    json["max_index"] = found.max_index;
  }
  add("mean", found.mean);
  add("variance", found.variance);
  add("sample_variance", found.sample_variance);
  add("deviation", found.deviation);
  add("sample_deviation", found.sample_deviation);
  return json;
}

/// Adds where in the file the elements were found.
void add_found(Json& json, const readers::Found& found) {
  if (!found.member.empty()) json["member"] = found.member;
  if (!found.tree.empty()) json["tree"] = found.tree;
  if (found.compression.empty()) return;
  json["compression"] = found.compression;
  json["unpacked_bytes"] = found.unpacked_bytes;
}

/// Adds how the table was read.
void add_table(Json& json, const Share& share, const Request& request) {
  json["header"] = share.table->has_header ? "yes" : "no";
  json["separator"] = share.table->separator;
  json["decimal"] = share.table->decimal_mark == '.' ? "point" : "comma";
  if (!share.table->comment.empty()) json["comment"] = share.table->comment;
  if (!request.missing.empty()) json["missing"] = share.missing_count;
}

Json json_of(const Job& job, const SumOptions& options, const Share& share, const Summed& summed) {
  Json json;
  json["elements"] = share.element_count;
  add_found(json, share.found);
  if (share.table) add_table(json, share, options.request);
  json["ranks"] = job.rank_count();
  if (options.operation != "sum") json["operation"] = options.operation;
  json["method"] = options.method;
  json["schedule"] = summed.schedule;
  json["distribution"] = options.request.distribution;
  json["collective"] = options.request.collective_by(options.schedule);
  json["type"] = std::holds_alternative<std::vector<double>>(share.elements) ? "f64" : "f32";
  if (summed.statistics) json["result_type"] = "f64";
  json["value"] = std::isfinite(summed.value) ? Json(summed.value) : Json();
  json["bits"] = summed.bits;
  if (options.operation == "statistics") json["statistics"] = json_of(*summed.statistics);
  json["messages"] = summed.traffic ? Json(summed.traffic->messages) : Json();
  json["rounds"] = summed.traffic ? Json(summed.traffic->rounds) : Json();
  json["bytes"] = summed.traffic ? Json(summed.traffic->bytes) : Json();
  json["seconds"] = summed.seconds;
  return json;
}

/// Returns the shortest decimal text that gives the same number when it is read in the result's type.
std::string decimal_of(const Share& share, const Summed& summed) {
  const double value = summed.value;
  const bool is_float = std::holds_alternative<std::vector<float>>(share.elements) && !summed.statistics;
  return is_float ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

void add_statistics(std::vector<std::vector<std::string>>& rows, const Json& statistics) {
  for (const auto& [name, field] : statistics.items()) {
    if (!field.is_object()) {
      rows.push_back({name, field.dump()});
      continue;
    }
    const std::string bits = field["bits"];
    const auto value = std::bit_cast<double>(std::uint64_t{std::stoull(bits, nullptr, 16)});
    rows.push_back({name, fmt::format("{}  (bits {})", value, bits)});
  }
}

/// Writes the value and its bits, then a table with the other fields.
std::string text_for_people(const Json& json, const std::string& value) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, field] : json.items()) {
    if (name == "value" || name == "bits") continue;
    if (name == "statistics") {
      add_statistics(rows, field);
      continue;
    }
    std::string text = field.is_string() ? field.get<std::string>() : field.dump();
    if (name == "seconds") text = fmt::format("{:.3g}", field.get<double>());
    rows.push_back({name, field.is_null() ? "unknown (the MPI library decides)" : text});
  }
  return fmt::format("{}  (bits {})\n\n", value, json["bits"].get<std::string>()) + table(rows);
}

Result run(const Job& job, const SumOptions& options) {
  const Share share = load(job, options.request);
  if (share.element_count == 0 && (options.operation == "std" || options.operation == "var"))
    throw Failure("nothing to reduce (no rank brought an element), check the number of elements first");
  const Summed summed = command::summed(job, share,
                                        {.operation = options.operation,
                                         .method = options.method,
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
  return {options.request.json ? line_of(json) : text_for_people(json, decimal_of(share, summed))};
}

}  // namespace

void add_sum(CLI::App& app, Action& action) {
  CLI::App& sum = *app.add_subcommand("sum", "Reduce a file to one number (also under mpirun)");
  const auto options = std::make_shared<SumOptions>();
  options->request.add_to(sum);
  sum.add_option(
         "--operation", options->operation,
         "sum, mean, min, max, std, var (both with the divisor count) or statistics (all of these except the sum)")
      ->capture_default_str();
  const CLI::Option& method = *sum.add_option("--method", options->method, method_help())->capture_default_str();
  sum.add_option("--schedule", options->schedule, schedule_help)->capture_default_str();
  sum.callback([options, &method, &action] {
    options->request.check();
    if (std::ranges::find(operations, options->operation) == operations.end())
      throw Failure("unknown operation '" + options->operation +
                    fmt::format("' (the operations are {}), choose one of these", fmt::join(operations, ", ")));
    const bool is_extreme = options->operation == "min" || options->operation == "max";
    if (is_extreme && method.count() == 0) options->method = "plain";  // any order gives the same bits
    method_named(options->method);
    if (options->schedule.empty())
      throw Failure("--schedule is empty (a schedule name is needed), give a name or auto");
    action = [options](const Job& job) { return run(job, *options); };
  });
}

}  // namespace steadfold::command
