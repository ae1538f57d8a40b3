// Some rows sorted by the groups that their labels name, or by some of these groups.
// Rank order: kept within a group. Cost: two passes over the rows, O(groups that have some); memory for the groups that
// are wanted. Source: counting sort.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "arithmetic/rows/strides.hpp"
#include "order/interval.hpp"

namespace steadfold::arithmetic {

/// Keeps its memory.
class DealtRows {
 public:
  /// Rows order()[begin], ..., order()[end - 1] belong to this group.
  struct GroupRun {
    order::Count group;
    order::Count begin;
    order::Count end;
  };

  /// At most 2^32 - 1 rows with their labels one after the other, aligned or not, of which `mask` (a byte per row, or
  /// null) leaves some out. Rows of groups that are not `wanted` are left out, too. False, and no runs, if a label is
  /// not below the number of groups.
  bool sort(const std::byte* labels, const std::byte* mask, order::Count rows, const Labels& how,
            const order::Interval& wanted);

  /// In place of `sort`: finds the column of every row, or ColumnBuilders::no_column. Its groups have their columns one
  /// behind the other, and these are the ones with this number in their group; `wanted` are columns. False as `sort`.
  bool find_columns(const std::byte* labels, const std::byte* mask, order::Count rows, const Labels& how,
                    order::Count in_group, const order::Interval& wanted);
  std::span<const std::uint32_t> columns() const noexcept { return run_of_row_; }

  std::span<const GroupRun> runs() const noexcept { return runs_; }
  std::span<const std::uint32_t> order() const noexcept { return order_; }

  /// Copies elements of so many bytes, the rows' own, in this order.
  void gather(const std::byte* elements, order::Bytes bytes, std::vector<std::byte>& to) const;

 private:
  static constexpr auto no_run = std::numeric_limits<std::uint32_t>::max();

  template <class Label>
  bool find_runs(const std::byte* labels, const std::byte* mask, order::Count rows, order::Count groups,
                 const order::Interval& wanted);

  std::vector<std::uint32_t> run_of_group_;  // of those that are wanted; no_run but during a sort
  std::vector<std::uint32_t> run_of_row_;    // or no_run; or its column
  std::vector<GroupRun> runs_;
  std::vector<std::uint32_t> order_;
};

}  // namespace steadfold::arithmetic
