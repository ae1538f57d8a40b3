// `steadfold simulate`: predicts the messages and the time of a sum on a described machine.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "catalogue.hpp"
#include "command.hpp"
#include "long_work.hpp"
#include "order/distribution.hpp"
#include "placement.hpp"
#include "plan/choice.hpp"
#include "plan/profile.hpp"
#include "plan/segmentation.hpp"
#include "prediction/prediction.hpp"
#include "program/methods.hpp"
#include "request.hpp"
#include "spread.hpp"
#include "table.hpp"
#include "values.hpp"

namespace steadfold::command {
namespace {

using order::Count;
using prediction::PredictedBy;

struct SimulateOptions {
  int ranks = 0;
  Count elements = 0;
  Count width = 1;
  std::string schedule = "auto";
  std::string collective;  // the collective; empty: the schedule's default
  std::string distribution = "upper";
  std::string method = "exact";
  std::string type = "f64";
  std::string topology = "flat";
  std::string placement = "block";
  plan::Network network = {};
  double per_op = order::score_addition_seconds;
  bool json = false;
};

// Largest number of ranks, more than any machine has; a simulation of so many ranks takes some 5 s and 1 GiB.
constexpr int most_ranks = 1 << 24;

schedule::Collective collective_of(const SimulateOptions& options) {
  return collective_named(options.collective.empty() ? own_collective(options.schedule) : options.collective);
}

std::unique_ptr<transport::Topology> topology_of(const SimulateOptions& options) {
  return transport::make_topology(options.topology, options.network.link, options.network.inside, options.ranks);
}

void check(const SimulateOptions& options) {
  if (options.elements > most_reckoned / options.width)
    throw Failure(fmt::format(
        "--elements cannot be used ({} elements of {} columns are more than {} values), choose fewer elements",
        options.elements, options.width, most_reckoned));
  if (options.type != "f64" && options.type != "f32")
    throw Failure("unknown type '" + options.type + "' (the known types are f64 and f32), choose one of these");
  collective_of(options);
  method_named(options.method);
  check_time("--latency", options.network.link.latency);
  check_time("--gap", options.network.link.gap);
  check_time("--per-byte", options.network.link.per_byte);
  check_time("--rendezvous", options.network.link.rendezvous);
  check_time("--long-per-byte", options.network.link.long_per_byte);
  check_time("--per-op", options.per_op);
  topology_of(options);
  check_placement(options.placement);
}

/// Throws Failure if the options give a topology or a placement that would have no effect.
void refuse_without_effect(const SimulateOptions& options, bool is_placed) {
  const auto has = [&](const char* key) { return options.topology.find(key) != std::string::npos; };
  if (options.topology.starts_with("two_level") && options.network.inside == options.network.link &&
      !has(":latency=") && !has(":gap=") && !has(":per_byte=") && !has(":links="))
    throw Failure("topology '" + options.topology +
                  "' cannot be used (links inside its nodes equal the links between nodes, so the topology is flat), "
                  "give latency, gap, per_byte or links, or a --profile with the links inside a node");
  if (is_placed && options.topology == "flat")
    throw Failure("--placement cannot be used with a flat topology (all places are alike), give --topology as well");
  if (options.placement == "round_robin" && options.topology.starts_with("torus"))
    throw Failure(
        "placement 'round_robin' cannot be used with a torus (every place has one rank), use block or random");
}

std::unique_ptr<transport::Topology> placed_topology_of(const SimulateOptions& options) {
  return placed(topology_of(options), options.placement, options.ranks);
}

/// Returns the name of the schedule: the given name, otherwise the name in the environment (as in every call),
/// otherwise the schedule that is chosen for this link.
std::string schedule_of(const SimulateOptions& options, const prediction::Scenario& scenario) {
  const char* const forced = std::getenv("STEADFOLD_SCHEDULE");
  const bool is_forced = options.schedule == "auto" && forced != nullptr && *forced != '\0';
  const auto chosen = [&](const std::string& asked) {
    return plan::chosen_schedule(asked, std::span(&scenario.description, 1), order::Layout::contiguous(scenario.counts),
                                 options.network)
        .schedule;
  };
  if (!is_forced) return chosen(options.schedule);
  try {
    std::string schedule = chosen(forced);
    schedule::parse(schedule);
    return schedule;
  } catch (const std::exception& wrong) {
    throw Failure(std::string("STEADFOLD_SCHEDULE: ") + wrong.what());
  }
}

std::string_view text_of(PredictedBy by) {
  switch (by) {
    case PredictedBy::simulation: return "simulation";
    case PredictedBy::formulas: return "formulas";
    case PredictedBy::nothing: break;
  }
  return "nothing";
}

template <class T>
Json json_of(const std::optional<T>& known) {
  return known ? Json(*known) : Json();
}

Json predicted(const SimulateOptions& options) {
  const auto type = options.type == "f32" ? arithmetic::Type::f32 : arithmetic::Type::f64;
  const schedule::Collective collective = collective_of(options);
  const Method method = method_named(options.method);
  const call::Call call{.method = static_cast<call::Method>(method.id),
                        .type = type,
                        .result_type = type,
                        .columns = options.width,
                        .root = collective == schedule::Collective::reduce ? 0 : call::all_ranks,
                        .collective = collective,
                        .parameters = parameters_of(method)};
  prediction::Scenario scenario{.description = describe(call), .seconds_per_operation = options.per_op};
  scenario.counts = spread(options.distribution, options.elements, options.ranks);
  if (collective == schedule::Collective::reduce_scatter)
    scenario.blocks = order::counts(order::Distribution::upper, options.width, options.ranks);
  const std::string schedule = schedule_of(options, scenario);
  scenario.schedule = plan::checked_schedule(schedule, std::span(&scenario.description, 1));
  if (const auto reason = refusal(scenario.schedule, options.ranks)) throw Failure(*reason);
  const auto context = call::context_of(scenario.description, scenario.schedule, options.ranks);
  scenario.segments =
      plan::segments_of(context, options.width, scenario.description.element_bytes, options.network.link);
  const Count nodes = order::pe_intersecting_nodes(order::starts_of(scenario.counts), options.elements);
  const Count most = *std::ranges::max_element(scenario.counts) * options.width;
  const auto predicted_on_its_own = [&](const prediction::Scenario& asked) {
    return predict(asked, *placed_topology_of(options));
  };
  prediction::Prediction prediction = predicted_on_its_own(scenario);
  if (const auto first = prediction::first_sweep_of(scenario))
    prediction = in_turn(predicted_on_its_own(*first), prediction);
  Json json = {{"ranks", options.ranks},
               {"elements", options.elements},
               {"width", options.width},
               {"method", options.method},
               {"type", options.type},
               {"schedule", schedule},
               {"segments", scenario.segmentation().segments()},
               {"distribution", options.distribution},
               {"collective", name_of(collective)},
               {"topology", options.topology},
               {"placement", options.placement},
               {"predicted_by", text_of(prediction.by)},
               {"messages", json_of(prediction.messages)},
               {"rounds", json_of(prediction.rounds)},
               {"bytes", json_of(prediction.bytes)},
               {"seconds", json_of(prediction.seconds)},
               {"nodes", nodes},
               {"score_seconds", order::score_seconds(nodes, most)}};
  if (options.placement == "random") json["placement_seed"] = placement_seed;
  return json;
}

std::string table_of_simulated(const Json& json) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, field] : json.items()) {
    std::string text = field.is_string() ? field.get<std::string>() : field.dump();
    if (field.is_number_float()) text = fmt::format("{:.4g}", field.get<double>());
    rows.push_back({name, field.is_null() ? "unknown" : text});
  }
  return table(rows);
}

Result run(const Job& job, const SimulateOptions& options) {
  if (job.rank() != 0) return {};
  LongWork work(options.json ? LongWork::Output::json : LongWork::Output::for_people);
  work.show(fmt::format("predicting {} ranks", options.ranks), 0);
  const Json json = predicted(options);
  return {options.json ? line_of(json) : table_of_simulated(json)};
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  CLI::App& simulate =
      *app.add_subcommand("simulate", "Predict the messages, bytes and time of a sum without running the sum");
  const auto o = std::make_shared<SimulateOptions>();
  simulate.add_option("--ranks", o->ranks, "Number of ranks")->required()->check(from_to(1, most_ranks));
  simulate.add_option("--elements", o->elements, "Number of elements over all ranks, such as 1000000 or 1e6")
      ->required()
      ->check(from_to(0, most_reckoned));
  simulate.add_option("--width", o->width, "The number of columns of an element")
      ->check(from_to(1, most_reckoned))
      ->capture_default_str();
  simulate.add_option("--schedule", o->schedule, schedule_help)->capture_default_str();
  simulate.add_option("--collective", o->collective,
                      std::string(collective_help) + "; reduce_scatter (of the columns), scan or exscan");
  simulate.add_option("--distribution", o->distribution, distribution_help)->capture_default_str();
  simulate.add_option("--method", o->method, method_help() + "; with exact, partial results have full width")
      ->capture_default_str();
  simulate.add_option("--type", o->type, "f64 or f32")->capture_default_str();
  const auto profile = std::make_shared<std::string>();
  auto* const named =
      simulate.add_option("--profile", *profile, "The profile of a network, a file written by `steadfold tune`");
  simulate
      .add_option("--latency", o->network.link.latency,
                  "The latency in seconds: the time from the sender's port to the receiver's port")
      ->capture_default_str()
      ->excludes(named);
  simulate
      .add_option("--gap", o->network.link.gap,
                  "The time in seconds for which a message occupies a port, apart from its bytes")
      ->capture_default_str()
      ->excludes(named);
  simulate
      .add_option("--per-byte", o->network.link.per_byte,
                  "The time in seconds for which each byte of a message occupies a port")
      ->capture_default_str()
      ->excludes(named);
  simulate
      .add_option(
          "--eager-limit", o->network.link.eager_limit,
          "The size in bytes up to which messages are sent at once; longer messages wait until the receiver is ready")
      ->check(from_to(0, most_reckoned))
      ->capture_default_str()
      ->excludes(named);
  simulate
      .add_option("--rendezvous", o->network.link.rendezvous,
                  "The time in seconds for which messages longer than --eager-limit wait")
      ->capture_default_str()
      ->excludes(named);
  auto* const long_from =
      simulate
          .add_option("--long-from", o->network.link.long_from,
                      "The number of bytes of a message after which each further byte takes --long-per-byte")
          ->check(from_to(0, most_reckoned));
  auto* const long_per_byte =
      simulate.add_option("--long-per-byte", o->network.link.long_per_byte,
                          "The time in seconds for which each byte after --long-from occupies a port");
  long_from->needs(long_per_byte)->excludes(named);
  long_per_byte->needs(long_from)->excludes(named);
  simulate.add_option("--per-op", o->per_op, "The time in seconds for the addition of two elements")
      ->capture_default_str();
  simulate
      .add_option("--topology", o->topology,
                  "flat, two_level:size=8[:latency=s][:gap=s][:per_byte=s] (of links inside a node)[:links=1] (links "
                  "that the ranks of a node share), fat_tree:arity=8[:oversubscription=x][:hop=s], or "
                  "torus:sides=4x4x2[:hop=s][:half_duplex=1]")
      ->capture_default_str();
  auto* const placement = simulate
                              .add_option("--placement", o->placement,
                                          "How ranks are placed on nodes: block (fill one node after the other), "
                                          "round_robin (one rank per node in turn) or random")
                              ->capture_default_str();
  simulate.add_flag("--json", o->json, "Print one JSON object");
  simulate.callback([o, profile, placement, &action] {
    o->network.inside = o->network.link;
    if (!profile->empty()) o->network = plan::network_of_file(*profile);
    check(*o);
    refuse_without_effect(*o, placement->count() > 0);
    action = [o](const Job& job) { return run(job, *o); };
  });
}

}  // namespace steadfold::command
