// The values of one interval of rows, under construction in ascending order, for a tree with lanes. The rows of whole
// laps are nodes of laps; see order/laps.hpp. The other rows are kept as they are.
// Rank order: within each lane left op right. Cost: one operation per pair of sibling laps and lane; every other row is
// copied once. Allocates no memory.
#pragma once

#include "arithmetic/tree/node_stack.hpp"
#include "order/laps.hpp"

namespace steadfold::arithmetic {

/// In memory that the caller owns, with room for order::most_values.
class LaneStack {
 public:
  using Interval = order::Interval;

  /// For rows of `columns` elements.
  LaneStack(const Operator& op, Count columns, Count lanes)
      : op_(&op), columns_(columns), lanes_(lanes), row_bytes_(op.element_bytes * columns), laps_(op, 0, nullptr) {}

  /// Begins an interval of rows, with its values at `values`.
  void begin(Index row, std::byte* values) {
    rows_ = {row, row};
    laps_ = NodeStack(*op_, columns_ * lanes_, nullptr);
    moved_to(values);
  }

  /// The values have moved.
  void moved_to(std::byte* values) {
    values_ = values;
    laps_.moved_to(values + before_laps() * row_bytes_);
  }

  /// Appends rows that end before the next lap, or with it. Returns false if the operator failed.
  bool push_rows(const std::byte* rows, Count count) {
    if (count == 0) return true;
    copy_values(*op_, rows, end(), count * columns_);
    const Count before = rows_.end % lanes_;
    rows_.end += count;
    const bool ends_lap = before + count == lanes_;
    if (!ends_lap || rows_.size() < lanes_) return true;
    return push(rows_.end / lanes_ - 1, end_of_laps());
  }

  /// Appends a lap. Its values must stay valid until the next push or `settle`.
  bool push(order::Index lap, const std::byte* values) {
    rows_.end = (lap + 1) * lanes_;
    return laps_.push({lap, 0}, values);
  }
  /// Copies the last lap, if it is not yet among the values.
  void settle() { laps_.settle(); }
  /// Appends the maximal nodes of whole laps.
  bool append(Interval laps, const std::byte* values) {
    if (laps.empty()) return true;
    rows_.end = laps.end * lanes_;
    const bool ok = laps_.append(laps, values) != nullptr;
    laps_.settle();
    return ok;
  }
  /// Appends nodes of whole laps that have been written to `end()`. There must be no whole laps before.
  void adopt(Interval laps, Count nodes) {
    rows_.end = laps.end * lanes_;
    laps_.adopt(laps, nodes);
  }

  const Interval& rows() const { return rows_; }
  bool has_laps() const { return laps_.count() > 0; }
  /// The end of the values.
  std::byte* end() const {
    if (rows_.size() < before_laps()) return values_ + rows_.size() * row_bytes_;
    return end_of_laps() + rows_.end % lanes_ * row_bytes_;
  }
  Count count() const { return static_cast<Count>(end() - values_) / row_bytes_; }

 private:
  /// The number of rows before the first lap that can be whole.
  Count before_laps() const { return (lanes_ - rows_.begin % lanes_) % lanes_; }
  std::byte* end_of_laps() const { return values_ + (before_laps() + laps_.count() * lanes_) * row_bytes_; }

  const Operator* op_;
  Count columns_;
  Count lanes_;
  Bytes row_bytes_;
  std::byte* values_ = nullptr;
  Interval rows_;
  NodeStack laps_;
};

}  // namespace steadfold::arithmetic
