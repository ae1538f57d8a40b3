// Bundles: every member's bits are those of the call by itself, whatever the schedule, the rank count and the layouts;
// the messages are as many as one call's; damaged bytes are lost messages, not crashes.
#include "plan/bundle.hpp"

#include <gtest/gtest.h>

#include "support/inputs.hpp"
#include "support/simulated_job.hpp"
#include "transport/packing.hpp"

namespace steadfold::test::bundle_test {
namespace {

using arithmetic::Operation;
using arithmetic::Type;
using call::Data;

int subtract(const void* left, const void* right, void* result, std::size_t count, void* context) {
  if (context != nullptr && --*static_cast<int*>(context) < 0) return 1;
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(result)[i] = static_cast<const double*>(left)[i] - static_cast<const double*>(right)[i];
  return 0;
}

Call subtraction(void* context = nullptr) {
  return {.operation = Operation::user,
          .method = Method::tree,
          .type = Type::bytes,
          .result_type = Type::bytes,
          .user = {.apply = subtract, .context = context, .element_bytes = sizeof(double)},
          .user_may_fail = context != nullptr};
}

/// One member of a bundle on all ranks: its rows, dealt in its own way, and what a call by itself makes of them.
struct Part {
  Call call;
  Deal deal;
  std::vector<double> elements;
  std::vector<double> others;  // of a dot product
  std::vector<bool> mask;      // of a masked sum
  std::vector<Memory> memory;
  std::vector<Memory> second;
  Memory alone;
  Bytes result_bytes = 0;

  Part(Call asked, Count rows, Rank p, std::mt19937_64& random) : call(asked) {
    deal.resize(static_cast<std::size_t>(p));
    for (Index begin = 0; begin < rows;) {
      const Interval piece{begin, std::min<Index>(rows, begin + 1 + random() % 5)};
      deal[random() % deal.size()].push_back(piece);
      begin = piece.end;
    }
    call.layout = LayoutKind::intervals;
    elements = summands(random, rows * call.columns);
    others = summands(random, rows * call.columns);
    for (Count i = 0; i < rows; ++i) mask.push_back(random() % 2 == 0);
    const bool is_location = arithmetic::is_location(call.operation);
    result_bytes = call.columns * (is_location ? 16 : sizeof(double));
    for (const auto& intervals : deal) {
      memory.push_back(memory_of(elements, call.columns, intervals));
      second.push_back(second_of(intervals));
    }
  }

  Memory second_of(const std::vector<Interval>& intervals) const {
    if (call.operation == Operation::dot) return memory_of(others, call.columns, intervals);
    if (call.operation != Operation::masked_sum) return {};
    return memory_of(std::vector<std::uint8_t>(mask.begin(), mask.end()), 1, intervals);
  }
  std::vector<Call> calls(Rank root, std::string_view schedule) const {
    Call asked = call;
    asked.root = root;
    asked.collective = call::reduction_to(root);
    asked.schedule = schedule;
    return calls_for(asked, deal);
  }
  Data data(std::size_t rank, Result& result) const {
    return {.first = memory[rank].data(),
            .second = second[rank].empty() ? nullptr : second[rank].data(),
            .result = result.data()};
  }
};

/// All kinds of partials, widths and row counts, one of them with no rows but a neutral element.
std::vector<Part> parts_for(Rank p, std::mt19937_64& random) {
  std::vector<Part> parts;
  parts.emplace_back(Call{.method = Method::exact}, 40, p, random);
  parts.emplace_back(Call{.method = Method::tree, .columns = 3}, 25, p, random);
  parts.emplace_back(Call{.operation = Operation::dot}, 31, p, random);
  parts.emplace_back(Call{.operation = Operation::max, .columns = 2}, 7, p, random);
  parts.emplace_back(subtraction(), 50, p, random);
  parts.emplace_back(Call{.operation = Operation::min_location}, 60, p, random);
  parts.emplace_back(Call{.operation = Operation::mean}, 1, p, random);
  parts.emplace_back(Call{.method = Method::tree}, 0, p, random);
  parts.emplace_back(
      Call{.method = Method::binned, .columns = 2, .parameters = {.bins = 2, .sweep = arithmetic::Sweep::double_sweep}},
      33, p, random);
  parts.emplace_back(Call{.operation = Operation::masked_sum, .columns = 2}, 37, p, random);
  parts.emplace_back(Call{.operation = Operation::masked_sum,
                          .method = Method::binned,
                          .parameters = {.sweep = arithmetic::Sweep::double_sweep}},
                     21, p, random);
  parts.emplace_back(Call{.operation = Operation::abs_sum}, 12, p, random);
  parts.emplace_back(Call{.operation = Operation::norm2, .method = Method::binned}, 20, p, random);
  parts.emplace_back(Call{.operation = Operation::dot,
                          .method = Method::binned,
                          .parameters = {.sweep = arithmetic::Sweep::double_sweep}},
                     9, p, random);
  return parts;
}

/// What a call comes to by itself, on the first rank that gets the result.
Memory alone(const Part& part, Rank p, std::uint64_t seed) {
  const std::vector<Call> calls = part.calls(all_ranks, "");
  SimulatedRanks ranks(p, seed);
  SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
  const Outcome outcome = run(ranks, job, part.memory, part.result_bytes, 1,
                              arithmetic::has_second(part.call.operation) ? part.second : std::vector<Memory>());
  EXPECT_FALSE(outcome.stuck);
  EXPECT_EQ(outcome.statuses[0], Status::ok);
  const auto bytes = outcome.results[0].bytes();
  return {bytes.begin(), bytes.end()};
}

/// Every rank's side of a bundle of all parts.
struct Sides {
  std::vector<std::vector<Call>> calls;  // by rank, then by part
  Concluded agreed;

  Sides(const std::vector<Part>& parts, Rank p, Rank root, std::string_view schedule)
      : calls(static_cast<std::size_t>(p)) {
    for (const Part& part : parts) {
      const auto of_part = part.calls(root, schedule);
      for (std::size_t rank = 0; rank < calls.size(); ++rank) calls[rank].push_back(of_part[rank]);
    }
    std::vector<Memory> proposals;
    for (const auto& mine : calls) proposals.push_back(plan::propose(mine, 0, nullptr));
    std::mt19937_64 random(static_cast<std::uint64_t>(p) + 1);
    agreed = concluded(proposals, "", random_nodes(random, p, p));
  }
};

/// A bundle run once on all ranks.
struct BundleJob {
  std::vector<std::unique_ptr<Plan>> plans;
  std::vector<std::vector<Result>> results;  // by rank, then by part
  bool stuck = true;

  BundleJob(SimulatedRanks& ranks, const Sides& sides, const std::vector<Part>& parts) {
    for (Rank rank = 0; rank < ranks.rank_count(); ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      plans.push_back(std::make_unique<Plan>(sides.agreed.agreement.value(), sides.calls[i], ranks.transport(rank), 2));
      plans.back()->trace(true);
      results.emplace_back();
      for (const Part& part : parts) results.back().emplace_back(part.result_bytes);
    }
    ranks.connect();
    for (std::size_t i = 0; i < plans.size(); ++i) {
      std::vector<Data> data;
      for (std::size_t k = 0; k < parts.size(); ++k) data.push_back(parts[k].data(i, results[i][k]));
      plans[i]->start(data);
    }
    for (int sweep = 0; sweep < 20000 && stuck; ++sweep) {
      stuck = false;
      for (const Rank rank : ranks.shuffled()) stuck |= !plans[static_cast<std::size_t>(rank)]->test();
    }
  }
  Count messages() const {
    Count sum = 0;
    for (const auto& plan : plans) sum += plan->traffic_of_last_run().messages;
    return sum;
  }
};

TEST(Bundles, GiveTheBitsOfTheCallsByThemselves) {
  for (const Rank p : {1, 2, 3, 4, 5, 7, 8}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(p));
    std::vector<Part> parts = parts_for(p, random);
    for (Part& part : parts) part.alone = alone(part, p, 3);
    for (const schedule::Algorithm& algorithm : schedule::registry()) {
      for (const Rank root : {all_ranks, 0, p - 1}) {
        const std::string name(algorithm.name);
        SCOPED_TRACE(testing::Message() << name << ", root " << root << ", p " << p);
        const Sides sides(parts, p, root, name);
        if (sides.agreed.status == Status::unsupported) {
          const bool is_for_some = algorithm.adds_words || algorithm.counts != schedule::Counts::once;
          const bool is_offered = offers(algorithm.collectives, call::reduction_to(root));
          EXPECT_TRUE(is_for_some || name == "owner" || root != all_ranks || !is_offered) << sides.agreed.text;
          continue;
        }
        SimulatedRanks ranks(p, static_cast<std::uint64_t>(p), Sends::synchronous);
        const BundleJob job(ranks, sides, parts);
        ASSERT_FALSE(job.stuck);
        for (std::size_t rank = 0; rank < job.plans.size(); ++rank) {
          ASSERT_EQ(job.plans[rank]->status(), Status::ok);
          for (std::size_t k = 0; k < parts.size(); ++k) {
            if (root != all_ranks && root != static_cast<Rank>(rank)) {
              EXPECT_TRUE(job.results[rank][k].intact());
              continue;
            }
            EXPECT_EQ(hex(job.results[rank][k].bytes()), hex(parts[k].alone)) << "rank " << rank << ", part " << k;
          }
        }
        const schedule::Context context = plan::context_of(*sides.agreed.agreement);
        const Count first_sweep = schedule::find("recursive_doubling")->messages({.rank_count = p});
        EXPECT_EQ(job.messages(), first_sweep + algorithm.messages(context))
            << "a bundle is one message, after one more";
      }
    }
  }
}

TEST(Bundles, OfCallsThatOfferWordsGoByTheNativeSchedule) {
  for (const Rank p : {1, 3, 5, 8}) {
    std::mt19937_64 random(7);
    std::vector<Part> parts;
    parts.emplace_back(Call{.method = Method::exact, .columns = 2}, 40, p, random);
    parts.emplace_back(Call{.operation = Operation::dot}, 30, p, random);
    parts.emplace_back(Call{.operation = Operation::norm2}, 9, p, random);
    parts.emplace_back(Call{.operation = Operation::masked_sum, .columns = 3}, 14, p, random);
    for (const Operation operation : {Operation::sum, Operation::masked_sum, Operation::dot})
      parts.emplace_back(Call{.operation = operation,
                              .method = Method::binned,
                              .columns = 2,
                              .parameters = {.bins = 2, .sweep = arithmetic::Sweep::double_sweep}},
                         25, p, random);
    for (Part& part : parts) part.alone = alone(part, p, 4);
    const Sides sides(parts, p, all_ranks, "native");
    SimulatedRanks ranks(p, 5);
    const BundleJob job(ranks, sides, parts);
    ASSERT_FALSE(job.stuck);
    for (std::size_t rank = 0; rank < job.plans.size(); ++rank)
      for (std::size_t k = 0; k < parts.size(); ++k)
        EXPECT_EQ(hex(job.results[rank][k].bytes()), hex(parts[k].alone)) << "p " << p;
  }
}

TEST(Bundles, KeepWhatTheOthersCameToWhereOneHadNothing) {
  const Rank p = 5;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    std::mt19937_64 random(8);
    std::vector<Part> parts;
    parts.emplace_back(Call{.method = Method::exact}, 40, p, random);
    parts.emplace_back(Call{.operation = Operation::min}, 0, p, random);
    parts.emplace_back(Call{.method = Method::tree}, 11, p, random);
    for (const std::size_t k : {0u, 2u}) parts[k].alone = alone(parts[k], p, 4);
    const Sides sides(parts, p, all_ranks, algorithm.name);
    if (sides.agreed.status == Status::unsupported) continue;
    SimulatedRanks ranks(p, 5);
    const BundleJob job(ranks, sides, parts);
    ASSERT_FALSE(job.stuck);
    for (std::size_t rank = 0; rank < job.plans.size(); ++rank) {
      EXPECT_EQ(job.plans[rank]->status(), Status::empty) << algorithm.name;
      EXPECT_EQ(job.plans[rank]->status(1), Status::empty);
      EXPECT_TRUE(job.results[rank][1].intact());
      for (const std::size_t k : {0u, 2u}) {
        EXPECT_EQ(job.plans[rank]->status(k), Status::ok);
        EXPECT_EQ(hex(job.results[rank][k].bytes()), hex(parts[k].alone));
      }
    }
  }
}

/// With two levels the first rank of a group may finish: it knows that some member had nothing, not which one.
TEST(Bundles, AreNotEmptyWhereNoResultSaysWhichMemberIs) {
  const Rank p = 5;
  int ranks_that_know = 0;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    for (const Rank root : {0, 2, p - 1}) {
      SCOPED_TRACE(testing::Message() << algorithm.name << ", root " << root);
      std::mt19937_64 random(13);
      std::vector<Part> parts;
      parts.emplace_back(Call{.method = Method::exact}, 40, p, random);
      parts.emplace_back(Call{.operation = Operation::min}, 0, p, random);
      parts.emplace_back(Call{.method = Method::tree}, 11, p, random);
      const Sides sides(parts, p, root, algorithm.name);
      if (sides.agreed.status == Status::unsupported) continue;
      SimulatedRanks ranks(p, 5);
      const BundleJob job(ranks, sides, parts);
      ASSERT_FALSE(job.stuck);
      for (Rank rank = 0; rank < p; ++rank) {
        const Plan& plan = *job.plans[static_cast<std::size_t>(rank)];
        ASSERT_LE(plan.status(), Status::empty);
        if (rank != root && plan.status() == Status::empty) ++ranks_that_know;
        for (std::size_t k = 0; k < parts.size(); ++k)
          EXPECT_EQ(plan.status(k), rank == root && k == 1 ? Status::empty : Status::ok)
              << "rank " << rank << ", " << k;
      }
    }
  }
  EXPECT_GT(ranks_that_know, 0) << "the control: no rank but the root finishes anything";
}

TEST(Bundles, FailTogetherWhereAnOperatorFails) {
  const Rank p = 4;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    for (int good_calls = 0; good_calls < 60; good_calls += 7) {
      std::mt19937_64 random(9);
      int left = good_calls;
      std::vector<Part> parts;
      parts.emplace_back(Call{.method = Method::exact}, 20, p, random);
      parts.emplace_back(subtraction(&left), 70, p, random);
      const Sides sides(parts, p, all_ranks, algorithm.name);
      if (sides.agreed.status == Status::unsupported) continue;
      SimulatedRanks ranks(p, 5);
      const BundleJob job(ranks, sides, parts);
      SCOPED_TRACE(testing::Message() << algorithm.name << " after " << good_calls << " calls");
      ASSERT_FALSE(job.stuck);
      const Status expected = left < 0 ? Status::operator_failed : Status::ok;
      for (std::size_t rank = 0; rank < job.plans.size(); ++rank) {
        EXPECT_EQ(job.plans[rank]->status(), expected);
        EXPECT_EQ(job.plans[rank]->status(0), expected);
        EXPECT_EQ(job.results[rank][0].intact(), left < 0) << "no member is delivered alone";
      }
      const auto knows = [](const auto& plan) {
        return std::string(plan->failure().what()).starts_with("call 1: the user operator failed (on this rank ");
      };
      if (left < 0) {
        EXPECT_TRUE(std::ranges::any_of(job.plans, knows)) << job.plans[0]->failure().what();
      }
    }
  }
}

TEST(Bundles, ThatDifferAreMismatches) {
  std::mt19937_64 random(10);
  std::vector<Part> parts = parts_for(3, random);
  Sides same(parts, 3, all_ranks, "");
  ASSERT_TRUE(same.agreed.agreement);
  const auto text_of_changed = [&](const auto& change) {
    auto calls = same.calls;
    change(calls);
    std::vector<Memory> proposals;
    for (const auto& mine : calls) proposals.push_back(plan::propose(mine, 0, nullptr));
    const Concluded outcome = concluded(proposals);
    EXPECT_EQ(outcome.status, Status::mismatch);
    return outcome.text;
  };
  EXPECT_EQ(text_of_changed([](auto& calls) { calls[2].pop_back(); }),
            "the ranks made different calls (rank 0 and rank 2: bundles of 14 against 13 calls), make the same call on "
            "every rank");
  EXPECT_EQ(text_of_changed([](auto& calls) { calls[1][3].operation = Operation::min; }),
            "the ranks made different calls (rank 0 and rank 1: call 3: operator max against min), make the same call "
            "on every rank");
}

TEST(Bundles, KeepEqualLayoutsOnce) {
  std::mt19937_64 random(11);
  std::vector<Part> parts;
  for (int i = 0; i < 3; ++i) parts.emplace_back(Call{.method = Method::exact}, 40, 3, random);
  parts[2].deal = parts[0].deal;
  parts[2].memory.clear();
  for (const auto& intervals : parts[2].deal) parts[2].memory.push_back(memory_of(parts[2].elements, 1, intervals));
  const Sides sides(parts, 3, all_ranks, "");
  const auto& members = sides.agreed.agreement.value().members;
  EXPECT_EQ(members[0].layout, members[2].layout);
  EXPECT_NE(members[0].layout, members[1].layout);
}

/// One rank's payload of a bundle, and a partial of all rows of a job of one rank.
struct Lone {
  std::vector<Part> parts;
  Sides sides;
  plan::ThreadPool pool;
  std::vector<std::unique_ptr<plan::RowsPayload>> rows;
  std::vector<Result> results;

  explicit Lone(std::mt19937_64& random) : parts(parts_for(1, random)), sides(parts, 1, all_ranks, "") {
    const auto& members = sides.agreed.agreement.value().members;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      rows.push_back(
          std::make_unique<plan::RowsPayload>(members[k], plan::OwnRows{0, members[k].layout->intervals(0)},
                                              call::operator_of(members[k].description, sides.calls[0][k].user),
                                              plan::Segmentation(members[k].description.columns, 1), pool, false));
      results.emplace_back(parts[k].result_bytes);
    }
    for (std::size_t k = 0; k < parts.size(); ++k) rows[k]->take(parts[k].data(0, results[k]));
  }
};

TEST(Bundles, TakeDamagedBytesForLostMessages) {
  std::mt19937_64 random(12);
  Lone lone(random);
  plan::Bundle bundle(lone.rows, 1);
  const order::RankRange all{0, 1};
  Memory whole(bundle.working_capacity(all, 0));
  whole.resize(bundle.lift(0, all, whole).head.size());
  ASSERT_LE(whole.size(), bundle.partial_capacity(all, 0));
  std::uint64_t last = 0;
  std::memcpy(&last, whole.data() + sizeof(Header) + (lone.rows.size() - 1) * sizeof last, sizeof last);
  const std::size_t end = whole.size() - (transport::on_boundary(last) - last);  // zeros follow
  for (int round = 0; round < 4000; ++round) {
    Memory damaged = whole;
    const std::size_t cut = random() % 3 == 0 ? random() % whole.size() : whole.size();
    damaged.resize(std::max<std::size_t>(cut, sizeof(Header)));
    const std::size_t body = damaged.size() - sizeof(Header);
    for (std::size_t flips = body == 0 ? 0 : random() % 4; flips > 0; --flips)
      damaged[sizeof(Header) + random() % body] = static_cast<std::byte>(random());
    // Exactly as large as they are, so that the address sanitizer sees every read beyond.
    const auto exact_size = std::make_unique<std::byte[]>(damaged.size());
    std::memcpy(exact_size.get(), damaged.data(), damaged.size());
    const std::span<const std::byte> bytes(exact_size.get(), damaged.size());
    Memory out(2 * whole.size() + 4096);
    Memory value(bundle.value_capacity(0));
    const arithmetic::Partial merged =
        round % 2 == 0 ? bundle.merge(0, bytes, whole, {out}) : bundle.merge(0, whole, bytes, {out});
    EXPECT_LE(merged.head.size(), out.size());
    EXPECT_LE(bundle.finish(0, {}, bytes, {value}).head.size(), value.size());
    if (cut < end) {
      EXPECT_NE(arithmetic::header_of(std::span(value)).status, Status::ok) << "of " << cut << " bytes";
    }
  }
}

}  // namespace
}  // namespace steadfold::test::bundle_test
