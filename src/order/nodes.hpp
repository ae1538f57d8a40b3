// Tells which ranks share a node of the machine, and in which order schedules with groups take the ranks: node by node.
// Rank order: kept within a node, and between the first ranks of nodes. Cost: 12 bytes per rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "order/layout.hpp"

namespace steadfold::order {

/// The nodes of a machine, as a table over all ranks of a job. The table is the same on every rank. Nodes are numbered
/// in the order of their first ranks. A rank's place is the number of ranks that are taken before it. Queries are O(1).
class Nodes {
 public:
  /// The connection between ranks of two nodes: a network; a part of the machine that is slower than the connection
  /// within a node; or a connection that costs many times as much, as messages between processes do if ranks are
  /// threads.
  enum class Between : std::uint8_t { network, packages, processes };

  /// `labels` has one number per rank: ranks with equal labels share a node. The numbers have no other meaning.
  explicit Nodes(std::span<const Rank> labels, Between between = Between::network);

  Rank rank_count() const noexcept { return static_cast<Rank>(rank_at_.size()); }
  Rank count() const noexcept { return static_cast<Rank>(first_.size()) - 1; }

  Rank node_of(Rank rank) const noexcept { return node_of_[static_cast<std::size_t>(rank)]; }
  Rank place_of(Rank rank) const noexcept { return place_of_[static_cast<std::size_t>(rank)]; }
  Rank rank_at(Rank place) const noexcept { return rank_at_[static_cast<std::size_t>(place)]; }
  /// Returns the place of a node's first rank; for count(), the rank count.
  Rank first_place(Rank node) const noexcept { return first_[static_cast<std::size_t>(node)]; }

  RankRange places(Rank node) const noexcept { return {first_place(node), first_place(node + 1) - first_place(node)}; }

  /// A size of nodes, and the number of nodes of this size.
  struct Size {
    Rank ranks = 0;
    Rank nodes = 0;

    friend constexpr bool operator==(const Size&, const Size&) = default;
  };
  std::span<const Size> sizes() const noexcept { return sizes_; }

  /// Returns the ranks in the order of their places.
  std::span<const Rank> ranks() const noexcept { return rank_at_; }
  /// Whether every rank's place is its rank number, so that the ranks of each node are contiguous.
  bool are_runs() const noexcept;
  /// Whether some nodes have several ranks.
  bool are_groups() const noexcept { return count() > 1 && sizes_.back().ranks > 1; }
  /// Whether all ranks of a node share one link to other nodes.
  bool share_links() const noexcept { return between_ != Between::packages; }
  /// Whether schedules that reduce within nodes first are better than others for every reduction.
  bool groups_always_pay() const noexcept { return are_groups() && between_ == Between::processes; }
  /// Returns the nodes of a job that has only the first `rank_count` ranks.
  Nodes first_ranks(Rank rank_count) const {
    return Nodes(std::span(node_of_).first(static_cast<std::size_t>(rank_count)), between_);
  }

  friend bool operator==(const Nodes& a, const Nodes& b) noexcept { return a.node_of_ == b.node_of_; }

 private:
  std::vector<Rank> node_of_;   // number of the node, by rank
  std::vector<Rank> place_of_;  // place, by rank
  std::vector<Rank> rank_at_;   // rank, by place
  std::vector<Rank> first_;     // by node: the place where the node begins; then the number of ranks
  std::vector<Size> sizes_;
  Between between_;
};

}  // namespace steadfold::order
