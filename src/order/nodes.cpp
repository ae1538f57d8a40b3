// Numbers the nodes of a machine and the ranks on them. Cost: the constructor takes O(p log p) for p ranks.
#include "order/nodes.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace steadfold::order {

Nodes::Nodes(std::span<const Rank> labels, Between between)
    : node_of_(labels.size()), place_of_(labels.size()), rank_at_(labels.size()), between_(between) {
  std::map<Rank, Rank> numbers;  // number of each node, by its label
  std::vector<Rank> ranks_of;
  for (std::size_t rank = 0; rank < labels.size(); ++rank) {
    node_of_[rank] = numbers.try_emplace(labels[rank], static_cast<Rank>(numbers.size())).first->second;
    ranks_of.resize(numbers.size());
    ++ranks_of[static_cast<std::size_t>(node_of_[rank])];
  }
  first_.resize(ranks_of.size() + 1);
  std::partial_sum(ranks_of.begin(), ranks_of.end(), first_.begin() + 1);
  std::vector<Rank> next(first_.begin(), first_.end() - 1);
  for (std::size_t rank = 0; rank < labels.size(); ++rank) {
    place_of_[rank] = next[static_cast<std::size_t>(node_of_[rank])]++;
    rank_at_[static_cast<std::size_t>(place_of_[rank])] = static_cast<Rank>(rank);
  }
  std::ranges::sort(ranks_of);
  for (const Rank ranks : ranks_of) {
    if (sizes_.empty() || sizes_.back().ranks != ranks) sizes_.push_back({ranks, 0});
    ++sizes_.back().nodes;
  }
}

bool Nodes::are_runs() const noexcept { return std::ranges::is_sorted(rank_at_); }

}  // namespace steadfold::order
