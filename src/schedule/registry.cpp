// The list of all schedules (rows), and functions that search it. The file of each algorithm defines its row, with
// steps and formulas.
#include "schedule/registry.hpp"

#include <algorithm>
#include <array>

#include "schedule/algorithms/algorithms.hpp"

namespace steadfold::schedule {
namespace {

constexpr std::array all_rows = {
    &algorithm::flat_row,
    &algorithm::linear_row,
    &algorithm::binomial_row,
    &algorithm::recursive_doubling_row,
    &algorithm::native_row,
    &algorithm::owner_row,
    &algorithm::binary_row,
    &algorithm::knomial_row,
    &algorithm::reduce_broadcast_row,
    &algorithm::pipelined_linear_row,
    &algorithm::pipelined_tree_row,
    &algorithm::doubly_pipelined_linear_row,
    &algorithm::doubly_pipelined_tree_row,
    &algorithm::transpose_row,
    &algorithm::ring_row,
    &algorithm::halving_doubling_row,
    &algorithm::circulant_row,
    &algorithm::bruck_row,
    &algorithm::dissemination_row,
    &algorithm::original_dissemination_row,
    &algorithm::pairwise_exchange_row,
    &algorithm::two_level_row,
    &algorithm::root_group_last_row,
    &algorithm::single_notify_row,
    &algorithm::multi_notify_row,
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

Count bytes_of(const Row& row, Context context, SegmentBytes sizes) {
  const Count partials = row.partial_messages(context) / context.segments;
  const Count values = row.messages(context) / context.segments - partials;
  return partials * sizes.partials + values * sizes.values;
}

Rows registry() noexcept { return {all_rows, {}}; }

const Row* find(std::string_view name, Rows rows) noexcept {
  const std::string_view own_name = name == "binomial_spanning_tree" ? "binomial" : name;
  const auto row = std::ranges::find(rows, own_name, &Row::name);
  return row == rows.end() ? nullptr : &*row;
}

const Row& row_for_questions(const order::Nodes* nodes) noexcept {
  const bool has_groups = nodes != nullptr && nodes->groups_always_pay();
  return has_groups ? algorithm::two_level_row : algorithm::recursive_doubling_row;
}

std::vector<std::string> names_of(const Row& row) {
  std::vector<std::string> names = {std::string(row.name)};
  for (const std::string_view example : row.examples) names.push_back(names.front() + ":" + std::string(example));
  return names;
}

}  // namespace steadfold::schedule
