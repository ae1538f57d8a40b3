// Sums of distributed elements at rank 0: a local loop and MPI_Reduce, beside plans over the same elements.
// Source: [S0] chapter 4, which compares with a loop and MPI_Allreduce.
#include <mpi.h>

#include <memory>
#include <numeric>

#include "program/job.hpp"
#include "program/methods.hpp"
#include "program/site_likelihoods.hpp"
#include "ranks.hpp"
#include "schedule/registry.hpp"
#include "steadfold/mpi.hpp"

namespace steadfold::bench {
namespace {

/// This rank's part of elements of which each rank holds so many.
std::vector<double> own_share(const std::vector<std::uint64_t>& counts, int rank) {
  const auto own = counts.begin() + rank;
  const std::uint64_t start = std::accumulate(counts.begin(), own, std::uint64_t{0});
  std::vector<double> mine(*own);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = command::studies::site_likelihood(start + i);
  return mine;
}

/// The candidates of one size and the memory they work on.
struct Size {
  std::vector<double> mine;
  double result = 0;
  std::vector<std::unique_ptr<Plan<double>>> plans;
  Ways ways = {};
  double loop() const { return std::accumulate(mine.begin(), mine.end(), 0.0); }
};

void add_library(Size& size) {
  size.ways.add_rival("std::accumulate, MPI_Reduce(MPI_DOUBLE, MPI_SUM)", candidate_of([&size] {
                        const double sum = size.loop();
                        MPI_Reduce(&sum, &size.result, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
                      }));
  size.ways.add({"mpi", "mpi", "MPI_Allreduce", true}, candidate_of([&size] {
                  const double sum = size.loop();
                  MPI_Allreduce(&sum, &size.result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                }));
}

void add_plans(Size& size, const ReduceOptions& options) {
  for (const std::string& schedule : options.schedules) {
    for (const std::string& method : options.methods) {
      const auto* const row = schedule::parse(schedule).row;
      const Method named = command::method_named(method);
      if (schedule::refusal(*row, schedule::Collective::reduce, 0, command::merging_named(method),
                            schedule::OperatorKind::commutative))
        continue;
      const Options of_plan{.method = named,
                            .layout = Layout::contiguous(size.mine.size(), MPI_COMM_WORLD),
                            .root = 0,
                            .schedule = schedule};
      size.plans.push_back(std::make_unique<Plan<double>>(plus, size.mine.size(), MPI_COMM_WORLD, of_plan));
      Plan<double>& plan = *size.plans.back();
      size.ways.add({method, schedule, "plan"}, candidate_of([&size, &plan] { size.result = plan.run(size.mine); }));
    }
  }
}

Contest measure(std::size_t count, const ReduceOptions& options, const command::Job& job) {
  std::vector<std::uint64_t> counts;
  job.together([&] { counts = options.spread(count, job.rank_count()); });
  Size size{.mine = own_share(counts, job.rank())};
  add_library(size);
  add_plans(size, options);
  return size.ways.measure({{"operator", "sum"}, {"count", count}, {"distribution", options.distribution}},
                           options.rounds);
}

}  // namespace

Measurement reduce(const ReduceOptions& options, const command::Job& job) {
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const std::size_t count : options.counts) measurement.contests.push_back(measure(count, options, job));
  return measurement;
}

}  // namespace steadfold::bench
