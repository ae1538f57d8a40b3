// Predictions against the same reductions carried out over simulated ranks, against the registry, against the number of
// additions that any order has, and against times worked out by hand.
#include "prediction/prediction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "order/distribution.hpp"
#include "prediction/simulated_run.hpp"
#include "schedule/make_step.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::prediction_test {
namespace {

using prediction::PredictedBy;
using prediction::Scenario;
using prediction::Sizes;
using prediction::Spent;
using transport::LogGP;
using transport::make_topology;

/// A sum of doubles.
struct Case {
  std::string schedule;
  Method method = Method::tree;
  Rank root = all_ranks;
  Count columns = 1;
  std::uint32_t segments = 1;
};

bool is_served(const schedule::Algorithm& algorithm, const Case& c) {
  const auto asked = call::reduction_to(c.root);
  return algorithm.messages != nullptr &&
         !schedule::refusal(algorithm, asked, std::max(c.root, 0), call::properties_of(c.method).merging,
                            schedule::OperatorKind::commutative);
}

Call call_for(const Case& c) {
  return {.method = c.method,
          .columns = c.columns,
          .root = c.root,
          .collective = call::reduction_to(c.root),
          .schedule = c.schedule,
          .layout = LayoutKind::rank_order};
}

/// `algorithm` in place of the registry's, where given.
Spent simulated(const Case& c, const std::vector<Count>& counts, transport::Topology& topology, double per_operation,
                const schedule::Algorithm* algorithm = nullptr) {
  const call::Description description = describe(call_for(c));
  const auto layout = order::Layout::contiguous(counts);
  const schedule::Spec spec = schedule::parse(c.schedule);
  const plan::Segmentation segmentation(description.columns, c.segments);
  const auto context = segmentation.cut(call::context_of(description, spec, layout.rank_count(), &layout));
  const Sizes sizes(description, arithmetic::built_in(arithmetic::Operation::sum, arithmetic::Type::f64), segmentation);
  if (algorithm == nullptr) algorithm = spec.algorithm;
  return prediction::simulated_run(*algorithm, context, layout, sizes,
                                   {topology, per_operation, algorithm->port_count(context)});
}

/// What the sum takes when simulated ranks carry it out on real bytes.
Spent carried_out(const Case& c, const std::vector<Count>& counts,
                  arithmetic::Sweep sweep = arithmetic::Sweep::single_sweep) {
  const Deal deal = contiguous_deal(counts);
  std::vector<Call> calls = calls_for(call_for(c), deal);
  for (Call& call : calls) call.parameters.sweep = sweep;
  std::vector<Memory> memory;
  for (const auto& intervals : deal) {
    memory.push_back(bytes_of(std::vector<double>(rows_of(intervals) * c.columns, 1.0)));
  }
  SimulatedRanks ranks(static_cast<Rank>(counts.size()), 7);
  SimulatedJob job(ranks, concluded(calls).agreement.value(), calls, c.segments);
  job.trace(true);
  EXPECT_FALSE(run(ranks, job, memory, 8 * c.columns, c.segments).stuck);
  return {.messages = job.messages(), .rounds = job.rounds(), .bytes = ranks.traffic().bytes};
}

std::vector<Case> all_cases(Rank p) {
  std::vector<Case> cases;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    for (const Method method : {Method::tree, Method::plain}) {
      for (const Rank root : {all_ranks, 0, p / 2, p - 1}) {
        for (const std::string& name : names_of(algorithm)) {
          const schedule::Spec spec = schedule::parse(name);
          const auto unit = static_cast<std::uint32_t>(algorithm.unit_of({.rank_count = p, .spec = &spec}));
          for (const std::uint32_t segments :
               {1u, algorithm.segments == schedule::Segments::one_per_rank ? unit : 3u}) {
            const Case c{name, method, root, segments == 1 ? 1u : 2 * segments + 1, segments};
            if (is_served(algorithm, c)) cases.push_back(c);
          }
        }
      }
    }
  }
  return cases;
}

std::vector<std::vector<Count>> all_counts(Rank p) {
  std::vector<std::vector<Count>> all;
  for (const auto rule : {order::Distribution::lower, order::Distribution::upper, order::Distribution::power2,
                          order::Distribution::optimized}) {
    for (const Count n : {static_cast<Count>(p) / 2, static_cast<Count>(p), Count{1001}}) {
      all.push_back(order::counts(rule, n, p));
    }
  }
  std::mt19937_64 random(static_cast<std::uint64_t>(p));
  all.emplace_back();
  for (Rank i = 0; i < p; ++i) all.back().push_back(random() % 3 == 0 ? 0 : random() % 90);
  if (p > 1) all.back()[0] = 0;
  all.back().back() += 1;
  return all;
}

/// Parameters are rank counts.
class Predictions : public testing::TestWithParam<Rank> {};

TEST_P(Predictions, AreWhatRanksThatMoveBytesCount) {
  const Rank p = GetParam();
  for (const Case& c : all_cases(p)) {
    for (const auto& counts : all_counts(p)) {
      SCOPED_TRACE(testing::Message() << c.schedule << " " << call::name_of(c.method) << ", root " << c.root
                                      << ", segments " << c.segments << ", first count " << counts[0]);
      const Spent real = carried_out(c, counts);
      const Spent found = simulated(c, counts, *make_topology("flat", {}, p), 1e-9);
      ASSERT_EQ(found.messages, real.messages);
      ASSERT_EQ(found.rounds, real.rounds);
      ASSERT_EQ(found.bytes, real.bytes);
    }
  }
}

/// However they are arranged, N elements of M columns take (N - 1) M additions, in all ranks' processors together.
TEST_P(Predictions, CountEveryAdditionOnce) {
  const Rank p = GetParam();
  for (const Case& c : all_cases(p)) {
    if (c.root == all_ranks) continue;
    for (const auto& counts : all_counts(p)) {
      const Count n = std::accumulate(counts.begin(), counts.end(), Count{0});
      if (n == 0) continue;
      SCOPED_TRACE(testing::Message() << c.schedule << " " << call::name_of(c.method) << ", N " << n);
      ASSERT_EQ(simulated(c, counts, *make_topology("flat", {}, p), 1).operations, (n - 1) * c.columns);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Predictions, testing::Values(1, 2, 3, 4, 5, 7, 8, 13),
                         testing::PrintToStringParamName());

class Formulas : public testing::TestWithParam<Rank> {};

/// What the checker proved, also where links are shared and messages overtake each other.
TEST_P(Formulas, AreWhatIsPredicted) {
  const Rank p = GetParam();
  for (const Case& c : all_cases(p)) {
    const schedule::Spec spec = schedule::parse(c.schedule);
    const schedule::Algorithm& algorithm = *spec.algorithm;
    const auto counts = order::counts(order::Distribution::lower, 5 * static_cast<Count>(p) + 3, p);
    const auto layout = order::Layout::contiguous(counts);
    auto context = call::context_of(describe(call_for(c)), spec, p, &layout);
    context.segments = c.segments;
    for (const char* topology : {"flat", "two_level:size=4:latency=0", "fat_tree:arity=2:oversubscription=2",
                                 "torus:sides=4x16:half_duplex=1"}) {
      SCOPED_TRACE(testing::Message() << c.schedule << ", root " << c.root << ", " << topology);
      const Spent found = simulated(c, counts, *make_topology(topology, {}, p), 1e-9);
      ASSERT_EQ(found.messages, algorithm.messages(context));
      ASSERT_TRUE(algorithm.allows_rounds(found.rounds, context)) << found.rounds;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Formulas, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 25, 38, 51, 64),
                         testing::PrintToStringParamName());

/// Times are sums of few powers of two: equality is exact. A plain partial of a double is 40 bytes, a value 24.
constexpr LogGP link{.latency = 64, .gap = 2, .per_byte = 0.5};
constexpr double partial_port = 2 + 0.5 * 40;
constexpr double value_port = 2 + 0.5 * 24;
constexpr double addition = 0.25;

double seconds_of(const std::string& schedule, Rank p, Count each, Rank root, const std::string& topology = "flat",
                  const LogGP& links = link) {
  const std::vector<Count> counts(static_cast<std::size_t>(p), each);
  return simulated({.schedule = schedule, .method = Method::plain, .root = root}, counts,
                   *make_topology(topology, links, p), addition)
      .seconds;
}

TEST(PredictedTimes, OfALinearChain) {
  for (Rank p = 1; p <= 40; ++p) {
    const double local = 9 * addition;
    const double reduce = local + (p - 1) * (link.latency + partial_port + addition);
    EXPECT_EQ(seconds_of("linear", p, 10, 0), reduce) << p;
    EXPECT_EQ(seconds_of("linear", p, 10, all_ranks), reduce + (p - 1) * (link.latency + value_port)) << p;
  }
}

TEST(PredictedTimes, OfBinomialTreesAndRecursiveDoublingOnPowersOfTwo) {
  for (int levels = 0; levels <= 9; ++levels) {
    const Rank p = Rank{1} << levels;
    const double up = 9 * addition + levels * (link.latency + partial_port + addition);
    EXPECT_EQ(seconds_of("binomial", p, 10, 0), up);
    EXPECT_EQ(seconds_of("recursive_doubling", p, 10, all_ranks), up);
    // Down: the last leaf is reached over one message per level, each as soon as the one before it is there.
    EXPECT_EQ(seconds_of("binomial", p, 10, all_ranks), up + levels * (link.latency + value_port));
  }
}

/// The root's port takes one message after the other while latency passes for all at once; where adding is slower than
/// the port it is the processor that sets the pace.
TEST(PredictedTimes, OfTheFlatScheduleAreThePortsOrTheProcessors) {
  for (Rank p = 2; p <= 40; ++p) {
    EXPECT_EQ(seconds_of("flat", p, 1, 0), link.latency + (p - 1) * partial_port + addition);
    const LogGP fast{.latency = 64, .gap = 0, .per_byte = 1.0 / 512};
    EXPECT_EQ(seconds_of("flat", p, 1, 0, "flat", fast), fast.latency + fast.duration(40.0) + (p - 1) * addition);
  }
}

/// Rank 1 takes long to fold its rows. Its partial is the first child's, behind which the second one's waits for the
/// port, unless partials are merged as they come.
TEST(PredictedTimes, OfMergingInTheOrderOfArrival) {
  const auto seconds = [](const std::string& schedule, Count slow, Count fast) {
    return simulated({.schedule = schedule, .method = Method::plain, .root = 0}, {1, slow, fast},
                     *make_topology("flat", link, 3), addition)
        .seconds;
  };
  for (const std::string tree : {"binary", "flat"}) {
    const double slowest = 1000 * addition + link.latency + partial_port + addition;
    EXPECT_EQ(seconds("single_notify:tree=" + tree, 1001, 1), slowest + partial_port);
    EXPECT_EQ(seconds("multi_notify:tree=" + tree, 1001, 1), slowest);
    EXPECT_EQ(seconds("multi_notify:tree=" + tree, 1, 1001), slowest);
    EXPECT_EQ(seconds("single_notify:tree=" + tree, 1, 1001), slowest);
    // Both at once: the port serves one after the other.
    EXPECT_EQ(seconds("multi_notify:tree=" + tree, 1001, 1001), slowest + partial_port);
  }
}

/// Nobody waits where every level has as many links up as down: equal to the last bit. With fewer the four messages
/// that leave a switch in each of the last two rounds of recursive doubling share them.
TEST(PredictedTimes, ShowContention) {
  const double round = link.latency + partial_port + addition;
  const auto seconds = [](const std::string& topology) {
    return seconds_of("recursive_doubling", 16, 1, all_ranks, topology);
  };
  EXPECT_EQ(seconds("flat"), 4 * round);
  EXPECT_EQ(seconds("fat_tree:arity=4"), 4 * round);
  // Two links: half of the ranks are a port's time late after round 2, when the links are free again for them.
  EXPECT_EQ(seconds("fat_tree:arity=4:oversubscription=2"), 4 * round + partial_port);
  // One link: it carries eight messages without a pause, the last of which takes a round from there.
  EXPECT_EQ(seconds("fat_tree:arity=4:oversubscription=4"), 2 * round + 7 * partial_port + round);
  // A tree sends one message out of every switch at a time.
  EXPECT_EQ(seconds_of("binomial", 16, 1, 0, "fat_tree:arity=4:oversubscription=4"), seconds_of("binomial", 16, 1, 0));
}

TEST(PredictedTimes, KnowNodes) {
  const std::string nodes = "two_level:size=4:latency=1:gap=0:per_byte=0.125";
  const double inside = 1 + 0.125 * 40 + addition;
  const double between = link.latency + partial_port + addition;
  EXPECT_EQ(seconds_of("recursive_doubling", 16, 1, all_ranks, nodes), 2 * inside + 2 * between);
  EXPECT_EQ(seconds_of("linear", 16, 1, 0, nodes), 12 * inside + 3 * between);
}

Scenario scenario_of(const Case& c, std::vector<Count> counts) {
  return {.description = describe(call_for(c)), .schedule = schedule::parse(c.schedule), .counts = std::move(counts)};
}

TEST(PredictedTimes, OfSeveralPorts) {
  schedule::Algorithm algorithm = *schedule::find("flat");
  algorithm.ports = [](schedule::Context) { return 4u; };
  const std::vector<Count> counts(9, 1);
  const Spent found = simulated({.schedule = "flat", .method = Method::plain, .root = 0}, counts,
                                *make_topology("flat", link, 9), 0, &algorithm);
  EXPECT_EQ(found.rounds, 2u);
  EXPECT_EQ(found.seconds, link.latency + 2 * partial_port);
}

/// A schedule for n ports takes its messages of a round one after the other where ranks have one port.
TEST(PredictedTimes, OfSchedulesForMorePortsThanThereAre) {
  Scenario scenario = scenario_of({"dissemination:n=3", Method::exact}, std::vector<Count>(16, 1));
  scenario.seconds_per_operation = 0;
  constexpr double port = 2 + 0.5 * (24 + 4 + 4 * 68);
  for (const auto& [ports, rounds] : {std::pair{0u, 2u}, std::pair{3u, 2u}, std::pair{2u, 4u}, std::pair{1u, 6u}}) {
    scenario.ports = ports;
    const auto found = predict(scenario, *make_topology("flat", link, 16));
    EXPECT_EQ(found.rounds, rounds);
    EXPECT_EQ(found.seconds, 2 * link.latency + static_cast<double>(rounds) * port);
  }
}

TEST(Predict, TakesExactAtFullWidth) {
  const auto topology = make_topology("flat", {}, 8);
  const auto found = predict(scenario_of({"linear", Method::exact}, std::vector<Count>(8, 3)), *topology);
  EXPECT_EQ(found.by, PredictedBy::simulation);
  EXPECT_EQ(found.bytes, 7u * (24 + 4 + 4 * 68) + 7 * 24);
}

/// The first sweep is priced with the second one, as it is carried out.
TEST(Predict, TakesBothSweepsOfBinned) {
  for (const Rank p : {1, 2, 3, 6, 8}) {
    const std::vector<Count> counts(static_cast<std::size_t>(p), 3);
    for (const char* schedule : {"linear", "binomial", "recursive_doubling"}) {
      const Case c{.schedule = schedule, .method = Method::binned, .columns = 5};
      Scenario scenario = scenario_of(c, counts);
      EXPECT_FALSE(first_sweep_of(scenario));
      const auto once = predict(scenario, *make_topology("flat", {}, p));
      EXPECT_EQ(once.bytes, carried_out(c, counts).bytes);
      scenario.description.parameters.sweep = arithmetic::Sweep::double_sweep;
      const auto first = predict(first_sweep_of(scenario).value(), *make_topology("flat", {}, p));
      const auto both = in_turn(first, once);
      const Spent real = carried_out(c, counts, arithmetic::Sweep::double_sweep);
      EXPECT_EQ(both.by, PredictedBy::simulation);
      EXPECT_EQ(both.messages, real.messages) << schedule << ", p " << p;
      EXPECT_EQ(both.rounds, real.rounds) << schedule << ", p " << p;
      EXPECT_EQ(both.bytes, real.bytes) << schedule << ", p " << p;
      EXPECT_EQ(both.seconds, *once.seconds + *first.seconds);
      EXPECT_TRUE(p == 1 || both.seconds > once.seconds);
    }
  }
}

TEST(Predict, LeavesNativeToTheTransport) {
  const auto found = predict(scenario_of({"native", Method::exact}, {1, 2, 3}), *make_topology("flat", {}, 3));
  EXPECT_EQ(found.by, PredictedBy::nothing);
  EXPECT_FALSE(found.messages || found.rounds || found.bytes || found.seconds);
}

/// Beyond what can be simulated the formulas stand: at the limit both agree, on both sides of it.
TEST(Predict, GoesOverToFormulasWhereSimulationsEnd) {
  const Rank p = prediction::most_simulated_ranks + 1;
  const std::vector<Count> counts(static_cast<std::size_t>(p), 2);
  const auto topology = make_topology("flat", {}, p);
  const auto plain = predict(scenario_of({"binomial", Method::plain}, counts), *topology);
  EXPECT_EQ(plain.by, PredictedBy::formulas);
  EXPECT_EQ(plain.messages, 2 * static_cast<Count>(p - 1));
  EXPECT_EQ(plain.rounds, 2u * 22);
  EXPECT_EQ(plain.bytes, static_cast<Count>(p - 1) * (40 + 24));
  EXPECT_FALSE(plain.seconds.has_value());
  EXPECT_FALSE(predict(scenario_of({"binomial", Method::tree}, counts), *topology).bytes.has_value());
  std::vector<Count> with_none = counts;
  with_none[5] = 0;
  EXPECT_FALSE(predict(scenario_of({"binomial", Method::plain}, with_none), *topology).bytes.has_value());
  EXPECT_EQ(predict(scenario_of({"binomial", Method::exact}, with_none), *topology).bytes,
            static_cast<Count>(p - 1) * (24 + 4 + 4 * 68 + 24));
}

TEST(Predict, BytesOfFixedSizesAreThoseOfTheFormulas) {
  for (const Rank p : {1, 2, 3, 7, 16, 33}) {
    for (const Case& c : all_cases(p)) {
      if (c.method != Method::plain || schedule::find(c.schedule.substr(0, c.schedule.find(':')))->uneven) continue;
      const std::vector<Count> counts(static_cast<std::size_t>(p), 3);
      const schedule::Spec spec = schedule::parse(c.schedule);
      const auto layout = order::Layout::contiguous(counts);
      auto context = call::context_of(describe(call_for(c)), spec, p, &layout);
      context.segments = c.segments;
      const schedule::SegmentBytes sizes{.partials = c.segments * 32 + c.columns * 8,
                                         .values = c.segments * 16 + c.columns * 8};
      EXPECT_EQ(simulated(c, counts, *make_topology("flat", {}, p), 0).bytes, bytes_of(*spec.algorithm, context, sizes))
          << c.schedule << " p " << p;
    }
  }
}

TEST(SimulatedRun, SaysWhenAScheduleIsStuck) {
  schedule::Algorithm algorithm = *schedule::find("flat");
  algorithm.steps = [](schedule::Context c) -> schedule::Steps {
    co_yield schedule::make::lift(schedule::partial(0), c.rank);
    co_yield schedule::make::receive(1 - c.rank, schedule::landing(0), {1 - c.rank, 1});
  };
  EXPECT_THROW(simulated({.schedule = "flat"}, {1, 1}, *make_topology("flat", {}, 2), 0, &algorithm), std::logic_error);
}

}  // namespace
}  // namespace steadfold::test::prediction_test
