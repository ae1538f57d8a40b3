// Several sums of one double a rank: in a bundle, one by one, and by the MPI library, in the same run.
#include "steadfold/bundle.hpp"

#include <nlohmann/json.hpp>

#include "ranks.hpp"

namespace steadfold::bench {
namespace {

/// So many fields, and everything that reduces them.
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

  Contest contest() {
    Contest contest;
    contest.add("mpi", "mpi", "MPI_Allreduce each", [this] {
      for (std::size_t i = 0; i < packed.size(); ++i)
        MPI_Allreduce(&packed[i], &result[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    });
    contest.add("exact", "auto", "bundle", [this] { exact_plan->run(); });
    contest.add("tree", "auto", "bundle", [this] { tree_plan->run(); });
    contest.add("exact", "auto", "sums", [this] {
      for (std::size_t i = 0; i < packed.size(); ++i) result[i] = sum(mine[i], MPI_COMM_WORLD);
    });
    contest.add(
        "plain", "auto", "packed",
        [this] {
          MPI_Allreduce(packed.data(), result.data(), static_cast<int>(packed.size()), MPI_DOUBLE, MPI_SUM,
                        MPI_COMM_WORLD);
        },
        true);
    return contest;
  }
};

void measure(std::size_t count, const FieldOptions& options, Json& rows) {
  Fields fields(count);
  fields.contest().measure(count, options.rounds, "an MPI_Allreduce(MPI_DOUBLE, MPI_SUM) each", rows);
}

}  // namespace

Json bundle(const FieldOptions& options) {
  Json rows = Json::array();
  for (const std::size_t count : options.counts) measure(count, options, rows);
  return {{"environment", environment()}, {"rows", rows}};
}

}  // namespace steadfold::bench
