// Two levels: any schedule reduces inside every group of ranks to the group's first rank, its leader. Another schedule
// reduces between leaders. Then the values go down a binomial tree in every group, or to the root. In reduce_scatter
// each block goes straight to its rank. Groups are the nodes of the machine, even if their ranks are not consecutive,
// or `size=` consecutive ranks.
// Rank order: kept inside a group. Between groups it is the order of their schedule.
// Cost: the cost of both schedules, one after the other, and ceil(log2 size)(alpha + n beta) for the way back.
// Source: Balaji & Kimpe, section III.D.
//
// The result of the inner schedule is the group's partial: the schedule's values become partials of the group, and the
// outer schedule takes them instead of building partials of rows. See levels.hpp.
#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/broadcast.hpp"
#include "schedule/algorithms/levels.hpp"
#include "schedule/form.hpp"

namespace steadfold::schedule::algorithms {
namespace {

Defaults defaults(const Context& c) {
  return {.inner = &binomial_algorithm,
          .outer = c.rooted()     ? &binomial_algorithm
                   : c.scatters() ? &halving_doubling_algorithm
                                  : &recursive_doubling_algorithm};
}

// Returns a slot of the inner schedule with its number in the whole schedule. Slot numbers are of three kinds: partials
// of the inner schedule, slots of the outer schedule, values of the inner schedule.
Slot inner_slot(Slot slot) {
  if (slot.kind == SlotKind::none) return slot;
  return holds_value(slot) ? of_kind(as_partial(slot), 2) : of_kind(slot, 0);
}
constexpr Slot group_partial(std::uint32_t segment) { return partial(2, segment); }

Step inner_step(Step step, const Levels& levels) {
  const RankRange group = levels.own();
  const bool was_value = holds_value(step.target);
  step.target = inner_slot(step.target);
  step.left = inner_slot(step.left);
  step.right = inner_slot(step.right);
  if (step.peer >= 0) step.peer = levels.groups().rank_at(group.first + step.peer);
  for (RankRange* const run : {&step.covers.ranks, &step.covers.apart}) run->first += run->count > 0 ? group.first : 0;
  if (was_value && step.kind != StepKind::send) step.covers = group;
  if (step.kind == StepKind::finish) step.kind = StepKind::copy;
  return step;
}

// Returns a slot of the outer schedule with its number in the whole schedule. A value that is not this rank's result
// has number 1.
Slot outer_slot(Slot slot, std::uint32_t segment, bool is_result) {
  if (slot.kind == SlotKind::none) return slot;
  slot.segment = segment;
  if (slot.kind == SlotKind::value && slot.number == 0) return value(is_result ? 0 : 1, segment);
  return of_kind(slot, 1);
}

Step outer_step(Step step, const Levels& levels, bool is_result) {
  const std::uint32_t segment = levels.segment_of(step.target.segment);
  step.target = outer_slot(step.target, segment, is_result);
  step.left = outer_slot(step.left, segment, is_result);
  step.right = outer_slot(step.right, segment, is_result);
  if (step.peer >= 0) step.peer = levels.leader(step.peer);
  step.covers = Covers(levels.groups().places(step.covers.ranks), levels.groups().places(step.covers.apart));
  if (step.kind != StepKind::lift) return step;
  return make::copy(step.target, group_partial(segment), levels.own());
}

// Makes the steps that send values from the leader of the root's group to the root.
Steps to_root(Context c, Rank source) {
  for (std::uint32_t s = 0; s < c.segments && c.rank == c.root; ++s)
    co_yield make::receive(source, landing_value(0, s));
  for (std::uint32_t s = 0; s < c.segments && c.rank == source; ++s)
    co_yield make::send(c.root, value(1, s), landing_value(0, s));
  for (std::uint32_t s = 0; s < c.segments && c.rank == c.root; ++s)
    co_yield make::copy(value(0, s), landing_value(0, s));
}

// Makes the steps that send values from a leader to the other ranks of its group: each rank gets its block.
Steps to_owners(Context c, const Levels& levels) {
  const Blocks blocks(c);
  const RankRange group = levels.own();
  const Rank leader = levels.leader(levels.group());
  for (Rank place = group.first + 1; place < group.first + group.count; ++place) {
    const Rank rank = levels.groups().rank_at(place);
    if (c.rank != leader && c.rank != rank) continue;
    for (std::uint32_t s = blocks.begin(rank); s < blocks.end(rank); ++s) {
      const Step step = c.rank == rank ? make::receive(leader, landing_value(0, s))
                                       : make::send(rank, value(1, s), landing_value(0, s));
      co_yield make::with_next(step, s + 1 < blocks.end(rank));
    }
  }
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank) && c.rank != leader; ++s)
    co_yield make::copy(value(0, s), landing_value(0, s));
}

// Makes the steps that send values from a leader to all ranks of its group.
Steps to_group(Context c, const Levels& levels) {
  for (Steps steps = broadcast(levels.place(), levels.own(), c.segments); const Step* step = steps.next();) {
    Step renamed = *step;
    if (step->peer >= 0) renamed.peer = levels.groups().rank_at(step->peer);
    co_yield renamed;
  }
}

Steps two_level(Context c) {
  const Levels levels(c, defaults(c));
  const Nested inner = levels.inner();
  for (Steps steps = inner_steps(c, inner); const Step* step = steps.next();) co_yield inner_step(*step, levels);
  if (levels.is_leader()) {
    const Nested outer = levels.outer();
    const Blocks blocks(c);
    for (Steps steps = outer.steps(); const Step* step = steps.next();) {
      const std::uint32_t segment = levels.segment_of(step->target.segment);
      const bool is_own = !c.scatters() || (segment >= blocks.begin(c.rank) && segment < blocks.end(c.rank));
      co_yield outer_step(*step, levels, c.rooted() ? c.rank == c.root : is_own);
    }
  }
  const Rank source = levels.leader(levels.root_group());
  if (c.rooted() && source == c.root) co_return;
  Steps back = c.rooted() ? to_root(c, source) : c.scatters() ? to_owners(c, levels) : to_group(c, levels);
  while (const Step* step = back.next()) co_yield *step;
}

Count two_level_messages(Context c) {
  const Levels levels(c, defaults(c));
  const Count back = c.rooted() ? (levels.leader(levels.root_group()) == c.root ? 0 : 1)
                                : static_cast<Count>(c.rank_count - levels.groups().count());
  return inner_messages(levels) + levels.outer().messages() + back * (c.scatters() ? 1 : c.segments);
}

// Returns an upper bound of the rounds: the levels one after the other, as if every group were as large as the largest
// and no two levels overlapped.
Count two_level_rounds(Context c) {
  const Levels levels(c, defaults(c));
  const Rank most = levels.groups().sizes().back().ranks;
  const Count back = c.rooted()     ? (levels.leader(levels.root_group()) == c.root ? 0 : c.segments)
                     : c.scatters() ? static_cast<Count>(most - 1)
                                    : broadcast_rounds(most, c.segments);
  return inner_rounds(levels) + levels.outer_of_even_blocks().rounds() + back;
}

double two_level_vectors(Context c) {
  const Levels levels(c, defaults(c));
  const Rank most = levels.groups().sizes().back().ranks;
  const double back = c.rooted()     ? (levels.leader(levels.root_group()) == c.root ? 0 : 1)
                      : c.scatters() ? static_cast<double>(most - 1) / c.rank_count
                                     : order::ceil_log2(static_cast<Count>(most));
  return levels.inner_of(most).vectors() + levels.outer_of_even_blocks().vectors() + back;
}

std::uint32_t two_level_ports(Context c) { return ports_of(Levels(c, defaults(c))); }

Count two_level_unit(Context c) { return unit_of(Levels(c, defaults(c))); }

constexpr std::array<std::string_view, 3> two_level_parameters = {"inner", "outer", "size"};
constexpr std::array<std::string_view, 3> two_level_examples = {"size=3", "inner=[flat]:outer=[ring]:size=4",
                                                                "inner=[halving_doubling]:outer=[circulant]:size=3"};

}  // namespace

constexpr Algorithm two_level_algorithm = {
    .name = "two_level",
    .sentence =
        "groups of ranks reduce to their first ranks (inner=[name]), which then use another schedule between them "
        "(outer=[name]); a group is a node of the machine, or `size` consecutive ranks",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "no method plain with a non-commutative operator",
    .parameters = two_level_parameters,
    .source = "S3",
    .steps = two_level,
    .messages = two_level_messages,
    .rounds = two_level_rounds,
    .ports = two_level_ports,
    .check_parameters = check_levels,
    .refusal_of_ranks = refusal_between_groups,
    .examples = two_level_examples,
    .segments = Segments::one_per_rank,
    .unit = two_level_unit,
    .vectors = two_level_vectors,
    .uneven = true,
    .rounds_at_most = true,
    .has_groups = true,
};

}  // namespace steadfold::schedule::algorithms
