// Owner on real bytes: the recursion's bits for every distribution, width and buffer, up to 256 ranks; failures and
// missing memory reach the root; what it cannot serve.
#include <gtest/gtest.h>

#include "order/distribution.hpp"
#include "order/recursion.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::owner_test {
namespace {

using order::Distribution;

constexpr Distribution rules[] = {Distribution::lower, Distribution::upper, Distribution::power2,
                                  Distribution::optimized};

/// Any other bracketing or order gives another number.
std::uint64_t mixed(std::uint64_t l, std::uint64_t r) {
  const std::uint64_t sum = 3 * l + 5 * r + 7;
  return (sum ^ sum >> 31) * 0x9E3779B97F4A7C15u;
}

int mix(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<std::uint64_t*>(result)[i] =
        mixed(static_cast<const std::uint64_t*>(left)[i], static_cast<const std::uint64_t*>(right)[i]);
  }
  return 0;
}

int fail(const void*, const void*, void*, std::size_t, void*) { return 1; }

Call call_of(Count columns, Rank root, std::string_view schedule, arithmetic::Apply apply = mix) {
  return {.operation = arithmetic::Operation::user,
          .method = Method::tree,
          .type = arithmetic::Type::bytes,
          .result_type = arithmetic::Type::bytes,
          .columns = columns,
          .root = root,
          .collective = call::reduction_to(root),
          .schedule = schedule,
          .user = {.apply = apply, .element_bytes = sizeof(std::uint64_t)},
          .operator_name = "mix",
          .layout = LayoutKind::rank_order};
}

std::vector<std::uint64_t> words(std::uint64_t seed, Count count) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t& word : all) word = random();
  return all;
}

Memory tree_of(const std::vector<std::uint64_t>& elements, Count columns) {
  std::vector<std::uint64_t> results;
  for (Count column = 0; column < columns; ++column) {
    const auto leaf = [&](std::uint64_t x) { return elements[x * columns + column]; };
    results.push_back(reference::tree(elements.size() / columns, leaf, mixed));
  }
  return bytes_of(results);
}

void expect_bits(const std::vector<Count>& counts, Count columns, Rank root, std::string_view schedule) {
  const Deal deal = contiguous_deal(counts);
  const Count rows = std::accumulate(counts.begin(), counts.end(), Count{0});
  const std::vector<std::uint64_t> elements = words(rows, rows * columns);
  std::vector<Memory> memory;
  for (const auto& intervals : deal) memory.push_back(memory_of(elements, columns, intervals));
  const auto p = static_cast<Rank>(counts.size());
  SCOPED_TRACE(testing::Message() << schedule << ", p " << p << ", N " << rows << ", root " << root << ", columns "
                                  << columns << ", first count " << counts[0]);
  const std::vector<Call> calls = calls_for(call_of(columns, root, schedule), deal);
  const Concluded agreed = concluded(calls);
  ASSERT_TRUE(agreed.agreement) << agreed.text;
  SimulatedRanks ranks(p, rows, rows % 2 == 0 ? Sends::synchronous : Sends::buffered);
  SimulatedJob job(ranks, *agreed.agreement, calls, columns == 3 ? 2 : 1);
  expect_result(run(ranks, job, memory, columns * sizeof(std::uint64_t), 2), root, tree_of(elements, columns));
}

TEST(Owner, GivesTheBitsOfTheRecursionForEveryDistribution) {
  for (const Distribution rule : rules) {
    for (const Rank p : {1, 2, 3, 4, 5, 6, 7, 8, 16, 31}) {
      const auto ranks = static_cast<Count>(p);
      for (const Count rows : {Count{1}, ranks / 2 + 1, ranks, 8 * ranks + 1, 37 * ranks + 5}) {
        for (const char* schedule : {"owner", "owner:buffer=4", "owner:buffer=64"}) {
          for (const Rank root : {0, p - 1}) {
            expect_bits(order::counts(rule, rows, p), rows % 2 == 0 ? 1 : 3, root, schedule);
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Owner, GivesTheBitsOfTheRecursionOnManyRanks) {
  for (const Distribution rule : rules) {
    for (const Rank p : {64, 255, 256}) {
      for (const char* schedule : {"owner", "owner:buffer=4"}) {
        expect_bits(order::counts(rule, 5000 + static_cast<Count>(p), p), 1, 0, schedule);
        expect_bits(order::counts(rule, static_cast<Count>(p) - 7, p), 3, p / 2, schedule);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

/// Ranks 0 and 2 of five hold nothing.
const std::vector<Count> gaps = {0, 7, 0, 70, 6};

Status status_at(Rank root, const std::vector<Count>& counts, bool root_has_memory, Rank without_data,
                 arithmetic::Apply apply) {
  const std::vector<std::uint64_t> data(80, 5);
  const std::vector<Call> calls = calls_for(call_of(1, root, "owner:buffer=4", apply), contiguous_deal(counts));
  const auto p = static_cast<Rank>(counts.size());
  SimulatedRanks ranks(p, 3);
  SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
  std::uint64_t result = 0;
  for (Rank rank = 0; rank < p; ++rank) {
    job.plan(rank).start({.first = rank == without_data ? nullptr : reinterpret_cast<const std::byte*>(data.data()),
                          .result = rank == root && root_has_memory ? reinterpret_cast<std::byte*>(&result) : nullptr});
  }
  EXPECT_TRUE(finish(ranks, {&job})) << "stuck";
  return job.plan(root).status();
}

TEST(Owner, TellsTheRootOfEveryFailure) {
  for (Rank root = 0; root < 5; ++root) {
    SCOPED_TRACE(testing::Message() << "root " << root);
    EXPECT_EQ(status_at(root, gaps, true, -1, mix), Status::ok);
    EXPECT_EQ(status_at(root, gaps, true, -1, fail), Status::operator_failed);
    EXPECT_EQ(status_at(root, gaps, false, -1, mix), Status::invalid_argument) << "nowhere to write";
    for (const Rank without_data : {1, 3, 4})
      EXPECT_EQ(status_at(root, gaps, true, without_data, mix), Status::invalid_argument) << without_data;
    EXPECT_EQ(status_at(root, {0, 0, 0, 0, 0}, true, -1, mix), Status::empty);
  }
}

TEST(Owner, IsRefusedForOtherLayouts) {
  const Deal reversed = {{{5, 9}}, {{0, 5}}};
  Call call = call_of(1, 0, "owner");
  call.layout = LayoutKind::intervals;
  const Concluded refused = concluded(calls_for(call, reversed));
  EXPECT_EQ(refused.status, Status::unsupported);
  EXPECT_NE(refused.text.find("elements in rank order"), std::string::npos) << refused.text;
  const Deal in_order = {{{0, 2}, {2, 5}}, {{5, 9}}};
  EXPECT_TRUE(concluded(calls_for(call, in_order)).agreement);
}

/// Calls of one layout share its messages.
TEST(Owner, ServesBundlesOfOneLayout) {
  const std::vector<Count> counts = {3, 9, 0, 6};
  const Deal deal = contiguous_deal(counts);
  const std::vector<std::uint64_t> elements = words(9, 18 * 3);
  std::vector<std::vector<Call>> calls(4);
  std::vector<Memory> proposals;
  for (const Count columns : {1, 2}) {
    const std::vector<Call> one = calls_for(call_of(columns, 0, "owner"), deal);
    for (std::size_t rank = 0; rank < 4; ++rank) calls[rank].push_back(one[rank]);
  }
  for (const auto& mine : calls) proposals.push_back(plan::propose(mine, 0, nullptr));
  const Concluded agreed = concluded(proposals);
  ASSERT_TRUE(agreed.agreement) << agreed.text;

  SimulatedRanks ranks(4, 1);
  const std::vector<std::uint64_t> narrow(elements.begin(), elements.begin() + 18);
  const std::vector<std::uint64_t> wide(elements.begin() + 18, elements.end());
  Result one(8);
  Result two(16);
  std::vector<std::unique_ptr<Plan>> plans;
  std::vector<Memory> memory;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    plans.push_back(
        std::make_unique<Plan>(*agreed.agreement, calls[rank], ranks.transport(static_cast<Rank>(rank)), 2));
    memory.push_back(memory_of(narrow, 1, deal[rank]));
    memory.push_back(memory_of(wide, 2, deal[rank]));
  }
  ranks.connect();
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const call::Data data[] = {{.first = memory[2 * rank].data(), .result = rank == 0 ? one.data() : nullptr},
                               {.first = memory[2 * rank + 1].data(), .result = rank == 0 ? two.data() : nullptr}};
    plans[rank]->start(data);
  }
  bool done = false;
  for (int sweep = 0; sweep < 20000 && !done; ++sweep) {
    done = true;
    for (const auto& plan : plans) done = plan->test() && done;
  }
  ASSERT_TRUE(done) << "stuck";
  EXPECT_EQ(hex(one.bytes()), hex(tree_of(narrow, 1)));
  EXPECT_EQ(hex(two.bytes()), hex(tree_of(wide, 2)));
}

}  // namespace
}  // namespace steadfold::test::owner_test
