// Maximal full dyadic nodes under construction, from left to right. Two siblings are combined to their parent.
// Rank order: left op right, always. Cost: one operation per pair of siblings, and one copy of each node without a
// sibling. Allocates no memory.
// Source: Stelz 2022, chapter 2; the binary counter of pairwise summation.
#pragma once

#include "arithmetic/operator.hpp"
#include "arithmetic/tree/pass_through.hpp"
#include "order/interval.hpp"

namespace steadfold::arithmetic {

/// Builds one list of nodes in ascending order of index, in memory that the caller owns. The value of the last node may
/// still be outside this memory, so a wide node that is combined at once is never copied.
class NodeStack {
 public:
  /// Makes a stack that keeps values of `columns` elements in `storage`, from position `first` on.
  NodeStack(const Operator& op, order::Count columns, std::byte* storage, order::Count first = 0)
      : NodeStack(op, columns, op.element_bytes * columns, storage, first) {}
  /// Makes a stack that keeps values in `storage`, `stride` bytes apart; appended values have the same stride. `made`
  /// is the number of changes already made, see Changes.
  NodeStack(const Operator& op, order::Count columns, order::Bytes stride, std::byte* storage, order::Count first,
            order::Count made = 0)
      : op_(&op), columns_(columns), stride_(stride), storage_(storage), count_(first), changes_(made) {}

  /// Appends a node that starts at or after the end of the last node. `value` must stay valid until the next push or
  /// `settle`. Returns false if the operator failed. The storage must have room for one more node.
  bool push(order::Node node, const std::byte* value) {
    if (node.start != open_.end) open_ = {node.start, node.start};
    return combine_last(siblings_of(node), node, value);
  }

  /// Appends all nodes of an interval that starts at or after the end of the last node. Their values must stay valid as
  /// in `push`. If a node has no sibling, the later nodes have none either, and are copied. Returns the end of the
  /// values; null if the operator failed.
  const std::byte* append(order::Interval interval, const std::byte* values) {
    bool finds_siblings = interval.begin == open_.end && !open_.empty();
    while (finds_siblings && !interval.empty()) {
      const order::Node node = order::first_node(interval);
      const order::Count siblings = siblings_of(node);
      if (!combine_last(siblings, node, values)) return nullptr;
      finds_siblings = siblings > 0;
      values += stride_;
      interval.begin = node.end();
    }
    if (interval.empty()) return values;
    settle();
    if (interval.begin != open_.end) open_.begin = interval.begin;
    open_.end = interval.end;
    const order::Count but_one = order::node_count(interval) - 1;
    change([&] { copy_rows(*op_, columns_, stride_, values, at(count_), but_one); });
    count_ += but_one + 1;
    outside_ = values + but_one * stride_;
    return outside_ + stride_;
  }

  /// Adds an interval that touches no earlier node. Its nodes already follow the last node in the storage.
  void adopt(order::Interval interval, order::Count nodes) {
    settle();
    open_ = interval;
    count_ += nodes;
  }

  /// Copies the last value into the storage.
  void settle() {
    if (outside_ == nullptr) return;
    change([&] { copy_values(*op_, outside_, at(count_ - 1), columns_); });
    outside_ = nullptr;
  }

  /// Says that the storage has moved, with its contents.
  void moved_to(std::byte* storage) { storage_ = storage; }

  order::Count count() const { return count_; }
  /// Whether the operator wants to be called later, after a push that failed. If so, another stack over the same
  /// storage must repeat the same pushes, with `made` changes already made.
  bool is_postponed() const { return wrong_ == postponed; }
  order::Count made() const { return changes_.made(); }

 private:
  std::byte* at(order::Count position) const { return storage_ + position * stride_; }
  order::Count siblings_of(order::Node node) const {
    return static_cast<order::Count>(order::sibling_count(open_, node.level));
  }
  template <class Change>
  void change(Change make) {
    changes_.make([&] { return make(), 0; });
  }
  /// Combines the last `siblings` nodes with the node that follows them, and appends the result.
  bool combine_last(order::Count siblings, order::Node node, const std::byte* value) {
    if (siblings > 1 && stride_ == op_->element_bytes && op_->fold_right != nullptr) {
      settle();
      if (value != at(count_)) std::memcpy(at(count_), value, stride_);
      count_ -= siblings;
      value = at(count_);
      op_->fold_right(value, siblings + 1, at(count_));
    } else {
      for (order::Count i = 0; i < siblings; ++i) {
        std::byte* const result = at(count_ - 1);
        wrong_ = changes_.make([&] { return combine(*op_, top(), value, result, columns_); });
        if (wrong_ != 0) return false;
        outside_ = nullptr;
        --count_;
        value = result;
      }
      settle();
    }
    if (value != at(count_)) outside_ = value;
    ++count_;
    open_.end = node.end();
    return true;
  }
  const std::byte* top() const { return outside_ != nullptr ? outside_ : at(count_ - 1); }

  const Operator* op_;
  order::Count columns_;
  order::Bytes stride_;
  std::byte* storage_;
  order::Count count_;
  order::Interval open_;                // the last interval without a gap
  const std::byte* outside_ = nullptr;  // the last value, if it is not yet in the storage
  Changes changes_;
  int wrong_ = 0;  // return value of the operator
};

}  // namespace steadfold::arithmetic
