// Maximal full dyadic nodes under construction, from left to right: siblings that meet become the node above them.
// Rank order: left op right, always. Cost: one operation per pair of siblings, no memory of its own.
// Source: [S0] chapter 2; the binary counter of pairwise summation.
#pragma once

#include "arithmetic/operator.hpp"
#include "order/interval.hpp"

namespace steadfold::arithmetic {

/// Grows one list of nodes in ascending order of index, over storage that the caller owns. The value of the last node
/// may still stand outside the storage, so that a wide node which is combined at once is never copied.
class NodeStack {
 public:
  /// Values of `stride` bytes, `columns` elements each, are kept in `storage` from position `first` on.
  NodeStack(const Operator& op, order::Count columns, std::byte* storage, order::Count first = 0)
      : op_(&op), columns_(columns), stride_(op.element_bytes * columns), storage_(storage), count_(first) {}

  /// Appends a node that starts at or after the end of the last one; `value` must stay until the next push or `settle`.
  /// False when the operator failed. The storage must have room for one node more.
  bool push(order::Node node, const std::byte* value) {
    if (node.start != open_.end) {
      settle();
      open_ = {node.start, node.start};
    }
    while (!open_.empty()) {
      const order::Node last = order::last_node(open_);
      if (!order::are_siblings(last, node)) break;
      std::byte* const result = at(count_ - 1);
      if (combine(*op_, top(), value, result, columns_) != 0) return false;
      outside_ = nullptr;
      --count_;
      open_.end = last.start;
      node = order::above(last);
      value = result;
    }
    settle();
    ++count_;
    outside_ = value == at(count_ - 1) ? nullptr : value;
    open_.end = node.end();
    return true;
  }

  /// Takes in an interval that touches no node so far, whose nodes, so many, stand in the storage after the last one.
  void adopt(order::Interval interval, order::Count nodes) {
    settle();
    open_ = interval;
    count_ += nodes;
  }

  /// Brings the last value into the storage.
  void settle() {
    if (outside_ == nullptr) return;
    copy_values(*op_, outside_, at(count_ - 1), columns_);
    outside_ = nullptr;
  }

  /// The storage moved; what it held moved with it.
  void moved_to(std::byte* storage) { storage_ = storage; }

  order::Count count() const { return count_; }
  order::Interval open() const { return open_; }  // the interval that the last push extended

 private:
  std::byte* at(order::Count position) const { return storage_ + position * stride_; }
  const std::byte* top() const { return outside_ != nullptr ? outside_ : at(count_ - 1); }

  const Operator* op_;
  order::Count columns_;
  order::Bytes stride_;
  std::byte* storage_;
  order::Count count_;
  order::Interval open_;
  const std::byte* outside_ = nullptr;  // where the last value stands while it is not in the storage
};

}  // namespace steadfold::arithmetic
