#include "arithmetic/tree/lanes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "arithmetic/tree/lane_stack.hpp"
#include "arithmetic/tree/pass_through.hpp"
#include "arithmetic/tree/record.hpp"

namespace steadfold::arithmetic {
namespace {

using order::Interval;
using order::IntervalSet;
using order::Laps;
using order::laps_of;
using tree_record::head_of;
using tree_record::Record;
using tree_record::Run;

/// The properties that a kind of partial, its builders and its merges share.
struct LanesShape {
  const Operator& op;
  Count columns;
  Count lanes;
  Bytes row_bytes = op.element_bytes * columns;
  Bytes lap_bytes = row_bytes * lanes;
};

/// Appends an interval to rows that it touches, or that have just begun at its begin. `values` come from a record.
/// Returns false if the operator failed.
bool append_interval(LaneStack& stack, const LanesShape& shape, Interval rows, const std::byte* values) {
  const Laps laps = laps_of(rows, shape.lanes);
  const std::byte* const nodes = values + laps.before * shape.row_bytes;
  const std::byte* const after = nodes + order::node_count(laps.whole) * shape.lap_bytes;
  if (!stack.push_rows(values, laps.before)) return false;
  stack.settle();
  return stack.append(laps.whole, nodes) && stack.push_rows(after, laps.after);
}

/// The size of a union of intervals, taken in ascending order.
struct LanesSurvey {
  Count lanes;
  Count interval_count = 0;
  Count values = 0;  // the most at a time
  bool overlap = false;
  Interval open = {};
  Count closed_values = 0;  // number of values of all intervals except the last interval

  void need(Count of_open) { values = std::max(values, closed_values + of_open); }

  void take(Interval interval) {
    overlap = overlap || (interval_count > 0 && interval.begin < open.end);
    if (interval_count > 0 && interval.begin == open.end) {
      open.end = interval.end;
    } else {
      closed_values += order::value_count(laps_of(open, lanes), lanes);
      open = interval;
      ++interval_count;
      return need(order::value_count(laps_of(open, lanes), lanes));
    }
    need(order::most_values(open, lanes));
  }
};

/// Writes the record of everything that `sources(visit)` visits, in ascending order, as (interval, its values). `visit`
/// returns the end of the values. `sources` is called twice.
template <class Sources>
Bytes assemble_lanes(const LanesShape& shape, const Header& header, const Sources& sources, std::span<std::byte> out) {
  const auto end_of = [&](Interval interval, const std::byte* values) {
    return values + order::value_count(laps_of(interval, shape.lanes), shape.lanes) * shape.row_bytes;
  };
  LanesSurvey survey{.lanes = shape.lanes};
  sources([&](Interval interval, const std::byte* values) {
    survey.take(interval);
    return end_of(interval, values);
  });
  if (survey.overlap) return write_failure(out, header, Status::overlap);
  const Bytes head = head_of(survey.interval_count);
  if (head + survey.values * shape.row_bytes > out.size()) return write_failure(out, header, Status::transport_failed);

  LaneStack stack(shape.op, shape.columns, shape.lanes);
  std::vector<Interval>::size_type written = 0;
  auto* const table = reinterpret_cast<Interval*>(out.data() + sizeof(tree_record::Prefix));
  std::byte* end = out.data() + head;
  bool ok = true;
  sources([&](Interval interval, const std::byte* values) {
    if (!ok) return values;
    if (written == 0 || stack.rows().end != interval.begin) {
      stack.begin(interval.begin, end);
      ++written;
    }
    ok = append_interval(stack, shape, interval, values);
    end = stack.end();
    table[written - 1] = stack.rows();
    return end_of(interval, values);
  });
  if (!ok) return write_failure(out, header, Status::operator_failed);
  const auto bytes = static_cast<Bytes>(end - (out.data() + head));
  tree_record::write_head(out, header, {table, written}, bytes / shape.row_bytes);
  return head + bytes;
}

/// Combines the values of lanes to the result. Keeps to 16 KiB of the stack, or to memory for rows wider than that.
class LanesFinish {
 public:
  /// `values` are the values in the record of rows 0, ..., rows - 1.
  LanesFinish(const LanesShape& shape, Count rows, const std::byte* values)
      : shape_(shape),
        laps_(laps_of({0, rows}, shape.lanes)),
        nodes_(order::node_count(laps_.whole)),
        lanes_(std::min(rows, shape.lanes)),
        values_(values) {
    const Bytes element = shape.op.element_bytes;
    width_ = std::clamp<Count>(most_of_lane / element, 1, shape.columns);
    if (width_ == shape.columns)
      batch_ = std::bit_floor(std::clamp<Count>(most_of_batch / (width_ * element), 1, shape.lanes));
    const Bytes bytes = (2 * batch_ + most_nodes) * width_ * element;
    if (bytes > room_.size()) allocated_.reset(new (std::nothrow) std::byte[bytes]);
    memory_ = bytes > room_.size() ? allocated_.get() : room_.data();
  }

  Status operator()(std::byte* result, std::byte* spare) {
    if (memory_ == nullptr) return Status::operator_failed;
    for (Count column = 0; column < shape_.columns; column += width_) {
      const Bytes at = column * shape_.op.element_bytes;
      const Count width = std::min(width_, shape_.columns - column);
      if (!columns_from(at, width, result + at, spare + at)) return Status::operator_failed;
    }
    return Status::ok;
  }

 private:
  static constexpr Bytes most_of_lane = 512;
  static constexpr Bytes most_of_batch = 4096;
  static constexpr Count most_nodes = 16;  // of 1024 lanes, and one more

  /// The result of `width` columns, which begin `at` bytes after the beginning of a row.
  bool columns_from(Bytes at, Count width, std::byte* result, std::byte* spare) {
    const Bytes bytes = width * shape_.op.element_bytes;
    NodeStack tree(shape_.op, width, bytes, memory_ + 2 * batch_ * bytes, 0);
    for (Count lane = 0; lane < lanes_; lane += batch_) {
      const Count some = std::min(batch_, lanes_ - lane);
      const std::byte* const found = batch(lane, some, at, width);
      if (found == nullptr || !push(tree, {lane, lane + some}, found, bytes)) return false;
    }
    return pass_through(shape_.op, width, {memory_ + 2 * batch_ * bytes, tree.count(), bytes}, result, spare) ==
           Status::ok;
  }

  /// The values of lanes lane, ..., lane + some - 1: n1 op (n2 op (... op last row)). Several lanes have all columns.
  const std::byte* batch(Count lane, Count some, Bytes at, Count width) {
    const Bytes bytes = width * shape_.op.element_bytes;
    const auto value = [&](Count position) { return values_ + (position + lane) * shape_.row_bytes + at; };
    std::byte* to = memory_;
    std::byte* other = memory_ + batch_ * bytes;
    // Lanes below `after` have one row more than the others.
    const Count longer = std::min(some, laps_.after - std::min(lane, laps_.after));
    const std::byte* const last = value(nodes_ * shape_.lanes);
    if (nodes_ == 0) return last;
    const std::byte* const last_node = value((nodes_ - 1) * shape_.lanes);
    if (longer > 0 && combine(shape_.op, last_node, last, to, longer * width) != 0) return nullptr;
    std::memcpy(to + longer * bytes, last_node + longer * bytes, (some - longer) * bytes);
    for (Count node = nodes_ - 1; node-- > 0; std::swap(to, other))
      if (combine(shape_.op, value(node * shape_.lanes), to, other, some * width) != 0) return nullptr;
    return to;
  }

  bool push(NodeStack& tree, Interval lanes, const std::byte* values, Bytes bytes) {
    if (bytes == shape_.op.element_bytes && shape_.op.fold != nullptr) {
      std::array<std::byte, 32 * 16> nodes;
      shape_.op.fold(values, lanes.begin, lanes.size(), nodes.data());
      const bool ok = tree.append(lanes, nodes.data()) != nullptr;
      tree.settle();
      return ok;
    }
    for (; !lanes.empty(); ++lanes.begin, values += bytes)
      if (!tree.push({lanes.begin, 0}, values)) return false;
    tree.settle();
    return true;
  }

  const LanesShape& shape_;
  Laps laps_;
  Count nodes_;
  Count lanes_;  // that have rows
  const std::byte* values_;
  Count width_ = 1;  // columns at a time
  Count batch_ = 1;  // lanes at a time, a power of two
  alignas(16) std::array<std::byte, 16384> room_;
  std::unique_ptr<std::byte[]> allocated_;
  std::byte* memory_;
};

/// The rows of one worker. Every run of touching pushes has its own values; `write` puts the runs in order.
class LanesBuilder final : public Builder {
 public:
  explicit LanesBuilder(const LanesShape& shape) : shape_(shape), stack_(shape.op, shape.columns, shape.lanes) {}

  void clear() override {
    runs_.clear();
    status_ = Status::ok;
  }

  void push(Index begin, const Block& block) override {
    if (block.rows == 0) return;
    const bool is_contiguous = block.row_stride == shape_.row_bytes || block.rows == 1;
    const Count most = is_contiguous ? block.rows : shape_.lanes << kernels::rows_level;
    for (Count done = 0; done < block.rows; done += most) {
      const Count some = std::min(most, block.rows - done);
      const std::byte* rows = block.first + done * block.row_stride;
      if (!is_contiguous) rows = gathered(rows, some, block.row_stride);
      if (!push_contiguous({begin + done, begin + done + some}, rows)) status_ = Status::operator_failed;
    }
  }

  Bytes write(std::span<std::byte> out) override {
    if (status_ != Status::ok) return write_failure(out, {}, status_);
    tree_record::sort(runs_);
    const auto sources = [this](auto visit) {
      for (const Run& run : runs_) visit(run.rows, values_.data() + run.first * shape_.row_bytes);
    };
    return assemble_lanes(shape_, {}, sources, out);
  }

  bool finishes_alone() const noexcept override { return true; }
  Status finish_alone(Count element_count, std::byte* values, std::byte* spare) override {
    if (status_ != Status::ok) return status_;
    const Count rows = runs_.empty() ? 0 : runs_.front().rows.end;
    const Status whole = check_row_count(rows, element_count);
    if (whole != Status::ok) return whole;
    if (rows == 0) return value_of_nothing(shape_.op, values, shape_.columns);
    return LanesFinish(shape_, rows, values_.data())(values, spare);
  }

 private:
  bool push_contiguous(Interval rows, const std::byte* from) {
    const bool touches = !runs_.empty() && runs_.back().rows.end == rows.begin;
    const Count first = runs_.empty() ? 0 : runs_.back().first + stack_.count();
    if (!touches) runs_.push_back({{rows.begin, rows.begin}, first});
    Run& run = runs_.back();
    make_room(run.first + order::most_values({run.rows.begin, rows.end}, shape_.lanes));
    std::byte* const values = values_.data() + run.first * shape_.row_bytes;
    touches ? stack_.moved_to(values) : stack_.begin(rows.begin, values);
    run.rows.end = rows.end;

    const Laps laps = laps_of(rows, shape_.lanes);
    const std::byte* const whole = from + laps.before * shape_.row_bytes;
    const std::byte* const after = whole + laps.whole.size() * shape_.lap_bytes;
    if (!stack_.push_rows(from, laps.before)) return false;
    stack_.settle();
    return push_laps(laps.whole, whole) && stack_.push_rows(after, laps.after);
  }

  bool push_laps(Interval laps, const std::byte* from) {
    if (laps.empty()) return true;
    if (shape_.op.fold_rows == nullptr) {
      for (; !laps.empty(); ++laps.begin, from += shape_.lap_bytes)
        if (!stack_.push(laps.begin, from)) return false;
      stack_.settle();
      return true;
    }
    const bool is_first = !stack_.has_laps();
    if (!is_first) nodes_.resize(order::most_nodes(laps) * shape_.lap_bytes);
    std::byte* const to = is_first ? stack_.end() : nodes_.data();
    const Count count =
        shape_.op.fold_rows(from, shape_.lap_bytes, shape_.lanes * shape_.columns, laps.begin, laps.size(), to);
    if (!is_first) return stack_.append(laps, to);
    stack_.adopt(laps, count);
    return true;
  }

  const std::byte* gathered(const std::byte* rows, Count count, Bytes row_stride) {
    gathered_.resize(count * shape_.row_bytes);
    for (Count i = 0; i < count; ++i)
      std::memcpy(gathered_.data() + i * shape_.row_bytes, rows + i * row_stride, shape_.row_bytes);
    return gathered_.data();
  }

  void make_room(Count count) {
    if (values_.size() < count * shape_.row_bytes)
      values_.resize(std::max(count * shape_.row_bytes, 2 * values_.size()));
  }

  LanesShape shape_;
  LaneStack stack_;  // of the last run
  std::vector<std::byte> values_;
  std::vector<std::byte> nodes_;
  std::vector<std::byte> gathered_;
  std::vector<Run> runs_;
  Status status_ = Status::ok;
};

class LanesKind final : public PartialKind {
 public:
  LanesKind(const Operator& op, Count columns, Count lanes) : shape_{.op = op, .columns = columns, .lanes = lanes} {}

  Bytes capacity(const IntervalSet& rows) const override {
    return head_of(rows.intervals().size()) + row_count(rows) * shape_.row_bytes;
  }
  Bytes working_capacity(const IntervalSet& rows) const override {
    Count values = 0;
    for (const Interval interval : rows.intervals()) values += most_values(interval);
    return head_of(rows.intervals().size()) + values * shape_.row_bytes;
  }
  bool has_fixed_size() const noexcept override { return false; }
  Count row_count(const IntervalSet& rows) const override {
    Count values = 0;
    for (const Interval interval : rows.intervals()) values += value_count(interval);
    return values;
  }
  Count most_values(Interval rows) const noexcept override { return order::most_values(rows, shape_.lanes); }
  Bytes value_bytes() const noexcept override { return shape_.row_bytes; }
  std::unique_ptr<Builder> builder() const override { return std::make_unique<LanesBuilder>(shape_); }

 private:
  Count value_count(Interval rows) const { return order::value_count(laps_of(rows, shape_.lanes), shape_.lanes); }
  std::optional<Record> parse(const Partial& partial) const {
    return tree_record::parse(partial, shape_.row_bytes, [this](const Record& record) {
      return tree_record::is_sound(record, [this](Interval rows) { return value_count(rows); });
    });
  }

  Partial merge_piece(const Partial& left, const Partial& right, const Room& out, Pieces& pieces) const override {
    pieces.stop();
    const auto [header, ok] = merge_headers(left.head, right.head);
    if (!ok) return failed(out, header, header.status);
    const auto a = parse(left);
    const auto b = parse(right);
    if (!a || !b) return failed(out, header, Status::transport_failed);
    const auto sources = [&](auto visit) { tree_record::visit_both(*a, *b, visit); };
    return out.head.first(assemble_lanes(shape_, header, sources, out.head));
  }

  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                      Pieces& pieces) const override {
    pieces.stop();
    const Status status = header_of(partial.head).status;
    if (status != Status::ok) return status;
    const auto record = parse(partial);
    if (!record) return Status::transport_failed;
    const Status whole = tree_record::check_whole(*record, element_count);
    if (whole != Status::ok) return whole;
    if (record->intervals.empty()) return value_of_nothing(shape_.op, values, shape_.columns);
    return LanesFinish(shape_, record->intervals.front().end, record->values)(values, spare);
  }

  LanesShape shape_;
};

}  // namespace

std::unique_ptr<PartialKind> make_tree_with_lanes(const Operator& op, Count columns, Count lanes) {
  return std::make_unique<LanesKind>(op, columns, lanes);
}

}  // namespace steadfold::arithmetic
