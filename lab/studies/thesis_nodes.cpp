// PE-intersecting nodes by distribution, data set and rank count, beside the rank tree's messages and bytes.
// Source: [S0] figure 2.3 (sizes at its peaks), tables 3.1 to 3.3, table 4.1 (sizes).
#include <algorithm>
#include <cmath>

#include "order/distribution.hpp"
#include "plan/choice.hpp"
#include "prediction/prediction.hpp"
#include "thesis.hpp"
#include "tools/spread.hpp"

namespace steadfold::command::studies::thesis {
namespace {

using order::Count;

constexpr int rank_counts[] = {2, 8, 64, 256, 1280};
constexpr const char* as_in_table = "optimized, table 3.3";
constexpr const char* distributions[] = {"lower", "upper", "power2", as_in_table, "optimized", "balanced"};

/// [S0] tables 3.1 to 3.3, for 504 850 elements on 256 ranks.
struct Published {
  std::string_view distribution;
  Count nodes;
  double seconds;
};
constexpr Published published[] = {
    {"lower", 1640, 469.0e-6}, {"upper", 1401, 401.9e-6}, {"power2", 256, 1083.4e-6}, {as_in_table, 621, 184.5e-6}};

const Published* published_for(std::string_view distribution, Count elements, int ranks) {
  const auto* const found = std::ranges::find(published, distribution, &Published::distribution);
  return elements == 504850 && ranks == 256 && found != std::end(published) ? found : nullptr;
}

/// Data sets and their element counts. Figure 2.3 has a valley at 2^11 elements per rank and a peak one element later.
std::vector<std::pair<std::string, Count>> sizes_for(int ranks, Count largest) {
  const Count valley = Count{2048} * static_cast<Count>(ranks);
  std::vector<std::pair<std::string, Count>> sizes = {{"2^11 p", valley}, {"2^11 p + 1", valley + 1}};
  for (const DataSet& each : data_sets) sizes.emplace_back(each.name, each.element_count);
  std::erase_if(sizes, [&](const auto& each) { return each.second > largest; });
  return sizes;
}

/// The distribution of [S0] table 3.3. It goes through the starts of `lower`, and compares an index with the start that
/// the rank before got plus N / p. For 504 850 elements on 256 ranks these are the counts that the author's repository
/// lists (stelzch/allreduce, misc/distribution_bench.sh, "alpha = 0.2").
std::vector<Count> optimized_as_in_table(Count elements, int ranks) {
  constexpr double alpha = 0.2;
  const double share = static_cast<double>(elements) / ranks;
  std::vector<Count> counts = order::counts(order::Distribution::lower, elements, ranks);
  order::Index lower_start = 0;
  order::Index previous = 0;
  for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
    lower_start += counts[i];
    order::Index start = lower_start;
    for (order::Index proposed = start; proposed > previous; proposed = order::parent(proposed)) {
      if (std::fabs(static_cast<double>(previous) + share - static_cast<double>(proposed)) > alpha * share) break;
      start = proposed;
    }
    counts[i] = start - previous;
    previous = start;
  }
  counts.back() = elements - previous;
  return counts;
}

std::vector<Count> counts_by(const std::string& distribution, Count elements, int ranks) {
  return distribution == as_in_table ? optimized_as_in_table(elements, ranks) : spread(distribution, elements, ranks);
}

prediction::Scenario reduction(const std::string& schedule, std::vector<Count> counts) {
  const call::Call call{.method = call::Method::tree, .root = 0, .collective = schedule::Collective::reduce};
  prediction::Scenario scenario{.description = describe(call), .schedule = {}, .counts = std::move(counts)};
  scenario.schedule = plan::checked_schedule(schedule, std::span(&scenario.description, 1));
  return scenario;
}

Json row_for(const std::string& data_set, Count elements, int ranks, const std::string& distribution,
             const transport::LogGP& link) {
  const std::vector<Count> counts = counts_by(distribution, elements, ranks);
  const Count nodes = order::pe_intersecting_nodes(order::starts_of(counts), elements);
  const Count most = *std::ranges::max_element(counts);
  const Published* const theirs = published_for(distribution, elements, ranks);
  const prediction::Prediction alone = prediction_of("owner:buffer=1", counts, link);
  const prediction::Prediction buffered = prediction_of("owner:buffer=4", counts, link);
  const prediction::Prediction tree = prediction_of("binomial", counts, link);
  return {{"part", "nodes"},
          {"data_set", data_set},
          {"elements", elements},
          {"ranks", ranks},
          {"distribution", distribution},
          {"most_elements", most},
          {"nodes", nodes},
          {"published_nodes", theirs != nullptr ? Json(theirs->nodes) : Json()},
          {"score_seconds", order::score_seconds(nodes, most)},
          {"published_score_seconds", theirs != nullptr ? Json(theirs->seconds) : Json()},
          {"owner_1_messages", json_of(alone.messages)},
          {"owner_1_seconds", json_of(alone.seconds)},
          {"owner_4_messages", json_of(buffered.messages)},
          {"owner_4_nodes_per_message", static_cast<double>(nodes) / static_cast<double>(buffered.messages.value())},
          {"owner_4_seconds", json_of(buffered.seconds)},
          {"tree_messages", json_of(tree.messages)},
          {"tree_rounds", json_of(tree.rounds)},
          {"tree_bytes", json_of(tree.bytes)},
          {"tree_seconds", json_of(tree.seconds)}};
}

}  // namespace

prediction::Prediction prediction_of(const std::string& schedule, const std::vector<Count>& counts,
                                     const transport::LogGP& link) {
  const auto topology = transport::make_topology("flat", link, static_cast<int>(counts.size()));
  return predict(reduction(schedule, counts), *topology);
}

Findings nodes(const Asked& asked) {
  Findings found;
  for (const int ranks : rank_counts) {
    for (const auto& [name, elements] : sizes_for(ranks, asked.largest)) {
      for (const char* const distribution : distributions)
        found.rows.push_back(row_for(name, elements, ranks, distribution, asked.link));
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::thesis
