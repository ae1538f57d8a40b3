#include "plan/choice.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <stdexcept>

#include "call/failure.hpp"
#include "call/kinds.hpp"
#include "plan/model.hpp"

namespace steadfold::plan {

namespace {

std::optional<std::string> refusal(const schedule::Spec& spec, const call::Description& call, bool may_differ = false) {
  const Rank root = std::max<Rank>(call.root, 0);
  schedule::Merging merging = call::merging_of(call);
  merging.may_differ = may_differ;
  return schedule::refusal(spec, call.collective, root, merging, call::operator_kind(call));
}

/// Returns the tree with few rounds for a reduce of all these calls. The tree `binomial` keeps rank order only at root
/// 0.
std::string few_rounds_to_root(std::span<const call::Description> calls) {
  const bool needs_order = std::ranges::any_of(calls, [](const call::Description& call) {
    return !call::properties_of(call.method).merging.is_associative && !call.commutes;
  });
  return needs_order && calls.front().root != 0 ? "linear" : "binomial";
}

/// Whether the call may use a schedule with groups. A schedule with groups merges in an order that depends on the
/// machine, so it must not change results.
bool may_take_groups(const schedule::Spec& spec, const call::Description& call) {
  return call::merging_of(call).is_associative && !refusal(spec, call);
}

/// Returns the schedule with the fewest rounds. This schedule is used unless another is much faster.
std::string by_rounds(std::span<const call::Description> calls) {
  const Collective collective = calls.front().collective;
  if (collective == Collective::reduce_scatter) return "halving_doubling";
  return collective == Collective::reduce ? few_rounds_to_root(calls) : "recursive_doubling";
}

/// Returns the schedule of a bundle, which the model of times does not cover: two_level if groups always pay and every
/// call may use it, otherwise the schedule with the fewest rounds.
std::string by_rounds(std::span<const call::Description> calls, const order::Nodes* nodes) {
  const schedule::Spec two_level = schedule::parse("two_level");
  const auto may_take_it = [&](const call::Description& call) { return may_take_groups(two_level, call); };
  if (nodes != nullptr && nodes->groups_always_pay() && std::ranges::all_of(calls, may_take_it)) return "two_level";
  return by_rounds(calls);
}

/// A schedule and its predicted time.
struct Timed {
  std::string schedule;
  double seconds;
};

// Another schedule must take less than this share of the time, because models are not more accurate.
constexpr double worthwhile = 0.9;

/// Returns the first schedule, unless the fastest of the others takes less than `share` of its time.
Chosen chosen_among(std::span<const Timed> all, double share) {
  const auto quicker = [](const Timed& a, const Timed& b) { return a.seconds < b.seconds; };
  const auto others = all.subspan(1);
  const auto best = std::ranges::min_element(others, quicker);
  const bool takes_best = best != others.end() && best->seconds < share * all.front().seconds;
  const Timed& taken = takes_best ? *best : all.front();
  Chosen chosen{.schedule = taken.schedule, .seconds = taken.seconds};
  for (const Timed& each : all) {
    if (&each == &taken || (!chosen.next.empty() && each.seconds >= chosen.next_seconds)) continue;
    chosen.next = each.schedule;
    chosen.next_seconds = each.seconds;
  }
  return chosen;
}

/// Chooses the schedule with the predicted times of the model. For a user's operator the model knows only sizes.
Chosen by_model(const call::Description& call, const PartialSizes& sizes, const order::Layout& layout,
                const Network& network) {
  const order::Layout* const layouts = &layout;
  const auto seconds = [&](const schedule::Spec& spec) -> std::optional<double> {
    if (refusal(spec, call) || refusal(*spec.algorithm, std::span(&layouts, 1))) return std::nullopt;
    return modelled_seconds(call::context_of(call, spec, layout.rank_count(), &layout), sizes, call.columns, network);
  };
  const std::string usual = by_rounds(std::span(&call, 1));
  if (layout.rank_count() == 1) return {.schedule = usual};  // a single rank sends no messages
  const auto of_usual = seconds(schedule::parse(usual));
  if (!of_usual) return {.schedule = usual};
  std::vector<Timed> all = {{usual, *of_usual}};
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    // Schedules with one of these properties are not tried. The model does not include the gain of merging in the order
    // of arrival. If rows may count twice, the number of rows of a partial cannot be checked; saving one merge is not
    // worth the loss of this check.
    const bool is_other =
        algorithm.has_groups || algorithm.merges_on_arrival || algorithm.counts == schedule::Counts::at_least_once;
    if (algorithm.name == usual || is_other) continue;
    for (const std::string& name : names_to_try(algorithm, layout.rank_count()))
      if (const auto found = seconds(schedule::parse(name))) all.push_back({name, *found});
  }
  return chosen_among(all, worthwhile);
}

/// Returns a schedule with groups, if groups always pay or if it is much faster than `best`. A schedule with groups may
/// be faster because the ranks of a node share one link to other nodes, or because the link inside a node is faster.
Chosen by_nodes(const Chosen& best, const call::Description& call, const PartialSizes& sizes,
                const order::Layout& layout, const Network& network, const order::Nodes& nodes) {
  const bool may_pay = nodes.share_links() || network.inside != network.link;
  if (!nodes.are_groups() || !may_pay) return best;
  const order::Layout by_place = layout.reordered(nodes.ranks());
  const auto seconds = [&](const schedule::Spec& spec) {
    const auto context =
        call::context_of(call, spec, layout.rank_count(), spec.algorithm->has_groups ? &by_place : &layout, &nodes);
    return modelled_seconds_on(nodes, context, sizes, call.columns, network);
  };
  const auto without = seconds(schedule::parse(best.schedule));
  if (!without) return best;
  std::vector<Timed> all = {{best.schedule, *without}};
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    const schedule::Spec spec = schedule::parse(algorithm.name);
    if (!algorithm.has_groups || !may_take_groups(spec, call)) continue;
    if (const auto found = seconds(spec)) all.push_back({std::string(algorithm.name), *found});
  }
  return chosen_among(all, nodes.groups_always_pay() ? std::numeric_limits<double>::infinity() : worthwhile);
}

Chosen by_model(const call::Description& call, const order::Layout& layout, const Network& network,
                const order::Nodes* nodes) {
  const arithmetic::Operator user{.apply = [](const void*, const void*, void*, std::size_t, void*) { return 0; },
                                  .element_bytes = call.element_bytes};
  const auto kind = call::make_kind(call, call::operator_of(call, user), call.columns,
                                    {.rows = layout.element_count(), .ranks = layout.rank_count()});
  const PartialSizes sizes(*kind);
  Chosen best = by_model(call, sizes, layout, network);
  return nodes == nullptr ? best : by_nodes(best, call, sizes, layout, network, *nodes);
}

/// Returns MPICH's choice (Balaji & Kimpe). Short messages use binomial trees (or a chain, where trees lose a needed
/// order) and recursive doubling. Longer messages are scattered in halves and gathered; in reduce only for powers of
/// two, in allreduce never for user operators. reduce_scatter uses halves, and for long vectors an exchange of all with
/// all. Scans use recursive doubling.
std::string by_mpich(std::span<const call::Description> calls, Rank rank_count) {
  constexpr Bytes most_short = 2048;
  constexpr Bytes most_halved = 524288;  // bytes up to which reduce_scatter uses halves
  const call::Description& call = calls.front();
  const auto ranks = static_cast<Count>(rank_count);
  const Count power = Count{1} << order::floor_log2(ranks);
  const bool is_short = call.columns * call.element_bytes <= most_short || call.columns < power;
  if (call.collective == Collective::reduce)
    return is_short || power != ranks ? few_rounds_to_root(calls) : "halving_doubling";
  if (call.collective == Collective::reduce_scatter)
    return call.columns * call.element_bytes < most_halved ? "halving_doubling" : "transpose";
  if (is_scan(call.collective)) return "recursive_doubling";
  const bool is_user = call.operation == arithmetic::Operation::user;
  return is_short || is_user ? "recursive_doubling" : "halving_doubling";
}

}  // namespace

std::vector<std::string> names_to_try(const schedule::Algorithm& algorithm, Rank rank_count) {
  const bool has_ports = std::ranges::find(algorithm.parameters, "n") != algorithm.parameters.end();
  if (!has_ports || rank_count <= 2) return {std::string(algorithm.name)};
  std::vector<std::string> names;
  for (const std::string& name : names_of(algorithm)) {
    names.push_back(name);
    const Count ports = number_of(schedule::parse(name), "n", 0, 1, std::numeric_limits<Count>::max());
    if (ports >= static_cast<Count>(rank_count - 1)) break;
  }
  return names;
}

std::string text_of(const Chosen& chosen) {
  const auto microseconds = [](double seconds) {
    char text[32] = "";
    std::snprintf(text, sizeof text, "%.2f us", 1e6 * seconds);
    return std::string(text);
  };
  if (!chosen.seconds) return {};
  std::string text = "predicted " + microseconds(*chosen.seconds) + " by messages";
  if (!chosen.next.empty()) text += ", next " + chosen.next + " with " + microseconds(chosen.next_seconds);
  return text;
}

Chosen chosen_schedule(const std::string& asked, std::span<const call::Description> calls, const order::Layout& layout,
                       const Network& network, const order::Nodes* nodes) {
  if (asked == "mpich") return {.schedule = by_mpich(calls, layout.rank_count())};
  if (!asked.empty() && asked != "auto") return {.schedule = asked};
  if (calls.size() > 1) return {.schedule = by_rounds(calls, nodes)};
  return by_model(calls.front(), layout, network, nodes);
}

schedule::Spec checked_schedule(const std::string& text, std::span<const call::Description> calls,
                                schedule::Algorithms algorithms, bool may_differ) {
  schedule::Spec spec;
  try {
    spec = schedule::parse(text, algorithms);
  } catch (const std::invalid_argument& error) {
    throw call::Failure(Status::invalid_argument, error.what());
  }
  for (const call::Description& call : calls)
    if (const auto reason = refusal(spec, call, may_differ)) throw call::Failure(Status::unsupported, *reason);
  return spec;
}

}  // namespace steadfold::plan
