// The recorded values (tests/golden) by teams: distributed rows and MPI's shape, by one-shot calls and by plans, which
// go without messages. Every combination of operation, types and method by some of its records.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "support/golden.hpp"
#include "support/hex.hpp"
#include "support/on_team.hpp"

namespace steadfold::test::golden_team_test {
namespace {

using golden::Record;

/// A record by one of its methods.
struct Case {
  const Record* record;
  const golden::Method* method;
  const std::string* wanted;
};

/// Some of each operation, type and method.
std::vector<Case> cases_of(const std::vector<Record>& all, std::size_t most, std::mt19937_64& random) {
  std::map<std::string, std::vector<Case>> sorts;
  for (const Record& record : all) {
    if (!record.runs_here()) continue;
    for (const auto& [method, wanted] : record.values)
      sorts[record.operation + record.type + record.result + method.name].push_back({&record, &method, &wanted});
  }
  std::vector<Case> some;
  for (auto& [sort, of_it] : sorts) {
    std::ranges::shuffle(of_it, random);
    of_it.resize(std::min(of_it.size(), most));
    some.insert(some.end(), of_it.begin(), of_it.end());
  }
  return some;
}

/// Rows begin ... end - 1 of the record on this worker.
void expect(const Case& which, const Team::Member& member, std::uint64_t begin, std::uint64_t end, sf_layout layout) {
  const Record& record = *which.record;
  golden::Bytes first, second;
  for (std::uint64_t row = begin; row < end; ++row) {
    record.append_row(first, row);
    if (record.has_second()) record.append_row(second, row, true);
  }
  sf_call call = golden::call_of(record, *which.method);
  call.layout = layout;
  call.rows = end - begin;
  const void* const other = record.has_second() ? second.data() : nullptr;
  golden::Bytes once(record.columns * record.value_bytes()), by_plan = once;
  sf_group* const group = member.group().handle();
  const sf_status status = sf_group_reduce(&call, first.data(), other, once.data(), group);
  sf_plan* plan = nullptr;
  ASSERT_EQ(sf_group_bind(&call, 1, group, &plan), SF_OK) << sf_error_text();
  EXPECT_EQ(sf_plan_run(plan, first.data(), other, by_plan.data()), status) << sf_error_text();
  EXPECT_EQ(sf_plan_run(plan, first.data(), other, by_plan.data()), status) << sf_error_text();
  sf_plan_free(plan);
  ASSERT_EQ(status, *which.wanted == "empty" ? SF_EMPTY : SF_OK) << sf_error_text();
  if (*which.wanted == "empty") return;
  const golden::Bytes wanted = golden::bytes_of(record, *which.wanted);
  for (golden::Bytes* const found : {&once, &by_plan}) {
    golden::clear_gaps(record, found->data(), wanted.size());
    found->resize(wanted.size());
    EXPECT_EQ(hex(*found), hex(wanted)) << (found == &once ? "one-shot" : "by a plan");
  }
}

class GoldenTeam : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTeam, BitsAreThoseRecorded) {
  const std::vector<Record> all = golden::records(GetParam());
  std::mt19937_64 random(4711);
  std::size_t compared = 0;
  for (const int workers : {1, 2, 3, 5, 8}) {
    const std::vector<Case> cases = cases_of(all, workers == 1 ? 3 : 1, random);
    on_team(workers, [&](const Team::Member& member) {
      const auto p = static_cast<std::uint64_t>(workers), w = static_cast<std::uint64_t>(member.worker());
      for (const Case& which : cases) {
        SCOPED_TRACE(which.record->where + " by " + which.method->name + ", " + std::to_string(workers) + " workers");
        const std::uint64_t rows = which.record->rows;
        expect(which, member, rows * w / p, rows * (w + 1) / p, SF_RANK_ORDER);
        if (rows == p && which.record->columns > 1) expect(which, member, w, w + 1, SF_ROW_PER_RANK);
      }
    });
    compared += cases.size();
    if (HasFailure()) return;
  }
  EXPECT_GE(compared, 7u);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTeam, testing::ValuesIn(golden::files));

}  // namespace
}  // namespace steadfold::test::golden_team_test
