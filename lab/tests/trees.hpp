// Trees of a few workers, as tests write them down, and what each worker needs to take part.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "lab/protocols/tree_allreduce.hpp"
#include "lab/protocols/tree_reduce.hpp"
#include "transport/shared/flags.hpp"

namespace steadfold::transport {

inline constexpr std::size_t most_workers = 4;

/// The parent of each worker; the root is its own.
using Parents = std::array<std::size_t, most_workers>;

/// One worker's ends of the lanes to and from all others.
template <class Memory, class Content, std::size_t depth>
class Ends {
 public:
  using Lanes = std::array<std::array<Lane<Memory, Content, depth>, most_workers>, most_workers>;  // [from][to]
  using Place = TreePlace<Memory, Content, depth>;

  Ends(Lanes& lanes, std::size_t worker) : worker_(worker) {
    for (std::size_t other = 0; other < most_workers; ++other) {
      to_[other].emplace(lanes[worker][other]);
      from_[other].emplace(lanes[other][worker]);
    }
  }
  /// Until the next one is asked for.
  Place place(const Parents& parents, std::size_t workers) {
    std::size_t count = 0;
    for (std::size_t other = 0; other < workers; ++other) {
      if (other != worker_ && parents[other] == worker_) children_[count++] = &*from_[other];
    }
    const std::size_t parent = parents[worker_];
    return {std::span(children_).first(count), parent == worker_ ? nullptr : &*to_[parent]};
  }

 private:
  std::size_t worker_;
  std::array<std::optional<LaneSender<Memory, Content, depth>>, most_workers> to_;
  std::array<std::optional<LaneReceiver<Memory, Content, depth>>, most_workers> from_;
  std::array<LaneReceiver<Memory, Content, depth>*, most_workers> children_{};
};

/// The trees of one reduction: up, and down. Both have the same root.
struct Trees {
  Parents up;
  Parents down;
};

/// A worker's links, and the children that they point to.
struct Links {
  std::array<std::size_t, most_workers> children{};
  TreeLinks links;

  void set(const Trees& trees, std::size_t worker, std::size_t workers) {
    std::size_t count = 0;
    links = {};
    for (std::size_t other = 0; other < workers; ++other) {
      if (other == worker) continue;
      if (trees.up[other] == worker) children[count++] = other;
      links.is_source = links.is_source || trees.down[other] == worker;
    }
    links.children = std::span(children).first(count);
    if (trees.up[worker] == worker) return;
    links.parent = trees.up[worker];
    links.source = trees.down[worker];
  }
};

}  // namespace steadfold::transport
