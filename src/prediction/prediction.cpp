#include "prediction/prediction.hpp"

#include <algorithm>
#include <numeric>

#include "plan/first_sweep.hpp"
#include "prediction/simulated_run.hpp"

namespace steadfold::prediction {

using call::Call;
using call::Sweep;
using plan::Agreement;

namespace {

/// Returns the size of every partial; empty if sizes differ, as sizes of records do.
std::optional<schedule::SegmentBytes> fixed_sizes(const Sizes& sizes, std::span<const Count> counts) {
  schedule::SegmentBytes sums;
  const bool has_empty = std::ranges::find(counts, Count{0}) != counts.end();
  const Count all = std::accumulate(counts.begin(), counts.end(), Count{0});
  for (std::uint32_t s = 0; s < sizes.segments(); ++s) {
    const Bytes of_none = sizes.partial({}, s).bytes;
    const Bytes of_one = sizes.partial(order::IntervalSet({0, 1}), s).bytes;
    const bool grows =
        !sizes.partials_have_fixed_size() || sizes.partial(order::IntervalSet({0, all}), s).bytes != of_one;
    if (grows || (has_empty && of_none != of_one)) return std::nullopt;
    sums.partials += of_one;
    sums.values += sizes.value(s).bytes;
  }
  return sums;
}

template <class T>
std::optional<T> sum_of(const std::optional<T>& first, const std::optional<T>& second) {
  return first && second ? std::optional(*first + *second) : std::nullopt;
}

}  // namespace

Segmentation Scenario::segmentation() const {
  if (blocks.empty()) return {description.columns, segments};
  return plan::segmentation_of(context_of(description, schedule, rank_count()), description.columns,
                               description.element_bytes, blocks);
}

Prediction predict(const Scenario& scenario, transport::Topology& topology) {
  const schedule::Algorithm& algorithm = *scenario.schedule.algorithm;
  if (algorithm.messages == nullptr) return {};
  const order::Nodes* const nodes = nodes_of(algorithm, &scenario.schedule, scenario.nodes.get());
  const auto by_rank = order::Layout::contiguous(scenario.counts);
  const order::Layout layout = nodes != nullptr ? by_rank.reordered(nodes->ranks()) : by_rank;
  const Segmentation segmentation = scenario.segmentation();
  const schedule::Context context =
      segmentation.cut(context_of(scenario.description, scenario.schedule, scenario.rank_count(), &layout, nodes));
  const Sizes sizes(scenario.description, operator_of(scenario.description, scenario.user), segmentation,
                    {.rows = algorithm.adds_words ? arithmetic::unknown_count : layout.element_count(),
                     .ranks = layout.rank_count()});
  if (algorithm.messages(context) > most_simulated_messages || scenario.rank_count() > most_simulated_ranks) {
    const bool has_two_ways = context.rooted() || context.collective == schedule::Collective::allreduce;
    const auto fixed = !algorithm.uneven && has_two_ways ? fixed_sizes(sizes, scenario.counts) : std::nullopt;
    return {.by = PredictedBy::formulas,
            .messages = algorithm.messages(context),
            .rounds =
                algorithm.rounds && !algorithm.rounds_at_most ? std::optional(algorithm.rounds(context)) : std::nullopt,
            .bytes = fixed ? std::optional(bytes_of(algorithm, context, *fixed)) : std::nullopt,
            .seconds = std::nullopt};
  }
  const std::uint32_t ports = scenario.ports > 0 ? scenario.ports : algorithm.port_count(context);
  const Spent spent = simulated_run(algorithm, context, layout, sizes,
                                    {.topology = topology,
                                     .seconds_per_operation = scenario.seconds_per_operation,
                                     .ports = ports,
                                     .half_duplex = scenario.half_duplex});
  return {.by = PredictedBy::simulation,
          .messages = spent.messages,
          .rounds = spent.rounds,
          .bytes = spent.bytes,
          .seconds = spent.seconds};
}

std::optional<Scenario> first_sweep_of(const Scenario& scenario) {
  if (scenario.description.parameters.sweep == Sweep::single_sweep) return std::nullopt;
  const Call call = plan::first_sweep(scenario.description.columns);
  const Agreement agreed = plan::agreed_first_sweep(call, scenario.rank_count(), scenario.nodes);
  return Scenario{.description = agreed.members[0].description,
                  .schedule = agreed.schedule,
                  .counts = std::vector<Count>(scenario.counts.size(), 1),
                  .seconds_per_operation = scenario.seconds_per_operation,
                  .user = call.user,
                  .nodes = agreed.nodes};
}

Prediction in_turn(const Prediction& first, const Prediction& second) {
  return {.by = std::max(first.by, second.by),
          .messages = sum_of(first.messages, second.messages),
          .rounds = sum_of(first.rounds, second.rounds),
          .bytes = sum_of(first.bytes, second.bytes),
          .seconds = sum_of(first.seconds, second.seconds)};
}

}  // namespace steadfold::prediction
