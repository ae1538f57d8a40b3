// Two levels: inside every group of `size` ranks in a row any schedule reduces to the first rank, the leader; any other
// reduces between leaders; then values go down a binomial tree in every group, or to the root; in reduce_scatter each
// block goes straight to its rank. Rank order: kept inside a group, and between groups as their schedule does. Cost:
// both, one after the other, and ceil(log2 size)(alpha + n beta) for the way back. Source: [S3] section III.D.
//
// The steps of both schedules are made as for jobs of their own, then rewritten: ranks and rows become those of the
// whole job, slots get numbers that no other level uses. The inner schedule's result is the group's partial: its values
// become partials of the group, which the outer schedule takes instead of lifting rows.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "schedule/algorithms.hpp"
#include "schedule/broadcast.hpp"
#include "schedule/cyclic.hpp"
#include "schedule/form.hpp"
#include "schedule/open.hpp"
#include "schedule/scatter.hpp"

namespace steadfold::schedule::algorithm {
namespace {

constexpr Rank most_ranks = 1 << 28;

struct Nested {
  const Row* row;
  Context context;

  Count messages() const { return row->messages(context); }
  Count unit() const { return row->unit_of(context); }
};

class Levels {
 public:
  explicit Levels(const Context& c)
      : context_(c), size_(c.spec ? static_cast<Rank>(number_of(*c.spec, "size", 4, 1, most_ranks)) : 4) {
    if (!c.scatters()) return;
    for (Rank group = 0; group < groups(); ++group) blocks_.push_back(Blocks(c).begin(group * size_));
    blocks_.push_back(c.segments);
  }
  Levels(const Levels&) = delete;  // contexts point into it
  Levels& operator=(const Levels&) = delete;

  Rank group() const { return context_.rank / size_; }
  Rank groups() const { return (context_.rank_count + size_ - 1) / size_; }
  RankRange ranks(Rank group) const { return {group * size_, std::min(size_, context_.rank_count - group * size_)}; }
  RankRange own() const { return ranks(group()); }
  bool is_leader() const { return context_.rank == own().first; }
  // The leader that passes the result on.
  Rank source() const { return context_.rooted() ? context_.root / size_ * size_ : own().first; }

  // The ranks of a cyclic run of groups; only the last has fewer than the others.
  RankRange ranks(RankRange groups_run) const {
    const bool has_last = groups_run.first + groups_run.count >= groups();
    const Rank missing = has_last && groups_run.count > 0 ? groups() * size_ - context_.rank_count : 0;
    return {groups_run.first * size_, groups_run.count * size_ - missing};
  }

  Nested inner(RankRange group) const {
    Nested nested = named("inner", binomial_row);
    nested.context.rank -= group.first;
    nested.context.rank_count = group.count;
    nested.context.root = 0;
    nested.context.collective = Collective::reduce;
    if (context_.scatters()) nested.context = reduce_before_scatter(nested.context);
    return nested;
  }
  Nested outer() const {
    Nested nested = named("outer", context_.rooted()     ? binomial_row
                                   : context_.scatters() ? halving_doubling_row
                                                         : recursive_doubling_row);
    nested.context.blocks = blocks_;
    nested.context.rank = group();
    nested.context.rank_count = groups();
    nested.context.root = context_.root / size_;
    return nested;
  }

 private:
  Nested named(std::string_view key, const Row& otherwise) const {
    Nested nested{&otherwise, context_};
    const Spec::Parameter* asked = context_.spec ? context_.spec->parameter(key) : nullptr;
    nested.context.spec = asked ? &asked->nested.front() : nullptr;
    if (asked) nested.row = asked->nested.front().row;
    return nested;
  }

  Context context_;
  Rank size_;
  std::vector<std::uint32_t> blocks_;  // for reduce_scatter: where each group's begin, and the end
};

// Slot numbers are of three kinds: the inner schedule's partials, the outer one's slots, the inner one's values.
constexpr int kinds = 3;
constexpr int last_number_of(int last_number_inside, int levels) {
  return levels == 0 ? last_number_inside : last_number_of(kinds * last_number_inside + kinds - 1, levels - 1);
}
static_assert(last_number_of(std::max(most_open, last_landing_slot), most_nested + 1) <=
                  std::numeric_limits<decltype(Slot::number)>::max(),
              "flat and rows of cyclic.hpp number most slots, and all levels that can be asked for must find room");
Slot of_kind(Slot slot, int kind) {
  slot.number = static_cast<std::uint16_t>(kinds * slot.number + kind);
  return slot;
}

Slot inner_slot(Slot slot) {
  if (!holds_value(slot)) return slot.kind == SlotKind::none ? slot : of_kind(slot, 0);
  slot.kind = slot.kind == SlotKind::value ? SlotKind::partial : SlotKind::landing;
  return of_kind(slot, 2);
}
constexpr Slot group_partial(std::uint32_t segment) { return partial(2, segment); }

Step inner_step(Step step, RankRange group) {
  const bool was_value = holds_value(step.target);
  step.target = inner_slot(step.target);
  step.left = inner_slot(step.left);
  step.right = inner_slot(step.right);
  if (step.peer >= 0) step.peer += group.first;
  for (RankRange* const run : {&step.covers.ranks, &step.covers.apart}) run->first += run->count > 0 ? group.first : 0;
  if (was_value && step.kind != StepKind::send) step.covers = group;
  if (step.kind == StepKind::finish) step.kind = StepKind::copy;
  return step;
}

// A value that is not the result of this rank is number 1.
Slot outer_slot(Slot slot, bool is_result) {
  if (slot.kind == SlotKind::none) return slot;
  if (slot.kind == SlotKind::value && slot.number == 0) return value(is_result ? 0 : 1, slot.segment);
  return of_kind(slot, 1);
}

Step outer_step(Step step, const Levels& levels, bool is_result) {
  step.target = outer_slot(step.target, is_result);
  step.left = outer_slot(step.left, is_result);
  step.right = outer_slot(step.right, is_result);
  if (step.peer >= 0) step.peer = levels.ranks(step.peer).first;
  step.covers = Covers(levels.ranks(step.covers.ranks), levels.ranks(step.covers.apart));
  if (step.kind != StepKind::lift) return step;
  return make::copy(step.target, group_partial(step.target.segment), levels.own());
}

// From the leader of the root's group to the root.
Steps to_root(Context c, Rank source) {
  for (std::uint32_t s = 0; s < c.segments && c.rank == c.root; ++s)
    co_yield make::receive(source, landing_value(0, s));
  for (std::uint32_t s = 0; s < c.segments && c.rank == source; ++s)
    co_yield make::send(c.root, value(1, s), landing_value(0, s));
  for (std::uint32_t s = 0; s < c.segments && c.rank == c.root; ++s)
    co_yield make::copy(value(0, s), landing_value(0, s));
}

// From a leader to the other ranks of its group: to each its block.
Steps to_owners(Context c, RankRange group) {
  const Blocks blocks(c);
  for (Rank rank = group.first + 1; rank < group.first + group.count; ++rank) {
    if (c.rank != group.first && c.rank != rank) continue;
    for (std::uint32_t s = blocks.begin(rank); s < blocks.end(rank); ++s) {
      const Step step = c.rank == rank ? make::receive(group.first, landing_value(0, s))
                                       : make::send(rank, value(1, s), landing_value(0, s));
      co_yield make::with_next(step, s + 1 < blocks.end(rank));
    }
  }
  for (std::uint32_t s = blocks.begin(c.rank); s < blocks.end(c.rank) && c.rank != group.first; ++s)
    co_yield make::copy(value(0, s), landing_value(0, s));
}

// For reduce_scatter in one piece.
Steps inner_steps(const Context& c, const Nested& inner) {
  Steps steps = inner.row->steps(inner.context);
  return c.scatters() ? together(std::move(steps), c.segments) : std::move(steps);
}

void check_two_level(const Spec& spec) {
  require_nested(spec, "inner", Collective::reduce);
  require_nested(spec, "outer", std::nullopt);
  number_of(spec, "size", 4, 1, most_ranks);
}

// Only `outer` may be particular about it: a schedule that reduces to one rank serves any number.
std::optional<std::string> refusal_of_two_level(const Spec& spec, Rank rank_count) {
  const Spec::Parameter* outer = spec.parameter("outer");
  if (outer == nullptr) return std::nullopt;
  return refusal(outer->nested.front(), Levels({.rank_count = rank_count, .spec = &spec}).groups());
}

Steps two_level(Context c) {
  const Levels levels(c);
  const Nested inner = levels.inner(levels.own());
  for (Steps steps = inner_steps(c, inner); const Step* step = steps.next();) co_yield inner_step(*step, levels.own());
  const Rank source = levels.source();
  if (levels.is_leader()) {
    const Nested outer = levels.outer();
    const std::uint32_t own_end = c.scatters() ? Blocks(c).end(c.rank) : c.segments;
    for (Steps steps = outer.row->steps(outer.context); const Step* step = steps.next();) {
      const bool is_result = c.rooted() ? c.rank == c.root : step->target.segment < own_end;
      co_yield outer_step(*step, levels, is_result);
    }
  }
  if (c.rooted() && source == c.root) co_return;
  Steps back = c.rooted()     ? to_root(c, source)
               : c.scatters() ? to_owners(c, levels.own())
                              : broadcast(c.rank, levels.own(), c.segments);
  while (const Step* step = back.next()) co_yield *step;
}

Count two_level_messages(Context c) {
  const Levels levels(c);
  const RankRange last = levels.ranks(levels.groups() - 1);
  const auto others = static_cast<Count>(levels.groups() - 1);
  const Count inside = others * levels.inner(levels.ranks(0)).messages() + levels.inner(last).messages();
  const Count back =
      c.rooted() ? (levels.source() == c.root ? 0 : 1) : static_cast<Count>(c.rank_count - levels.groups());
  return inside + levels.outer().messages() + back * (c.scatters() ? 1 : c.segments);
}

// The unit of segments, a multiple of those of both levels.
Count two_level_unit(Context c) {
  const Levels levels(c);
  const RankRange last = levels.ranks(levels.groups() - 1);
  return std::lcm(std::lcm(levels.inner(levels.ranks(0)).unit(), levels.inner(last).unit()), levels.outer().unit());
}

constexpr std::array<std::string_view, 3> two_level_parameters = {"inner", "outer", "size"};
constexpr std::array<std::string_view, 3> two_level_examples = {"size=3", "inner=[flat]:outer=[ring]:size=4",
                                                                "inner=[halving_doubling]:outer=[circulant]:size=3"};

}  // namespace

constexpr Row two_level_row = {
    .name = "two_level",
    .sentence =
        "any reduce inside groups of size= ranks (inner=[name]), any schedule between their first ranks "
        "(outer=[name])",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "no plain with an operator that does not commute; groups are ranks in a row",
    .parameters = two_level_parameters,
    .source = "S3",
    .steps = two_level,
    .messages = two_level_messages,
    .rounds = nullptr,  // groups of several sizes start the second level at several times
    .check_parameters = check_two_level,
    .refusal_of_ranks = refusal_of_two_level,
    .examples = two_level_examples,
    .segments = Segments::one_per_rank,
    .unit = two_level_unit,
    .uneven = true,
};

}  // namespace steadfold::schedule::algorithm
