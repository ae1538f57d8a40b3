// steadfold bench NAME: measures beside rivals, interleaved, and prints ratios.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "../bench/bench.hpp"
#include "command.hpp"

namespace steadfold::command {
namespace {

struct BenchOptions {
  std::string name;
  std::vector<std::size_t> sizes;
  std::vector<std::string> types;
  std::vector<std::size_t> counts;
  std::vector<std::string> methods;
  std::vector<std::string> schedules;
  int threads = 1;
  int rounds = 15;
  bool json = false;
};

std::string table_of(const Json& rows) {
  std::string text;
  for (const Json& row : rows) {
    if (row.contains("kernel"))
      text += fmt::format("{:12} {:4} {:>9} elements  {:8.3f} ns/element  {:6.2f} x read  {:6.2f} x accumulate\n",
                          row["kernel"].get<std::string>(), row["type"].get<std::string>(),
                          row["elements"].get<std::size_t>(), row["ns_per_element"].get<double>(),
                          row["ratio_to_read"].get<double>(), row["ratio_to_accumulate"].get<double>());
    else
      text +=
          fmt::format("{:6} {:10} {:20} {:>8} doubles  {:10.3f} us  {:6.2f} x MPI\n", row["method"].get<std::string>(),
                      row["call"].get<std::string>(), row["schedule"].get<std::string>(),
                      row["count"].get<std::size_t>(), row["seconds"].get<double>() * 1e6, row["ratio"].get<double>());
  }
  return text;
}

Json measured(const BenchOptions& options, const Job& job) {
  if (options.name == "local") {
    if (job.rank_count() > 1)
      throw Failure("bench local measures one process (it was started on several ranks), start it alone");
    if (options.threads != 1)
      throw Failure("bench local has one thread (threads are not built yet), leave --threads at 1");
    bench::LocalOptions local{.rounds = options.rounds};
    if (!options.sizes.empty()) local.sizes = options.sizes;
    if (!options.types.empty()) local.types = options.types;
    for (const auto& type : local.types)
      if (type != "f64" && type != "f32")
        throw Failure("unknown type '" + type + "' (it is not measured), take f64 or f32");
    return bench::local(local);
  }
  if (options.name == "allreduce") {
    bench::AllreduceOptions allreduce{.rounds = options.rounds};
    if (!options.counts.empty()) allreduce.counts = options.counts;
    if (!options.methods.empty()) allreduce.methods = options.methods;
    return bench::allreduce(allreduce);
  }
  if (options.name == "bundle") {
    bench::FieldOptions fields{.rounds = options.rounds};
    if (!options.counts.empty()) fields.counts = options.counts;
    return bench::bundle(fields);
  }
  if (options.name == "reduce") {
    bench::ReduceOptions reduce{.rounds = options.rounds};
    if (!options.counts.empty()) reduce.counts = options.counts;
    if (!options.methods.empty()) reduce.methods = options.methods;
    if (!options.schedules.empty()) reduce.schedules = options.schedules;
    return bench::reduce(reduce);
  }
  throw Failure("unknown benchmark '" + options.name +
                "' (no such benchmark), take local, allreduce, bundle or reduce");
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* bench = app.add_subcommand(
      "bench", "Measures beside rivals, interleaved: local; allreduce, bundle, reduce (under mpirun)");
  bench->add_option("name", options->name, "local, allreduce, bundle or reduce")->required();
  bench->add_option("--sizes", options->sizes, "local: elements")->delimiter(',');
  bench->add_option("--types", options->types, "local: f64, f32")->delimiter(',');
  bench->add_option("--threads", options->threads, "local: threads");
  bench->add_option("--counts", options->counts, "allreduce: doubles a rank; bundle: sums; reduce: elements")
      ->delimiter(',');
  bench->add_option("--methods", options->methods, "allreduce, reduce: exact, tree, plain")->delimiter(',');
  bench->add_option("--schedules", options->schedules, "reduce: names of `steadfold schedules`")->delimiter(',');
  bench->add_option("--rounds", options->rounds, "samples of every candidate")->check(CLI::Range(3, 10001));
  bench->add_flag("--json", options->json, "one JSON object");
  bench->callback([&action, options] {
    action = [options](const Job& job) {
      const Json result = measured(*options, job);
      return Result{options->json ? line_of(result) : table_of(result["rows"])};
    };
  });
}

}  // namespace steadfold::command
