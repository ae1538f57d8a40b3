// Sorts rows by the groups in their labels. Only rows of wanted groups are kept. Rank order: kept within a group. Cost:
// two passes over the rows, and O(groups that have rows). Memory in proportion to the wanted groups. Source: counting
// sort.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "arithmetic/rows/strides.hpp"
#include "order/interval.hpp"

namespace steadfold::arithmetic {

/// Sorts the rows of one call after the other. The object keeps its memory.
class DealtRows {
 public:
  /// The rows of one wanted group: order()[begin], ..., order()[end - 1].
  struct GroupRun {
    order::Count group;
    order::Count begin;
    order::Count end;
  };

  /// Sorts at most 2^32 - 1 rows. Their labels are contiguous, aligned or not. `mask` (one byte per row, or null)
  /// selects rows. Rows of groups that are not `wanted` are left out, too. If a label is not below the number of
  /// groups, returns false, and no group has rows.
  bool sort(const std::byte* labels, const std::byte* mask, order::Count rows, const Labels& how,
            const order::Interval& wanted);

  /// Replaces `sort`: finds the column of every row, or ColumnBuilders::no_column. The columns of a group are
  /// consecutive; the found column is number `in_group` of its group. `wanted` is a range of columns. Returns false as
  /// `sort` does.
  bool find_columns(const std::byte* labels, const std::byte* mask, order::Count rows, const Labels& how,
                    order::Count in_group, const order::Interval& wanted);
  std::span<const std::uint32_t> columns() const noexcept { return run_of_row_; }

  std::span<const GroupRun> runs() const noexcept { return runs_; }
  std::span<const std::uint32_t> order() const noexcept { return order_; }

  /// Copies the elements of the rows, of `bytes` bytes each, in the sorted order.
  void gather(const std::byte* elements, order::Bytes bytes, std::vector<std::byte>& to) const;

 private:
  static constexpr auto no_run = std::numeric_limits<std::uint32_t>::max();

  template <class Label>
  bool find_runs(const std::byte* labels, const std::byte* mask, order::Count rows, order::Count groups,
                 const order::Interval& wanted);

  // By group: index of its GroupRun, for wanted groups; no_run except during a sort.
  std::vector<std::uint32_t> run_of_group_;
  // By row: index of its GroupRun, or no_run; after find_columns the row's column.
  std::vector<std::uint32_t> run_of_row_;
  std::vector<GroupRun> runs_;
  std::vector<std::uint32_t> order_;
};

}  // namespace steadfold::arithmetic
