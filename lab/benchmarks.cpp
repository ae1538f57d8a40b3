// The benchmarks of the laboratory.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/bench/lab_bench.hpp"
#include "laboratory.hpp"
#include "program/methods.hpp"
#include "solver_loop.hpp"
#include "tools/laboratory.hpp"

namespace steadfold::command::laboratory {
namespace {

/// What was asked for in place of the defaults of benchmarks of threads. Throws Failure if it cannot be measured.
bench::SharedOptions asked_in_place_of(bench::SharedOptions defaults, const BenchOptions& options) {
  if (!options.counts.empty()) defaults.counts = options.counts;
  if (!options.methods.empty()) defaults.methods = options.methods;
  if (!options.schedules.empty()) defaults.schedules = options.schedules;
  if (!options.threads.empty()) defaults.threads = options.threads;
  defaults.rounds = options.rounds;
  for (const std::string& method : defaults.methods) method_named(method);
  return defaults;
}

const Benchmark& named(std::string_view name) { return *std::ranges::find(benchmarks(), name, &Benchmark::name); }

/// Threads of this process; then ranks that are started, by themselves and with as many threads each.
bench::Measurement shared(const AskedBench& asked, LongWork& work) {
  const bench::SharedOptions threads = asked_in_place_of(bench::SharedOptions{}, asked.options);
  const bench::Measurement of_threads = bench::shared(threads, tell(work, ranks_table, asked.options.confidence));
  AskedBench ranks = asked;
  ranks.options.name = "allreduce";
  ranks.options.counts = threads.counts;
  ranks.options.methods = threads.methods;
  ranks.options.schedules = threads.schedules;
  const bench::Measurement with_ranks = by_launches(ranks, named("allreduce"), work, of_threads);
  ranks.options.name = "teams";
  return by_launches(ranks, named("teams"), work, with_ranks);
}

bench::Measurement teams(const BenchOptions& options, const Job& /*job*/) {
  return bench::teams(asked_in_place_of({.threads = {1, 2}}, options));
}

bench::Measurement splitphase(const BenchOptions& options, const Job& job) {
  bench::SplitphaseOptions split{.poll_seconds = options.poll_microseconds * 1e-6};
  split.allreduce = command::asked_in_place_of(split.allreduce, options);
  return bench::splitphase(split, job);
}

SolverLoopOptions solver_loop_options(const BenchOptions& options) {
  SolverLoopOptions asked{.rounds = options.rounds};
  if (!options.counts.empty()) asked.counts = options.counts;
  command::check(asked);
  return asked;
}

bench::Measurement launched_solver_loop(const BenchOptions& options, int rank_count) {
  return solver_loop(solver_loop_options(options), rank_count);
}

void check_solver_loop(const AskedBench& asked) {
  solver_loop_options(asked.options);
  if (!asked.starts_ranks())
    throw Failure("bench solver-loop starts its own ranks (but a launcher started it), start it without mpirun");
}

void add_predicted(const bench::Measurement& measurement, Json& object) {
  object["predicted"] = predicted_solves(measurement);
}

std::string predicted_table(const bench::Measurement& measurement) {
  return table_of_predicted_solves(predicted_solves(measurement));
}

const Benchmark of_the_laboratory[] = {
    {.name = "shared", .alone = shared, .takes_minutes = true, .rows = bench::rows_by_rival},
    {.name = "teams", .over_ranks = teams},
    {.name = "splitphase", .over_ranks = splitphase},
    {.name = "solver-loop",
     .launched = launched_solver_loop,
     .check = check_solver_loop,
     .usual_rank_counts = "1,2,4",
     .add_to_json = add_predicted,
     .note = predicted_table},
};
static_assert(std::ranges::size(of_the_laboratory) == std::ranges::size(laboratory_benchmarks));

}  // namespace

std::span<const Benchmark> benchmarks() {
  static const std::vector<Benchmark> all = [] {
    const auto known = command::benchmarks();
    std::vector<Benchmark> rows(known.begin(), known.end());
    rows.insert(rows.end(), std::begin(of_the_laboratory), std::end(of_the_laboratory));
    return rows;
  }();
  return all;
}

}  // namespace steadfold::command::laboratory
