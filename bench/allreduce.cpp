// Reductions over all ranks beside the MPI library's own MPI_Allreduce of as many doubles, in the same run.
#include <mpi.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "ranks.hpp"
#include "schedule/registry.hpp"
#include "steadfold/mpi.hpp"

namespace steadfold::bench {
namespace {

Method method_named(const std::string& name) {
  if (name == "exact") return exact();
  if (name == "tree") return tree();
  if (name == "plain") return plain();
  throw std::runtime_error("unknown method '" + name + "' (no such method is built), take exact, tree or plain");
}

/// One size's candidates and the memory they work on.
struct Size {
  std::vector<double> mine;
  std::vector<double> result;
  std::vector<std::unique_ptr<Plan<double>>> plans;
  std::vector<Candidate> candidates;
  Json rows = Json::array();

  void add(const std::string& method, const std::string& schedule, const std::string& call, std::function<void()> run) {
    candidates.push_back({method + " " + schedule, std::move(run)});
    rows.push_back({{"method", method}, {"schedule", schedule}, {"call", call}, {"operator", "sum"}});
  }
};

void add_one_shots(Size& size, const std::string& method) {
  const Options options{.method = method_named(method)};
  size.add(method, "auto", "allreduce", [&size, options] {
    size.result = size.mine;
    allreduce(std::span(size.result), plus, MPI_COMM_WORLD, options);
  });
  if (size.mine.size() != 1) return;
  const Options placed{.method = options.method, .layout = Layout::contiguous(1, MPI_COMM_WORLD)};
  size.add(method, "auto", "sum", [&size, placed] { size.result[0] = sum(size.mine, MPI_COMM_WORLD, placed); });
}

void add_plans(Size& size, const std::string& method) {
  for (const auto& row : schedule::registry()) {
    if (schedule::refusal(row, schedule::Collective::allreduce, 0, method, schedule::Operator::commutative)) continue;
    const Options options{.method = method_named(method), .schedule = std::string(row.name)};
    size.plans.push_back(
        std::make_unique<Plan<double>>(Plan<double>::of_vectors(plus, size.mine.size(), MPI_COMM_WORLD, options)));
    Plan<double>& plan = *size.plans.back();
    size.add(method, options.schedule, "plan", [&size, &plan] { plan.run(size.mine, std::span(size.result)); });
  }
}

void measure(std::size_t count, const AllreduceOptions& options, Json& rows) {
  int rank = 0;
  int rank_count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  Size size{.mine = std::vector<double>(count, 1.0 / (rank + 3)), .result = std::vector<double>(count)};
  size.add("mpi", "mpi", "MPI_Allreduce", [&size] {
    MPI_Allreduce(size.mine.data(), size.result.data(), static_cast<int>(size.mine.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
  });
  for (const std::string& method : options.methods) {
    add_one_shots(size, method);
    add_plans(size, method);
  }
  const auto timings = interleave(size.candidates, options.rounds, all_ranks_together());
  for (std::size_t i = 1; i < timings.size(); ++i) {
    Json row = size.rows[i];
    row.update({{"count", count},
                {"ranks", rank_count},
                {"threads", 1},
                {"seconds", timings[i].median},
                {"rival", std::string(sf_mpi_library()) + ": MPI_Allreduce(MPI_DOUBLE, MPI_SUM)"},
                {"rival_seconds", timings[0].median},
                {"ratio", timings[i].median / timings[0].median},
                {"passthrough", false}});
    rows.push_back(row);
  }
}

}  // namespace

Json allreduce(const AllreduceOptions& options) {
  Json rows = Json::array();
  for (const std::size_t count : options.counts) measure(count, options, rows);
  return {{"environment", environment()}, {"rows", rows}};
}

}  // namespace steadfold::bench
