#include "arithmetic/tree/tree.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "arithmetic/tree/merge.hpp"
#include "arithmetic/tree/node_batch.hpp"
#include "arithmetic/tree/node_stack.hpp"
#include "arithmetic/tree/pass_through.hpp"
#include "arithmetic/tree/record.hpp"

namespace steadfold::arithmetic {
namespace {

using order::Interval;
using order::IntervalSet;
using order::Node;
using tree_record::are_siblings;
using tree_record::digest_of;
using tree_record::head_of;
using tree_record::parse;
using tree_record::Prefix;
using tree_record::Record;
using tree_record::record_bytes;
using tree_record::room_for_values;
using tree_record::Run;
using tree_record::single_node;
using tree_record::SingleNode;
using tree_record::visit_both;
using tree_record::write_head;
using tree_record::written;

/// The size of a union of intervals, found before any value is read.
struct Survey {
  Count interval_count = 0;
  Count closed_nodes = 0;  // number of nodes of all intervals except the last interval
  Count stack_nodes = 0;   // the largest number of nodes on the stack at a time
  bool overlap = false;
  Interval open;

  void take(Interval interval) {
    overlap = overlap || (interval_count > 0 && interval.begin < open.end);
    if (interval_count > 0 && interval.begin == open.end) {
      open.end = interval.end;
    } else {
      close();
      closed_nodes += order::node_count(open);
      open = interval;
      ++interval_count;
    }
  }
  void close() { stack_nodes = std::max(stack_nodes, closed_nodes + order::most_nodes(open)); }
};

/// A merge of two records of `columns` columns into `out`, done in pieces.
struct MergeTarget {
  const Operator& op;
  Count columns;
  const Room& out;
  Pieces& pieces;

  Bytes stride() const noexcept { return op.element_bytes * columns; }
  /// Returns the result of a piece whose operator failed or wants to be called later.
  Partial given_up(bool is_postponed, Count made, Interval piece, const Header& header) const {
    if (is_postponed) {
      pieces.postpone(piece, made);
      return {};
    }
    pieces.stop();
    return failed(out, header, Status::operator_failed);
  }
  Partial given_up(const NodeStack& stack, Interval piece, const Header& header) const {
    return given_up(stack.is_postponed(), stack.made(), piece, header);
  }
};

/// Writes the record of all intervals that `sources(visit)` visits, in ascending order, as (interval, values of its
/// nodes). `sources` is called twice: to find the sizes, and to combine the nodes and list the intervals.
template <class Sources>
Partial assemble(const MergeTarget& target, const Header& header, const Sources& sources) {
  const auto& [op, columns, out, pieces] = target;
  const Bytes stride = target.stride();
  Survey survey;
  sources([&](Interval interval, const std::byte* nodes) {
    survey.take(interval);
    return nodes;
  });
  survey.close();
  if (survey.overlap) return failed(out, header, Status::overlap);
  std::byte* const values = room_for_values(out, survey.interval_count, survey.stack_nodes * stride);
  if (values == nullptr) return failed(out, header, Status::transport_failed);

  NodeStack stack(op, columns, stride, values, 0, std::exchange(pieces.made, 0));
  bool ok = true;
  auto* const table = reinterpret_cast<Interval*>(out.head.data() + sizeof(Prefix));
  Interval* last = table - 1;
  sources([&](Interval interval, const std::byte* nodes) {
    if (ok) nodes = stack.append(interval, nodes);
    ok = ok && nodes != nullptr;
    if (last >= table && last->end == interval.begin)
      last->end = interval.end;
    else
      *++last = interval;
    return nodes;
  });
  if (!ok) return target.given_up(stack, {0, columns}, header);
  stack.settle();

  const Prefix prefix{.header = header,
                      .interval_count = static_cast<std::uint32_t>(survey.interval_count),
                      .node_count = stack.count()};
  std::memcpy(out.head.data(), &prefix, sizeof prefix);
  return written(out, survey.interval_count, values, stack.count() * stride);
}

/// Merges two siblings with one operation. The records of two ranks that exchange partials are mostly siblings. Returns
/// nothing if they are not, or if the merged record does not fit `out`. `is_result` says that the values are values of
/// the result.
std::optional<Partial> merge_siblings(const MergeTarget& target, const Partial& left, const Partial& right,
                                      bool is_result) {
  const auto& [op, columns, out, pieces] = target;
  const Bytes stride = target.stride();
  const SingleNode a = single_node(left, stride);
  const SingleNode b = single_node(right, stride);
  if (a.value == nullptr || b.value == nullptr || digest_of(a) != digest_of(b)) return std::nullopt;
  const bool is_ascending = a.interval.begin < b.interval.begin;
  const SingleNode& lower = is_ascending ? a : b;
  const SingleNode& upper = is_ascending ? b : a;
  std::byte* const values = room_for_values(out, 1, stride);
  if (!are_siblings(lower.interval, upper.interval) || values == nullptr) return std::nullopt;
  const Interval both{lower.interval.begin, upper.interval.end};
  const Header header = header_of({a.head, sizeof(Header)});  // a copy, because `out` may be the memory of `a`
  const Interval piece = pieces.take(columns);
  const Bytes at = piece.begin * op.element_bytes;
  const int wrong = is_result ? combine_to_result(op, lower.value + at, upper.value + at, values + at, piece.size())
                              : combine(op, lower.value + at, upper.value + at, values + at, piece.size());
  if (wrong != 0) return target.given_up(wrong == postponed, 0, piece, header);
  if (pieces.more) return Partial{};
  write_head(out.head, header, std::span(&both, 1), 1);
  return written(out, 1, values, stride);
}

/// Merges two records of one interval each that touch, as data in rank order has them. Returns nothing if the records
/// have another form, or if the merged record does not fit `out`.
std::optional<Partial> merge_touching(const MergeTarget& target, const Header& header, const Record& a,
                                      const Record& b) {
  const auto& [op, columns, out, pieces] = target;
  if (a.intervals.size() != 1 || b.intervals.size() != 1) return std::nullopt;
  const bool is_ascending = a.intervals.front().begin < b.intervals.front().begin;
  const Record& lower = is_ascending ? a : b;
  const Record& upper = is_ascending ? b : a;
  const Interval both{lower.intervals.front().begin, upper.intervals.front().end};
  const Bytes stride = target.stride();
  std::byte* const values = room_for_values(out, 1, order::most_nodes(both) * stride);
  if (lower.intervals.front().end != upper.intervals.front().begin || values == nullptr) return std::nullopt;
  const Interval piece = pieces.take(columns);
  const Bytes at = piece.begin * op.element_bytes;
  NodeStack stack(op, piece.size(), stride, values + at, 0, std::exchange(pieces.made, 0));
  for (const Record* record : {&lower, &upper})
    if (stack.append(record->intervals.front(), record->values + at) == nullptr)
      return target.given_up(stack, piece, header);
  stack.settle();
  if (pieces.more) return Partial{};
  write_head(out.head, header, std::span(&both, 1), stack.count());
  return written(out, 1, values, stack.count() * stride);
}

/// Builds the record of the rows of one worker. Every run of touching pushes has separate nodes; `write` puts the runs
/// in order.
class TreeBuilder final : public Builder {
 public:
  TreeBuilder(const Operator& op, Count columns)
      : op_(op), columns_(columns), stride_(op.element_bytes * columns), stack_(op_, columns_, nullptr) {
    if (columns == 1 && op.fold == nullptr) batch_.emplace(op);
    storage_.resize(stride_ * initial_nodes);
    clear();
  }

  void clear() override {
    first_row_.row = nullptr;
    runs_.clear();
    stack_ = NodeStack(op_, columns_, storage_.data());
    status_ = Status::ok;
  }

  void push(Index begin, const Block& block) override {
    if (block.rows == 0) return let_go();
    if (runs_.empty() && first_row_.row == nullptr && block.rows == 1) {
      first_row_ = {begin, block.first};
      return;
    }
    push_first_row();
    push_run(begin, block);
  }

  Bytes write(std::span<std::byte> out) override {
    if (first_row_.row != nullptr && head_of(1) + stride_ <= out.size()) {
      const Interval row{first_row_.index, first_row_.index + 1};
      return write_record(std::span(&row, 1), first_row_.row, 1, out);
    }
    push_first_row();
    if (status_ != Status::ok) return write_failure(out, {}, status_);
    stack_.settle();
    if (are_in_order() && head_of(runs_.size()) + stack_.count() * stride_ <= out.size()) {
      intervals_.clear();
      for (const Run& run : runs_) intervals_.push_back(run.rows);
      return write_record(intervals_, storage_.data(), stack_.count(), out);
    }
    tree_record::sort(runs_);
    const auto sources = [this](auto visit) {
      for (const Run& run : runs_) visit(run.rows, storage_.data() + run.first * stride_);
    };
    Pieces whole{.most = columns_};
    return assemble({op_, columns_, Room{out}, whole}, {}, sources).head.size();
  }

  bool finishes_alone() const noexcept override { return true; }
  Status finish_alone(Count element_count, std::byte* values, std::byte* spare) override {
    if (status_ != Status::ok) return status_;
    stack_.settle();
    const Count rows = first_row_.row != nullptr ? 1 : runs_.empty() ? 0 : runs_.front().rows.end;
    const Status whole = check_row_count(rows, element_count);
    if (whole != Status::ok) return whole;
    if (rows == 0) return value_of_nothing(op_, values, columns_);
    if (first_row_.row != nullptr) return pass_through(op_, columns_, {first_row_.row, 1, stride_}, values, spare);
    return pass_through(op_, columns_, {storage_.data(), stack_.count(), stride_}, values, spare);
  }

 private:
  struct FirstRow {
    Index index = 0;
    const std::byte* row = nullptr;  // null: there is no row that stays in the caller's memory
  };
  static constexpr Count initial_nodes = 2;
  static constexpr Bytes most_narrow =
      512;  // bytes of a row: folding wider rows takes longer than stacking their nodes

  /// Ends the use of the caller's memory.
  void let_go() {
    push_first_row();
    stack_.settle();
  }

  /// Pushes the first row. The first row stays in the caller's memory. If no other row comes, this row is the record.
  void push_first_row() {
    if (first_row_.row == nullptr) return;
    const FirstRow first = std::exchange(first_row_, {});
    push_run(first.index, {.first = first.row, .second = nullptr, .rows = 1, .row_stride = stride_});
  }

  Bytes write_record(std::span<const Interval> rows, const std::byte* values, Count nodes,
                     std::span<std::byte> out) const {
    const Bytes head = write_head(out, {}, rows, nodes);
    copy_values(op_, values, out.data() + head, nodes * columns_);
    return head + nodes * stride_;
  }

  /// Whether the values of the runs are the values of a record: the runs ascend and do not touch.
  bool are_in_order() const {
    for (std::size_t i = 1; i < runs_.size(); ++i)
      if (runs_[i].rows.begin <= runs_[i - 1].rows.end) return false;
    return true;
  }

  void push_run(Index begin, const Block& block) {
    if (runs_.empty() || runs_.back().rows.end != begin) runs_.push_back({{begin, begin}, stack_.count()});
    const bool is_column = columns_ == 1 && block.row_stride == stride_;
    const bool ok = is_column ? push_column({begin, begin + block.rows}, block.first) : push_rows(begin, block);
    if (!ok) status_ = Status::operator_failed;
    runs_.back().rows.end = begin + block.rows;
  }

  void make_room(Count nodes) {
    const Bytes needed = (stack_.count() + nodes) * stride_;
    if (storage_.size() >= needed) return;
    storage_.resize(2 * needed);
    stack_.moved_to(storage_.data());
  }

  bool push_rows(Index begin, const Block& block) {
    constexpr Count few = Count{1} << kernels::rows_level;
    if (op_.fold_rows != nullptr && stride_ <= most_narrow && block.rows >= few)
      return push_folded({begin, begin + block.rows}, [&](std::byte* nodes) {
        return op_.fold_rows(block.first, block.row_stride, columns_, begin, block.rows, nodes);
      });
    const Index end = begin + block.rows;
    const std::byte* row = block.first;
    for (Count taken = 0; begin < end; begin += taken, row += taken * block.row_stride) {
      make_room(1);
      const bool together = op_.fold_rows != nullptr && begin % few == 0 && end - begin >= few;
      taken = together ? few : 1;
      const std::byte* value = row;
      if (together) {
        stack_.settle();
        std::byte* const next = storage_.data() + stack_.count() * stride_;
        op_.fold_rows(row, block.row_stride, columns_, 0, few, next);
        value = next;
      }
      if (!stack_.push({begin, together ? kernels::rows_level : 0}, value)) return false;
    }
    return true;
  }

  /// Pushes rows that a kernel folds into whole nodes. `fold(nodes)` writes them and returns their number.
  template <class Fold>
  bool push_folded(Interval rows, const Fold& fold) {
    const Count most = order::most_nodes(rows);
    make_room(most);
    if (runs_.back().rows.empty()) {  // there is no earlier node with which the first node could combine
      stack_.adopt(rows, fold(storage_.data() + stack_.count() * stride_));
      return true;
    }
    folded_.resize(std::max(folded_.size(), most * stride_));
    fold(folded_.data());
    const bool ok = stack_.append(rows, folded_.data()) != nullptr;
    stack_.settle();
    return ok;
  }

  bool push_column(Interval rows, const std::byte* elements) {
    if (op_.fold == nullptr) return push_batches(rows, elements);
    return push_folded(rows, [&](std::byte* nodes) { return op_.fold(elements, rows.begin, rows.size(), nodes); });
  }

  bool push_batches(Interval rows, const std::byte* element) {
    while (!rows.empty()) {
      Node node = order::first_node(rows);
      node.level = std::min(node.level, batch_->most_level());
      const std::byte* const value = batch_->fold(element, node.level);
      make_room(1);
      if (value == nullptr || !stack_.push(node, value)) return false;
      stack_.settle();
      rows.begin = node.end();
      element += node.size() * stride_;
    }
    return true;
  }

  const Operator& op_;
  Count columns_;
  Bytes stride_;
  NodeStack stack_;
  std::vector<std::byte> storage_;
  std::vector<std::byte> folded_;   // nodes of rows that a kernel has just folded
  std::optional<NodeBatch> batch_;  // makes nodes with an operator that has no kernel
  std::vector<Run> runs_;
  std::vector<Interval> intervals_;  // of the record that is written
  FirstRow first_row_;               // the first row, until there are runs
  Status status_ = Status::ok;
};

class TreeKind final : public PartialKind, private ValuesApart, private RowsAtHand {
 public:
  TreeKind(const Operator& op, Count columns) : op_(op), columns_(columns), stride_(op.element_bytes * columns) {}

  Bytes capacity(const IntervalSet& rows) const override {
    return record_bytes(rows.intervals().size(), rows.node_count(), stride_);
  }

  Bytes working_capacity(const IntervalSet& rows) const override {
    Count nodes = 0;
    for (const Interval interval : rows.intervals()) nodes += order::most_nodes(interval);
    return record_bytes(rows.intervals().size(), nodes, stride_);
  }

  bool has_fixed_size() const noexcept override { return false; }
  Count row_count(const IntervalSet& rows) const override { return rows.node_count(); }
  Bytes value_bytes() const noexcept override { return stride_; }

  std::unique_ptr<Builder> builder() const override { return std::make_unique<TreeBuilder>(op_, columns_); }

  std::unique_ptr<PreparedMerge> prepare_merge(const IntervalSet& left, const IntervalSet& right,
                                               std::uint64_t digest) const override {
    return prepare_tree_merge(op_, columns_, digest, left, right);
  }

  const ValuesApart* values_apart() const noexcept override { return this; }
  const RowsAtHand* rows_at_hand() const noexcept override { return this; }

 private:
  Count piece_columns() const noexcept override { return columns_of_piece(op_); }

  static constexpr Count most_rows_at_hand = 16;
  /// Returns the number of rows: one for each level of the tree except the lowest level and the root. The root is
  /// written to the values.
  std::optional<Count> spare_rows(Count rows) const noexcept override {
    if (rows == 0 || rows > most_rows_at_hand) return std::nullopt;
    return static_cast<Count>(std::bit_width(rows - 1));
  }
  Status reduce_rows(std::span<const std::byte* const> rows, std::byte* values, std::byte* spare) const override {
    if (rows.size() == 1) return pass_through(op_, columns_, {rows.front(), 1, stride_}, values, spare);
    if (node_of(rows, values, spare) == nullptr) return Status::operator_failed;
    if (op_.canonicalise != nullptr) op_.canonicalise(values, columns_);
    return Status::ok;
  }
  /// Computes the value of the tree over these rows. Returns the address of a single row itself, otherwise `out`.
  /// Returns null if the operator failed.
  const std::byte* node_of(std::span<const std::byte* const> rows, std::byte* out, std::byte* spare) const {
    if (rows.size() == 1) return rows.front();
    if (rows.size() == 2) return combine(op_, rows[0], rows[1], out, columns_) == 0 ? out : nullptr;
    const std::size_t half = std::bit_ceil(rows.size()) / 2;
    const std::byte* const left = node_of(rows.first(half), out, spare);
    const std::byte* const right = left == nullptr ? nullptr : node_of(rows.subspan(half), spare, spare + stride_);
    if (right == nullptr || combine(op_, left, right, out, columns_) != 0) return nullptr;
    return out;
  }

  /// Does the next piece of a merge. Partials of several intervals are merged in one piece.
  Partial merge_piece(const Partial& left, const Partial& right, const Room& out, Pieces& pieces) const override {
    bound(pieces);
    const MergeTarget target{op_, columns_, out, pieces};
    if (const auto merged = merge_siblings(target, left, right, false)) return *merged;
    const auto [header, ok] = merge_headers(left.head, right.head);
    if (!ok) return failed(out, header, header.status);
    const auto a = parse(left, stride_);
    const auto b = parse(right, stride_);
    if (!a || !b) return failed(out, header, Status::transport_failed);
    if (const auto merged = merge_touching(target, header, *a, *b)) return *merged;
    const auto sources = [&](auto visit) { visit_both(*a, *b, visit); };
    pieces.stop();
    return assemble(target, header, sources);
  }

  /// Combines the pass-through nodes as n1 op (n2 op (n3 ...)): Stelz 2022, equations 2.1 to 2.3.
  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                      Pieces& pieces) const override {
    bound(pieces);
    const Status status = header_of(partial.head).status;
    if (status != Status::ok) return status;
    const auto record = parse(partial, stride_);
    if (!record) return Status::transport_failed;
    const Status whole = check_whole(*record, element_count);
    if (whole != Status::ok) return whole;
    if (record->intervals.empty()) return value_of_nothing(op_, values, columns_);
    // The value was already merged to the result.
    if (record->node_count == 1 && values == record->values) return Status::ok;
    const Interval piece = pieces.take(columns_);
    const Bytes at = piece.begin * op_.element_bytes;
    Changes changes(std::exchange(pieces.made, 0));
    const int wrong = pass_through(op_, piece.size(), {record->values + at, record->node_count, stride_}, values + at,
                                   spare + at, changes);
    if (wrong == 0) return Status::ok;
    wrong == postponed ? pieces.postpone(piece, changes.made()) : pieces.stop();
    return Status::operator_failed;
  }

  Bytes head_bytes(std::span<const std::byte> whole) const noexcept override {
    Prefix prefix;
    if (header_of(whole).status != Status::ok || whole.size() < sizeof prefix)
      return std::min(whole.size(), sizeof(Header));
    std::memcpy(&prefix, whole.data(), sizeof prefix);
    return std::min(whole.size(), head_of(prefix.interval_count));
  }

  Bytes values_bytes(std::span<const std::byte> head) const noexcept override {
    Prefix prefix;
    if (head.size() < sizeof prefix) return 0;
    std::memcpy(&prefix, head.data(), sizeof prefix);
    return prefix.node_count * stride_;
  }

  Bytes write_head_of_row(const Header& header, Index row, std::span<std::byte> head) const noexcept override {
    const Interval interval{row, row + 1};
    return write_head(head, header, std::span(&interval, 1), 1);
  }

  std::optional<Partial> merge_to_result(const Partial& left, const Partial& right, std::span<std::byte> head,
                                         std::byte* values) const override {
    Pieces whole{.most = columns_};
    const Room out{head, {values, stride_}};
    return merge_siblings({op_, columns_, out, whole}, left, right, true);
  }

  /// Limits the size of pieces. Operators that may postpone work always get pieces, so the number of their calls does
  /// not depend on when a message came.
  void bound(Pieces& pieces) const noexcept {
    if (op_.may_postpone) pieces.most = std::min(pieces.most, piece_columns());
  }

  const Operator& op_;
  Count columns_;
  Bytes stride_;
};

}  // namespace

std::unique_ptr<PartialKind> make_tree(const Operator& op, Count columns) {
  return std::make_unique<TreeKind>(op, columns);
}

}  // namespace steadfold::arithmetic
