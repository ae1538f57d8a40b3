// The study of [S2]: reductions of 16 doubles between the threads of a node, over trees, through cache lines. One file
// per part.
// Source: [S2], reduce and allreduce implementations, HWLOC library, performance of the reduce operation. Its figures
// are pictures without numbers.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "study.hpp"

namespace steadfold::command::studies::node {

Findings trees(const Asked& asked);
Findings measured(const Asked& asked);

inline constexpr std::array<Part, 2> parts = {{
    {"trees", "predicted times on two sockets of eight cores, by tree, protocol and place of the threads", trees},
    {"measured", "the same on threads of this machine, pinned, beside a team's plan (--ranks: how many threads)",
     measured},
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

/// A worker's children, in ascending order.
inline std::vector<std::size_t> children_of(const Shape& shape, std::size_t worker, std::size_t workers) {
  std::vector<std::size_t> children;
  for (std::size_t other = 1; other < workers; ++other)
    if (shape.parent(other) == worker) children.push_back(other);
  return children;
}

}  // namespace steadfold::command::studies::node
