// What ranks learn of a bundle in which one member fails on one rank, and that nothing of a message is left to chance.
#include <gtest/gtest.h>

#include "support/inputs.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::bundle_failure_test {
namespace {

using arithmetic::Operation;
using arithmetic::Type;

int add_or_fail(const void* left, const void* right, void* result, std::size_t count, void* context) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(result)[i] = static_cast<const double*>(left)[i] + static_cast<const double*>(right)[i];
  return *static_cast<const bool*>(context) ? 1 : 0;
}

/// Two rows per rank, so that a rank's own rows are combined: there the operator fails, on the culprit alone.
TEST(FailingBundles, ToARootTellTheRootAndTheRankThatFailed) {
  constexpr Rank p = 4;
  constexpr Rank root = 1;
  for (Rank culprit = 0; culprit < p; ++culprit) {
    SCOPED_TRACE(testing::Message() << "culprit " << culprit);
    std::vector<std::vector<Call>> calls;
    std::vector<Memory> proposals;
    bool fails[p] = {};
    fails[culprit] = true;
    for (Rank rank = 0; rank < p; ++rank) {
      const Call sum{.method = Method::exact,
                     .root = root,
                     .collective = call::reduction_to(root),
                     .layout = LayoutKind::rank_order,
                     .rows = 2};
      Call user{.operation = Operation::user,
                .method = Method::tree,
                .type = Type::bytes,
                .result_type = Type::bytes,
                .root = root,
                .collective = call::reduction_to(root),
                .user = {.apply = add_or_fail, .context = &fails[rank], .element_bytes = 8},
                .layout = LayoutKind::rank_order,
                .rows = 2};
      calls.push_back({sum, user, sum});
      proposals.push_back(plan::propose(calls.back(), rank, nullptr));
    }
    const Agreement agreed = concluded(proposals).agreement.value();
    SimulatedRanks ranks(p, 5);
    std::vector<std::unique_ptr<Plan>> plans;
    for (Rank rank = 0; rank < p; ++rank)
      plans.push_back(std::make_unique<Plan>(agreed, calls[static_cast<std::size_t>(rank)], ranks.transport(rank), 2));
    ranks.connect();
    const std::vector<double> x = {1.0, 2.0};
    for (const bool failing : {true, false, true}) {
      fails[culprit] = failing;
      double results[p][3] = {};
      for (Rank rank = 0; rank < p; ++rank) {
        std::vector<call::Data> data;
        for (double& result : results[rank])
          data.push_back(
              {.first = reinterpret_cast<const std::byte*>(x.data()), .result = reinterpret_cast<std::byte*>(&result)});
        plans[static_cast<std::size_t>(rank)]->start(data, true);
      }
      for (int turn = 0, open = p; open > 0 && turn < 10000; ++turn) {
        open = 0;
        for (const auto& plan : plans) open += plan->test() ? 0 : 1;
      }
      for (Rank rank = 0; rank < p; ++rank) {
        const Plan& plan = *plans[static_cast<std::size_t>(rank)];
        ASSERT_FALSE(plan.running()) << "rank " << rank;
        if (rank == root || rank == culprit) {
          EXPECT_EQ(plan.status(), failing ? Status::operator_failed : Status::ok) << "rank " << rank;
        }
        for (const double result : results[rank]) EXPECT_EQ(result, rank == root && !failing ? 12.0 : 0.0);
      }
    }
  }
}

/// A bundle's payload, for what it writes into memory of any kind.
TEST(BundledPartials, AreTheSameBytesWhateverTheMemoryHeldBefore) {
  const std::vector<Call> calls(2, {.method = Method::tree, .layout = LayoutKind::row_per_rank, .rows = 1});
  const std::vector<Memory> proposals(1, plan::propose(calls, 0, nullptr));
  const Agreement agreed = concluded(proposals).agreement.value();
  plan::ThreadPool pool;
  const plan::Segmentation whole(1, 1);
  std::vector<std::unique_ptr<plan::RowsPayload>> members;
  for (std::size_t i = 0; i < calls.size(); ++i)
    members.push_back(std::make_unique<plan::RowsPayload>(
        agreed.members[i], plan::OwnRows{0, agreed.members[i].layout->intervals(0)},
        call::operator_of(agreed.members[i].description, calls[i].user), whole, pool, false));
  plan::Bundle bundle(members, agreed.digest);
  const double x = 3.5;
  double result = 0;
  for (const auto& member : members)
    member->take({.first = reinterpret_cast<const std::byte*>(&x), .result = reinterpret_cast<std::byte*>(&result)});
  std::vector<std::string> partials;
  std::vector<std::string> values;
  for (const std::byte before : {std::byte{0}, std::byte{0xFF}}) {
    Memory partial(bundle.partial_capacity({0, 1}, 0), before);
    partial.resize(bundle.lift(0, {0, 1}, partial).head.size());
    partials.push_back(hex(partial));
    Memory value(bundle.value_capacity(0), before);
    value.resize(bundle.finish(0, {}, partial, {value}).head.size());
    values.push_back(hex(value));
  }
  EXPECT_EQ(partials[0], partials[1]);
  EXPECT_EQ(values[0], values[1]);
}

}  // namespace
}  // namespace steadfold::test::bundle_failure_test
