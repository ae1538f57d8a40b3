// Reductions over all ranks beside the MPI library's own MPI_Allreduce of as many doubles, in the same run.
#include <mpi.h>

#include <memory>

#include "../tools/request.hpp"
#include "ranks.hpp"
#include "schedule/registry.hpp"
#include "steadfold/mpi.hpp"

namespace steadfold::bench {
namespace {

/// One size's candidates and the memory they work on.
struct Size {
  std::vector<double> mine;
  std::vector<double> result;
  std::vector<std::unique_ptr<Plan<double>>> plans;
  Ways ways = {};
};

void add_one_shots(Size& size, const std::string& method) {
  const Options options{.method = command::method_named(method)};
  size.ways.add(method, "auto", "allreduce", [&size, options] {
    size.result = size.mine;
    allreduce(std::span(size.result), plus, MPI_COMM_WORLD, options);
  });
  if (size.mine.size() != 1) return;
  const Options placed{.method = options.method, .layout = Layout::contiguous(1, MPI_COMM_WORLD)};
  size.ways.add(method, "auto", "sum", [&size, placed] { size.result[0] = sum(size.mine, MPI_COMM_WORLD, placed); });
}

void add_plans(Size& size, const std::string& method) {
  for (const auto& row : schedule::registry()) {
    if (schedule::refusal(row, schedule::Collective::allreduce, 0, command::family_of(method),
                          schedule::Operator::commutative))
      continue;
    const Options options{.method = command::method_named(method), .schedule = std::string(row.name)};
    size.plans.push_back(
        std::make_unique<Plan<double>>(Plan<double>::of_vectors(plus, size.mine.size(), MPI_COMM_WORLD, options)));
    Plan<double>& plan = *size.plans.back();
    size.ways.add(method, options.schedule, "plan", [&size, &plan] { plan.run(size.mine, std::span(size.result)); });
  }
}

Contest measure(std::size_t count, const AllreduceOptions& options) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Size size{.mine = std::vector<double>(count, 1.0 / (rank + 3)), .result = std::vector<double>(count)};
  size.ways.add("mpi", "mpi", "MPI_Allreduce", [&size] {
    MPI_Allreduce(size.mine.data(), size.result.data(), static_cast<int>(size.mine.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
  });
  for (const std::string& method : options.methods) {
    add_one_shots(size, method);
    add_plans(size, method);
  }
  return size.ways.measure(count, options.rounds, "MPI_Allreduce(MPI_DOUBLE, MPI_SUM)");
}

}  // namespace

Measurement allreduce(const AllreduceOptions& options) {
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const std::size_t count : options.counts) measurement.contests.push_back(measure(count, options));
  return measurement;
}

}  // namespace steadfold::bench
