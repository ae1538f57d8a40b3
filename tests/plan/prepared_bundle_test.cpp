// Bundles of narrow trees over rows in rank order, whose merges a plan prepares: the recursion's bits, run after run,
// by every schedule; and the merges themselves against those that look at every partial anew, damaged ones included.
#include <gtest/gtest.h>

#include "plan/bundle.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::prepared_bundle_test {
namespace {

using call::Data;
using plan::Bundle;
using plan::RowsPayload;
using schedule::Covers;

/// One sum of rows of some columns: on every rank so many rows.
struct Member {
  Count columns;
  Deal deal;
  std::vector<double> elements;
  std::vector<double> sums;

  Member(Count width, const std::vector<Count>& counts, std::mt19937_64& random)
      : columns(width), deal(contiguous_deal(counts)) {
    Count rows = 0;
    for (const Count count : counts) rows += count;
    elements = summands(random, rows * columns);
    for (Count column = 0; column < columns; ++column) sums.push_back(tree_sum(column_of(elements, columns, column)));
  }
};

Call common_of(Count columns, std::string_view schedule) {
  Call call{.method = Method::tree};
  call.layout = LayoutKind::rank_order;
  call.columns = columns;
  call.schedule = schedule;
  return call;
}

struct Job {
  std::vector<Member> members;
  std::vector<std::vector<Call>> calls;  // by rank
  Concluded agreed;
  std::vector<std::vector<Memory>> memory;  // by rank, then by member

  Job(Rank p, std::string_view schedule, std::mt19937_64& random) : calls(static_cast<std::size_t>(p)) {
    memory.resize(calls.size());
    for (const Count columns : {1, 1, 3, 7}) {
      std::vector<Count> counts;
      for (Rank rank = 0; rank < p; ++rank) counts.push_back(1 + random() % 40);
      if (columns == 3) std::ranges::fill(counts, 1);
      const Member& member = members.emplace_back(columns, counts, random);
      const auto of_member = calls_for(common_of(columns, schedule), member.deal);
      for (std::size_t rank = 0; rank < calls.size(); ++rank) {
        calls[rank].push_back(of_member[rank]);
        memory[rank].push_back(memory_of(member.elements, columns, member.deal[rank]));
      }
    }
    std::vector<Memory> proposals;
    for (std::size_t rank = 0; rank < calls.size(); ++rank)
      proposals.push_back(plan::propose(calls[rank], static_cast<Rank>(rank), nullptr));
    agreed = concluded(proposals);
  }

  std::vector<Data> data(std::size_t rank, std::vector<Result>& results) const {
    std::vector<Data> data;
    for (std::size_t k = 0; k < members.size(); ++k)
      data.push_back({.first = memory[rank][k].data(), .result = results[k].data()});
    return data;
  }
  std::vector<Result> places() const {
    std::vector<Result> results;
    for (const Member& member : members) results.emplace_back(member.columns * sizeof(double));
    return results;
  }
};

void expect_sums(const Job& job, const std::vector<Result>& results) {
  for (std::size_t k = 0; k < job.members.size(); ++k)
    EXPECT_EQ(hex(results[k].bytes()), hex(bytes_of(job.members[k].sums))) << "member " << k;
}

TEST(PreparedBundles, GiveTheTreesBitsInEveryRun) {
  int runs = 0;
  for (const Rank p : {2, 3, 4, 5, 8}) {
    for (const schedule::Algorithm& algorithm : schedule::registry()) {
      std::mt19937_64 random(static_cast<std::uint64_t>(p));
      const Job job(p, algorithm.name, random);
      if (job.agreed.status == Status::unsupported) continue;
      SCOPED_TRACE(testing::Message() << algorithm.name << ", p " << p);
      SimulatedRanks ranks(p, 5);
      std::vector<std::unique_ptr<Plan>> plans;
      for (std::size_t rank = 0; rank < job.calls.size(); ++rank)
        plans.push_back(std::make_unique<Plan>(job.agreed.agreement.value(), job.calls[rank],
                                               ranks.transport(static_cast<Rank>(rank)), 2));
      ranks.connect();
      for (int run = 0; run < 3; ++run, ++runs) {
        std::vector<std::vector<Result>> results;
        for (std::size_t rank = 0; rank < plans.size(); ++rank) {
          results.push_back(job.places());
          plans[rank]->start(job.data(rank, results[rank]));
        }
        bool done = false;
        for (int sweep = 0; sweep < 20000 && !done; ++sweep) {
          done = true;
          for (const Rank rank : ranks.shuffled()) done &= plans[static_cast<std::size_t>(rank)]->test();
        }
        ASSERT_TRUE(done) << "deadlock";
        for (const auto& of_rank : results) expect_sums(job, of_rank);
      }
    }
  }
  EXPECT_GT(runs, 200);
}

/// One rank's payload.
struct Side {
  plan::ThreadPool pool;
  std::vector<std::unique_ptr<RowsPayload>> rows;
  std::vector<Result> results;
  std::optional<Bundle> bundle;

  Side(const Job& job, Rank rank) : results(job.places()) {
    const auto mine = static_cast<std::size_t>(rank);
    const auto& members = job.agreed.agreement.value().members;
    const auto data = job.data(mine, results);
    for (std::size_t k = 0; k < members.size(); ++k) {
      const auto& description = members[k].description;
      rows.push_back(std::make_unique<RowsPayload>(members[k], plan::OwnRows{rank, members[k].layout->intervals(rank)},
                                                   call::operator_of(description, job.calls[mine][k].user),
                                                   plan::Segmentation(description.columns, 1), pool, false));
      rows.back()->take(data[k]);
    }
    bundle.emplace(rows, job.agreed.agreement.value().digest);
  }

  Memory lift(Rank rank) {
    Memory out(bundle->working_capacity({rank, 1}, 0));
    out.resize(bundle->lift(0, {rank, 1}, out).head.size());
    return out;
  }
};

/// Bytes of merge and finish of two ranks' partials, prepared and not. A merge that is not taken as prepared has size
/// 0.
struct Compared {
  Memory by_looking;
  Memory prepared;
  Memory value_by_looking;
  Memory value;
};

Compared merges_of(Bundle& bundle, arithmetic::PreparedMerge& merge, const Memory& left, const Memory& right) {
  const order::RankRange both{0, 2};
  const auto room = [&] { return Memory(bundle.working_capacity(both, 0)); };
  Compared found{room(), room(), Memory(bundle.value_capacity(0)), Memory(bundle.value_capacity(0))};
  found.by_looking.resize(bundle.merge(0, left, right, {found.by_looking}).head.size());
  bundle.finish(0, {}, found.by_looking, {found.value_by_looking});
  found.prepared.resize(merge.merge(left, right, found.prepared));
  found.value.resize(merge.finish(left, right, {found.value}));
  return found;
}

TEST(PreparedBundles, MergeAsThoseThatLookOrNotAtAll) {
  std::mt19937_64 random(3);
  const Job job(2, "recursive_doubling", random);
  Side first(job, 0);
  Side second(job, 1);
  const Covers all;
  const auto made = first.bundle->prepare_merge(0, {0, 1}, {1, 1}, &all);
  ASSERT_NE(made.merge, nullptr);
  ASSERT_TRUE(made.finishes);
  const Memory left = first.lift(0);
  const Memory right = second.lift(1);
  const Compared sound = merges_of(*first.bundle, *made.merge, left, right);
  EXPECT_EQ(hex(sound.prepared), hex(sound.by_looking));
  EXPECT_EQ(hex(sound.value), hex(sound.value_by_looking));
  int declined = 0;
  for (int round = 0; round < 4000; ++round) {
    Memory damaged = left;
    if (random() % 3 == 0) damaged.resize(std::max<std::size_t>(random() % left.size(), sizeof(Header)));
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
    // Exactly as large as they are, so that the address sanitizer sees every read beyond.
    const Memory exact(damaged.begin(), damaged.end());
    const Compared found = merges_of(*first.bundle, *made.merge, exact, right);
    EXPECT_EQ(found.prepared.empty(), found.value.empty());
    if (found.prepared.empty()) {
      ++declined;
      continue;
    }
    ASSERT_EQ(hex(found.prepared), hex(found.by_looking)) << "round " << round;
    ASSERT_EQ(hex(found.value), hex(found.value_by_looking)) << "round " << round;
  }
  EXPECT_GT(declined, 1000);
  EXPECT_LT(declined, 4000) << "values may be anything";
}

}  // namespace
}  // namespace steadfold::test::prepared_bundle_test
