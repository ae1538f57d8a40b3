#include "arithmetic/tree/merge.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "arithmetic/tree/pass_through.hpp"
#include "arithmetic/tree/record.hpp"

namespace steadfold::arithmetic {
namespace {

using order::Interval;
using order::Node;

/// The head of a valid record of one interval.
class RecordHead {
 public:
  RecordHead(std::uint64_t digest, Interval interval, Bytes stride)
      : nodes_(order::node_count(interval)), bytes_(sizeof words_ + nodes_ * stride) {
    std::array<std::byte, sizeof words_> head;
    tree_record::write_head(head, {.digest = digest}, std::span(&interval, 1), nodes_);
    std::memcpy(words_.data(), head.data(), sizeof head);
  }

  Count nodes() const { return nodes_; }
  Bytes record_bytes() const { return bytes_; }
  /// Whether a record begins with this head and has all its values. The head is compared word by word: some words were
  /// written a moment ago, and a wider load would wait for the stores.
  bool opens(std::span<const std::byte> record) const {
    if (record.size() != bytes_) return false;
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, record.data() + i * sizeof word, sizeof word);
      difference |= word ^ words_[i];
    }
    return difference == 0;
  }
  void write(std::byte* out) const { std::memcpy(out, words_.data(), sizeof words_); }

  static constexpr Bytes size = tree_record::head_of(1);

 private:
  std::array<std::uint64_t, size / sizeof(std::uint64_t)> words_;
  Count nodes_;
  Bytes bytes_;
};

class TreeMerge final : public PreparedMerge {
 public:
  TreeMerge(const Operator& op, Count columns, std::uint64_t digest, Interval left, Interval right)
      : op_(op),
        columns_(columns),
        stride_(op.element_bytes * columns),
        header_{.digest = digest},
        spare_(stride_),
        is_ascending_(left.begin < right.begin),
        left_(digest, left, stride_),
        right_(digest, right, stride_),
        merged_(digest, {std::min(left.begin, right.begin), std::max(left.end, right.end)}, stride_) {
    find_siblings(is_ascending_ ? left : right, is_ascending_ ? right : left);
    is_pair_ = lower().nodes() == 1 && upper().nodes() == 1 && merged_.nodes() == 1;
    room_ = RecordHead::size + std::max(lower().nodes() + 1, merged_.nodes()) * stride_;
  }

  Bytes merge(const Partial& left, const Partial& right, std::span<std::byte> out) override {
    if (!are_as_expected(left, right) || out.size() < room_) return 0;
    combine_nodes(in_order(left, right), out.data() + RecordHead::size);
    merged_.write(out.data());
    return merged_.record_bytes();
  }

  Bytes finish(const Partial& left, const Partial& right, std::span<std::byte> room, const Room& out) override {
    if (!are_as_expected(left, right) || room.size() < room_) return 0;
    const bool in_one_piece = out.values.empty();
    std::byte* const values = in_one_piece ? out.head.data() + sizeof(Header) : out.values.data();
    const Values nodes = in_order(left, right);
    if (is_pair_ && columns_ == 1) {
      fold_pair(nodes, values);
    } else if (is_pair_) {
      combine_to_result(op_, nodes.lower, nodes.upper, values, columns_);
    } else {
      combine_nodes(nodes, room.data());
      pass_through(op_, columns_, stride_, room.data(), merged_.nodes(), values, spare_.data());
    }
    set_header(out.head, header_);
    return sizeof(Header) + (in_one_piece ? stride_ : 0);
  }

 private:
  const RecordHead& lower() const { return is_ascending_ ? left_ : right_; }
  const RecordHead& upper() const { return is_ascending_ ? right_ : left_; }

  /// Finds, for each of the upper nodes, the number of nodes to its left with which it combines.
  void find_siblings(Interval lower, Interval upper) {
    Interval open = lower;
    while (!upper.empty()) {
      const Node node = order::first_node(upper);
      const int siblings = order::sibling_count(open, node.level);
      if (siblings == 0) return;
      siblings_.push_back(static_cast<std::uint8_t>(siblings));
      upper.begin = open.end = node.end();
    }
  }

  bool are_as_expected(const Partial& left, const Partial& right) const {
    return left_.opens(left.head) && right_.opens(right.head);
  }

  struct Values {
    const std::byte* lower;
    const std::byte* upper;
  };
  Values in_order(const Partial& left, const Partial& right) const {
    const std::byte* const a = left.head.data() + RecordHead::size;
    const std::byte* const b = right.head.data() + RecordHead::size;
    return is_ascending_ ? Values{a, b} : Values{b, a};
  }

  /// Combines one element of each record, and makes a NaN canonical. The function is faster than a combination of one
  /// element and a kernel that looks for NaNs.
  void fold_pair(const Values& nodes, std::byte* value) const {
    std::array<std::byte, 16> both;
    std::memcpy(both.data(), nodes.lower, stride_);
    std::memcpy(both.data() + stride_, nodes.upper, stride_);
    op_.fold_to_result(both.data(), 2, value);
  }

  /// Writes the nodes of both records, from left to right, and combines siblings.
  void combine_nodes(const Values& nodes, std::byte* out) const {
    auto [from, next] = nodes;
    if (is_pair_) return void(combine(op_, from, next, out, columns_));
    Count count = lower().nodes();
    copy_values(op_, from, out, count * columns_);
    for (const Count siblings : siblings_) {
      count -= siblings;
      combine_last(out + count * stride_, siblings, next);
      count += 1;
      next += stride_;
    }
    copy_values(op_, next, out + count * stride_, (upper().nodes() - siblings_.size()) * columns_);
  }

  /// Combines `siblings` nodes, one after the other from the right, with the node that follows them.
  void combine_last(std::byte* nodes, Count siblings, const std::byte* value) const {
    if (columns_ == 1) {
      std::memcpy(nodes + siblings * stride_, value, stride_);
      return op_.fold_right(nodes, siblings + 1, nodes);
    }
    for (Count i = siblings; i-- > 0; value = nodes + i * stride_)
      combine(op_, nodes + i * stride_, value, nodes + i * stride_, columns_);
  }

  const Operator& op_;
  Count columns_;
  Bytes stride_;
  Header header_;
  std::vector<std::byte> spare_;
  bool is_ascending_;
  bool is_pair_;
  RecordHead left_;
  RecordHead right_;
  RecordHead merged_;
  Bytes room_;                          // number of bytes that `merge` needs
  std::vector<std::uint8_t> siblings_;  // for each upper node: number of nodes to its left with which it combines
};

/// Returns the only interval of `rows`; empty if there are none or several.
Interval only_interval(const order::IntervalSet& rows) {
  return rows.intervals().size() == 1 ? rows.intervals().front() : Interval{};
}

}  // namespace

std::unique_ptr<PreparedMerge> prepare_tree_merge(const Operator& op, Count columns, std::uint64_t digest,
                                                  const order::IntervalSet& left, const order::IntervalSet& right) {
  const Interval a = only_interval(left);
  const Interval b = only_interval(right);
  const bool touch = !a.empty() && !b.empty() && (a.end == b.begin || b.end == a.begin);
  const bool folds = op.fold_right != nullptr && op.element_bytes <= sizeof(double);
  if (!touch || !folds) return nullptr;
  return std::make_unique<TreeMerge>(op, columns, digest, a, b);
}

}  // namespace steadfold::arithmetic
