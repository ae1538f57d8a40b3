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

  std::vector<Candidate> candidates() {
    return {{"MPI_Allreduce each",
             [this] {
               for (std::size_t i = 0; i < packed.size(); ++i)
                 MPI_Allreduce(&packed[i], &result[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
             }},
            {"exact bundle", [this] { exact_plan->run(); }},
            {"tree bundle", [this] { tree_plan->run(); }},
            {"exact sums",
             [this] {
               for (std::size_t i = 0; i < packed.size(); ++i) result[i] = sum(mine[i], MPI_COMM_WORLD);
             }},
            {"plain packed", [this] {
               MPI_Allreduce(packed.data(), result.data(), static_cast<int>(packed.size()), MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD);
             }}};
  }
};

void measure(std::size_t count, const FieldOptions& options, Json& rows) {
  int rank_count = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  Fields fields(count);
  const auto candidates = fields.candidates();
  const auto timings = interleave(candidates, options.rounds, all_ranks_together());
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const auto space = candidates[i].name.find(' ');
    rows.push_back({{"method", candidates[i].name.substr(0, space)},
                    {"call", candidates[i].name.substr(space + 1)},
                    {"schedule", "auto"},
                    {"operator", "sum"},
                    {"count", count},
                    {"ranks", rank_count},
                    {"threads", 1},
                    {"seconds", timings[i].median},
                    {"rival", std::string(sf_mpi_library()) + ": an MPI_Allreduce(MPI_DOUBLE, MPI_SUM) each"},
                    {"rival_seconds", timings[0].median},
                    {"ratio", timings[i].median / timings[0].median},
                    {"passthrough", i + 1 == candidates.size()}});
  }
}

}  // namespace

Json bundle(const FieldOptions& options) {
  Json rows = Json::array();
  for (const std::size_t count : options.counts) measure(count, options, rows);
  return {{"environment", environment()}, {"rows", rows}};
}

}  // namespace steadfold::bench
