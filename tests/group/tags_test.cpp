// The tags of plans: every one that a plan binds is its own, so that plans bound one after the other never meet each
// other's messages, in whatever order they run.
#include <gtest/gtest.h>

#include <set>

#include "group/group.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"
#include "support/threads.hpp"
#include "transport/forwarding.hpp"

namespace steadfold::test::tags_test {
namespace {

using arithmetic::Operation;
using arithmetic::Sweep;
using arithmetic::Type;

/// Writes down the tags that are bound.
class Recorder final : public transport::ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities,
                                               transport::Ticket tickets, transport::WordOrder order) override {
    tags.insert(tag);
    return inner().prepare(tag, capacities, tickets, order);
  }

  std::multiset<std::uint32_t> tags;
};

int add(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(result)[i] = static_cast<const double*>(left)[i] + static_cast<const double*>(right)[i];
  return 0;
}

const Call by_tree{.method = Method::tree, .layout = LayoutKind::row_per_rank, .rows = 1};
const Call swept_twice{.method = Method::binned,
                       .layout = LayoutKind::row_per_rank,
                       .rows = 1,
                       .parameters = {.sweep = Sweep::double_sweep}};
const Call may_fail{.operation = Operation::user,
                    .method = Method::tree,
                    .type = Type::bytes,
                    .result_type = Type::bytes,
                    .user = {.apply = add, .element_bytes = 8},
                    .layout = LayoutKind::row_per_rank,
                    .rows = 1};

Agreement agreed_on(const std::vector<Call>& calls) {
  const std::vector<Memory> proposals(2, plan::propose(calls, 0, nullptr));
  return concluded(proposals).agreement.value();
}

TEST(Tags, OfAPlanAreAsManyAsItBinds) {
  for (const std::vector<Call>& calls : std::vector<std::vector<Call>>{{by_tree},
                                                                       {swept_twice},
                                                                       {may_fail},
                                                                       {by_tree, may_fail},
                                                                       {by_tree, swept_twice},
                                                                       {may_fail, swept_twice},
                                                                       {swept_twice, by_tree, may_fail, swept_twice}}) {
    const Agreement agreed = agreed_on(calls);
    SimulatedRanks ranks(2, 1);
    const auto recorder = std::make_shared<Recorder>(ranks.transport(0));
    constexpr std::uint32_t first = 40;
    const Plan plan(agreed, calls, recorder, first);
    const std::uint32_t end = first + Plan::tags_of(agreed);
    EXPECT_EQ(recorder->tags.count(first), 1u);
    for (const std::uint32_t tag : recorder->tags) {
      EXPECT_TRUE(first <= tag && tag < end) << "tag " << tag << " of " << first << " to " << end - 1;
      EXPECT_EQ(recorder->tags.count(tag), 1u) << "tag " << tag << " twice";
    }
  }
}

/// Every pair of plans bound in turn and run at once, begun in one order on some ranks and in the other on the rest.
TEST(Tags, KeepPlansThatRunAtOnceApart) {
  constexpr Rank p = 4;
  std::mt19937_64 random(3);
  std::vector<double> x = summands(random, p);
  const std::vector<Call> kinds = {by_tree, swept_twice, may_fail};
  const double expected[] = {tree_sum(x), binned_sum(x, 3), tree_sum(x)};
  on_threads(p, 3, [&](std::shared_ptr<transport::Transport> transport) {
    group::Group group(transport);
    const auto rank = static_cast<std::size_t>(group.rank());
    const auto* const mine = reinterpret_cast<const std::byte*>(&x[rank]);
    std::vector<std::unique_ptr<Plan>> plans;
    for (int again = 0; again < 2; ++again)
      for (const Call& call : kinds) plans.push_back(group.bind(std::span(&call, 1)));
    for (std::size_t i = 0; i < plans.size(); ++i) {
      for (std::size_t j = 0; j < plans.size(); ++j) {
        if (i == j) continue;
        double results[2] = {};
        Plan* const both[] = {plans[i].get(), plans[j].get()};
        for (const std::size_t turn : {rank % 2, 1 - rank % 2})
          both[turn]->start({.first = mine, .result = reinterpret_cast<std::byte*>(&results[turn])});
        for (bool done = false; !done;) {
          const bool first = both[0]->test();
          done = both[1]->test() && first;
        }
        EXPECT_EQ(both[0]->status(), Status::ok);
        EXPECT_EQ(both[1]->status(), Status::ok);
        EXPECT_EQ(hex(std::as_bytes(std::span(results))),
                  hex(bytes_of(std::vector<double>{expected[i % 3], expected[j % 3]})))
            << "plans " << i << " and " << j << ", rank " << rank;
      }
    }
  });
}

}  // namespace
}  // namespace steadfold::test::tags_test
