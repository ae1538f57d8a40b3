// Root's group last: every group except the root's reduces to its first rank. These ranks reduce to the first rank of
// the root's group. Then the root's group reduces to the root, and its first rank contributes the sum of the other
// groups together with its own rows. Groups are the nodes of the machine or `size=` consecutive ranks, as in two_level.
// Rank order: cyclic at best.
// Cost: the reduces of the largest other group, between groups, and of the root's group, one after the other. If the
// root is not the first rank of its group, there is one message less than with two_level.
// Source: Balaji & Kimpe, section III.A: MPICH's reduce on nodes. In MPICH the root itself stands for its node.
//
// A partial between groups covers whole groups and the first rank of the root's group. A partial in the root's group
// covers some of its ranks, and all other groups if the first rank is among them. Either partial covers at most two
// runs of consecutive places.
#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/levels.hpp"
#include "schedule/form.hpp"

namespace steadfold::schedule::algorithms {
namespace {

constexpr Defaults defaults = {.inner = &binomial_algorithm, .outer = &binomial_algorithm};

// Returns a slot of the inner schedule with its number in the whole schedule. Slot numbers are of three kinds: slots of
// the inner schedule, partials of the outer schedule, values of the outer schedule.
Slot inner_slot(Slot slot, bool is_last) {
  if (slot.kind == SlotKind::none || (is_last && holds_value(slot))) return slot;
  const bool was_value = holds_value(slot);
  if (was_value) slot = as_partial(slot);
  slot.number = static_cast<std::uint16_t>(2 * slot.number + (was_value ? 1 : 0));
  return of_kind(slot, 0);
}
Slot outer_slot(Slot slot) {
  if (slot.kind == SlotKind::none) return slot;
  return holds_value(slot) ? of_kind(as_partial(slot), 2) : of_kind(slot, 1);
}
Slot group_partial(std::uint32_t segment) { return inner_slot(value(0, segment), false); }
Slot others_partial(std::uint32_t segment) { return outer_slot(value(0, segment)); }
static_assert(last_number_of(2 * std::max(most_open, last_landing_slot) + 1, most_nested + 1) <=
                  std::numeric_limits<decltype(Slot::number)>::max(),
              "slot numbers must have room for twice those of the inner schedule");

template <class Rename>
void rename_slots(Step& step, Rename rename) {
  for (Slot* const slot : {&step.target, &step.left, &step.right}) *slot = rename(*slot);
}

class RootLast {
 public:
  explicit RootLast(const Context& c)
      : levels_(c, defaults),
        rank_count_(c.rank_count),
        root_(levels_.groups().places(levels_.root_group())),
        root_place_(levels_.groups().place_of(c.root)) {}

  const Levels& levels() const { return levels_; }
  bool is_in_roots() const { return levels_.group() == levels_.root_group(); }
  bool is_first_in_roots() const { return is_in_roots() && levels_.is_leader(); }

  /// Returns the reduce of the root's group to the root.
  Nested last() const {
    Nested nested = levels_.inner_of(root_.count);
    nested.context.rank = levels_.place() - root_.first;
    nested.context.root = root_place_ - root_.first;
    return nested;
  }

  /// Returns the rows of consecutive groups; after the last group comes group 0. Only the first rank of the root's
  /// group is covered.
  Covers between(RankRange groups) const {
    const Groups& all = levels_.groups();
    const Rank before = (levels_.root_group() - groups.first + all.count()) % all.count();
    if (before >= groups.count) return all.places(groups);
    const RankRange below = all.places(RankRange{groups.first, before});
    const RankRange above = all.places(RankRange{(levels_.root_group() + 1) % all.count(), groups.count - before - 1});
    return {{before > 0 ? below.first : root_.first, below.count + 1}, above};
  }
  Covers between_all() const { return between({0, levels_.groups().count()}); }

  /// Returns the rows of consecutive ranks of the root's group (after its last rank comes its first), and of all other
  /// groups if the group's first rank is among them.
  Covers in_roots(RankRange run) const {
    if (run.count == 0) return run;
    const bool has_first = run.first == 0 || run.first + run.count > root_.count;
    const Rank others = rank_count_ - root_.count;
    if (!has_first) return {root_.first + run.first, run.count};
    if (run.first == 0) return {(root_.first + root_.count) % rank_count_, others + run.count};
    return {root_.first + run.first, others + run.count};
  }

  Step inner_step(Step step) const {
    const RankRange group = levels_.own();
    const bool was_value = holds_value(step.target);
    rename_slots(step, [](Slot slot) { return inner_slot(slot, false); });
    name_peer(step, group);
    if (step.covers.ranks.count > 0) step.covers.ranks.first += group.first;
    if (was_value && step.kind != StepKind::send) step.covers = group;
    if (step.kind == StepKind::finish) step.kind = StepKind::copy;
    return step;
  }
  Step outer_step(Step step) const {
    const bool was_value = holds_value(step.target);
    const bool was_lift = step.kind == StepKind::lift;
    rename_slots(step, outer_slot);
    if (step.peer >= 0) step.peer = levels_.leader(step.peer);
    step.covers = was_value && step.kind != StepKind::send ? between_all() : between(step.covers.ranks);
    if (step.kind == StepKind::finish) step.kind = StepKind::copy;
    if (!was_lift) return step;
    if (is_in_roots()) return make::lift(step.target, levels_.place());
    return make::copy(step.target, group_partial(step.target.segment), levels_.own());
  }
  Step last_step(Step step) const {
    const bool was_lift = step.kind == StepKind::lift;
    rename_slots(step, [](Slot slot) { return inner_slot(slot, true); });
    name_peer(step, root_);
    step.covers = in_roots(step.covers.ranks);
    if (!was_lift || !levels_.is_leader()) return step;
    return make::copy(step.target, others_partial(step.target.segment), between_all());
  }

 private:
  void name_peer(Step& step, RankRange group) const {
    if (step.peer >= 0) step.peer = levels_.groups().rank_at(group.first + step.peer);
  }

  Levels levels_;
  Rank rank_count_;
  RankRange root_;  // places of the root's group
  Rank root_place_;
};

// Checks the parameters. The partials of this schedule may cover two runs of consecutive ranks, and a further level
// would add more.
void check_root_group_last(const Spec& spec) {
  check_levels(spec);
  const Spec::Parameter* outer = spec.parameter("outer");
  for (const Spec* nested = outer ? &outer->nested.front() : nullptr; nested != nullptr;) {
    if (nested->algorithm == &root_group_last_algorithm)
      refuse_value(spec, "outer",
                   "each of its partial results would need more intervals of ranks than a message can name");
    const Spec::Parameter* further = nested->parameter("outer");
    nested = further ? &further->nested.front() : nullptr;
  }
}

Steps root_group_last(Context c) {
  const RootLast job(c);
  const Levels& levels = job.levels();
  if (!job.is_in_roots())
    for (Steps steps = levels.inner().steps(); const Step* step = steps.next();) co_yield job.inner_step(*step);
  if (levels.is_leader())
    for (Steps steps = levels.outer().steps(); const Step* step = steps.next();) co_yield job.outer_step(*step);
  if (job.is_in_roots())
    for (Steps steps = job.last().steps(); const Step* step = steps.next();) co_yield job.last_step(*step);
}

Count root_group_last_messages(Context c) {
  const RootLast job(c);
  const Rank own = job.levels().groups().places(job.levels().root_group()).count;
  return inner_messages(job.levels()) - job.levels().inner_of(own).messages() + job.levels().outer().messages() +
         job.last().messages();
}

// Returns the size of the largest other group, or 0 if there is no other group.
Rank most_in_others(const RootLast& job) {
  const Groups& groups = job.levels().groups();
  const Rank own = groups.places(job.levels().root_group()).count;
  Rank most = 0;
  for (const auto& [ranks, count] : groups.sizes())
    if (count > (ranks == own ? 1 : 0)) most = ranks;
  return most;
}

Count root_group_last_rounds(Context c) {
  const RootLast job(c);
  const Rank most = most_in_others(job);
  const Count others = most == 0 ? 0 : job.levels().inner_of(most).rounds();
  return others + job.levels().outer().rounds() + job.last().rounds();
}

double root_group_last_vectors(Context c) {
  const RootLast job(c);
  const Rank most = most_in_others(job);
  const double others = most == 0 ? 0 : job.levels().inner_of(most).vectors();
  return others + job.levels().outer().vectors() + job.last().vectors();
}

Count root_group_last_unit(Context c) { return unit_of(Levels(c, defaults)); }
std::uint32_t root_group_last_ports(Context c) { return ports_of(Levels(c, defaults)); }

constexpr std::array<std::string_view, 3> root_group_last_parameters = {"inner", "outer", "size"};
constexpr std::array<std::string_view, 3> root_group_last_examples = {
    "size=3", "inner=[flat]:outer=[ring]:size=4", "inner=[halving_doubling]:outer=[halving_doubling]:size=3"};

}  // namespace

constexpr Algorithm root_group_last_algorithm = {
    .name = "root_group_last",
    .sentence =
        "every group except the root's reduces to its first rank (inner=[name]), these ranks reduce to the root's "
        "group (outer=[name]), then that group reduces to the root; a group is a node of the machine or size= "
        "consecutive ranks",
    .collectives = Collective::reduce,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "reduce only; no method plain with a non-commutative operator",
    .parameters = root_group_last_parameters,
    .source = "S3",
    .steps = root_group_last,
    .messages = root_group_last_messages,
    .rounds = root_group_last_rounds,
    .ports = root_group_last_ports,
    .check_parameters = check_root_group_last,
    .refusal_of_ranks = refusal_between_groups,
    .examples = root_group_last_examples,
    .segments = Segments::one_per_rank,
    .unit = root_group_last_unit,
    .vectors = root_group_last_vectors,
    .uneven = true,
    .rounds_at_most = true,
    .has_groups = true,
};

}  // namespace steadfold::schedule::algorithms
