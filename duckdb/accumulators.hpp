// The accumulators of an aggregate function in one query. They have an owner of their own, because DuckDB does not
// destroy the states of groups that a query does not read, as in a query with LIMIT.
// Rank order: none. Cost: a lock for each accumulator that is taken or given back.
#pragma once

#include <deque>
#include <mutex>
#include <tuple>
#include <utility>

#include "arithmetic/superaccumulator/accumulator.hpp"

namespace steadfold::duckdb {

/// Owns accumulators until it is destroyed. All functions are thread-safe.
class Accumulators {
 public:
  /// Sums of doubles (factors = 1) or of products of two doubles (factors = 2).
  template <int factors>
  using Wide = arithmetic::Accumulator<double, factors>;

  /// Returns an accumulator without terms. Throws std::bad_alloc if there is no memory.
  template <int factors>
  Wide<factors>& take() {
    auto& [nodes, unused] = std::get<Made<factors>>(all_);
    const std::lock_guard guard(lock_);
    if (unused == nullptr) return nodes.emplace_back();
    return *std::exchange(unused, unused->next);
  }
  /// Takes an accumulator back, for later use.
  template <int factors>
  void give_back(Wide<factors>& wide) noexcept {
    wide.clear();
    auto& [nodes, unused] = std::get<Made<factors>>(all_);
    auto& node = static_cast<Node<factors>&>(wide);
    const std::lock_guard guard(lock_);
    node.next = std::exchange(unused, &node);
  }

 private:
  template <int factors>
  struct Node : Wide<factors> {
    Node* next = nullptr;
  };
  template <int factors>
  struct Made {
    std::deque<Node<factors>> nodes;  // they never move
    Node<factors>* unused = nullptr;  // the first node of a list
  };

  std::mutex lock_;
  std::tuple<Made<1>, Made<2>> all_;
};

}  // namespace steadfold::duckdb
