#include "benchmarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "interposer.hpp"
#include "kernels/target.hpp"
#include "program/methods.hpp"
#include "spread.hpp"

namespace steadfold::command {
namespace {

bench::Measurement local(const BenchOptions& options, bench::LocalOptions local, LongWork& work) {
  local.rounds = options.rounds;
  if (!options.sizes.empty()) local.sizes = options.sizes;
  if (!options.types.empty()) local.types = options.types;
  if (!options.threads.empty()) local.threads = options.threads;
  for (const auto& type : local.types)
    if (type != "f64" && type != "f32")
      throw Failure("unknown type '" + type + "' (the benchmark does not measure it), use f64 or f32");
  return bench::local(local, tell(work, local_table, options.confidence));
}

bench::Measurement local(const AskedBench& asked, LongWork& work) { return local(asked.options, {}, work); }

bench::Measurement prefetch(const AskedBench& asked, LongWork& work) {
  return local(asked.options, {.sizes = {10000, 100000, 1000000, 10000000}, .by_prefetch = true}, work);
}

std::string prefetch_taken(const bench::Measurement& /*measurement*/) {
  return fmt::format(
      "prefetching is set to {} here; set STEADFOLD_PREFETCH to off, near or far to change the setting\n",
      kernels::name_of(kernels::prefetch));
}

bench::Measurement arrays(const AskedBench& asked, LongWork& work) {
  bench::ArraysOptions arrays{.rounds = asked.options.rounds};
  if (!asked.options.sizes.empty()) arrays.points = asked.options.sizes;
  return bench::arrays(arrays, tell(work, local_table, asked.options.confidence));
}

bench::Measurement labels(const AskedBench& asked, LongWork& work) {
  bench::LabelsOptions labels{.rounds = asked.options.rounds};
  if (!asked.options.sizes.empty()) labels.sizes = asked.options.sizes;
  if (!asked.options.counts.empty()) labels.groups = asked.options.counts;
  return bench::labels(labels, tell(work, local_table, asked.options.confidence));
}

bench::Measurement allreduce(const BenchOptions& options, const Job& job) {
  bench::AllreduceOptions allreduce = asked_in_place_of(bench::AllreduceOptions{}, options);
  allreduce.rows = options.rows;
  return bench::allreduce(allreduce, job);
}

bench::Measurement choices(const BenchOptions& options, const Job& job) {
  bench::AllreduceOptions choice = asked_in_place_of({.counts = {1, 255, 1000, 10000, 100000, 1000000},
                                                      .methods = methods_promising_the_same_bits(),
                                                      .is_choice = true},
                                                     options);
  const auto named = std::ranges::find(choice.schedules, "auto");
  if (!choice.schedules.empty() && named == choice.schedules.end()) choice.schedules.emplace_back("auto");
  return bench::allreduce(choice, job);
}

bench::Measurement bundle(const BenchOptions& options, const Job& /*job*/) {
  bench::BundleOptions bundle{.rounds = options.rounds};
  if (!options.counts.empty()) bundle.counts = options.counts;
  return bench::bundle(bundle);
}

bench::Measurement fields(const BenchOptions& options, const Job& job) {
  bench::FieldsOptions fields{.rounds = options.rounds};
  if (!options.counts.empty()) fields.points = options.counts;
  if (!options.methods.empty()) fields.methods = options.methods;
  return bench::fields(fields, job);
}

bench::Measurement reduce(const BenchOptions& options, const Job& job) {
  bench::ReduceOptions reduce{
      .distribution = options.distribution, .reproblas = options.reproblas, .rounds = options.rounds};
  reduce.spread = [&](std::uint64_t count, int ranks) { return spread(options.distribution, count, ranks); };
  if (!options.counts.empty()) reduce.counts = options.counts;
  if (!options.methods.empty()) reduce.methods = options.methods;
  if (!options.schedules.empty()) reduce.schedules = options.schedules;
  return bench::reduce(reduce, job);
}

/// Returns the method of `bench interpose`, which measures only one method.
std::string interposed_method(const BenchOptions& options) {
  if (options.methods.empty()) return "tree";
  if (options.methods.size() > 1 || !promises_the_same_bits(options.methods.front())) {
    const std::vector<std::string> names = methods_promising_the_same_bits();
    throw Failure(fmt::format(
        "bench interpose measures one method (an environment variable of the job sets the method), give --methods {} "
        "or --methods {}",
        fmt::join(names.begin(), names.end() - 1, ", --methods "), names.back()));
  }
  method_named(options.methods.front());
  return options.methods.front();
}

bench::Measurement interpose(const BenchOptions& options, const Job& /*job*/) {
  bench::InterposeOptions interpose{.method = interposed_method(options), .rounds = options.rounds};
  if (!options.counts.empty()) interpose.counts = options.counts;
  return bench::interpose(interpose);
}

void check_interpose(const AskedBench& asked) {
  interposed_method(asked.options);
  if (!asked.starts_ranks() && !is_interposed())
    throw Failure(
        "bench interpose needs the interposer in its job (this job was started without it), start bench interpose "
        "without mpirun");
}

const Benchmark all_benchmarks[] = {
    {.name = "local",
     .about = "sums and dot products in one process, compared with plain loops",
     .alone = local,
     .is_of_one_process = true,
     .rows = bench::rows_of_local,
     .table = local_table},
    {.name = "prefetch",
     .about = "the sums of bench local, measured with each setting of STEADFOLD_PREFETCH",
     .alone = prefetch,
     .is_of_one_process = true,
     .rows = bench::rows_of_local,
     .table = local_table,
     .note = prefetch_taken},
    {.name = "arrays",
     .about = "fields, rows, groups and statistics in one process, compared with plain loops",
     .alone = arrays,
     .is_of_one_process = true,
     .rows = bench::rows_of_local,
     .table = local_table},
    {.name = "labels",
     .about = "sums by label in one process, compared with a program's own loop",
     .alone = labels,
     .is_of_one_process = true,
     .rows = bench::rows_of_local,
     .table = local_table},
    {.name = "allreduce",
     .about = "allreduces of vectors over ranks, compared with MPI_Allreduce",
     .over_ranks = allreduce},
    {.name = "auto",
     .about = "the schedule that auto chooses, compared with all other schedules",
     .over_ranks = choices,
     .varies_transport = true,
     .usual_rank_counts = "2,4,8",
     .rows = bench::rows_of_choices,
     .table = choices_table},
    {.name = "bundle",
     .about = "several sums in one message, compared with one MPI_Allreduce per sum",
     .over_ranks = bundle},
    {.name = "fields",
     .about = "sums of thirty fields over ranks, compared with loops and with vectors of integers",
     .over_ranks = fields},
    {.name = "reduce",
     .about = "sums of distributed elements at rank 0, compared with a loop and MPI_Reduce",
     .over_ranks = reduce},
    {.name = "interpose",
     .about = "calls through the interposer, compared with calls of the MPI library",
     .over_ranks = interpose,
     .check = check_interpose,
     .prepare = [](const BenchOptions& options) { preload_interposer(interposed_method(options)); }},
};

}  // namespace

std::span<const Benchmark> benchmarks() { return all_benchmarks; }

}  // namespace steadfold::command
