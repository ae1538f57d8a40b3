// Part of two_level and root_group_last: the schedules inside groups and between their leaders, made as for jobs of
// their own. Whoever takes their steps rewrites them: ranks and rows become those of the whole job, slots get numbers
// that no other level uses.
// Cost: O(groups) to make; if blocks are dealt, O(segments). Source: [S3] section III.
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

/// A schedule of another row, and what its steps and formulas are made of.
struct Nested {
  const Row* row;
  Context context;

  Steps steps() const { return row->steps(context); }
  Count messages() const { return row->messages(context); }
  Count rounds() const { return row->rounds(context); }
  /// As the row's `vectors`.
  double vectors() const {
    return row->vectors ? row->vectors(context) : static_cast<double>(rounds()) / context.segments;
  }
  Count unit() const { return row->unit_of(context); }
  std::uint32_t ports() const { return row->port_count(context); }
};

/// The schedules where none is asked for.
struct Defaults {
  const Row* inner;
  const Row* outer;
};

class Levels {
 public:
  Levels(const Context& c, Defaults defaults) : context_(c), groups_(c), defaults_(defaults) {
    if (c.scatters()) deal_segments();
  }
  Levels(const Levels&) = delete;  // contexts point into it
  Levels& operator=(const Levels&) = delete;

  const Groups& groups() const { return groups_; }
  Rank place() const { return groups_.place_of(context_.rank); }
  RankRange own() const { return groups_.places(group()); }
  bool is_leader() const { return place() == own().first; }
  Rank group() const { return groups_.group_of(context_.rank); }
  Rank root_group() const { return groups_.group_of(context_.root); }
  /// The rank that stands for a group between groups: its first.
  Rank leader(Rank group) const { return groups_.rank_at(groups_.first(group)); }

  /// The reduce of this rank's group to its leader.
  Nested inner() const {
    Nested nested = inner_of(own().count);
    nested.context.rank = place() - own().first;
    return nested;
  }
  /// The reduce of a group of `ranks` ranks to its leader, seen from the leader. Formulas use it.
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
  /// `outer` with every block as long as the longest: formulas for rounds want blocks of one length.
  Nested outer_of_even_blocks() const {
    Nested nested = outer();
    if (!context_.scatters()) return nested;
    std::uint32_t longest = 0;
    for (std::size_t i = 0; i + 1 < blocks_.size(); ++i) longest = std::max(longest, blocks_[i + 1] - blocks_[i]);
    nested.context.segments = longest * static_cast<std::uint32_t>(groups_.count());
    nested.context.blocks = {};
    return nested;
  }

  /// In reduce_scatter the segments of a group's ranks stand in a row between leaders: which one is it for the job?
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
  Nested named(std::string_view key, const Row& otherwise) const {
    Nested nested{&otherwise, context_};
    const Spec::Parameter* asked = context_.spec ? context_.spec->parameter(key) : nullptr;
    nested.context.nodes = nullptr;
    nested.context.spec = asked ? &asked->nested.front() : nullptr;
    if (asked) nested.row = asked->nested.front().row;
    return nested;
  }

  Context context_;
  Groups groups_;
  Defaults defaults_;
  std::vector<std::uint32_t> blocks_;    // for reduce_scatter: where each group's segments begin, and the end
  std::vector<std::uint32_t> segments_;  // those of the job in that order
};

/// The inner schedule's steps; reduce_scatter reduces in one piece.
inline Steps inner_steps(const Context& c, const Nested& inner) {
  return c.scatters() ? together(inner.steps(), c.segments) : inner.steps();
}

/// Messages of all inner schedules.
inline Count inner_messages(const Levels& levels) {
  Count messages = 0;
  for (const auto& [ranks, groups] : levels.groups().sizes())
    messages += static_cast<Count>(groups) * levels.inner_of(ranks).messages();
  return messages;
}

/// Rounds until all of them are done.
inline Count inner_rounds(const Levels& levels) {
  Count rounds = 0;
  for (const auto& size : levels.groups().sizes()) rounds = std::max(rounds, levels.inner_of(size.ranks).rounds());
  return rounds;
}

/// The unit of segments, a multiple of those of all levels; if no call has so many columns, some larger number.
inline Count unit_of(const Levels& levels) {
  Count unit = levels.outer().unit();
  for (const auto& size : levels.groups().sizes()) {
    const Count own = levels.inner_of(size.ranks).unit();
    const Count factor = own / std::gcd(unit, own);
    unit = factor > most_block / unit ? most_block : unit * factor;
  }
  return unit;
}

/// As many ports as the level that has most.
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

/// Only `outer` may be particular about the number of groups: a schedule that reduces to one rank serves any.
inline std::optional<std::string> refusal_between_groups(const Context& c) {
  const Spec::Parameter* outer = c.spec->parameter("outer");
  if (outer == nullptr) return std::nullopt;
  return refusal(outer->nested.front(), Groups(c).count());
}

/// Each level keeps its slots apart: a slot of one of three kinds gets a number of that kind.
inline constexpr int slot_kinds = 3;
constexpr int last_number_of(int last_number_inside, int levels) {
  return levels == 0 ? last_number_inside
                     : last_number_of(slot_kinds * last_number_inside + slot_kinds - 1, levels - 1);
}
static_assert(last_number_of(std::max(most_open, last_landing_slot), most_nested + 1) <=
                  std::numeric_limits<decltype(Slot::number)>::max(),
              "flat and rows of cyclic.hpp number most slots, and all levels that can be asked for must find room");
constexpr Slot of_kind(Slot slot, int kind) {
  slot.number = static_cast<std::uint16_t>(slot_kinds * slot.number + kind);
  return slot;
}
/// A partial where a value was.
constexpr Slot as_partial(Slot slot) {
  slot.kind = slot.kind == SlotKind::value ? SlotKind::partial : SlotKind::landing;
  return slot;
}

}  // namespace steadfold::schedule
