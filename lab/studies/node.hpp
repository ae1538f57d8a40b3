// The study of [S2]: reductions between the threads of a node, over trees, through cache lines, and reproducible sums
// that use them. One file per part.
// Source: [S2], reduce and allreduce implementations, HWLOC library, results. Its figures are pictures without numbers.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study.hpp"

namespace steadfold::command::studies::node {

Findings trees(const Asked& asked);
Findings storage(const Asked& asked);
Findings measured(const Asked& asked);
Findings sums(const Asked& asked);
Findings scaling(const Asked& asked);
Findings sockets(const Asked& asked);

inline constexpr std::array<Part, 6> parts = {{
    {"trees", "predicted times on two sockets of eight cores, by tree, protocol and place of the threads", trees},
    {"storage", "cache lines of all threads, by tree and protocol, beside those of [S2]", storage},
    {"measured", "reductions on threads of this machine, pinned, beside a team's plan and rivals (--ranks: how many)",
     measured},
    {"sums", "one vector dealt to threads (--ranks): double sweep, single sweep and others, by its length", sums},
    {"scaling", "the same by the number of threads (--ranks), beside one thread", scaling},
    {"sockets", "the same predicted on two sockets of eight cores like those of this machine", sockets},
}};

/// A tree over workers 0, 1, ..., with root 0.
struct Shape {
  std::string_view name;
  std::size_t (*parent)(std::size_t worker);  // of all but the root
};
inline constexpr Shape shapes[] = {
    {"chain", [](std::size_t worker) { return worker - 1; }},
    {"binary", [](std::size_t worker) { return (worker - 1) / 2; }},
    {"binomial", [](std::size_t worker) { return worker & (worker - 1); }},
    {"4-ary", [](std::size_t worker) { return (worker - 1) / 4; }},
    {"flat", [](std::size_t) { return std::size_t{0}; }},
};
inline constexpr std::size_t binary = 1;  // of `shapes`

/// A tree over so many workers, of one shape; or of as many trees of that shape as there are sockets, whose roots are
/// children of the first one's.
struct Tree {
  std::string name;
  std::vector<std::size_t> parents;  // by worker; the root's is itself
};

inline Tree tree_of(const Shape& shape, std::size_t workers) {
  Tree tree{.name = std::string(shape.name), .parents = {0}};
  for (std::size_t worker = 1; worker < workers; ++worker) tree.parents.push_back(shape.parent(worker));
  return tree;
}

/// `sockets`: by worker.
inline Tree tree_per_socket(const Shape& shape, std::span<const int> sockets) {
  Tree tree{.name = std::string(shape.name) + ", one per socket", .parents = {}};
  std::map<int, std::vector<std::size_t>> members;
  for (std::size_t worker = 0; worker < sockets.size(); ++worker) {
    std::vector<std::size_t>& own = members[sockets[worker]];
    tree.parents.push_back(own.empty() ? 0 : own[shape.parent(own.size())]);
    own.push_back(worker);
  }
  return tree;
}

/// A worker's children, in ascending order.
inline std::vector<std::size_t> children_of(const Tree& tree, std::size_t worker) {
  std::vector<std::size_t> children;
  for (std::size_t other = 1; other < tree.parents.size(); ++other)
    if (tree.parents[other] == worker) children.push_back(other);
  return children;
}

/// Seconds until a core of the same socket, or of the other one, has what was written for it, and for a merge of 16
/// doubles.
struct MessageTimes {
  double near;
  double far;
  double merge;
};
/// Those of machines with two sockets of [S2]'s time.
inline constexpr MessageTimes of_two_sockets = {.near = 60e-9, .far = 130e-9, .merge = 5e-9};

inline constexpr std::size_t doubles_merged = 16;  // in [S2]'s small reductions

/// Measured seconds of a reduction of that many doubles over two threads and its broadcast, a lower quartile.
double measured_there_and_back(int rounds);

/// Predicted seconds of a small reduction to the root on two sockets, over a binary tree in each, by MultiNotify or
/// SingleNotify, and of a broadcast back (node_trees.cpp).
double predicted_reduce(std::size_t workers, bool is_multi, const MessageTimes& times);
double predicted_broadcast(std::size_t workers, const MessageTimes& times);

}  // namespace steadfold::command::studies::node
