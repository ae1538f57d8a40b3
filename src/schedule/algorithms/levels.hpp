// Part of two_level and root_group_last: the schedules inside groups and between the leaders of groups. Each is made as
// if its ranks were a whole job. The caller rewrites their steps: ranks and rows become ranks and rows of the whole
// job, and slots get numbers that no other level uses.
// Cost: O(groups) to construct, or O(segments) for reduce_scatter. Source: Balaji & Kimpe, section III.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "schedule/algorithms/blocks.hpp"
#include "schedule/algorithms/cyclic.hpp"
#include "schedule/algorithms/groups.hpp"
#include "schedule/algorithms/open.hpp"
#include "schedule/algorithms/scatter.hpp"

namespace steadfold::schedule {

/// A schedule that is nested in another schedule: its algorithm, and the context for its steps and formulas.
struct Nested {
  const Algorithm* algorithm;
  Context context;

  Steps steps() const { return algorithm->steps(context); }
  Count messages() const { return algorithm->messages(context); }
  Count rounds() const { return algorithm->rounds(context); }
  /// Returns the result of the algorithm's `vectors`, or its default.
  double vectors() const {
    return algorithm->vectors ? algorithm->vectors(context) : static_cast<double>(rounds()) / context.segments;
  }
  Count unit() const { return algorithm->unit_of(context); }
  std::uint32_t ports() const { return algorithm->port_count(context); }
};

/// The schedules to use if the caller names none.
struct Defaults {
  const Algorithm* inner;
  const Algorithm* outer;
};

class Levels {
 public:
  Levels(const Context& c, Defaults defaults) : context_(c), groups_(c), defaults_(defaults) {
    if (c.scatters()) deal_segments();
  }
  Levels(const Levels&) = delete;  // not copied, because contexts point to members of this object
  Levels& operator=(const Levels&) = delete;

  const Groups& groups() const { return groups_; }
  Rank place() const { return groups_.place_of(context_.rank); }
  RankRange own() const { return groups_.places(group()); }
  bool is_leader() const { return place() == own().first; }
  Rank group() const { return groups_.group_of(context_.rank); }
  Rank root_group() const { return groups_.group_of(context_.root); }
  /// Returns the leader of a group: its first rank, which takes part in the schedule between groups.
  Rank leader(Rank group) const { return groups_.rank_at(groups_.first(group)); }

  /// Returns the reduce of this rank's group to its leader.
  Nested inner() const {
    Nested nested = inner_of(own().count);
    nested.context.rank = place() - own().first;
    return nested;
  }
  /// Returns the reduce of a group of `ranks` ranks to its leader, in the leader's context. Formulas use it.
  Nested inner_of(Rank ranks) const {
    Nested nested = named("inner", *defaults_.inner);
    nested.context.rank = nested.context.root = 0;
    nested.context.rank_count = ranks;
    nested.context.collective = Collective::reduce;
    if (context_.scatters()) nested.context = reduce_before_scatter(nested.context);
    return nested;
  }
  Nested outer() const {
    Nested nested = named("outer", *defaults_.outer);
    nested.context.blocks = blocks_;
    nested.context.rank = group();
    nested.context.rank_count = groups_.count();
    nested.context.root = root_group();
    return nested;
  }
  /// Returns `outer` with every block as long as the longest block. Formulas for rounds need blocks of equal length.
  Nested outer_of_even_blocks() const {
    Nested nested = outer();
    if (!context_.scatters()) return nested;
    std::uint32_t longest = 0;
    for (std::size_t i = 0; i + 1 < blocks_.size(); ++i) longest = std::max(longest, blocks_[i + 1] - blocks_[i]);
    nested.context.segments = longest * static_cast<std::uint32_t>(groups_.count());
    nested.context.blocks = {};
    return nested;
  }

  /// Converts a segment of the schedule between leaders to the job's segment. In a reduce_scatter between leaders, the
  /// segments of a group's ranks are contiguous.
  std::uint32_t segment_of(std::uint32_t outers) const { return segments_.empty() ? outers : segments_[outers]; }

 private:
  void deal_segments() {
    const Blocks blocks(context_);
    segments_.reserve(context_.segments);
    for (Rank place = 0; place < context_.rank_count; ++place) {
      const Rank rank = groups_.rank_at(place);
      if (groups_.first(groups_.group_of(rank)) == place)
        blocks_.push_back(static_cast<std::uint32_t>(segments_.size()));
      for (std::uint32_t s = blocks.begin(rank); s < blocks.end(rank); ++s) segments_.push_back(s);
    }
    blocks_.push_back(static_cast<std::uint32_t>(segments_.size()));
  }
  Nested named(std::string_view key, const Algorithm& otherwise) const {
    Nested nested{&otherwise, context_};
    const Spec::Parameter* asked = context_.spec ? context_.spec->parameter(key) : nullptr;
    nested.context.nodes = nullptr;
    nested.context.spec = asked ? &asked->nested.front() : nullptr;
    if (asked) nested.algorithm = asked->nested.front().algorithm;
    return nested;
  }

  Context context_;
  Groups groups_;
  Defaults defaults_;
  std::vector<std::uint32_t> blocks_;    // reduce_scatter: the first segment of each group, and the number of segments
  std::vector<std::uint32_t> segments_;  // the job's segments in the order of places
};

/// Makes the steps of the inner schedule. In reduce_scatter a message carries all segments.
inline Steps inner_steps(const Context& c, const Nested& inner) {
  return c.scatters() ? for_all_segments(inner.steps(), c.segments) : inner.steps();
}

/// Returns the number of messages of all inner schedules.
inline Count inner_messages(const Levels& levels) {
  Count messages = 0;
  for (const auto& [ranks, groups] : levels.groups().sizes())
    messages += static_cast<Count>(groups) * levels.inner_of(ranks).messages();
  return messages;
}

/// Returns the number of rounds until all inner schedules are done.
inline Count inner_rounds(const Levels& levels) {
  Count rounds = 0;
  for (const auto& size : levels.groups().sizes()) rounds = std::max(rounds, levels.inner_of(size.ranks).rounds());
  return rounds;
}

/// Returns the unit of the number of segments: a multiple of the units of all levels. If no call can have so many
/// columns, returns a larger number.
inline Count unit_of(const Levels& levels) {
  Count unit = levels.outer().unit();
  for (const auto& size : levels.groups().sizes()) {
    const Count own = levels.inner_of(size.ranks).unit();
    const Count factor = own / std::gcd(unit, own);
    unit = factor > most_block / unit ? most_block : unit * factor;
  }
  return unit;
}

/// Returns the largest number of ports of any level.
inline std::uint32_t ports_of(const Levels& levels) {
  std::uint32_t ports = levels.outer().ports();
  for (const auto& size : levels.groups().sizes()) ports = std::max(ports, levels.inner_of(size.ranks).ports());
  return ports;
}

inline void check_levels(const Spec& spec) {
  require_nested(spec, "inner", Collective::reduce);
  require_nested(spec, "outer", std::nullopt);
  Groups::check(spec);
}

/// Says why the schedule between groups cannot serve the number of groups. Only `outer` may refuse a number of groups:
/// a schedule that reduces to one rank serves any number of ranks.
inline std::optional<std::string> refusal_between_groups(const Context& c) {
  const Spec::Parameter* outer = c.spec->parameter("outer");
  if (outer == nullptr) return std::nullopt;
  return refusal(outer->nested.front(), Groups(c).count());
}

/// Number of kinds of slots. Levels use different slots: a slot of each kind gets a number that only this kind uses.
inline constexpr int slot_kinds = 3;
constexpr int last_number_of(int last_number_inside, int levels) {
  return levels == 0 ? last_number_inside
                     : last_number_of(slot_kinds * last_number_inside + slot_kinds - 1, levels - 1);
}
static_assert(last_number_of(std::max(most_open, last_landing_slot), most_nested + 1) <=
                  std::numeric_limits<decltype(Slot::number)>::max(),
              "slot numbers must have room for the deepest nesting of the schedules with the most slots (flat, and the "
              "schedules of cyclic.hpp)");
constexpr Slot of_kind(Slot slot, int kind) {
  slot.number = static_cast<std::uint16_t>(slot_kinds * slot.number + kind);
  return slot;
}
/// Returns the partial slot that takes the place of a value slot.
constexpr Slot as_partial(Slot slot) {
  slot.kind = slot.kind == SlotKind::value ? SlotKind::partial : SlotKind::landing;
  return slot;
}

}  // namespace steadfold::schedule
