// The rows that a rank gives to a call of `steadfold doctor` or `steadfold vectors`, and the result's bits.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "program/doctor/golden.hpp"
#include "steadfold/steadfold_group.h"

namespace steadfold::golden {

/// A rank's rows, in the order of memory.
struct Rows {
  std::vector<sf_interval> intervals;
  Bytes first;
  Bytes second;
  std::uint64_t count = 0;
};

/// Returns the rows of these intervals. `append_row(to, row, is_second)` appends one row of an input.
template <class AppendRow>
Rows rows_of(std::vector<sf_interval> intervals, bool has_second, const AppendRow& append_row) {
  Rows rows{.intervals = std::move(intervals), .first = {}, .second = {}};
  for (const sf_interval interval : rows.intervals) {
    for (std::uint64_t row = interval.begin; row < interval.end; ++row) {
      append_row(rows.first, row, false);
      if (has_second) append_row(rows.second, row, true);
      rows.count += 1;
    }
  }
  return rows;
}

/// Returns the bits of a result, or `empty`. If `group` is null, this process computes it alone. Throws
/// std::runtime_error with the library's reason if the library refuses the call.
inline std::string result_of(const Record& record, const Rows& rows, sf_call call, sf_group* group) {
  call.layout = SF_INTERVALS;
  call.intervals = rows.intervals.data();
  call.interval_count = rows.intervals.size();
  call.rows = rows.count;
  Bytes result(record.columns * record.value_bytes());
  const void* const second = record.has_second() ? rows.second.data() : nullptr;
  const sf_status status = group == nullptr ? sf_reduce_local(&call, rows.first.data(), second, result.data())
                                            : sf_group_reduce(&call, rows.first.data(), second, result.data(), group);
  if (status == SF_EMPTY) return "empty";
  if (status != SF_OK) throw std::runtime_error(sf_error_text());
  return text_of(record, result);
}

}  // namespace steadfold::golden
