#include "arithmetic/tree.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "arithmetic/node_stack.hpp"

namespace steadfold::arithmetic {
namespace {

using order::Interval;
using order::IntervalSet;
using order::Node;

struct Prefix {
  Header header;
  std::uint32_t interval_count = 0;
  std::uint32_t reserved = 0;
  std::uint64_t node_count = 0;
};
static_assert(sizeof(Prefix) == 32);

constexpr Bytes padded(Bytes bytes) { return (bytes + 7) / 8 * 8; }  // intervals stand on 8-byte boundaries

constexpr Bytes record_bytes(Count interval_count, Count node_count, Bytes stride) {
  return sizeof(Prefix) + padded(node_count * stride) + interval_count * sizeof(Interval);
}

/// A record's bytes taken apart.
struct Record {
  const std::byte* values = nullptr;
  std::span<const Interval> intervals;
};

/// Nothing when the bytes are no record: they came from elsewhere and are not to be trusted.
std::optional<Record> parse(std::span<const std::byte> bytes, Bytes stride) {
  Prefix prefix;
  if (bytes.size() < sizeof prefix) return std::nullopt;
  std::memcpy(&prefix, bytes.data(), sizeof prefix);
  if (stride > 0 && prefix.node_count > bytes.size() / stride) return std::nullopt;
  if (record_bytes(prefix.interval_count, prefix.node_count, stride) != bytes.size()) return std::nullopt;

  const std::byte* const values = bytes.data() + sizeof prefix;
  const std::byte* const table = values + padded(prefix.node_count * stride);
  const Record record{values, {reinterpret_cast<const Interval*>(table), prefix.interval_count}};
  Count nodes = 0;
  order::Index end = 0;
  for (const Interval interval : record.intervals) {
    if (interval.empty() || (nodes > 0 && interval.begin <= end)) return std::nullopt;
    end = interval.end;
    nodes += order::node_count(interval);
  }
  if (nodes != prefix.node_count) return std::nullopt;
  return record;
}

/// Calls `visit(interval, values)` for the intervals of two records in ascending order.
template <class Visit>
void visit_both(const Record& left, const Record& right, Bytes stride, Visit visit) {
  auto a = left.intervals.begin();
  auto b = right.intervals.begin();
  const std::byte* a_values = left.values;
  const std::byte* b_values = right.values;
  while (a != left.intervals.end() || b != right.intervals.end()) {
    const bool from_left = b == right.intervals.end() || (a != left.intervals.end() && a->begin <= b->begin);
    auto& interval = from_left ? a : b;
    const std::byte*& values = from_left ? a_values : b_values;
    visit(*interval, values);
    values += order::node_count(*interval) * stride;
    ++interval;
  }
}

/// What a union of intervals comes to, before any value is touched.
struct Survey {
  Count interval_count = 0;
  Count node_count = 0;
  Count stack_nodes = 0;  // most that stand on the stack at a time
  bool overlap = false;
  Interval open;

  void take(Interval interval) {
    overlap = overlap || (interval_count > 0 && interval.begin < open.end);
    if (interval_count > 0 && interval.begin == open.end) {
      open.end = interval.end;
    } else {
      close();
      open = interval;
      ++interval_count;
    }
  }
  void close() {
    stack_nodes = std::max(stack_nodes, node_count + order::most_nodes(open));
    node_count += order::node_count(open);
  }
};

/// Writes the record of all that `sources(visit)` visits, in ascending order, as (interval, values of its nodes).
/// `sources` is called three times: to survey, to combine, to list the intervals.
template <class Sources>
Bytes assemble(const Operator& op, Count columns, const Header& header, const Sources& sources,
               std::span<std::byte> out) {
  const Bytes stride = op.element_bytes * columns;
  Survey survey;
  sources([&](Interval interval, const std::byte*) { survey.take(interval); });
  survey.close();
  if (survey.overlap) return write_failure(out, header, Status::overlap);
  if (std::max(record_bytes(survey.interval_count, survey.node_count, stride),
               sizeof(Prefix) + survey.stack_nodes * stride) > out.size())
    return write_failure(out, header, Status::transport_failed);

  std::byte* const values = out.data() + sizeof(Prefix);
  NodeStack stack(op, columns, values);
  bool ok = true;
  sources([&](Interval rest, const std::byte* value) {
    while (ok && !rest.empty()) {
      const Node node = order::first_node(rest);
      ok = stack.push(node, value);
      value += stride;
      rest.begin = node.end();
    }
  });
  if (!ok) return write_failure(out, header, Status::operator_failed);
  stack.settle();

  const Bytes value_bytes = survey.node_count * stride;
  std::memset(values + value_bytes, 0, padded(value_bytes) - value_bytes);  // equal data, equal bytes
  auto* const table = reinterpret_cast<Interval*>(values + padded(value_bytes));
  Interval* last = table - 1;
  sources([&](Interval interval, const std::byte*) {
    if (last >= table && last->end == interval.begin)
      last->end = interval.end;
    else
      *++last = interval;
  });
  const Prefix prefix{.header = header,
                      .interval_count = static_cast<std::uint32_t>(survey.interval_count),
                      .node_count = survey.node_count};
  std::memcpy(out.data(), &prefix, sizeof prefix);
  return record_bytes(survey.interval_count, survey.node_count, stride);
}

/// One worker's rows. Every run of touching pushes keeps its own nodes; `write` puts the runs in order.
class TreeBuilder final : public Builder {
 public:
  TreeBuilder(const Operator& op, Count columns)
      : op_(op), columns_(columns), stride_(op.element_bytes * columns), stack_(op_, columns_, nullptr) {
    if (columns == 1 && op.fold == nullptr) scratch_.resize(stride_ << batch_level);
    storage_.resize(stride_ * initial_nodes);
    clear();
  }

  void clear() override {
    runs_.clear();
    stack_ = NodeStack(op_, columns_, storage_.data());
    status_ = Status::ok;
  }

  void push(Index begin, const Block& block) override {
    if (block.rows == 0) return;
    if (runs_.empty() || runs_.back().rows.end != begin) runs_.push_back({{begin, begin}, stack_.count()});
    const bool is_column = columns_ == 1 && block.row_stride == stride_;
    const bool ok = is_column ? push_column({begin, begin + block.rows}, block.first) : push_rows(begin, block);
    if (!ok) status_ = Status::operator_failed;
    runs_.back().rows.end = begin + block.rows;
  }

  Bytes write(std::span<std::byte> out) override {
    if (status_ != Status::ok) return write_failure(out, {}, status_);
    stack_.settle();
    const auto ascending = [](const Run& a, const Run& b) { return a.rows.begin < b.rows.begin; };
    if (!std::is_sorted(runs_.begin(), runs_.end(), ascending)) std::sort(runs_.begin(), runs_.end(), ascending);
    const auto sources = [this](auto visit) {
      for (const Run& run : runs_) visit(run.rows, storage_.data() + run.first_node * stride_);
    };
    return assemble(op_, columns_, {}, sources, out);
  }

 private:
  struct Run {
    Interval rows;
    Count first_node;  // where its nodes begin in the storage
  };
  static constexpr Count initial_nodes = 2;

  /// A user operator is called for the nodes of a level together: this many levels of 64 elements.
  static constexpr int batch_level = 6;

  void make_room(Count nodes) {
    const Bytes needed = (stack_.count() + nodes) * stride_;
    if (storage_.size() >= needed) return;
    storage_.resize(2 * needed);
    stack_.moved_to(storage_.data());
  }

  bool push_rows(Index begin, const Block& block) {
    constexpr Count few = Count{1} << kernels::rows_level;
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
        op_.fold_rows(row, block.row_stride, columns_, next);
        value = next;
      }
      if (!stack_.push({begin, together ? kernels::rows_level : 0}, value)) return false;
    }
    return true;
  }

  /// Contiguous elements: whole nodes at a time.
  bool push_column(Interval rows, const std::byte* elements) {
    if (op_.fold == nullptr) return push_batches(rows, elements);
    make_room(order::most_nodes(rows));
    if (runs_.back().rows.empty()) {  // nothing stands there to be combined with
      stack_.adopt(rows, op_.fold(elements, rows.begin, rows.size(), storage_.data() + stack_.count() * stride_));
      return true;
    }
    std::array<std::byte, 128 * 16> values;  // of built-in operators' elements: as many nodes as an interval may have
    op_.fold(elements, rows.begin, rows.size(), values.data());
    const std::byte* value = values.data();
    for (; !rows.empty(); value += stride_) {
      const Node node = order::first_node(rows);
      if (!stack_.push(node, value)) return false;
      stack_.settle();
      rows.begin = node.end();
    }
    return true;
  }

  bool push_batches(Interval rows, const std::byte* element) {
    while (!rows.empty()) {
      Node node = order::first_node(rows);
      node.level = std::min(node.level, batch_level);
      const std::byte* const value = fold_batched(element, node.level);
      make_room(1);
      if (value == nullptr || !stack_.push(node, value)) return false;
      stack_.settle();
      rows.begin = node.end();
      element += node.size() * stride_;
    }
    return true;
  }

  /// A full node by batches, one call a level: the left children of a level side by side, and the right ones. Null when
  /// the operator failed.
  const std::byte* fold_batched(const std::byte* elements, int level) {
    if (level == 0) return elements;
    std::byte* const left = scratch_.data();
    std::byte* const right = left + scratch_.size() / 2;
    const std::byte* from = elements;
    for (Count pairs = Count{1} << (level - 1); pairs > 0; pairs /= 2) {
      for (Count i = 0; i < pairs; ++i) {  // ascending: what stands at 2i is read before i is written
        std::memmove(left + i * stride_, from + 2 * i * stride_, stride_);
        std::memcpy(right + i * stride_, from + (2 * i + 1) * stride_, stride_);
      }
      if (combine(op_, left, right, left, pairs) != 0) return nullptr;
      from = left;
    }
    return left;
  }

  const Operator& op_;
  Count columns_;
  Bytes stride_;
  NodeStack stack_;
  std::vector<std::byte> storage_;
  std::vector<std::byte> scratch_;
  std::vector<Run> runs_;
  Status status_ = Status::ok;
};

class TreeKind final : public PartialKind {
 public:
  TreeKind(const Operator& op, Count columns) : op_(op), columns_(columns), stride_(op.element_bytes * columns) {}

  bool exactly_associative() const noexcept override { return true; }

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

  Bytes merge(std::span<const std::byte> left, std::span<const std::byte> right,
              std::span<std::byte> out) const override {
    const auto [header, ok] = merge_headers(left, right);
    if (!ok) return write_failure(out, header, header.status);
    const auto a = parse(left, stride_);
    const auto b = parse(right, stride_);
    if (!a || !b) return write_failure(out, header, Status::transport_failed);
    const auto sources = [&](auto visit) { visit_both(*a, *b, stride_, visit); };
    return assemble(op_, columns_, header, sources, out);
  }

  /// [S0] eq. 2.1-2.3 over the pass-through nodes: n1 op (n2 op (n3 ...)).
  Status finish(std::span<const std::byte> partial, Count element_count, std::byte* values,
                std::byte* spare) const override {
    const Status status = header_of(partial).status;
    if (status != Status::ok) return status;
    const auto record = parse(partial, stride_);
    if (!record) return Status::transport_failed;
    if (record->intervals.empty())
      return element_count == 0 || element_count == unknown_count ? value_of_nothing(op_, values, columns_)
                                                                  : Status::gap;
    const Interval all = record->intervals.front();
    if (record->intervals.size() > 1 || all.begin != 0) return Status::gap;
    if (element_count != unknown_count && all.end != element_count)
      return all.end < element_count ? Status::gap : Status::overlap;
    return fold(*record, order::node_count(all), values, spare);
  }

 private:
  /// A result may alias left but not right, so the running value changes places with each step and ends in `values`.
  Status fold(const Record& record, Count nodes, std::byte* values, std::byte* spare) const {
    if (nodes == 1) std::memcpy(values, record.values, stride_);
    std::byte* target = nodes % 2 == 0 ? values : spare;
    std::byte* other = nodes % 2 == 0 ? spare : values;
    const std::byte* right = record.values + (nodes - 1) * stride_;
    for (Count i = nodes - 1; i-- > 0;) {
      if (combine(op_, record.values + i * stride_, right, target, columns_) != 0) return Status::operator_failed;
      right = target;
      std::swap(target, other);
    }
    if (op_.canonicalise != nullptr) op_.canonicalise(values, columns_);
    return Status::ok;
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
