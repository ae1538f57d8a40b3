// The recorded values (tests/golden) by the C functions over this MPI library: distributed rows over every sort of
// layout, one-shot and by plans, to all ranks and to one, scans over recorded prefixes, MPI's shape and its blocks.
// Every combination of operation, types and method by some of its records, all of them with STEADFOLD_FULL.
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include "mpi/ranks.hpp"
#include "mpi/run_ranks.hpp"
#include "steadfold/steadfold_mpi.h"
#include "support/hex.hpp"

namespace steadfold::tests::golden_test {
namespace {

using golden::Record;

/// A record by one of its methods.
struct Case {
  const Record* record;
  const golden::Method* method;
  const std::string* wanted;
};

/// One call: what this rank brings and is to get. Nothing wanted: its result stays as it is.
struct Brought {
  sf_call call;
  std::vector<Interval> mine;
  std::optional<std::string> wanted;
};

class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  /// Some of each operation, type and method; of several ranks that poll a quarter of that. All where the full sweep is
  /// asked for.
  std::vector<Case> cases() {
    std::map<std::string, std::vector<Case>> sorts;
    for (const Record& record : all_) {
      if (!record.runs_here()) continue;
      for (const auto& [method, wanted] : record.values)
        sorts[record.operation + record.type + record.result + method.name].push_back({&record, &method, &wanted});
    }
    const bool polls = world.size > 1 && std::string(sf_mpi_library()).find("MPICH") != std::string::npos;
    std::vector<Case> some;
    for (auto& [sort, of_it] : sorts) {
      if (polls && !full() && sorts.size() > 8 && draw(random, 4) > 0) continue;
      const std::size_t most = full() ? of_it.size() : std::min<std::size_t>(of_it.size(), world.size == 1 ? 4 : 1);
      for (std::size_t i = 0; i < most; ++i) {
        std::swap(of_it[i], of_it[i + draw(random, of_it.size() - i)]);
        some.push_back(of_it[i]);
      }
    }
    return some;
  }

  /// The case of the same kind with so many rows; for the ranks of MPI's shape.
  const std::string* value_of(const Case& like, std::uint64_t rows) const {
    const Record* const found = golden::find(all_, *like.record, rows);
    return found == nullptr ? nullptr : found->value_by(*like.method);
  }

  void expect(const Case& which, Brought& brought) {
    Watchdog::note(which.record->where + " by " + which.method->name + ", collective " +
                   std::to_string(brought.call.collective) + ", root " + std::to_string(brought.call.root));
    sf_call& call = brought.call;
    golden::Bytes first;
    golden::Bytes second;
    for (const Interval interval : brought.mine) {
      call.rows += interval.end - interval.begin;
      for (std::uint64_t row = interval.begin; row < interval.end; ++row) {
        which.record->append_row(first, row);
        if (which.record->has_second()) which.record->append_row(second, row, true);
      }
    }
    if (call.layout == SF_INTERVALS) {
      call.intervals = brought.mine.data();
      call.interval_count = brought.mine.size();
    }
    constexpr std::byte untouched{0xEE};
    golden::Bytes result(which.record->columns * which.record->value_bytes(), untouched);
    const golden::Bytes before = result;
    const sf_status status = run(call, first.data(), which.record->has_second() ? second.data() : nullptr, result);
    if (testing::Test::HasFailure()) return;  // the first is enough, but other ranks may not have one: the calls go on
    if (!brought.wanted) {
      EXPECT_TRUE(status == SF_OK || status == SF_EMPTY) << status << ": " << sf_error_text();
      EXPECT_EQ(test::hex(result), test::hex(before)) << "this rank gets nothing";
      return;
    }
    EXPECT_EQ(status, *brought.wanted == "empty" ? SF_EMPTY : SF_OK) << sf_error_text();
    if (*brought.wanted == "empty") return;
    const golden::Bytes wanted = golden::bytes_of(*which.record, *brought.wanted);
    golden::clear_gaps(*which.record, result.data(), wanted.size());
    result.resize(wanted.size());
    EXPECT_EQ(test::hex(result), test::hex(wanted));
  }

  /// A call that is started, and tested until it has ended.
  sf_status start_and_test(const sf_call& call, const void* first, const void* second, golden::Bytes& result) {
    sf_group* group = nullptr;
    sf_request* request = nullptr;
    sf_status status = sf_group_of(world.comm, &group);
    if (status == SF_OK) status = sf_group_start_reduce(&call, first, second, result.data(), group, &request);
    for (int done = 0; status == SF_OK && done == 0;) status = sf_request_test(request, &done);
    sf_request_free(request);
    return status;
  }

  /// Once, in one or two phases, which each rank chooses for itself, or twice by a plan.
  sf_status run(const sf_call& call, const void* first, const void* second, golden::Bytes& result) {
    if (draw(random, 4) > 0)
      return calls_++ % 2 == world.index() % 2 ? sf_reduce(&call, first, second, result.data(), world.comm)
                                               : start_and_test(call, first, second, result);
    sf_plan* plan = nullptr;
    sf_status status = sf_plan_bind(&call, world.comm, &plan);
    if (status != SF_OK) return status;
    status = sf_plan_run(plan, first, second, result.data());
    // Again on every rank, whatever this one's status: of a rooted run of no rows the root alone has SF_EMPTY.
    const sf_status again = sf_plan_run(plan, first, second, result.data());
    EXPECT_EQ(again, status);
    sf_plan_free(plan);
    return status;
  }

  void expect_distributed(const Case& which) {
    const auto layouts = sorts_of_layouts(which.record->rows, world.count(), random);
    const NamedOwnership& layout = layouts[draw(random, layouts.size())];
    Brought brought{golden::call_of(*which.record, *which.method), layout.ownership[world.index()], *which.wanted};
    const bool in_order = !layout.name.starts_with("shuffled");
    brought.call.layout = in_order && draw(random, 2) == 0 ? SF_RANK_ORDER : SF_INTERVALS;
    if (draw(random, 3) == 0) brought.call.root = static_cast<int>(draw(random, world.count()));
    if (brought.call.method == SF_BINNED && draw(random, 2) == 0) brought.call.sweep = SF_DOUBLE_SWEEP;
    if (draw(random, 4) == 0) brought.call.threads = 2;
    static const std::vector<const char*> schedules = {nullptr, nullptr, "flat", "linear", "binomial"};
    brought.call.schedule = schedules[draw(random, schedules.size())];
    const bool is_one_sum = brought.call.operation < SF_STATISTICS;
    const bool offers_words = is_one_sum && (brought.call.method == SF_EXACT || brought.call.sweep == SF_DOUBLE_SWEEP);
    if (offers_words && draw(random, 8) == 0) brought.call.schedule = "native";
    if (brought.call.root >= 0 && brought.call.root != world.rank) brought.wanted.reset();
    SCOPED_TRACE(which.record->where + " by " + which.method->name + ", " + layout.name + ", root " +
                 std::to_string(brought.call.root) + ", layout " + std::to_string(brought.call.layout));
    expect(which, brought);
  }

  /// Rank r has the rows up to one of the sizes that are recorded; some ranks have none.
  void expect_scans(const Case& which) {
    std::vector<std::uint64_t> sizes;
    for (const Record& other : all_)
      if (other.key() == which.record->key() && other.rows > 0) sizes.push_back(other.rows);
    const auto end_of = [&](std::size_t rank) { return sizes[rank * sizes.size() / world.count()]; };
    const std::uint64_t begin = world.rank == 0 ? 0 : end_of(world.index() - 1);
    for (const sf_collective collective : {SF_SCAN, SF_EXSCAN}) {
      Brought brought{golden::call_of(*which.record, *which.method), {{begin, end_of(world.index())}}, {}};
      brought.call.collective = collective;
      brought.call.layout = SF_RANK_ORDER;
      const std::uint64_t rows = collective == SF_SCAN ? end_of(world.index()) : begin;
      if (rows > 0) brought.wanted = *value_of(which, rows);
      SCOPED_TRACE(which.record->where + " by " + which.method->name + ", scan " + std::to_string(collective));
      expect(which, brought);
    }
  }

  /// A row on each rank.
  void expect_vectors(const Case& which) {
    std::vector<std::uint64_t> blocks(world.count());
    for (std::uint64_t column = 0; column < which.record->columns; ++column) ++blocks[draw(random, blocks.size())];
    const std::uint64_t rank = static_cast<std::uint64_t>(world.rank);
    for (const sf_collective collective : {SF_REDUCE, SF_REDUCE_SCATTER, SF_SCAN, SF_EXSCAN}) {
      Brought brought{golden::call_of(*which.record, *which.method), {{rank, rank + 1}}, {}};
      brought.call.collective = collective;
      brought.call.layout = SF_ROW_PER_RANK;
      const std::uint64_t rows = collective == SF_SCAN ? rank + 1 : collective == SF_EXSCAN ? rank : world.count();
      if (rows > 0) brought.wanted = *value_of(which, rows);
      if (collective == SF_REDUCE_SCATTER) {
        brought.call.blocks = blocks.data();
        brought.call.block_count = blocks.size();
        std::uint64_t first = 0;
        for (std::size_t r = 0; r < world.index(); ++r) first += blocks[r];
        brought.wanted = golden::columns_of(*which.record, *brought.wanted, first, blocks[world.index()]);
        if (blocks[world.index()] == 0) brought.wanted.reset();
      }
      SCOPED_TRACE(which.record->where + " by " + which.method->name + ", MPI's shape " + std::to_string(collective));
      expect(which, brought);
    }
  }

  Ranks world;
  Random random{seed_of("golden_test", 7331)};
  std::vector<Record> all_ = golden::records(GetParam());
  std::uint64_t calls_ = 0;
};

TEST_P(GoldenTest, BitsAreThoseRecorded) {
  std::size_t compared = 0;
  for (const Case& which : cases()) {
    ++compared;
    expect_distributed(which);
    if (which.record->family != "specials" && which.record->columns > 1 && which.record->rows == world.count())
      expect_vectors(which);
    if (which.record->columns == 1 && draw(random, 8) == 0) expect_scans(which);
  }
  EXPECT_GE(compared, 3u);
  if (world.rank == 0)
    std::printf("golden values over %s, %s: %zu compared\n", sf_mpi_library(), GetParam().c_str(), compared);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTest, testing::ValuesIn(golden::files));
INSTANTIATE_TEST_SUITE_P(Large, GoldenTest, testing::Values("large"));

}  // namespace
}  // namespace steadfold::tests::golden_test
