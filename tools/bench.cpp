// steadfold bench NAME: measures beside rivals, interleaved, and prints ratios. Over ranks it runs in the job it is
// started in, or starts ranks itself, several times over, and takes all launches together.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "../bench/bench.hpp"
#include "../bench/contest.hpp"
#include "command.hpp"
#include "launcher.hpp"
#include "worker.hpp"

namespace steadfold::command {
namespace {

struct BenchOptions {
  std::string name;
  std::vector<std::size_t> sizes;
  std::vector<std::string> types;
  std::vector<std::size_t> counts;
  std::vector<std::string> methods;
  std::vector<std::string> schedules;
  std::vector<unsigned> threads;
  int rounds = 15;

  void add_to(CLI::App& app);
  /// The options of ranks, for another run of the command.
  std::vector<std::string> arguments() const;
};

/// What only who prints needs to know.
struct Asked {
  BenchOptions options;
  std::string ranks;  // empty: those of the job
  int launches = 0;   // 0: run in the job
  std::string raw;
  bool json = false;
};

void BenchOptions::add_to(CLI::App& app) {
  app.add_option("name", name, "local, allreduce, bundle or reduce")->required();
  app.add_option("--sizes", sizes, "local: elements")->delimiter(',');
  app.add_option("--types", types, "local: f64, f32")->delimiter(',');
  app.add_option("--threads", threads, "local: threads, which may be several numbers")
      ->delimiter(',')
      ->check(CLI::Range(1, 256));
  app.add_option("--counts", counts, "allreduce: doubles a rank; bundle: sums; reduce: elements")->delimiter(',');
  app.add_option("--methods", methods, "allreduce, reduce: exact, tree, binned, plain")->delimiter(',');
  app.add_option("--schedules", schedules, "reduce: names of `steadfold schedules`")->delimiter(',');
  app.add_option("--rounds", rounds, "samples of every candidate")->check(CLI::Range(3, 10001));
}

std::vector<std::string> BenchOptions::arguments() const {
  std::vector<std::string> words = {name, fmt::format("--rounds={}", rounds)};
  if (!counts.empty()) words.push_back(fmt::format("--counts={}", fmt::join(counts, ",")));
  if (!methods.empty()) words.push_back(fmt::format("--methods={}", fmt::join(methods, ",")));
  if (!schedules.empty()) words.push_back(fmt::format("--schedules={}", fmt::join(schedules, ",")));
  return words;
}

std::string table_of(const Json& rows) {
  std::string text;
  const auto range = [](const Json& interval) {
    return fmt::format("[{:.2f}, {:.2f}]", interval[0].get<double>(), interval[1].get<double>());
  };
  for (const Json& row : rows) {
    if (row.contains("kernel"))
      text += fmt::format(
          "{:10} {:4} {:>9} elements {:>2} threads  {:8.4f} ns/element  {:6.2f} x read {:16}  {:6.2f} x accumulate\n",
          row["kernel"].get<std::string>(), row["type"].get<std::string>(), row["elements"].get<std::size_t>(),
          row["threads"].get<int>(), row["ns_per_element"].get<double>(), row["ratio_to_read"].get<double>(),
          range(row["ratio_to_read_interval"]), row["ratio_to_accumulate"].get<double>());
    else
      text += fmt::format("{:6} {:10} {:20} {:>3} ranks {:>8} doubles  {:10.3f} us  {:6.2f} x MPI {}\n",
                          row["method"].get<std::string>(), row["call"].get<std::string>(),
                          row["schedule"].get<std::string>(), row["ranks"].get<int>(), row["count"].get<std::size_t>(),
                          row["seconds"].get<double>() * 1e6, row["ratio"].get<double>(), range(row["ratio_interval"]));
  }
  return text;
}

bench::Measurement local(const BenchOptions& options) {
  bench::LocalOptions local{.rounds = options.rounds};
  if (!options.sizes.empty()) local.sizes = options.sizes;
  if (!options.types.empty()) local.types = options.types;
  if (!options.threads.empty()) local.threads = options.threads;
  for (const auto& type : local.types)
    if (type != "f64" && type != "f32")
      throw Failure("unknown type '" + type + "' (it is not measured), take f64 or f32");
  for (const auto size : local.sizes)
    if (size == 0) throw Failure("--sizes has a 0 (nothing takes no time), give numbers of elements from 1 on");
  return bench::local(local);
}

/// By the ranks of this job.
bench::Measurement over_ranks(const BenchOptions& options) {
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
  bench::ReduceOptions reduce{.rounds = options.rounds};
  if (!options.counts.empty()) reduce.counts = options.counts;
  if (!options.methods.empty()) reduce.methods = options.methods;
  if (!options.schedules.empty()) reduce.schedules = options.schedules;
  return bench::reduce(reduce);
}

/// By ranks that are started for it. Launches are far apart: all rank counts are measured once, then again.
bench::Measurement by_launches(const Asked& asked) {
  const std::vector<int> counts = rank_counts(asked.ranks.empty() ? "2" : asked.ranks);
  std::vector<bench::Measurement> by_count(counts.size());
  Progress progress;
  const int launches = std::max(asked.launches, 1);
  for (int launch = 0; launch < launches; ++launch) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      progress.show(fmt::format("launch {} of {} on {} ranks ...", launch + 1, launches, counts[i]));
      const Json answer =
          ask("bench-worker", asked.options.arguments(), counts[i], "try it with mpirun and steadfold bench");
      bench::Measurement measured = bench::measurement_in(answer.at("measurement"));
      launch == 0 ? void(by_count[i] = std::move(measured)) : bench::pool(by_count[i], measured);
    }
  }
  bench::Measurement all = std::move(by_count.front());
  for (std::size_t i = 1; i < by_count.size(); ++i)
    all.contests.insert(all.contests.end(), by_count[i].contests.begin(), by_count[i].contests.end());
  return all;
}

bool starts_ranks(const Asked& asked) {
  const bool launched = launch_of_this_process().rank_count > 1;
  return !asked.ranks.empty() || asked.launches > 1 || (asked.launches == 1 && !launched);
}

void check(const Asked& asked, const Job& job) {
  const std::string& name = asked.options.name;
  if (name != "local" && name != "allreduce" && name != "bundle" && name != "reduce")
    throw Failure("unknown benchmark '" + name + "' (no such benchmark), take local, allreduce, bundle or reduce");
  if (name == "local" && job.rank_count() > 1)
    throw Failure("bench local measures one process (it was started on several ranks), start it alone");
  if (name == "local" && starts_ranks(asked))
    throw Failure("bench local measures one process (--ranks and --launches start several), leave them out");
  if (starts_ranks(asked) && launch_of_this_process().rank_count > 1)
    throw Failure(
        "bench cannot start ranks under a launcher (it would start them for every rank), leave out --ranks "
        "and --launches, or mpirun");
}

bench::Measurement measured(const Asked& asked) {
  if (asked.options.name == "local") return local(asked.options);
  return starts_ranks(asked) ? by_launches(asked) : over_ranks(asked.options);
}

Result run(const Asked& asked, const Job& job) {
  check(asked, job);
  std::ofstream raw;
  if (!asked.raw.empty() && job.rank() == 0) raw.open(asked.raw);
  job.together([&] {
    if (!raw) throw Failure("cannot write " + asked.raw + " (it cannot be opened), check the place --raw names");
  });
  const bench::Measurement measurement = measured(asked);
  if (raw.is_open()) bench::write_raw(asked.options.name, measurement, raw);
  job.together([&] {
    if (!raw.flush()) throw Failure("cannot write " + asked.raw + " (the disk may be full), make room");
  });
  if (job.rank() != 0) return {};
  const Json rows = asked.options.name == "local" ? rows_of_local(measurement) : rows_over_ranks(measurement);
  return {asked.json ? line_of({{"environment", measurement.environment}, {"rows", rows}}) : table_of(rows)};
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  const auto asked = std::make_shared<Asked>();
  CLI::App& bench =
      *app.add_subcommand("bench", "Measure beside rivals, interleaved: local; allreduce, bundle, reduce (over ranks)");
  asked->options.add_to(bench);
  bench.add_option("--ranks", asked->ranks, "Start so many ranks, between commas; default: the job's, or 2");
  bench.add_option("--launches", asked->launches, "Start them so often: what differs between launches counts too")
      ->check(CLI::Range(1, 1000));
  bench.add_option("--raw", asked->raw, "Write every sample to a file, a JSON object a line");
  bench.add_flag("--json", asked->json, "Print one JSON object");
  bench.callback([asked, &action] { action = [asked](const Job& job) { return run(*asked, job); }; });
}

void add_bench_worker(CLI::App& app, Action& action) {
  CLI::App& worker = *app.add_subcommand("bench-worker", "The ranks of bench")->group("");
  const auto options = std::make_shared<BenchOptions>();
  options->add_to(worker);
  worker.callback([options, &action] {
    action = [options](const Job& job) {
      return answer(job, "bench-worker", [&](Json& answer) {
        const bench::Measurement measurement = over_ranks(*options);
        if (job.rank() == 0) answer["measurement"] = bench::to_json(measurement);
      });
    };
  });
}

}  // namespace steadfold::command
