// Says why an algorithm of the registry cannot serve a call. Cost: O(1).
#include "schedule/registry.hpp"

namespace steadfold::schedule {
namespace {

// Says why the algorithm cannot serve a method whose bits depend on the order of merging.
std::optional<std::string> order_refusal(const Algorithm& algorithm, Collective collective, Rank root,
                                         const Merging& merging, OperatorKind kind) {
  const std::string cannot = "schedule " + quoted(algorithm.name) + " cannot serve method " + quoted(merging.method);
  if (algorithm.merges_on_arrival) {
    return cannot +
           " with this operator (it merges in the order in which messages arrive, which would change the bits), use "
           "schedule single_notify or another one, or method tree, exact or binned";
  }
  if (collective == Collective::allreduce && algorithm.same_on_all_ranks == SameOnAllRanks::no && !merging.may_differ) {
    return cannot + " in allreduce (different ranks would get different bits), use method tree, exact or binned";
  }
  const Rank end = collective == Collective::reduce ? root : 0;
  if (kind == OperatorKind::ordered && !algorithm.keeps_order(end)) {
    return cannot + " at root " + std::to_string(end) +
           " (it does not keep rank order there and the operator does not commute), use root 0, a schedule that keeps "
           "rank order, or method tree";
  }
  return std::nullopt;
}

// Returns the schedule between groups, or null if the caller named none.
const Spec* between_groups(const Spec* spec) {
  const Spec::Parameter* outer = spec == nullptr ? nullptr : spec->parameter("outer");
  return outer == nullptr ? nullptr : &outer->nested.front();
}

}  // namespace

std::optional<std::string> refusal(const Algorithm& algorithm, Collective collective, Rank root, const Merging& merging,
                                   OperatorKind kind) {
  if (!offers(algorithm.collectives, collective)) {
    return "schedule " + quoted(algorithm.name) + " cannot serve " + std::string(name_of(collective)) + " (it offers " +
           names_of(algorithm.collectives) + " only), choose another schedule";
  }
  if (algorithm.counts == Counts::at_least_once && !(merging.may_overlap && kind == OperatorKind::idempotent)) {
    return "schedule " + quoted(algorithm.name) + " cannot serve method " + quoted(merging.method) +
           " with this operator (it counts some ranks twice, which is correct only for min, max and their locations "
           "with method plain), choose another schedule";
  }
  if (!serves(algorithm, merging)) {
    const std::string cannot = "schedule " + quoted(algorithm.name) + " cannot serve method " + quoted(merging.method);
    if (merging.method == "exact")
      return cannot +
             " for this call (it adds 64-bit words, which is impossible for several sums per result, groups and masks "
             "of elements), choose " +
             "another schedule";
    return cannot +
           " (it serves only method exact, and method binned with the double sweep), choose another schedule or method";
  }
  if (!merging.is_associative) return order_refusal(algorithm, collective, root, merging, kind);
  return std::nullopt;
}

bool same_on_all_ranks(const Algorithm& algorithm, const Spec* spec) noexcept {
  if (algorithm.same_on_all_ranks == SameOnAllRanks::no) return false;
  const Spec* const between = between_groups(spec);
  return between == nullptr || same_on_all_ranks(*between->algorithm, between);
}

Counts counts_of(const Algorithm& algorithm, const Spec* spec) noexcept {
  if (algorithm.counts == Counts::at_least_once) return algorithm.counts;
  const Spec* const between = between_groups(spec);
  return between == nullptr ? Counts::once : counts_of(*between->algorithm, between);
}

bool merges_on_arrival(const Algorithm& algorithm, const Spec* spec) noexcept {
  if (algorithm.merges_on_arrival) return true;
  const Spec* const between = between_groups(spec);
  return between != nullptr && merges_on_arrival(*between->algorithm, between);
}

std::optional<std::string> refusal(const Spec& spec, Collective collective, Rank root, const Merging& merging,
                                   OperatorKind kind) {
  if (auto reason = refusal(*spec.algorithm, collective, root, merging, kind)) return reason;
  const Spec* const between = between_groups(&spec);
  if (between == nullptr) return std::nullopt;
  if (offers(between->algorithm->collectives, collective)) return refusal(*between, collective, root, merging, kind);
  return "schedule " + quoted(spec.name) + " cannot serve " + std::string(name_of(collective)) + " with " +
         quoted(spec.parameter("outer")->value) +
         " between groups (that schedule does not offer this collective), choose another schedule for 'outer'";
}

std::optional<std::string> refusal(const Spec& spec, Rank rank_count, const order::Nodes* nodes) {
  const auto refusal_of_ranks = spec.algorithm->refusal_of_ranks;
  if (refusal_of_ranks == nullptr) return std::nullopt;
  return refusal_of_ranks({.rank_count = rank_count, .spec = &spec, .nodes = nodes});
}

const order::Nodes* nodes_of(const Algorithm& algorithm, const Spec* spec, const order::Nodes* of_machine) noexcept {
  const bool has_size = spec != nullptr && spec->parameter("size") != nullptr;
  return algorithm.has_groups && !has_size ? of_machine : nullptr;
}

std::optional<std::string> refusal(const Algorithm& algorithm, std::span<const order::Layout* const> layouts) {
  if (algorithm.layouts == Layouts::any) return std::nullopt;
  const std::string cannot = "schedule " + quoted(algorithm.name) + " cannot serve ";
  for (const order::Layout* const layout : layouts) {
    if (!layout->in_rank_order())
      return cannot + "this layout (it needs elements in rank order), " +
             "give every rank the elements that follow the elements of the rank before it, or choose another schedule";
    if (*layout != *layouts.front())
      return cannot +
             "a bundle of several layouts (its messages follow a single layout), bind the calls separately or choose "
             "another " +
             "schedule";
  }
  return std::nullopt;
}

}  // namespace steadfold::schedule
