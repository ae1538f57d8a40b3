// Measures several sums of one double per rank: in a bundle, one by one, and with the MPI library, in the same run.
#include "steadfold/bundle.hpp"

#include "ranks.hpp"

namespace steadfold::bench {
namespace {

/// A number of fields with one double per rank, and the calls and plans that reduce them.
struct Fields {
  explicit Fields(std::size_t count) : mine(count, {1.0 / 3}), packed(count, 1.0 / 3), result(count) {
    for (const auto& field : mine) {
      exactly.sum(field, {.method = exact()});
      by_tree.sum(field, {.method = tree()});
    }
    exact_plan.emplace(exactly.bind(MPI_COMM_WORLD));
    tree_plan.emplace(by_tree.bind(MPI_COMM_WORLD));
  }

  std::vector<std::vector<double>> mine;
  std::vector<double> packed;
  std::vector<double> result;
  Bundle exactly;
  Bundle by_tree;
  std::optional<BundlePlan> exact_plan;
  std::optional<BundlePlan> tree_plan;

  Ways ways() {
    Ways ways;
    ways.add_rival("an MPI_Allreduce(MPI_DOUBLE, MPI_SUM) each", candidate_of([this] {
                     for (std::size_t i = 0; i < packed.size(); ++i)
                       MPI_Allreduce(&packed[i], &result[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                   }));
    ways.add({"exact", "auto", "bundle"}, candidate_of([this] { exact_plan->run(); }));
    ways.add({"tree", "auto", "bundle"}, candidate_of([this] { tree_plan->run(); }));
    ways.add({"exact", "auto", "sums"}, candidate_of([this] {
               for (std::size_t i = 0; i < packed.size(); ++i) result[i] = sum(mine[i], MPI_COMM_WORLD);
             }));
    ways.add({"plain", "auto", "packed", true}, candidate_of([this] {
               MPI_Allreduce(packed.data(), result.data(), static_cast<int>(packed.size()), MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD);
             }));
    return ways;
  }
};

Contest measure(std::size_t count, const BundleOptions& options) {
  Fields fields(count);
  return fields.ways().measure({{"operator", "sum"}, {"count", count}}, options.rounds);
}

}  // namespace

Measurement bundle(const BundleOptions& options) {
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const std::size_t count : options.counts) measurement.contests.push_back(measure(count, options));
  return measurement;
}

}  // namespace steadfold::bench
