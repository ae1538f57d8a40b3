// The library's choice of a schedule: what the model says beside a simulation, what is taken, MPICH's switch points.
#include "plan/choice.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "order/distribution.hpp"
#include "plan/model.hpp"
#include "prediction/prediction.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::choice_test {
namespace {

using call::Description;
using transport::LogGP;

// A message keeps its ports for all of its time, as in the linear model.
constexpr LogGP link{.latency = 0, .gap = 1e-6, .per_byte = 1e-9};

Call vector_call(Count columns, Rank root = all_ranks, Method method = Method::plain) {
  return {.method = method,
          .columns = columns,
          .root = root,
          .collective = call::reduction_to(root),
          .layout = LayoutKind::row_per_rank};
}

std::string chosen(const Call& call, Rank p, const std::string& asked = "auto", const LogGP& on = link,
                   const Nodes& nodes = nullptr, const LogGP* inside = nullptr) {
  const Description description = describe(call);
  const auto layout = order::Layout::contiguous(std::vector<Count>(static_cast<std::size_t>(p), 1));
  return plan::chosen_schedule(asked, std::span(&description, 1), layout,
                               {.link = on, .inside = inside == nullptr ? on : *inside}, nodes.get())
      .schedule;
}

/// Nodes of so many ranks each, whichever ranks they are, which share one link, or have one each, and others inside.
class LinksOfNodes final : public transport::Topology {
 public:
  LinksOfNodes(Nodes nodes, const LogGP& inside)
      : nodes_(std::move(nodes)),
        network_(transport::make_topology((nodes_->share_links() ? "two_level:links=1:size=" : "two_level:size=") +
                                              std::to_string(nodes_->places(0).count),
                                          link, inside, nodes_->rank_count())) {}
  double duration(Rank source, Rank target, Bytes bytes) const override {
    return network_->duration(nodes_->place_of(source), nodes_->place_of(target), bytes);
  }
  double arrival(Rank source, Rank target, double start, Bytes bytes) override {
    return network_->arrival(nodes_->place_of(source), nodes_->place_of(target), start, bytes);
  }
  bool shares_links() const noexcept override { return network_->shares_links(); }

 private:
  Nodes nodes_;
  std::unique_ptr<transport::Topology> network_;
};

double simulated_seconds(const std::string& name, const Call& call, Rank p, const Nodes& nodes = nullptr,
                         const LogGP& on = link, const LogGP& inside = link) {
  prediction::Scenario scenario{.description = describe(call),
                                .schedule = schedule::parse(name),
                                .counts = std::vector<Count>(static_cast<std::size_t>(p), 1),
                                .seconds_per_operation = plan::assumed_rates.front().merge_per_byte * sizeof(double),
                                .nodes = nodes};
  // A node has one card: the messages of a round go one after the other.
  if (scenario.schedule.algorithm->same_on_all_ranks == schedule::SameOnAllRanks::no) scenario.ports = 1;
  scenario.segments =
      plan::segments_of(context_of(scenario.description, scenario.schedule, p), call.columns, sizeof(double), on);
  if (call.collective == schedule::Collective::reduce_scatter)
    scenario.blocks = order::counts(order::Distribution::upper, call.columns, p);
  if (nodes == nullptr) return predict(scenario, *transport::make_topology("flat", on, p)).seconds.value();
  LinksOfNodes topology(nodes, inside);
  return predict(scenario, topology).seconds.value();
}

double modelled_seconds(const std::string& name, const Call& call, Rank p, const LogGP& on) {
  const auto layout = order::Layout::contiguous(std::vector<Count>(static_cast<std::size_t>(p), 1));
  const Description description = describe(call);
  const schedule::Spec spec = schedule::parse(name);
  const auto kind = make_kind(description, operator_of(description, call.user), call.columns);
  return plan::modelled_seconds(context_of(description, spec, p, &layout), *kind, call.columns, {.link = on}).value();
}

/// The model is at most so many times what is simulated, and not less than one in so many.
void expect_to_be_near_the_simulation(const LogGP& on, double most) {
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    if (!algorithm.messages || !algorithm.rounds) continue;
    for (const Rank p : {2, 4, 7, 16, 33}) {
      for (const Count columns : {1, 1000, 100'000}) {
        for (const schedule::Collective collective : schedule::every_collective) {
          if (!offers(algorithm.collectives, collective)) continue;
          Call call = vector_call(columns, collective == schedule::Collective::reduce ? 0 : all_ranks);
          call.collective = collective;
          if (call.collective == schedule::Collective::reduce_scatter && columns < static_cast<Count>(p)) continue;
          const std::string name(algorithm.name);
          const double model = modelled_seconds(name, call, p, on);
          const double simulation = simulated_seconds(name, call, p, nullptr, on);
          const auto what = testing::Message()
                            << name << ' ' << name_of(collective) << " p " << p << " columns " << columns;
          EXPECT_LT(model, most * simulation) << what;
          EXPECT_GT(model, simulation / most) << what;
        }
      }
    }
  }
}

/// Good enough to choose by.
TEST(Model, IsNearTheSimulation) { expect_to_be_near_the_simulation(link, 1.5); }

/// Less so, since messages of many lengths count as if they had one.
TEST(Model, IsNearTheSimulationWhereLongMessagesTakeAnotherTime) {
  for (const double long_per_byte : {4e-10, 2e-9})
    expect_to_be_near_the_simulation(
        {.latency = 0, .gap = 1e-6, .per_byte = 1e-9, .long_from = 4096, .long_per_byte = long_per_byte}, 1.65);
}

TEST(Choice, IsFewRoundsForShortVectorsAndFewBytesForLongOnes) {
  for (const Rank p : {2, 3, 8, 13, 64}) {
    EXPECT_EQ(chosen(vector_call(1), p), "recursive_doubling");
    EXPECT_EQ(chosen(vector_call(1, 0), p), "binomial");
    if (p == 2) continue;  // nothing moves fewer bytes than one exchange
    const Call wide = vector_call(10'000'000);
    EXPECT_LT(simulated_seconds(chosen(wide, p), wide, p), simulated_seconds("recursive_doubling", wide, p))
        << chosen(wide, p);
  }
  EXPECT_EQ(chosen(vector_call(100'000), 8, "auto", {.latency = 1, .per_byte = 1e-9}), "recursive_doubling");
}

// A card that is quick to take a message ([S4] section IV), a wire of 100 Mbit/s, and a card that takes longer over a
// message than the wire ([S1] section 2.3 on starts).
constexpr LogGP quick_card{.latency = 1.3e-6, .gap = 2e-7, .per_byte = 2.5e-10};
constexpr LogGP slow_wire{.latency = 5e-5, .gap = 5e-6, .per_byte = 8e-8};
constexpr LogGP slow_card{.latency = 1e-7, .gap = 1e-6, .per_byte = 1e-10};

/// The least of all schedules without groups for a call to all ranks.
double best_simulated_seconds(const Call& call, Rank p, const LogGP& on) {
  double best = std::numeric_limits<double>::infinity();
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    if (algorithm.has_groups || !algorithm.messages || !offers(algorithm.collectives, schedule::Collective::allreduce))
      continue;
    for (const std::string& name : plan::names_to_try(algorithm, p))
      best = std::min(best, simulated_seconds(name, call, p, nullptr, on));
  }
  return best;
}

/// Of sums whose order changes nothing, with each number of messages that a rank may send in a round.
TEST(Choice, IsNearTheBestOfAllOnThreeNetworks) {
  int best_ones = 0;
  for (const LogGP& on : {quick_card, slow_wire, slow_card}) {
    for (const Rank p : {3, 5, 8, 28, 64}) {
      for (const Count columns : {1, 255, 1000, 10'000, 100'000}) {
        Call call = vector_call(columns);
        call.type = call.result_type = arithmetic::Type::i64;
        const std::string taken = chosen(call, p, "auto", on);
        const double ratio = simulated_seconds(taken, call, p, nullptr, on) / best_simulated_seconds(call, p, on);
        EXPECT_LT(ratio, 1.25) << taken << " on " << p << ", columns " << columns << ", latency " << on.latency;
        best_ones += ratio < 1.005 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(best_ones, 50) << "of 75";
}

TEST(Choice, OfThreeNetworksIsWhatTheSourcesTake) {
  const auto one = vector_call(1, all_ranks, Method::exact);
  EXPECT_EQ(chosen(one, 28, "auto", quick_card), "bruck:n=5") << "[S4] section IV";
  EXPECT_EQ(chosen(one, 64, "auto", slow_card), "recursive_doubling") << "[S3]: fewest messages";
  Call least = vector_call(1);
  least.operation = arithmetic::Operation::min;
  EXPECT_NE(chosen(least, 28, "auto", quick_card).find("n="), std::string::npos) << "a minimum has one value";
  EXPECT_EQ(chosen(vector_call(1), 28, "auto", quick_card), "recursive_doubling")
      << "plain sums are the same on all ranks";
  EXPECT_EQ(chosen(vector_call(1'000'000, 0), 28, "auto", slow_wire), "pipelined_linear")
      << "[S1]: few ranks, long vectors";
  Call in_order = vector_call(300'000, 0);
  in_order.operation = arithmetic::Operation::user;
  in_order.type = in_order.result_type = arithmetic::Type::bytes;
  in_order.user = {.apply = [](const void*, const void*, void*, std::size_t, void*) { return 0; }, .element_bytes = 8};
  EXPECT_EQ(chosen(in_order, 28, "auto", quick_card), "pipelined_linear");
  EXPECT_EQ(chosen(in_order, 1000, "auto", quick_card), "pipelined_tree") << "[S1]: many ranks, in rank order";
}

/// As measured on 16 cores: lab/notes/sixteen_cores.md.
TEST(Choice, CountsMessages) {
  EXPECT_EQ(chosen(vector_call(10000, all_ranks, Method::tree), 16, "auto", plan::assumed_link), "halving_doubling");
  EXPECT_EQ(chosen(vector_call(1000, all_ranks, Method::exact), 16, "auto", plan::assumed_link), "halving_doubling");
  EXPECT_EQ(chosen(vector_call(1'000'000, all_ranks, Method::exact), 16, "auto", plan::assumed_link), "transpose");
}

TEST(Choice, AlwaysServesTheCall) {
  const auto apply = [](const void*, const void*, void*, std::size_t, void*) { return 0; };
  for (const bool commutes : {false, true}) {
    for (const Method method : {Method::plain, Method::tree}) {
      for (const Rank root : {all_ranks, 0, 5}) {
        for (const Count columns : {1, 100, 1'000'000}) {
          Call call = vector_call(columns, root, method);
          call.operation = arithmetic::Operation::user;
          call.type = call.result_type = arithmetic::Type::bytes;
          call.user = {.apply = apply, .element_bytes = 24, .commutative = commutes};
          const Description description = describe(call);
          for (const std::string asked : {"auto", "mpich"})
            for (const Rank p : {7, 8})
              EXPECT_NO_THROW(plan::checked_schedule(chosen(call, p, asked), std::span(&description, 1)));
        }
      }
    }
  }
}

/// A tree that others have already, and one whose order follows arrival.
TEST(Choice, IsNeverOneOfTheNotifyTrees) {
  for (const auto collective :
       {schedule::Collective::reduce, schedule::Collective::allreduce, schedule::Collective::reduce_scatter}) {
    for (const Method method : {Method::plain, Method::tree, Method::exact, Method::binned}) {
      for (const Rank root : {0, 2}) {
        for (const Count columns : {1, 10, 1000, 30'000, 1'000'000}) {
          for (const double latency : {0.0, 1e-6, 1e-3}) {
            Call call = vector_call(columns, collective == schedule::Collective::reduce ? root : all_ranks, method);
            call.collective = collective;
            for (const Rank p : {3, 4, 7, 8, 33, 64, 1000}) {
              const std::string name = chosen(call, p, "auto", {.latency = latency, .gap = 1e-6, .per_byte = 1e-9});
              EXPECT_EQ(name.find("notify"), std::string::npos) << name;
            }
          }
        }
      }
    }
  }
}

TEST(Choice, OfBlocksAndScansGoesByTheModelToo) {
  Call call = vector_call(64);
  call.collective = schedule::Collective::reduce_scatter;
  EXPECT_EQ(chosen(call, 8), "halving_doubling");
  EXPECT_EQ(chosen(call, 8, "mpich"), "halving_doubling");
  call.columns = 1'000'000;
  EXPECT_EQ(chosen(call, 8, "mpich"), "transpose");
  EXPECT_LE(simulated_seconds(chosen(call, 7), call, 7), simulated_seconds("binomial", call, 7));
  for (const auto part : {schedule::Collective::scan, schedule::Collective::exscan}) {
    Call scan = vector_call(1);
    scan.collective = part;
    EXPECT_EQ(chosen(scan, 64), "recursive_doubling");
    EXPECT_EQ(chosen(scan, 64, "mpich"), "recursive_doubling");
    scan.columns = 1'000'000;
    EXPECT_EQ(chosen(scan, 8), "pipelined_linear");
    EXPECT_LE(simulated_seconds(chosen(scan, 8), scan, 8), simulated_seconds("recursive_doubling", scan, 8));
  }
}

/// What is between nodes, how many times as quick links inside are, and how much slower a choice may be.
struct MachineOfNodes {
  order::Nodes::Between between;
  double quicker;
  double most;

  friend void PrintTo(const MachineOfNodes& machine, std::ostream* out) {
    *out << (machine.between == order::Nodes::Between::network ? "nodes" : "parts") << ' ' << machine.quicker;
  }
};
class ChoiceOnNodes : public testing::TestWithParam<MachineOfNodes> {};

/// Where the nodes make groups cheaper they are taken, and what is taken is never much worse than without nodes.
TEST_P(ChoiceOnNodes, TakesGroupsWhereALinkIsSharedByManyOrQuickInside) {
  const auto& [between, quicker, most] = GetParam();
  const LogGP inside{.latency = 0, .gap = link.gap / quicker, .per_byte = link.per_byte / quicker};
  std::map<std::string, int> taken;
  for (const bool in_turn : {false, true}) {
    for (const Rank size : {2, 8}) {
      for (const Rank count : {2, 5, 16}) {
        const Rank p = size * count;
        std::vector<Rank> labels;
        for (Rank rank = 0; rank < p; ++rank) labels.push_back(in_turn ? rank % count : rank / size);
        const auto nodes = std::make_shared<const order::Nodes>(labels, between);
        for (const Count columns : {1, 1000, 100'000}) {
          for (const Rank root : {all_ranks, 0, p - 1}) {
            const Call call = vector_call(columns, root, in_turn ? Method::exact : Method::tree);
            const std::string with = chosen(call, p, "auto", link, nodes, &inside);
            const std::string without = chosen(call, p);
            const auto seconds = [&](const std::string& name) {
              return simulated_seconds(name, call, p, nodes, link, inside);
            };
            EXPECT_LT(seconds(with), most * seconds(without))
                << with << " for " << without << ", " << count << " nodes of " << size << ", in turn " << in_turn
                << ", columns " << columns << ", root " << root;
            ++taken[schedule::find(with)->has_groups ? "groups"
                    : in_turn                        ? "no groups in turn"
                                                     : "no groups by blocks"];
          }
        }
      }
    }
  }
  EXPECT_GT(taken["groups"], 12);
  EXPECT_GT(taken["no groups by blocks"], 10);
}
INSTANTIATE_TEST_SUITE_P(Links, ChoiceOnNodes,
                         testing::Values(MachineOfNodes{order::Nodes::Between::network, 1, 1.1},
                                         MachineOfNodes{order::Nodes::Between::network, 10, 1.2},
                                         MachineOfNodes{order::Nodes::Between::packages, 10, 1.2}));

/// Parts of a node that are no quicker inside change nothing.
TEST(Choice, TakesNoGroupsOfPartsThatAreLikeTheRest) {
  for (const Rank p : {6, 7, 12, 63}) {
    std::vector<Rank> labels;
    for (Rank rank = 0; rank < p; ++rank) labels.push_back(rank % 3);
    const auto parts = std::make_shared<const order::Nodes>(labels, order::Nodes::Between::packages);
    for (const Count columns : {1, 10, 1000, 100'000})
      for (const Rank root : {all_ranks, 0, p - 1})
        for (const LogGP& on : {link, LogGP{.latency = 1e-5, .gap = 1e-7, .per_byte = 1e-10}}) {
          const Call call = vector_call(columns, root, Method::exact);
          EXPECT_EQ(chosen(call, p, "auto", on, parts), chosen(call, p, "auto", on))
              << p << ' ' << columns << ' ' << root;
        }
  }
}

/// Seven nodes of nine ranks. Ranks whose numbers differ by a power of two are never on one node.
class ModelOnNodes : public testing::Test {
 protected:
  double seconds(const std::string& name, const plan::Network& network) const {
    const schedule::Spec spec = schedule::parse(name);
    const auto context = context_of(description_, spec, p, spec.algorithm->has_groups ? &by_place_ : &layout_, &nodes_);
    return modelled_seconds_on(nodes_, context, *kind_, columns, network).value();
  }

 private:
  static constexpr Rank p = 63;
  static constexpr Count columns = 10;
  static order::Nodes dealt() {
    std::vector<Rank> labels;
    for (Rank rank = 0; rank < p; ++rank) labels.push_back(rank % 7);
    return order::Nodes(labels);
  }
  order::Nodes nodes_ = dealt();
  Description description_ = describe(vector_call(columns, all_ranks, Method::exact));
  arithmetic::Operator none_;
  std::unique_ptr<arithmetic::PartialKind> kind_ = make_kind(description_, operator_of(description_, none_), columns);
  order::Layout layout_ = order::Layout::contiguous(std::vector<Count>(p, 1));
  order::Layout by_place_ = layout_.reordered(nodes_.ranks());
};

/// Nearly all rounds of recursive doubling leave the node, a part of those of a schedule with groups do.
TEST_F(ModelOnNodes, GoesByTheLatencyInside) {
  const plan::Network alike{.link = {.latency = 1e-5, .gap = 1e-9, .per_byte = 0}};
  plan::Network quick_inside = alike;
  quick_inside.inside.latency = 1e-7;
  EXPECT_GT(seconds("recursive_doubling", quick_inside), 0.85 * seconds("recursive_doubling", alike));
  EXPECT_LT(seconds("two_level", quick_inside), 0.6 * seconds("two_level", alike));
}

/// Of two_level, which has messages inside nodes, too; all are longer than that.
TEST_F(ModelOnNodes, GoesByTheRateOfLongMessages) {
  const plan::Network alike{.link = {.latency = 0, .gap = 1e-9, .per_byte = 1e-9}};
  transport::LogGP slow = alike.link;
  slow.long_from = 1;
  slow.long_per_byte = 1e-8;
  const double all = seconds("two_level", {.link = slow});
  const double between = seconds("two_level", {.link = slow, .inside = alike.link});
  const double inside = seconds("two_level", {.link = alike.link, .inside = slow});
  const double neither = seconds("two_level", alike);
  EXPECT_GT(between, 2 * neither);
  EXPECT_GT(inside, 1.1 * neither);
  EXPECT_NEAR(all - neither, (between - neither) + (inside - neither), 1e-12);
}

/// The first rank of a node finishes all columns, as every rank does in recursive doubling.
TEST_F(ModelOnNodes, FinishesAllColumnsInGroups) {
  const plan::Network alike{.link = {.latency = 0, .gap = 1e-9, .per_byte = 0}};
  plan::Network dear = alike;
  dear.rates[1].finish_per_byte = 1e-3;
  const auto added = [&](const std::string& name) { return seconds(name, dear) - seconds(name, alike); };
  EXPECT_NEAR(added("two_level"), added("recursive_doubling"), 1e-9);
  EXPECT_NEAR(added("halving_doubling"), added("recursive_doubling") / 63, 1e-6);
}

/// One second for each message that leaves or enters the node by which most pass, on nodes of these ranks; what
/// partials take on top is less than a microsecond.
double seconds_of_messages(const std::string& name, Rank root, const std::vector<Rank>& labels) {
  const auto p = static_cast<Rank>(labels.size());
  const order::Nodes nodes(labels);
  const Description description = describe(vector_call(1, root, Method::exact));
  const arithmetic::Operator none;
  const auto kind = make_kind(description, operator_of(description, none), 1);
  const order::Layout layout = order::Layout::contiguous(std::vector<Count>(labels.size(), 1));
  const schedule::Spec spec = schedule::parse(name);
  const auto context = context_of(description, spec, p, &layout, &nodes);
  const plan::Network network{.link = {.latency = 0, .gap = 1, .per_byte = 0},
                              .inside = {.latency = 0, .gap = 0, .per_byte = 0}};
  return modelled_seconds_on(nodes, context, *kind, 1, network).value();
}

/// In `flat` every rank sends to the root, so the root's node takes all in and sends nothing.
TEST(Model, OfNodesGoesByTheBusierWay) {
  EXPECT_NEAR(seconds_of_messages("flat", 0, {0, 0, 1, 1, 2, 2}), 4, 1e-5);
  EXPECT_NEAR(seconds_of_messages("flat", 5, {0, 0, 1, 1, 2, 2}), 4, 1e-5);
  EXPECT_NEAR(seconds_of_messages("flat", 0, {0, 1, 1, 1, 1, 1}), 5, 1e-5);
}

/// In recursive doubling ranks exchange whose numbers differ by 1, then by 2, then by 4. Ranks 4 to 7 on one node leave
/// it in one round, ranks 2 to 5 in two.
TEST(Model, OfNodesGoesByTheLargest) {
  EXPECT_NEAR(seconds_of_messages("recursive_doubling", all_ranks, {0, 0, 1, 1, 2, 2, 2, 2}), 4, 1e-5);
  EXPECT_NEAR(seconds_of_messages("recursive_doubling", all_ranks, {0, 0, 1, 1, 1, 1, 2, 2}), 8, 1e-5);
}

/// As many vectors go out as come in. Of those that come in it is known whose rows they have: those of four ranks,
/// three each, make two nodes of the tree, and those of a typical message make more.
TEST(Model, OfNodesCountsTheBytesThatArrive) {
  constexpr Rank labels[] = {0, 0, 0, 0, 1, 1, 1, 1};
  const order::Nodes nodes(labels);
  const Description description = describe(vector_call(100, all_ranks, Method::tree));
  const arithmetic::Operator none;
  const auto kind = make_kind(description, operator_of(description, none), 100);
  const order::Layout layout = order::Layout::contiguous(std::vector<Count>(8, 3));
  const schedule::Spec spec = schedule::parse("recursive_doubling");
  const plan::Network network{.link = {.latency = 0, .gap = 0, .per_byte = 1},
                              .inside = {.latency = 0, .gap = 0, .per_byte = 0}};
  const double found =
      modelled_seconds_on(nodes, context_of(description, spec, 8, &layout, &nodes), *kind, 100, network).value();
  EXPECT_NEAR(found, 4 * static_cast<double>(kind->full_size(layout.rows({0, 4}))), 0.1);
}

/// Neither does the machine change the bits of a method whose bits follow the order, nor does one node change anything.
TEST(Choice, OnNodesChangesNoBits) {
  const auto nodes_of = [](Rank p, auto label) {
    std::vector<Rank> labels;
    for (Rank rank = 0; rank < p; ++rank) labels.push_back(label(rank));
    return std::make_shared<const order::Nodes>(labels);
  };
  constexpr Rank p = 64;
  const Nodes in_turn = nodes_of(p, [](Rank rank) { return rank % 8; });
  const Nodes one = nodes_of(p, [](Rank) { return 0; });
  const Nodes each = nodes_of(p, [](Rank rank) { return rank; });
  for (const Rank root : {all_ranks, 0}) {
    for (const Count columns : {1, 1000, 100'000}) {
      const Call plain = vector_call(columns, root);
      EXPECT_EQ(chosen(plain, p, "auto", link, in_turn), chosen(plain, p));
      const Call tree = vector_call(columns, root, Method::tree);
      EXPECT_EQ(chosen(tree, p, "auto", link, one), chosen(tree, p));
      EXPECT_EQ(chosen(tree, p, "auto", link, each), chosen(tree, p));
      EXPECT_EQ(chosen(tree, p, "mpich", link, in_turn), chosen(tree, p, "mpich"));
    }
    const Call exact = vector_call(1, root, Method::exact);
    EXPECT_TRUE(schedule::find(chosen(exact, p, "auto", link, in_turn))->has_groups) << "the control";
  }
}

/// On nodes that are far groups are always taken where they may be: by calls, by bundles, by what ranks ask each other.
TEST(Choice, OnFarNodesTakesGroups) {
  constexpr Rank p = 6;
  const std::vector<Rank> labels = {0, 0, 0, 3, 3, 5};
  const order::Nodes far(labels, order::Nodes::Between::processes), near(labels);
  const auto layout = order::Layout::contiguous(std::vector<Count>(p, 1));
  const auto takes_groups = [&](std::span<const Call> calls, const order::Nodes& nodes) {
    std::vector<Description> descriptions;
    for (const Call& call : calls) descriptions.push_back(describe(call));
    return schedule::find(plan::chosen_schedule("auto", descriptions, layout, {.link = link}, &nodes).schedule)
        ->has_groups;
  };
  for (const Rank root : {all_ranks, 0, 4}) {
    for (const Count columns : {1, 1000, 1'000'000}) {
      const std::array tree = {vector_call(columns, root, Method::tree), vector_call(3, root, Method::tree)};
      const std::array plain = {tree[0], vector_call(3, root)};
      EXPECT_TRUE(takes_groups(std::span(tree).first(1), far)) << columns << " to " << root;
      EXPECT_TRUE(takes_groups(tree, far)) << columns << " to " << root;
      EXPECT_FALSE(takes_groups(tree, near)) << "a bundle, of which no model knows";
      EXPECT_FALSE(takes_groups(plain, far)) << "the order of merging changes bits";
      EXPECT_FALSE(takes_groups(std::span(plain).last(1), far));
    }
  }
  Call scan = vector_call(1, all_ranks, Method::tree);
  scan.collective = schedule::Collective::scan;
  EXPECT_FALSE(takes_groups(std::span(&scan, 1), far));

  EXPECT_TRUE(schedule::algorithm_for_questions(&far).has_groups);
  EXPECT_FALSE(schedule::algorithm_for_questions(&near).has_groups);
  EXPECT_FALSE(schedule::algorithm_for_questions(nullptr).has_groups);
}

TEST(Choice, OfMpichFollowsSizesAndPowersOfTwo) {
  EXPECT_EQ(chosen(vector_call(256), 8, "mpich"), "recursive_doubling");  // 2048 bytes
  EXPECT_EQ(chosen(vector_call(257), 8, "mpich"), "halving_doubling");
  EXPECT_EQ(chosen(vector_call(257), 7, "mpich"), "halving_doubling");
  EXPECT_EQ(chosen(vector_call(257), 1000, "mpich"), "recursive_doubling");  // fewer elements than ranks
  EXPECT_EQ(chosen(vector_call(256, 0), 8, "mpich"), "binomial");
  EXPECT_EQ(chosen(vector_call(257, 0), 8, "mpich"), "halving_doubling");
  EXPECT_EQ(chosen(vector_call(257, 0), 7, "mpich"), "binomial");
}

/// By either policy a plan says which algorithm it took, and the bits are the tree's.
TEST(Choice, NeverChangesBits) {
  const Deal deal = contiguous_deal(std::vector<Count>(6, 1));
  const std::vector<double> elements(6 * 5000, 0.1);
  std::vector<Memory> memory;
  for (const auto& intervals : deal) memory.push_back(memory_of(elements, 5000, intervals));
  const std::vector<double> expected(5000, (0.1 + 0.1 + (0.1 + 0.1)) + (0.1 + 0.1));
  for (const std::string asked : {"auto", "mpich"}) {
    Call call = vector_call(5000, all_ranks, Method::tree);
    call.schedule = asked;
    const std::vector<Call> calls = calls_for(call, deal);
    const Concluded agreed = concluded(calls);
    ASSERT_TRUE(agreed.agreement) << agreed.text;
    EXPECT_NE(schedule::find(agreed.agreement->chosen.schedule), nullptr);
    SimulatedRanks ranks(6, 3);
    SimulatedJob job(ranks, *agreed.agreement, calls, 0);
    expect_result(run(ranks, job, memory, 5000 * sizeof(double), 100), all_ranks, bytes_of(expected));
  }
}

}  // namespace
}  // namespace steadfold::test::choice_test
