// The recorded values (tests/golden) on ranks of a simulated network: every record by every method, by schedules, rank
// counts and layouts in turn, to all ranks and to one; scans over every recorded prefix; MPI's shape with its blocks.
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "support/deals.hpp"

namespace steadfold::test::golden_test {
namespace {

using call::Collective;
using golden::Record;

Call simulated_call(const Record& record, const golden::Method& method) {
  const sf_call from = golden::call_of(record, method);
  Call call{.operation = static_cast<arithmetic::Operation>(from.operation),
            .method = static_cast<Method>(from.method),
            .type = static_cast<arithmetic::Type>(from.type),
            .result_type = static_cast<arithmetic::Type>(from.result_type),
            .columns = from.columns,
            .user = {},
            .operator_name = {},
            .parameters = {.bins = from.bins}};
  if (record.is_user()) {
    call.user = {.apply = from.user, .element_bytes = from.element_bytes, .is_users = true};
    call.operator_name = from.operator_name;
    call.user_may_fail = record.type == "matrix";
  }
  return call;
}

// --- runs ------------------------------------------------------------------------------------------------------------

/// What every rank brings.
struct Brought {
  std::vector<Memory> first;
  std::vector<Memory> second;
};

/// A record's rows, made once.
class Data {
 public:
  explicit Data(const Record& record) : record_(record) {
    for (Index row = 0; row < record.rows; ++row) {
      record.append_row(first_, row);
      if (record.has_second()) record.append_row(second_, row, true);
    }
  }

  Brought dealt(const Deal& deal) const {
    Brought brought;
    for (const auto& intervals : deal) {
      brought.first.push_back(picked(first_, record_.row_bytes(), intervals));
      if (!record_.has_second()) continue;
      brought.second.push_back(picked(second_, record_.is_masked() ? 1 : record_.row_bytes(), intervals));
    }
    return brought;
  }

 private:
  static Memory picked(const Memory& rows, Bytes row_bytes, const std::vector<Interval>& intervals) {
    Memory memory;
    for (const Interval interval : intervals) {
      const auto* const first = rows.data();
      memory.insert(memory.end(), first + interval.begin * row_bytes, first + interval.end * row_bytes);
    }
    return memory;
  }

  const Record& record_;
  Memory first_;
  Memory second_;
};

/// One job: what each rank is to get, as text of the record; nullopt where it gets nothing.
struct Job {
  const Record& record;
  Call call;
  Deal deal;
  std::vector<std::optional<std::string>> wanted;
  std::vector<Count> blocks = {};
};

void expect_outcome(const Job& job, Outcome& outcome) {
  ASSERT_FALSE(outcome.stuck) << "deadlock";
  for (std::size_t rank = 0; rank < job.deal.size(); ++rank) {
    Result& result = outcome.results[rank];
    if (!job.wanted[rank]) {
      ASSERT_TRUE(result.intact()) << "rank " << rank << " gets nothing";
      continue;
    }
    const std::string& wanted = *job.wanted[rank];
    ASSERT_EQ(outcome.statuses[rank], wanted == "empty" ? Status::empty : Status::ok) << "rank " << rank;
    if (wanted == "empty") continue;
    const Memory bytes = golden::bytes_of(job.record, wanted);
    golden::clear_gaps(job.record, result.data(), bytes.size());
    ASSERT_EQ(hex(result.bytes().first(bytes.size())), hex(bytes)) << "rank " << rank;
  }
}

/// Binds and runs it, by a schedule whose turn it is.
void expect_job(Turns& turns, const Data& data, Job job) {
  const std::vector<std::string> names = names_for(job.call);
  ASSERT_FALSE(names.empty());
  const auto first = turns.next(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    job.call.schedule = names[(first + i) % names.size()];
    const std::vector<Call> calls = calls_for(job.call, job.deal);
    const Concluded agreed = concluded(calls);
    if (agreed.status == Status::unsupported) continue;  // a schedule for other layouts
    SCOPED_TRACE(testing::Message() << job.record.where << ", by " << call::name_of(job.call.method) << ", bins "
                                    << job.call.parameters.bins << ", p " << job.deal.size() << ", "
                                    << job.call.schedule << ", layout " << static_cast<int>(job.call.layout)
                                    << ", share " << static_cast<int>(job.call.collective) << ", root "
                                    << job.call.root);
    ASSERT_TRUE(agreed.agreement) << agreed.text;
    SimulatedRanks ranks(static_cast<Rank>(job.deal.size()), turns.next(1000));
    SimulatedJob bound(ranks, *agreed.agreement, calls, static_cast<std::uint32_t>(turns.next(3)));
    const Brought brought = data.dealt(job.deal);
    Outcome outcome = run(ranks, bound, brought.first, job.record.columns * job.record.value_bytes(),
                          static_cast<std::uint32_t>(job.record.columns + 8), brought.second);
    return expect_outcome(job, outcome);
  }
  ADD_FAILURE() << job.record.where << ": no schedule serves it";
}

/// The record's rows spread over ranks, to all of them or to a root.
void expect_distributed(Turns& turns, const Data& data, const Record& record, const golden::Method& method,
                        const std::string& wanted) {
  const auto p = turns.of(std::vector<Rank>{1, 2, 3, 5, 8});
  Job job{.record = record, .call = simulated_call(record, method), .deal = {}, .wanted = {}};
  const auto way = turns.next(5);
  const Dealt rule = by_rule(turns, record.rows, p);
  const order::Grid grid = grid_of(rule);
  job.call.grid = &grid;
  job.deal = way == 0   ? cyclic(turns, record.rows, p)
             : way == 1 ? shuffled(turns, record.rows, p)
             : way == 4 ? rule.lists<Interval>()
                        : in_rank_order(turns, record.rows, p);
  job.call.layout = way < 3              ? LayoutKind::intervals
                    : way == 4           ? LayoutKind::grid
                    : turns.next(2) == 0 ? LayoutKind::rank_order
                                         : LayoutKind::anywhere;
  job.call.root = turns.next(3) == 0 ? static_cast<Rank>(turns.next(static_cast<std::uint64_t>(p))) : all_ranks;
  job.call.collective = call::reduction_to(job.call.root);
  job.call.threads = record.rows > 60 && turns.next(4) == 0 ? 2 : 1;
  if (job.call.method == Method::binned && turns.next(2) == 0)
    job.call.parameters.sweep = arithmetic::Sweep::double_sweep;
  for (Rank rank = 0; rank < p; ++rank)
    job.wanted.push_back(job.call.root == all_ranks || job.call.root == rank ? std::optional(wanted) : std::nullopt);
  expect_job(turns, data, job);
}

/// Ranks that each add the rows up to the next size that is recorded, but for one without any. The value of an exscan
/// is that of the ranks before.
void expect_scans(Turns& turns, const Data& data, const std::vector<Record>& all, const Record& record,
                  const golden::Method& method, LayoutKind layout) {
  std::vector<Count> ends;
  for (const Record& other : all)
    if (other.key() == record.key() && other.rows > 0 && other.rows <= record.rows) ends.push_back(other.rows);
  std::ranges::sort(ends);
  if (layout != LayoutKind::row_per_rank)
    ends.insert(ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 2), ends[ends.size() / 2]);
  for (const Collective part : {Collective::scan, Collective::exscan}) {
    Job job{.record = record, .call = simulated_call(record, method), .deal = {}, .wanted = {}};
    job.call.collective = part;
    job.call.layout = layout;
    std::optional<std::string> before;
    for (Index begin = 0; const Index end : ends) {
      job.deal.push_back({{std::exchange(begin, end), end}});
      const std::string* const value = golden::find(all, record, end)->value_by(method);
      ASSERT_NE(value, nullptr);
      job.wanted.push_back(part == Collective::scan ? std::optional(*value) : before);
      before = *value;
    }
    expect_job(turns, data, job);
  }
}

/// One row per rank: to all, to a root, and in blocks of columns.
void expect_vectors(Turns& turns, const Data& data, const Record& record, const golden::Method& method,
                    const std::string& wanted) {
  const auto p = static_cast<Rank>(record.rows);
  const Deal deal = contiguous_deal(std::vector<Count>(record.rows, 1));
  for (const Collective part : {Collective::allreduce, Collective::reduce_scatter}) {
    Job job{.record = record, .call = simulated_call(record, method), .deal = deal, .wanted = {}};
    job.call.collective = part;
    job.call.layout = LayoutKind::row_per_rank;
    if (part == Collective::allreduce && turns.next(2) == 0) {
      job.call.root = static_cast<Rank>(turns.next(static_cast<std::uint64_t>(p)));
      job.call.collective = Collective::reduce;
    }
    job.blocks.resize(record.rows);
    for (Count column = 0; column < record.columns; ++column) ++job.blocks[turns.next(record.rows)];
    if (part == Collective::reduce_scatter) job.call.blocks = job.blocks;
    Count begin = 0;
    for (Rank rank = 0; rank < p; ++rank) {
      const Count block = job.blocks[static_cast<std::size_t>(rank)];
      if (part == Collective::allreduce)
        job.wanted.push_back(job.call.root == all_ranks || job.call.root == rank ? std::optional(wanted)
                                                                                 : std::nullopt);
      else
        job.wanted.push_back(block > 0 ? std::optional(golden::columns_of(record, wanted, begin, block))
                                       : std::nullopt);
      begin += block;
    }
    expect_job(turns, data, job);
  }
}

/// Whether no record of the same data is longer.
bool is_longest(const std::vector<Record>& all, const Record& record) {
  return std::ranges::none_of(
      all, [&](const Record& other) { return other.key() == record.key() && other.rows > record.rows; });
}

class GoldenJobs : public testing::TestWithParam<std::string> {
 protected:
  void expect_record(const Record& record, const golden::Method& method, const std::string& wanted) {
    const Data data(record);
    for (int round = 0; round < (GetParam() == "large" ? 1 : 2); ++round)
      expect_distributed(turns_, data, record, method, wanted);
    if (record.columns > 1) {
      expect_vectors(turns_, data, record, method, wanted);
      if (golden::find(all_, record, 1) != nullptr)
        expect_scans(turns_, data, all_, record, method, LayoutKind::row_per_rank);
    }
    if (is_longest(all_, record)) expect_scans(turns_, data, all_, record, method, LayoutKind::rank_order);
  }

  std::vector<Record> all_ = golden::records(GetParam());
  Turns turns_;
};

TEST_P(GoldenJobs, GiveTheRecordedBits) {
  golden::Tally tally("golden values on simulated ranks, " + GetParam());
  for (const Record& record : all_) {
    if (!record.runs_here()) {
      tally.left_out();
      continue;
    }
    for (const auto& [method, wanted] : record.values) {
      expect_record(record, method, wanted);
      tally.compared();
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GE(tally.count(), 60u);
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenJobs, testing::ValuesIn(golden::files),
                         [](const auto& file) { return file.param; });
INSTANTIATE_TEST_SUITE_P(Large, GoldenJobs, testing::Values("large"));

}  // namespace
}  // namespace steadfold::test::golden_test
