// Sums of distributed elements at rank 0: a loop over a rank's own and MPI_Reduce, beside plans over the same elements.
// Source: [S0] chapter 4, which compares with a loop and MPI_Allreduce.
#include <mpi.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "../tools/request.hpp"
#include "../tools/studies/site_likelihoods.hpp"
#include "order/distribution.hpp"
#include "ranks.hpp"
#include "schedule/registry.hpp"
#include "steadfold/mpi.hpp"

namespace steadfold::bench {
namespace {

/// This rank's part of so many elements.
std::vector<double> own_share(std::size_t count, int rank, int rank_count) {
  const auto shares = order::closed_form(order::Distribution::upper, count, rank_count).value();
  std::vector<double> mine(shares.count(rank));
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = command::studies::site_likelihood(shares.start(rank) + i);
  return mine;
}

/// One size's candidates and the memory they work on.
struct Size {
  std::vector<double> mine;
  double result = 0;
  std::vector<std::unique_ptr<Plan<double>>> plans;
  std::vector<Candidate> candidates;
  Json rows = Json::array();

  void add(const std::string& method, const std::string& schedule, const std::string& call, std::function<void()> run) {
    candidates.push_back({method + " " + schedule, std::move(run)});
    rows.push_back({{"method", method}, {"schedule", schedule}, {"call", call}, {"operator", "sum"}});
  }
  double loop() const { return std::accumulate(mine.begin(), mine.end(), 0.0); }
};

void add_library(Size& size) {
  size.add("mpi", "mpi", "MPI_Reduce", [&size] {
    const double sum = size.loop();
    MPI_Reduce(&sum, &size.result, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  });
  size.add("mpi", "mpi", "MPI_Allreduce", [&size] {
    const double sum = size.loop();
    MPI_Allreduce(&sum, &size.result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  });
}

void add_plans(Size& size, const ReduceOptions& options) {
  for (const std::string& schedule : options.schedules) {
    for (const std::string& method : options.methods) {
      const auto* const row = schedule::parse(schedule).row;
      if (schedule::refusal(*row, schedule::Collective::reduce, 0, method, schedule::Operator::commutative)) continue;
      const Options of_plan{.method = command::method_named(method),
                            .layout = Layout::contiguous(size.mine.size(), MPI_COMM_WORLD),
                            .root = 0,
                            .schedule = schedule};
      size.plans.push_back(std::make_unique<Plan<double>>(plus, size.mine.size(), MPI_COMM_WORLD, of_plan));
      Plan<double>& plan = *size.plans.back();
      size.add(method, schedule, "plan", [&size, &plan] { size.result = plan.run(size.mine); });
    }
  }
}

void measure(std::size_t count, const ReduceOptions& options, Json& rows) {
  int rank = 0;
  int rank_count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  Size size{.mine = own_share(count, rank, rank_count)};
  add_library(size);
  add_plans(size, options);
  const auto timings = interleave(size.candidates, options.rounds, all_ranks_together());
  for (std::size_t i = 1; i < timings.size(); ++i) {
    Json row = size.rows[i];
    row.update({{"count", count},
                {"ranks", rank_count},
                {"threads", 1},
                {"seconds", timings[i].median},
                {"rival", std::string(sf_mpi_library()) + ": std::accumulate, MPI_Reduce(MPI_DOUBLE, MPI_SUM)"},
                {"rival_seconds", timings[0].median},
                {"ratio", timings[i].median / timings[0].median},
                {"passthrough", row["method"] == "mpi"}});
    rows.push_back(row);
  }
}

}  // namespace

Json reduce(const ReduceOptions& options) {
  Json rows = Json::array();
  for (const std::size_t count : options.counts) measure(count, options, rows);
  return {{"environment", environment()}, {"rows", rows}};
}

}  // namespace steadfold::bench
