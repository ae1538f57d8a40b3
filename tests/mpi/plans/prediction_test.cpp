// What a plan counts over real ranks is what was predicted: messages, rounds and bytes, for every schedule, collective,
// distribution and method whose sizes follow from the rows.
#include "prediction/prediction.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "mpi/ranks.hpp"
#include "mpi/run_ranks.hpp"
#include "order/distribution.hpp"
#include "schedule/registry.hpp"
#include "steadfold/mpi.hpp"

namespace steadfold::tests::prediction_test {
namespace {

using order::Count;
using order::Distribution;
using prediction::Prediction;

struct Counted {
  std::uint64_t messages = 0;
  std::uint64_t rounds = 0;
  std::uint64_t bytes = 0;
};

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int size_of_world() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// One sum of this rank's share by a plan.
Counted counted(const std::vector<Count>& counts, sf::Options options) {
  const auto rank = static_cast<std::size_t>(rank_of_world());
  const Count begin = std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank), Count{0});
  const Count total = std::accumulate(counts.begin(), counts.end(), Count{0});
  const std::vector<double> elements(counts[rank], 0.5);
  options.layout = sf::Layout::intervals({{begin, begin + counts[rank]}}, total);
  sf::Plan<double> plan(sf::plus, elements.size(), MPI_COMM_WORLD, options);
  plan.trace(true);
  plan.run(elements);
  const sf_figures figures = plan.figures();
  std::array<std::uint64_t, 2> sums = {figures.messages, figures.bytes};
  std::uint64_t rounds = figures.rounds;
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return {sums[0], rounds, sums[1]};
}

Prediction predicted(const std::string& schedule, call::Method method, order::Rank root,
                     const std::vector<Count>& counts) {
  const call::Call call{.method = method, .root = root, .collective = call::reduction_to(root)};
  const auto topology = transport::make_topology("flat", {}, static_cast<order::Rank>(counts.size()));
  return prediction::predict({.description = describe(call), .schedule = schedule::parse(schedule), .counts = counts},
                             *topology);
}

/// How many were compared: none where the schedule does not serve the call.
int expect_prediction(const std::string& schedule, call::Method method, order::Rank root,
                      const std::vector<Count>& counts) {
  const schedule::Algorithm& algorithm = *schedule::parse(schedule).algorithm;
  const auto asked = call::reduction_to(root);
  if (algorithm.messages == nullptr ||
      schedule::refusal(algorithm, asked, std::max(root, 0), call::properties_of(method).merging,
                        schedule::OperatorKind::commutative)) {
    return 0;
  }
  sf::Options options{.method = method == call::Method::tree ? sf::tree() : sf::plain()};
  options.schedule = schedule;
  if (root != call::all_ranks) options.root = root;
  const Counted real = counted(counts, options);
  const Prediction found = predicted(schedule, method, root, counts);
  const auto where = testing::Message() << schedule << " " << call::name_of(method) << ", root " << root
                                        << ", first count " << counts[0] << ", last " << counts.back();
  EXPECT_EQ(found.messages, real.messages) << where;
  EXPECT_EQ(found.rounds, real.rounds) << where;
  EXPECT_EQ(found.bytes, real.bytes) << where;
  return 1;
}

std::vector<std::vector<Count>> all_counts(int ranks) {
  std::vector<std::vector<Count>> all;
  for (const auto rule : {Distribution::lower, Distribution::upper, Distribution::power2, Distribution::optimized}) {
    for (const Count elements : {1, 6, 1000, 4097}) all.push_back(order::counts(rule, elements, ranks));
  }
  all.emplace_back(static_cast<std::size_t>(ranks), 0);
  for (std::size_t i = 0; i < all.back().size(); i += 2) all.back()[i] = 11 * i + 3;  // every other rank has nothing
  return all;
}

/// On many ranks each schedule, method and root has every fifth distribution: predictions of all stand beside what
/// simulated ranks count in tests/prediction/prediction_test.cpp.
TEST(Prediction, IsWhatRealRanksCount) {
  const int one_in = thorough(Ranks()) ? 1 : 5;
  int asked = 0;
  int compared = 0;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    for (const std::string& schedule : names_of(algorithm)) {
      for (const auto& counts : all_counts(size_of_world())) {
        for (const auto method : {call::Method::tree, call::Method::plain}) {
          for (const order::Rank root : {call::all_ranks, 0, size_of_world() - 1}) {
            if (asked++ % one_in == 0) compared += expect_prediction(schedule, method, root, counts);
          }
        }
      }
    }
  }
  // Two methods by four schedules, one for allreduce only; two owners, reduce by tree: 24, each with 17 distributions.
  EXPECT_GE(compared, 24 * (17 / one_in));
}

}  // namespace
}  // namespace steadfold::tests::prediction_test
