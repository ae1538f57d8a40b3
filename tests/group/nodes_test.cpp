// Groups of ranks on machines with several nodes: schedules take their groups from what the transport tells, and give
// the bits of the tree; [S3]'s reduce gives those of its own order.
#include <gtest/gtest.h>

#include "group/group.hpp"
#include "order/distribution.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"
#include "support/threads.hpp"
#include "transport/forwarding.hpp"

namespace steadfold::test::nodes_test {
namespace {

/// A transport that tells of nodes.
class OnNodes final : public transport::ForwardingTransport {
 public:
  OnNodes(std::shared_ptr<transport::Transport> inner, const Nodes& nodes) : ForwardingTransport(std::move(inner)) {
    for (Rank rank = 0; nodes != nullptr && rank < nodes->rank_count(); ++rank) labels_.push_back(nodes->node_of(rank));
  }
  std::span<const Rank> node_labels() const noexcept override { return labels_; }

 private:
  std::vector<Rank> labels_;
};

Nodes dealt_in_turn(Rank nodes, Rank p) {
  std::vector<Rank> labels;
  for (Rank rank = 0; rank < p; ++rank) labels.push_back(rank % nodes);
  return std::make_shared<const order::Nodes>(labels);
}

struct Found {
  std::string bits;
  std::string schedule;
  std::string nodes;
  Count messages = 0;
};

/// Every rank's plan of a sum over a machine with these nodes, run once.
std::vector<Found> bound_on(const Nodes& nodes, const Call& common, const Deal& deal,
                            const std::vector<Memory>& memory) {
  const std::vector<Call> calls = calls_for(common, deal);
  std::vector<Found> all(calls.size());
  on_threads(static_cast<Rank>(calls.size()), 7, [&](std::shared_ptr<transport::Transport> transport) {
    group::Group group(std::make_shared<OnNodes>(transport, nodes));
    const auto rank = static_cast<std::size_t>(group.rank());
    const auto plan = group.bind(std::span(&calls[rank], 1));
    std::vector<double> result(common.columns);
    plan->run({.first = memory[rank].data(), .result = reinterpret_cast<std::byte*>(result.data())});
    const bool takes = common.root == all_ranks || common.root == group.rank();
    all[rank] = {.bits = takes ? hex(std::as_bytes(std::span(result))) : "",
                 .schedule = plan->agreed().chosen.schedule,
                 .nodes = plan->agreed().nodes == nullptr   ? "none"
                          : *plan->agreed().nodes == *nodes ? "the machine's"
                                                            : "other",
                 .messages = plan->traffic_of_last_run().messages};
  });
  return all;
}

TEST(OnNodes, PlansTakeTheirGroupsFromTheTransport) {
  std::mt19937_64 random(11);
  for (const Rank p : {3, 4, 5, 7, 8}) {
    constexpr Count columns = 3;
    const Deal deal = contiguous_deal(order::counts(order::Distribution::upper, 9 * static_cast<Count>(p) + 2, p));
    const std::vector<double> elements = summands(random, (9 * static_cast<Count>(p) + 2) * columns);
    std::vector<Memory> memory;
    for (const auto& intervals : deal) memory.push_back(memory_of(elements, columns, intervals));
    std::vector<double> sums;
    for (Count column = 0; column < columns; ++column) sums.push_back(tree_sum(column_of(elements, columns, column)));
    for (const std::string schedule : {"two_level", "root_group_last", "two_level:size=2", "binomial"}) {
      for (const Rank root : {all_ranks, 0, p - 1}) {
        const schedule::Spec spec = schedule::parse(schedule);
        if (!offers(spec.algorithm->collectives, call::reduction_to(root))) continue;
        for (const Nodes& nodes : {dealt_in_turn(2, p), random_nodes(random, p, 3)}) {
          SCOPED_TRACE(testing::Message() << schedule << ", p " << p << ", root " << root);
          const Call call{.method = Method::tree,
                          .columns = columns,
                          .root = root,
                          .collective = call::reduction_to(root),
                          .schedule = schedule,
                          .layout = LayoutKind::rank_order};
          const std::vector<Found> found = bound_on(nodes, call, deal, memory);
          Count messages = 0;
          for (std::size_t rank = 0; rank < found.size(); ++rank) {
            EXPECT_EQ(found[rank].schedule, schedule);
            const bool takes_nodes = schedule == "two_level" || schedule == "root_group_last";
            EXPECT_EQ(found[rank].nodes, takes_nodes ? "the machine's" : "none");
            EXPECT_EQ(found[rank].bits, found[rank].bits.empty() ? "" : hex(bytes_of(sums))) << "rank " << rank;
            messages += found[rank].messages;
          }
          const schedule::Context context = call::context_of(call::describe(call), spec, p, nullptr, nodes.get());
          EXPECT_EQ(messages, spec.algorithm->messages(context));
          EXPECT_FALSE(found[static_cast<std::size_t>(std::max(root, 0))].bits.empty());
        }
      }
    }
  }
}

/// Sixteen ranks dealt to four nodes in turn: `auto` takes groups where the machine has nodes, and the bits stay.
/// Records of exact sums do not grow with the intervals they stand for; those of `tree` would.
TEST(OnNodes, AutoConsidersGroups) {
  constexpr Rank p = 16;
  constexpr Count columns = 10;
  std::mt19937_64 random(12);
  const Deal deal = contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1));
  const std::vector<double> elements = summands(random, static_cast<Count>(p) * columns);
  std::vector<Memory> memory;
  for (const auto& intervals : deal) memory.push_back(memory_of(elements, columns, intervals));
  std::vector<double> sums;
  for (Count column = 0; column < columns; ++column) sums.push_back(exact_sum(column_of(elements, columns, column)));
  const Call call{.method = Method::exact,
                  .columns = columns,
                  .root = 0,
                  .collective = schedule::Collective::reduce,
                  .layout = LayoutKind::row_per_rank};
  const auto with = bound_on(dealt_in_turn(4, p), call, deal, memory);
  const auto without = bound_on(nullptr, call, deal, memory);
  EXPECT_TRUE(schedule::find(with[0].schedule)->has_groups) << with[0].schedule;
  EXPECT_FALSE(schedule::find(without[0].schedule)->has_groups) << without[0].schedule;
  EXPECT_EQ(with[0].bits, hex(bytes_of(sums)));
  EXPECT_EQ(without[0].bits, hex(bytes_of(sums)));
}

double binomial_sum(std::vector<double> level) {
  while (level.size() > 1) {
    std::vector<double> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size() ? level[i] + level[i + 1] : level[i]);
    level = next;
  }
  return level.front();
}

/// Plain sums in [S3]'s order: other groups, then between groups with the root's own summand first, then its group.
TEST(RootGroupLast, HasTheBitsOfItsOrder) {
  std::mt19937_64 random(13);
  int differ = 0;
  for (const Rank p : {3, 4, 5, 7, 8, 20}) {
    for (const Rank size : {1, 2, 3, 6}) {
      const std::vector<double> elements = summands(random, static_cast<Count>(p));
      std::vector<double> between = {elements[0]};
      for (Rank first = size; first < p; first += size)
        between.push_back(binomial_sum({elements.begin() + first, elements.begin() + std::min(first + size, p)}));
      std::vector<double> own(elements.begin(), elements.begin() + std::min(size, p));
      own[0] = binomial_sum(between);
      const double expected = binomial_sum(own);
      differ += expected != binomial_sum(elements) ? 1 : 0;
      const Deal deal = contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1));
      const std::string schedule = "root_group_last:size=" + std::to_string(size);
      const std::vector<Call> calls = calls_for({.method = Method::plain,
                                                 .root = 0,
                                                 .collective = schedule::Collective::reduce,
                                                 .schedule = schedule,
                                                 .layout = LayoutKind::row_per_rank},
                                                deal);
      std::vector<Memory> memory;
      for (const auto& intervals : deal) memory.push_back(memory_of(elements, 1, intervals));
      SimulatedRanks ranks(p, 3);
      SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
      expect_result(run(ranks, job, memory, sizeof(double)), 0, bytes_of(std::vector<double>{expected}));
    }
  }
  EXPECT_GT(differ, 0) << "the control: another order has other bits";
}

}  // namespace
}  // namespace steadfold::test::nodes_test
