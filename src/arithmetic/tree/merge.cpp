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
using order::IntervalSet;
using order::Node;

/// The most bytes of values for which a merge is prepared. The preparation takes some three times as many.
constexpr Bytes most_prepared_bytes = 32768;

/// The head of a valid record of some rows, which are not empty. The words up to the first interval have a constant
/// size, because most heads have no more, and small runs take most of their time here.
class RecordHead {
 public:
  RecordHead(std::uint64_t digest, const IntervalSet& rows, Bytes stride)
      : size_(tree_record::head_of(rows.intervals().size())),
        nodes_(rows.node_count()),
        record_bytes_(size_ + nodes_ * stride) {
    std::vector<std::uint64_t> words(size_ / sizeof(std::uint64_t));
    tree_record::write_head(std::as_writable_bytes(std::span(words)), {.digest = digest}, rows.intervals(), nodes_);
    std::ranges::copy_n(words.begin(), first_count, first_.begin());
    others_.assign(words.begin() + first_count, words.end());
  }

  Bytes size() const { return size_; }
  Count nodes() const { return nodes_; }
  Bytes record_bytes() const { return record_bytes_; }
  /// Whether a record begins with this head and has all its values. The head is compared word by word: some words were
  /// written a moment ago, and a wider load would wait for the stores.
  bool opens(std::span<const std::byte> record) const {
    if (record.size() != record_bytes_) return false;
    return are_equal(first_, record.data()) && (others_.empty() || are_equal(others_, record.data() + sizeof first_));
  }
  void write(std::byte* out) const {
    std::memcpy(out, first_.data(), sizeof first_);
    if (!others_.empty()) std::memcpy(out + sizeof first_, others_.data(), size_ - sizeof first_);
  }

 private:
  static constexpr int first_count = tree_record::head_of(1) / sizeof(std::uint64_t);

  template <class Words>
  static bool are_equal(const Words& words, const std::byte* bytes) {
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + i * sizeof word, sizeof word);
      difference |= word ^ words[i];
    }
    return difference == 0;
  }

  std::array<std::uint64_t, first_count> first_;
  std::vector<std::uint64_t> others_;
  Bytes size_;
  Count nodes_;
  Bytes record_bytes_;
};

/// The combinations that merge two records, found before any value is read. Values are numbered: the nodes of the left
/// record, the nodes of the right record, then the results of the combinations.
struct Combinations {
  std::vector<ListedPair> pairs;     // the operands of every combination; an operand may be an earlier result
  std::vector<std::uint32_t> nodes;  // the values of the merged record

  Combinations(const IntervalSet& left, const IntervalSet& right) {
    auto next = static_cast<std::uint32_t>(left.node_count() + right.node_count());
    std::vector<Node> open;  // the nodes of the merged record that have been found
    const auto take = [&](Node node, std::uint32_t value) {
      for (; !open.empty() && are_siblings(open.back(), node); open.pop_back(), nodes.pop_back()) {
        pairs.push_back({nodes.back(), value});
        node = {open.back().start, node.level + 1};
        value = next++;
      }
      open.push_back(node);
      nodes.push_back(value);
    };
    for (NumberedInterval each : in_ascending_order(left, right)) {
      for (; !each.rows.empty(); ++each.first_node) {
        const Node node = order::first_node(each.rows);
        take(node, each.first_node);
        each.rows.begin = node.end();
      }
    }
  }

 private:
  struct NumberedInterval {
    Interval rows;
    std::uint32_t first_node;  // the number of the value of its first node
  };
  static std::vector<NumberedInterval> in_ascending_order(const IntervalSet& left, const IntervalSet& right) {
    std::vector<NumberedInterval> all;
    std::uint32_t next = 0;
    for (const IntervalSet* set : {&left, &right}) {
      for (const Interval rows : set->intervals()) {
        all.push_back({rows, next});
        next += static_cast<std::uint32_t>(order::node_count(rows));
      }
    }
    std::ranges::sort(all, {}, [](const NumberedInterval& each) { return each.rows.begin; });
    return all;
  }
  static bool are_siblings(const Node& lower, const Node& upper) {
    return tree_record::are_siblings({lower.start, lower.end()}, {upper.start, upper.end()});
  }
};

class TreeMerge final : public PreparedMerge {
 public:
  TreeMerge(const Operator& op, Count columns, std::uint64_t digest, const IntervalSet& left, const IntervalSet& right,
            const IntervalSet& merged)
      : op_(op),
        columns_(columns),
        stride_(op.element_bytes * columns),
        header_{.digest = digest},
        left_(digest, left, stride_),
        right_(digest, right, stride_),
        merged_(digest, merged, stride_),
        combinations_(left, right),
        is_pair_(left_.nodes() == 1 && right_.nodes() == 1 && merged_.nodes() == 1),
        is_left_lower_(left.intervals().front().begin < right.intervals().front().begin) {
    if (is_pair_) return;
    const Count combined = left_.nodes() + right_.nodes() + combinations_.pairs.size();
    values_.resize((combined + merged_.nodes() + 1) * stride_);  // with memory for a pass through the merged nodes
  }

  Bytes merge(const Partial& left, const Partial& right, std::span<std::byte> out) override {
    if (!are_as_expected(left, right) || out.size() < merged_.record_bytes()) return 0;
    merge_values(left, right, out.data() + merged_.size());
    merged_.write(out.data());
    return merged_.record_bytes();
  }

  Bytes finish(const Partial& left, const Partial& right, const Room& out) override {
    if (!are_as_expected(left, right)) return 0;
    const bool in_one_piece = out.values.empty();
    std::byte* const values = in_one_piece ? out.head.data() + sizeof(Header) : out.values.data();
    if (is_pair_) {
      const SiblingValues nodes = siblings_in(left, right);
      columns_ == 1 ? fold_pair(nodes, values)
                    : void(combine_to_result(op_, nodes.lower, nodes.upper, values, columns_));
    } else {
      const Count combined = left_.nodes() + right_.nodes() + combinations_.pairs.size();
      std::byte* const nodes = at(combined);
      merge_values(left, right, nodes);
      pass_through(op_, columns_, {nodes, merged_.nodes(), stride_}, values, at(combined + merged_.nodes()));
    }
    set_header(out.head, header_);
    return sizeof(Header) + (in_one_piece ? stride_ : 0);
  }

 private:
  bool are_as_expected(const Partial& left, const Partial& right) const {
    return left_.opens(left.head) && right_.opens(right.head);
  }
  const std::byte* values_of(const RecordHead& head, const Partial& partial) const {
    return partial.head.data() + head.size();
  }
  std::byte* at(Count value) { return values_.data() + value * stride_; }

  /// The values of a pair of records that have one node each.
  struct SiblingValues {
    const std::byte* lower;
    const std::byte* upper;
  };
  SiblingValues siblings_in(const Partial& left, const Partial& right) const {
    constexpr Bytes head = tree_record::head_of(1);
    const std::byte* const a = left.head.data() + head;
    const std::byte* const b = right.head.data() + head;
    return is_left_lower_ ? SiblingValues{a, b} : SiblingValues{b, a};
  }

  /// Combines one element of each record, and makes a NaN canonical. The function is faster than a combination of one
  /// element and a kernel that looks for NaNs.
  void fold_pair(const SiblingValues& nodes, std::byte* value) const {
    std::array<std::byte, 16> both;
    std::memcpy(both.data(), nodes.lower, stride_);
    std::memcpy(both.data() + stride_, nodes.upper, stride_);
    op_.fold_to_result(both.data(), 2, value);
  }

  /// Writes the values of the merged record.
  void merge_values(const Partial& left, const Partial& right, std::byte* out) {
    if (is_pair_) {
      const SiblingValues nodes = siblings_in(left, right);
      return void(combine(op_, nodes.lower, nodes.upper, out, columns_));
    }
    std::memcpy(at(0), values_of(left_, left), left_.nodes() * stride_);
    std::memcpy(at(left_.nodes()), values_of(right_, right), right_.nodes() * stride_);
    combine_values();
    if (stride_ == sizeof(std::uint64_t))
      gather<sizeof(std::uint64_t)>(out);
    else
      gather(out, stride_);
  }

  void combine_values() {
    const Count first = left_.nodes() + right_.nodes();
    const std::span<const ListedPair> pairs = combinations_.pairs;
    if (columns_ == 1) return op_.combine_listed(values_.data(), pairs, first);
    for (std::size_t i = 0; i < pairs.size(); ++i)
      combine(op_, at(pairs[i].left), at(pairs[i].right), at(first + i), columns_);
  }

  /// Copies the values of the merged record. A size that is known when this is compiled makes each copy one
  /// instruction.
  template <Bytes known = 0>
  void gather(std::byte* out, Bytes stride = known) const {
    for (const std::uint32_t node : combinations_.nodes) {
      std::memcpy(out, values_.data() + node * stride, known > 0 ? known : stride);
      out += stride;
    }
  }

  const Operator& op_;
  Count columns_;
  Bytes stride_;
  Header header_;
  RecordHead left_;
  RecordHead right_;
  RecordHead merged_;
  Combinations combinations_;
  bool is_pair_;  // whether both records have one node, and these nodes are siblings
  bool is_left_lower_;
  std::vector<std::byte> values_;  // the numbered values, then memory for the end of a finish; unused for a pair
};

}  // namespace

std::unique_ptr<PreparedMerge> prepare_tree_merge(const Operator& op, Count columns, std::uint64_t digest,
                                                  const IntervalSet& left, const IntervalSet& right) {
  const Bytes values = (left.node_count() + right.node_count()) * columns * op.element_bytes;
  const bool is_listed = op.combine_listed != nullptr && op.element_bytes <= sizeof(double);
  if (left.empty() || right.empty() || !is_listed || values > most_prepared_bytes) return nullptr;
  IntervalSet merged = left;
  if (!merged.add(right)) return nullptr;
  return std::make_unique<TreeMerge>(op, columns, digest, left, right, merged);
}

}  // namespace steadfold::arithmetic
