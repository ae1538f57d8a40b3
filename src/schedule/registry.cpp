// The list of all schedules, and functions that search it. The file of each algorithm defines its `Algorithm`, with
// steps and formulas.
#include "schedule/registry.hpp"

#include <algorithm>
#include <array>

#include "schedule/algorithms/algorithms.hpp"

namespace steadfold::schedule {
namespace {

constexpr std::array all_algorithms = {
    &algorithms::flat_algorithm,
    &algorithms::linear_algorithm,
    &algorithms::binomial_algorithm,
    &algorithms::recursive_doubling_algorithm,
    &algorithms::native_algorithm,
    &algorithms::owner_algorithm,
    &algorithms::binary_algorithm,
    &algorithms::knomial_algorithm,
    &algorithms::reduce_broadcast_algorithm,
    &algorithms::pipelined_linear_algorithm,
    &algorithms::pipelined_tree_algorithm,
    &algorithms::doubly_pipelined_linear_algorithm,
    &algorithms::doubly_pipelined_tree_algorithm,
    &algorithms::transpose_algorithm,
    &algorithms::ring_algorithm,
    &algorithms::halving_doubling_algorithm,
    &algorithms::circulant_algorithm,
    &algorithms::bruck_algorithm,
    &algorithms::dissemination_algorithm,
    &algorithms::original_dissemination_algorithm,
    &algorithms::pairwise_exchange_algorithm,
    &algorithms::two_level_algorithm,
    &algorithms::root_group_last_algorithm,
    &algorithms::single_notify_algorithm,
    &algorithms::multi_notify_algorithm,
};

}  // namespace

std::string_view name_of(Collective collective) noexcept {
  switch (collective) {
    case Collective::reduce: return "reduce";
    case Collective::allreduce: return "allreduce";
    case Collective::reduce_scatter: return "reduce_scatter";
    case Collective::scan: return "scan";
    case Collective::exscan: return "exscan";
  }
  return "";
}

std::string names_of(Collective collectives) {
  std::string text;
  for (const Collective each : every_collective) {
    if (offers(collectives, each)) text.append(text.empty() ? "" : ", ").append(name_of(each));
  }
  return text;
}

Count bytes_of(const Algorithm& algorithm, Context context, SegmentBytes sizes) {
  const Count partials = algorithm.partial_messages(context) / context.segments;
  const Count values = algorithm.messages(context) / context.segments - partials;
  return partials * sizes.partials + values * sizes.values;
}

Algorithms registry() noexcept { return {all_algorithms, {}}; }

const Algorithm* find(std::string_view name, Algorithms algorithms) noexcept {
  const std::string_view own_name = name == "binomial_spanning_tree" ? "binomial" : name;
  const auto algorithm = std::ranges::find(algorithms, own_name, &Algorithm::name);
  return algorithm == algorithms.end() ? nullptr : &*algorithm;
}

const Algorithm& algorithm_for_questions(const order::Nodes* nodes) noexcept {
  const bool has_groups = nodes != nullptr && nodes->groups_always_pay();
  return has_groups ? algorithms::two_level_algorithm : algorithms::recursive_doubling_algorithm;
}

std::vector<std::string> names_of(const Algorithm& algorithm) {
  std::vector<std::string> names = {std::string(algorithm.name)};
  for (const std::string_view example : algorithm.examples) names.push_back(names.front() + ":" + std::string(example));
  return names;
}

}  // namespace steadfold::schedule
