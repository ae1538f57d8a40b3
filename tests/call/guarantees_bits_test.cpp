// Every cell of the table in docs/guarantees.md, in bits: where it says yes, what it names is varied and no bit
// changes; where it says no, a control shows that some bit does. The instruction sets are gone through by
// kernels/targets.py, and MPI libraries and releases by the golden values, which a test here asks to be there.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "call/guarantees_table.hpp"
#include "support/deals.hpp"
#include "support/golden.hpp"

namespace steadfold::test::guarantees_bits_test {
namespace {

using golden::Record;

constexpr Count row_count = 601;

/// Neither commutative nor associative.
Call with_operator(Call call) {
  if (call.operation != arithmetic::Operation::user) return call;
  call.user.apply = golden::operator_of("mix");
  call.operator_name = "mix";
  return call;
}

/// Rows whose sum tells orders apart.
struct Rows {
  Memory first;
  Memory second;
};

Rows rows_for(const Call& call) {
  Record record;
  record.operation = call.operation == arithmetic::Operation::masked_sum ? "masked_sum"
                     : call.operation == arithmetic::Operation::dot      ? "dot"
                                                                         : "sum";
  record.type = call.type == arithmetic::Type::i64 || call.type == arithmetic::Type::bytes ? "u64" : "f64";
  record.family = record.type == "u64" ? "any" : "wide";
  record.columns = 1;
  Rows rows;
  for (Index row = 0; row < row_count; ++row) {
    record.append_row(rows.first, row);
    if (record.has_second()) record.append_row(rows.second, row, true);
  }
  return rows;
}

Memory picked(const Memory& rows, const std::vector<Interval>& intervals) {
  const Bytes bytes = rows.size() / row_count;
  Memory memory;
  for (const Interval interval : intervals)
    memory.insert(memory.end(), rows.data() + interval.begin * bytes, rows.data() + interval.end * bytes);
  return memory;
}

/// The bits that all ranks get, or each in turn.
std::string bits_of(const Call& call, const Deal& deal) {
  const Rows rows = rows_for(call);
  const std::vector<Call> calls = calls_for(call, deal);
  const Concluded agreed = concluded(calls);
  if (agreed.status == Status::unsupported) return {};
  EXPECT_TRUE(agreed.agreement) << agreed.text;
  SimulatedRanks ranks(static_cast<Rank>(deal.size()), 3);
  SimulatedJob job(ranks, *agreed.agreement, calls);
  std::vector<Memory> first;
  std::vector<Memory> second;
  for (const auto& intervals : deal) {
    first.push_back(picked(rows.first, intervals));
    if (!rows.second.empty()) second.push_back(picked(rows.second, intervals));
  }
  const Bytes size = arithmetic::is_location(call.operation) ? 16 : 8;
  const Outcome outcome = run(ranks, job, first, size, 1, second);
  EXPECT_FALSE(outcome.stuck);
  for (const Status status : outcome.statuses) EXPECT_EQ(status, Status::ok);
  std::set<std::string> all;
  for (const Result& result : outcome.results) {
    EXPECT_FALSE(result.intact()) << "no result";
    all.insert(hex(result.bytes()));
  }
  std::string text;
  for (const std::string& bits : all) text += bits + " ";
  return text;
}

// --- what varies -----------------------------------------------------------------------------------------------------

bool is_vectors(const Call& call) { return call.layout == LayoutKind::row_per_rank; }

Deal evenly(Rank p) {
  std::vector<Count> counts(static_cast<std::size_t>(p), row_count / static_cast<Count>(p));
  counts.back() += row_count % static_cast<Count>(p);
  return contiguous_deal(counts);
}

/// The first rows, one on each rank, from `first` on.
Deal one_row_per_rank(Rank p, Rank first = 0) {
  Deal deal;
  for (Rank rank = 0; rank < p; ++rank) {
    const auto row = static_cast<Index>((rank + first) % p);
    deal.push_back({{row, row + 1}});
  }
  return deal;
}

Deal usual(const Call& call) { return is_vectors(call) ? one_row_per_rank(5) : evenly(5); }

using Found = std::set<std::string>;

Found by_ranks(const Call& call) {
  Found found;
  for (const Rank p : {1, 2, 3, 5, 8}) found.insert(bits_of(call, is_vectors(call) ? one_row_per_rank(p) : evenly(p)));
  return found;
}

Found by_threads(Call call) {
  Found found;
  for (const unsigned threads : {1u, 2u, 5u}) {
    call.threads = threads;
    found.insert(bits_of(call, usual(call)));
  }
  return found;
}

/// The results of a call whose rows are dealt to ranks in several ways.
Found by_layouts(const Call& call) {
  Turns turns;
  if (is_vectors(call)) return {bits_of(call, one_row_per_rank(5)), bits_of(call, one_row_per_rank(5, 2))};
  Found found = {bits_of(call, usual(call))};
  for (int i = 0; i < 3; ++i) {
    found.insert(bits_of(call, cyclic(turns, row_count, 5)));
    found.insert(bits_of(call, shuffled(turns, row_count, 5)));
  }
  return found;
}

Found by_schedules(Call call) {
  Found found;
  for (const std::string& name : names_for(call)) {
    call.schedule = name;
    const std::string bits = bits_of(call, usual(call));
    if (!bits.empty()) found.insert(bits);  // else the schedule is for other layouts
  }
  return found;
}

const std::map<std::string, Found (*)(const Call&)> variations = {
    {"ranks", by_ranks},
    {"threads", [](const Call& call) { return by_threads(call); }},
    {"layout", by_layouts},
    {"schedule", [](const Call& call) { return by_schedules(call); }},
};

TEST(GuaranteedBits, AreThoseOfTheDocumentedTable) {
  const auto calls = guarantee_columns();
  int cells = 0;
  for (const auto& [column, rows] : documented_guarantees()) {
    for (const auto& [row, is_kept] : rows) {
      if (!variations.contains(row)) continue;
      ++cells;
      SCOPED_TRACE(column + ", " + row);
      bool any_differs = false;
      for (const Call& given : calls.at(column)) {
        const Found found = variations.at(row)(with_operator(given));
        any_differs = any_differs || found.size() > 1;
        if (is_kept) {
          EXPECT_EQ(found.size(), 1u) << arithmetic::name_of(given.operation) << " gives "
                                      << testing::PrintToString(found);
        }
      }
      EXPECT_EQ(any_differs, !is_kept) << "no call of the column shows what the table says";
    }
  }
  EXPECT_EQ(cells, 36);
}

/// What keeps its bits over MPI libraries, instruction sets and releases has golden values, which are read on all of
/// them.
TEST(GuaranteedBits, AreRecordedWhereLibrariesTargetsOrReleasesKeepThem) {
  std::map<std::string, std::size_t> recorded;
  for (const std::string& file : golden::files) {
    for (const Record& record : golden::records(file)) {
      for (const auto& [method, value] : record.values) {
        const std::string name = method.name.substr(0, method.name.find_first_of("234"));
        ++recorded[record.is_location() ? "location" : name];
        if (record.columns == 3) ++recorded["vectors"];
      }
    }
  }
  const std::map<std::string, std::string> records_of = {
      {"tree, layout given", "tree"},
      {"tree, rank order", "tree"},
      {"exact", "exact"},
      {"binned", "binned"},
      {"order-free", "plain"},
      {"location, layout given", "location"},
      {"location, rank order", "location"},
      {"MPI's shape", "vectors"},
  };
  for (const auto& [column, rows] : documented_guarantees()) {
    const bool is_plain = column == "plain";
    for (const std::string row : {"library", "release"}) EXPECT_EQ(rows.at(row), !is_plain) << column << ", " << row;
    EXPECT_TRUE(rows.at("target")) << column;
    if (is_plain) continue;
    EXPECT_GE(recorded[records_of.at(column)], 300u) << column;
  }
}

}  // namespace
}  // namespace steadfold::test::guarantees_bits_test
