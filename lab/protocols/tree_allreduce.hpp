// [S2]'s reduce and broadcast: contributions go up a tree of workers that see the same memory, the result comes down a
// tree, and is the credit for everything. Nobody counts what was taken, and there is no read-modify-write.
// Cost: per worker a line up and, where others read the result from it, a line down.
//
// Why that is enough. Whoever has the result of reduction k knows that its line up was read: it is in the result. And
// whoever merges a contribution to reduction k + depth knows that its sender has had the result of k, so when all are
// merged all have, and the lines down may be written again. So `depth` boxes serve `depth` reductions at a time, odd
// and even ones for two, and trees and roots may change from one to the next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/shared/flags.hpp"

namespace steadfold::transport {

/// What one worker shows to others: its contribution, with those of its subtree, and the result.
template <class Memory, class Content, std::size_t depth>
struct TreeNode {
  std::array<Box<Memory, Content>, depth> up;
  std::array<Box<Memory, Content>, depth> down;
};

/// A worker's links in one reduction, as numbers of workers. The tree down may be another one than the tree up, as
/// where all read the root's line.
struct TreeLinks {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t parent = none;              // none at the root
  std::span<const std::size_t> children;  // merged in this order
  std::size_t source = none;              // from whom the result is read; none at the root
  bool is_source = false;                 // for others
};

/// One worker's end. `Work` as for reductions (tree_reduce.hpp); work.read(content) takes the result over. With
/// `in_flight` above `depth`, which tests show to be wrong, more reductions are started than there are boxes for.
template <class Memory, class Content, std::size_t depth, class Work, std::size_t in_flight = depth>
class TreeAllreduce {
 public:
  using Node = TreeNode<Memory, Content, depth>;

  /// `nodes` are those of all workers.
  TreeAllreduce(std::span<Node> nodes, std::size_t worker) noexcept : nodes_(nodes), own_(&nodes[worker]) {}

  /// Whether another one may be started.
  bool has_room() const noexcept { return started_ < ended_ + in_flight; }
  /// `work` holds the worker's contribution, and the result when this reduction has ended. Both must live until then.
  void start(const TreeLinks& links, Work& work) noexcept {
    instances_[started_ % in_flight] = {&links, &work};
    started_ += 1;
  }
  /// Does the next thing that can be done; false if nothing can, and nothing has changed.
  bool advance() { return rise() || fall(); }
  /// How many reductions have ended; they end in the order in which they were started.
  std::uint64_t ended() const noexcept { return ended_; }

 private:
  struct Instance {
    const TreeLinks* links = nullptr;
    Work* work = nullptr;
  };

  static bool has_come(const Box<Memory, Content>& box, std::uint64_t reduction) noexcept {
    return box.number.load(Memory::expect) == reduction + 1;
  }
  static void announce(Box<Memory, Content>& box, const Work& work, std::uint64_t reduction) {
    work.write(box.content);
    box.number.store(reduction + 1, Memory::announce);
  }

  /// Merges what a child sent; when all have, sends it on.
  bool rise() {
    if (risen_ == started_) return false;
    const auto [links, work] = instances_[risen_ % in_flight];
    if (merged_ < links->children.size()) {
      const auto& box = nodes_[links->children[merged_]].up[risen_ % depth];
      if (!has_come(box, risen_)) return false;
      work->merge(box.content);
      merged_ += 1;
      return true;
    }
    const bool is_root = links->parent == TreeLinks::none;
    announce(is_root ? own_->down[risen_ % depth] : own_->up[risen_ % depth], *work, risen_);
    merged_ = 0;
    risen_ += 1;
    return true;
  }

  /// Reads the result, and hands it on.
  bool fall() {
    if (ended_ == risen_) return false;
    const auto [links, work] = instances_[ended_ % in_flight];
    if (links->source != TreeLinks::none) {
      const auto& box = nodes_[links->source].down[ended_ % depth];
      if (!has_come(box, ended_)) return false;
      work->read(box.content);
      if (links->is_source) announce(own_->down[ended_ % depth], *work, ended_);
    }
    ended_ += 1;
    return true;
  }

  std::span<Node> nodes_;
  Node* own_;
  std::array<Instance, in_flight> instances_{};
  std::uint64_t started_ = 0;
  std::uint64_t risen_ = 0;  // those whose contribution was sent
  std::uint64_t ended_ = 0;
  std::size_t merged_ = 0;  // children of the one that rises
};

}  // namespace steadfold::transport
