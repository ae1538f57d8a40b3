// The recorded values by calls within one process: of every record by every method, both sweeps, one thread and
// several, rows in the order of their indices and not. On every instruction set of the machine (kernels/targets.py), on
// AArch64 and on s390x.
#include <gtest/gtest.h>

#include "support/golden.hpp"
#include "support/hex.hpp"

namespace steadfold::golden::golden_test {
namespace {

/// The rows of a record as one process has them: which ones, in the order of memory.
struct Rows {
  std::vector<sf_interval> intervals;
  Bytes first;
  Bytes second;
};

Rows rows_of(const Record& record, std::vector<sf_interval> intervals) {
  Rows rows{.intervals = std::move(intervals), .first = {}, .second = {}};
  for (const sf_interval interval : rows.intervals) {
    for (std::uint64_t row = interval.begin; row < interval.end; ++row) {
      record.append_row(rows.first, row);
      if (record.has_second()) record.append_row(rows.second, row, true);
    }
  }
  return rows;
}

/// Nine pieces in another order, some of them empty.
std::vector<sf_interval> in_disorder(std::uint64_t rows) {
  std::vector<sf_interval> intervals;
  for (std::uint64_t i = 0; i < 9; ++i) {
    const std::uint64_t piece = 5 * i % 9;
    intervals.push_back({piece * rows / 9, (piece + 1) * rows / 9});
  }
  return intervals;
}

void expect(const Record& record, const Rows& rows, sf_call call, const std::string& wanted) {
  call.rows = record.rows;
  constexpr std::byte untouched{0xEE};
  Bytes result(record.columns * record.value_bytes(), untouched);
  const sf_status status =
      sf_reduce_local(&call, rows.first.data(), record.has_second() ? rows.second.data() : nullptr, result.data());
  if (wanted == "empty") {
    EXPECT_EQ(status, SF_EMPTY);
    return;
  }
  ASSERT_EQ(status, SF_OK) << sf_error_text();
  clear_gaps(record, result.data(), result.size());
  EXPECT_EQ(test::hex(result), test::hex(bytes_of(record, wanted)));
}

/// By one method, in every way there is.
void expect_by(const Record& record, const Rows& in_order, const Rows& shuffled, const Method& method,
               const std::string& wanted) {
  sf_call call = call_of(record, method);
  SCOPED_TRACE(record.where + " by " + method.name);
  expect(record, in_order, call, wanted);
  call.layout = SF_INTERVALS;
  call.intervals = shuffled.intervals.data();
  call.interval_count = shuffled.intervals.size();
  call.threads = 3;
  call.sweep = method.method == SF_BINNED ? SF_DOUBLE_SWEEP : SF_SINGLE_SWEEP;
  call.require = SF_RANKS | SF_THREADS | SF_LAYOUT | SF_SCHEDULE | SF_LIBRARY | SF_TARGET | SF_RELEASE;
  expect(record, shuffled, call, wanted);
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, ValuesOfOneProcess) {
  Tally tally("golden values of " + GetParam());
  for (const Record& record : records(GetParam())) {
    if (!record.runs_here()) {
      tally.left_out();
      continue;
    }
    const Rows in_order = rows_of(record, {{0, record.rows}});
    const Rows shuffled = rows_of(record, in_disorder(record.rows));
    for (const auto& [method, wanted] : record.values) {
      expect_by(record, in_order, shuffled, method, wanted);
      tally.compared();
    }
    if (testing::Test::HasFailure()) return;  // the first is enough
  }
  EXPECT_GE(tally.count(), 60u);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(files), [](const auto& file) { return file.param; });
INSTANTIATE_TEST_SUITE_P(Large, Golden, testing::Values("large"));

}  // namespace
}  // namespace steadfold::golden::golden_test
