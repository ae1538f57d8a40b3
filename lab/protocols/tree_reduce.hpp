// Reductions over any tree of workers that see the same memory, [S2]'s SingleNotify and MultiNotify: a worker merges
// what its children send it, then sends what it has to its parent.
// Cost: one message of a lane per edge, and as many of them one after another as the tree is deep.
//
// A reduction is over when the worker has sent, so workers may be several reductions apart. The next one may go over
// another tree, to another root: the credit is counted lane by lane. All workers go through reductions in the same
// order, hence nobody waits for ever: whoever is furthest behind finds all its messages sent, and all its lanes taken.
//
// `Work` is what a worker has so far: work.merge(content) merges what a child sent, work.write(content) writes the
// result into a box. Nothing here keeps rank order: if `merge` needs it, it is up to the tree and to `Work`.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "transport/shared/flags.hpp"

namespace steadfold::transport {

/// A worker's place in the tree of one reduction: the lanes from its children, in the order in which SingleNotify
/// merges them, and the lane to its parent.
template <class Memory, class Content, std::size_t depth>
struct TreePlace {
  std::span<LaneReceiver<Memory, Content, depth>* const> children;
  LaneSender<Memory, Content, depth>* parent = nullptr;  // none at the root

  /// Sends `work` on, where there is a parent; false if its lane has no room yet.
  template <class Work>
  bool send(const Work& work) const {
    if (parent == nullptr) return true;
    if (!parent->has_room()) return false;
    work.write(parent->next());
    parent->send();
    return true;
  }
};

/// Waits for all children, then merges them in their order: the same operations whoever comes first.
template <class Memory, class Content, std::size_t depth, class Work>
class SingleNotify {
 public:
  /// `work` holds the worker's own contribution, and at the root the result when done.
  SingleNotify(const TreePlace<Memory, Content, depth>& place, Work& work) : place_(place), work_(&work) {}

  /// Does the next thing that can be done; false if nothing can, and nothing has changed.
  bool advance() {
    const std::size_t children = place_.children.size();
    if (arrived_ < children) {
      if (place_.children[arrived_]->look() == nullptr) return false;
      arrived_ += 1;
    } else if (merged_ < children) {
      merge(*place_.children[merged_]);
    } else {
      if (done_ || !place_.send(*work_)) return false;
      done_ = true;
    }
    return true;
  }
  bool done() const noexcept { return done_; }

 private:
  void merge(LaneReceiver<Memory, Content, depth>& child) {
    work_->merge(*child.look());
    child.take();
    merged_ += 1;
  }

  TreePlace<Memory, Content, depth> place_;
  Work* work_;
  std::size_t arrived_ = 0;
  std::size_t merged_ = 0;
  bool done_ = false;
};

/// Merges whatever has come, in any order: `merge` must be associative and commutative, bit for bit.
template <class Memory, class Content, std::size_t depth, class Work>
class MultiNotify {
 public:
  static constexpr std::size_t most_children = 64;

  /// As SingleNotify. Throws std::length_error if there are more than `most_children` of them.
  MultiNotify(const TreePlace<Memory, Content, depth>& place, Work& work) : place_(place), work_(&work) {
    const std::size_t children = place.children.size();
    if (children > most_children) {
      throw std::length_error("a node with " + std::to_string(children) + " children (at most " +
                              std::to_string(most_children) + " can be watched), take a deeper tree");
    }
    if (children > 0) missing_ = ~std::uint64_t{0} >> (most_children - children);
  }

  /// Does the next thing that can be done; false if nothing can, and nothing has changed.
  bool advance() {
    for (std::uint64_t left = missing_; left != 0; left &= left - 1) {
      auto* child = place_.children[static_cast<std::size_t>(std::countr_zero(left))];
      const Content* content = child->look();
      if (content == nullptr) continue;
      work_->merge(*content);
      child->take();
      missing_ ^= left & -left;
      return true;
    }
    if (missing_ != 0 || done_ || !place_.send(*work_)) return false;
    done_ = true;
    return true;
  }
  bool done() const noexcept { return done_; }

 private:
  TreePlace<Memory, Content, depth> place_;
  Work* work_;
  std::uint64_t missing_ = 0;  // a bit per child
  bool done_ = false;
};

}  // namespace steadfold::transport
