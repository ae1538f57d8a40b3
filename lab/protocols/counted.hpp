// [S2]'s SingleNotify as it is described there, and its broadcast: a worker's children add to one count, and their
// lines have no numbers; who reads its result adds to another. The baselines of the protocols that do without counts.
// Source: [S2], "the congestion caused by the atomic increment of notify count", and of the broadcast "(data & flag)
// and (notification_count)". How a child knows that its line was read is not stated; here its parent counts what it
// took. Cost: per worker `depth` lines up and one that says what was taken, `depth` counts, and a feed where others
// read from it (feed.hpp). One atomic addition per edge up, and one per edge down.
//
// There is a count per line, as in feeds: a child that is ahead may already tell of the next contribution, and one
// count would take that for a slow child's. All reductions go over one tree, or a count would be of children of
// several.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lab/protocols/feed.hpp"
#include "lab/protocols/tree_allreduce.hpp"

namespace steadfold::transport {

/// How often a worker's children have told it that a contribution is there, since ever.
template <class Memory>
struct alignas(cache_line) NotifyCount {
  typename Memory::Counter told{0};
};

/// What one worker shows to its parent and its children. With `counts` 1, which tests show to be too few, there is one
/// count for all lines.
template <class Memory, class Content, std::size_t depth, std::size_t counts = depth>
struct CountedNode {
  struct alignas(cache_line) Line {
    Content content{};
  };
  std::array<Line, depth> up;
  alignas(cache_line) typename Memory::Counter taken{0};  // of these lines, by the parent
  std::array<NotifyCount<Memory>, counts> children;
};

/// One worker's end of reductions to the root. `Work` as for those over lanes (tree_reduce.hpp).
template <class Memory, class Content, std::size_t depth, class Work, std::size_t counts = depth>
class CountedNotify {
 public:
  using Node = CountedNode<Memory, Content, depth, counts>;

  /// `nodes` are those of all workers. The links hold for all reductions.
  CountedNotify(std::span<Node> nodes, std::size_t worker, const TreeLinks& links) noexcept
      : nodes_(nodes), own_(&nodes[worker]), links_(links) {}

  /// `work` holds the worker's contribution, and at the root the result when done. The last one must have ended.
  void start(Work& work) noexcept {
    work_ = &work;
    has_all_ = false;
    merged_ = 0;
    done_ = false;
  }
  /// Does the next thing that can be done; false if nothing can, and nothing has changed.
  bool advance() {
    if (done_) return false;
    if (!has_all_) return has_all_ = all_have_told();
    if (merged_ < links_.children.size()) {
      merge(nodes_[links_.children[merged_]]);
      return true;
    }
    if (links_.parent != TreeLinks::none) {
      if (own_->taken.load(Memory::take_back) + depth <= reduction_) return false;
      work_->write(own_->up[reduction_ % depth].content);
      nodes_[links_.parent].children[reduction_ % counts].told.fetch_add(1, Memory::announce);
    }
    reduction_ += 1;
    return done_ = true;
  }
  bool done() const noexcept { return done_; }

 private:
  bool all_have_told() const noexcept {
    const std::uint64_t of_this_count = reduction_ / counts + 1;
    return own_->children[reduction_ % counts].told.load(Memory::expect) >= of_this_count * links_.children.size();
  }
  void merge(Node& child) {
    work_->merge(child.up[reduction_ % depth].content);
    child.taken.store(reduction_ + 1, Memory::give_back);
    merged_ += 1;
  }

  std::span<Node> nodes_;
  Node* own_;
  TreeLinks links_;
  Work* work_ = nullptr;
  std::uint64_t reduction_ = 0;  // those that this worker has sent on
  std::size_t merged_ = 0;
  bool has_all_ = false;
  bool done_ = true;
};

/// One worker's end of broadcasts from the root: a feed per worker that has children.
template <class Memory, class Content, std::size_t depth, class Work>
class CountedBroadcast {
 public:
  using Line = Feed<Memory, Content, depth>;

  /// `feeds` are those of all workers. The links hold for all broadcasts: a worker reads from its parent.
  CountedBroadcast(std::span<Line> feeds, std::size_t worker, const TreeLinks& links) noexcept
      : own_(feeds[worker]),
        is_root_(links.parent == TreeLinks::none),
        source_(feeds[is_root_ ? worker : links.parent]),
        readers_(links.children.size()) {}

  /// `work` holds what is sent at the root, and everywhere when done. The last one must have ended.
  void start(Work& work) noexcept {
    work_ = &work;
    has_it_ = is_root_;
    done_ = false;
  }
  /// Does the next thing that can be done; false if nothing can, and nothing has changed.
  bool advance() {
    if (done_) return false;
    if (!has_it_) {
      const Content* content = source_.look();
      if (content == nullptr) return false;
      work_->read(*content);
      source_.take();
      return has_it_ = true;
    }
    if (readers_ > 0) {
      if (!own_.has_room()) return false;
      work_->write(own_.next());
      own_.send(readers_);
    }
    return done_ = true;
  }
  bool done() const noexcept { return done_; }

 private:
  FeedWriter<Memory, Content, depth> own_;
  bool is_root_;
  FeedReader<Memory, Content, depth> source_;
  std::size_t readers_;
  Work* work_ = nullptr;
  bool has_it_ = false;
  bool done_ = true;
};

}  // namespace steadfold::transport
