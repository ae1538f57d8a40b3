// Part of two_level and root_group_last: the groups of ranks that reduce internally. Groups are the nodes of the
// machine, or `size=` consecutive ranks. Every rank has a place, a number from 0
// on, and the ranks of a group have consecutive places.
// Cost: O(1) per query.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

inline constexpr Rank most_ranks_in_group = 1 << 28;

/// Groups of ranks. If groups are consecutive ranks, a rank's place is its rank number.
class Groups {
 public:
  using Size = order::Nodes::Size;  // number of ranks of a group, and the number of groups of this size

  explicit Groups(const Context& c)
      : nodes_(c.nodes),
        rank_count_(c.rank_count),
        size_(c.spec ? static_cast<Rank>(number_of(*c.spec, "size", default_size, 1, most_ranks_in_group))
                     : default_size) {}

  static void check(const Spec& spec) { number_of(spec, "size", default_size, 1, most_ranks_in_group); }

  Rank place_of(Rank rank) const { return nodes_ ? nodes_->place_of(rank) : rank; }
  Rank rank_at(Rank place) const { return nodes_ ? nodes_->rank_at(place) : place; }

  Rank count() const { return nodes_ ? nodes_->count() : (rank_count_ + size_ - 1) / size_; }
  Rank group_of(Rank rank) const { return nodes_ ? nodes_->node_of(rank) : rank / size_; }
  /// Returns the place at which a group begins. first(count()) is the number of ranks.
  Rank first(Rank group) const {
    if (nodes_) return nodes_->first_place(group);
    return group < count() ? group * size_ : rank_count_;
  }
  RankRange places(Rank group) const { return {first(group), first(group + 1) - first(group)}; }
  /// Returns the places of consecutive groups; after the last group comes group 0.
  RankRange places(RankRange groups) const {
    // Number of groups after the last group, counted from group 0 again.
    const Rank beyond = std::max(groups.first + groups.count - count(), 0);
    return {first(groups.first), first(groups.first + groups.count - beyond) - first(groups.first) + first(beyond)};
  }

  /// Returns the distinct sizes of groups, in ascending order.
  std::vector<Size> sizes() const {
    if (nodes_) return {nodes_->sizes().begin(), nodes_->sizes().end()};
    const Rank last = places(count() - 1).count;
    if (last == size_) return {{size_, count()}};
    if (count() == 1) return {{last, 1}};
    return {{last, 1}, {size_, count() - 1}};
  }

 private:
  static constexpr Rank default_size = 4;

  const order::Nodes* nodes_;
  Rank rank_count_;
  Rank size_;
};

}  // namespace steadfold::schedule
