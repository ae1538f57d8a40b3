// steadfold bench NAME: measures candidates and rivals in turn, and prints ratios. Benchmarks over ranks run in the job
// of the launcher, or start ranks themselves, several times, and pool all launches.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "bench/contest.hpp"
#include "benchmarks.hpp"
#include "command.hpp"
#include "laboratory.hpp"
#include "long_work.hpp"
#include "output.hpp"
#include "program/methods.hpp"
#include "request.hpp"
#include "schedule/registry.hpp"
#include "values.hpp"
#include "worker.hpp"

namespace steadfold::command {
namespace {

/// Returns the names of all benchmarks, with their texts. The laboratory's benchmarks come last.
std::vector<BenchmarkText> all_texts() {
  std::vector<BenchmarkText> texts;
  for (const Benchmark& each : benchmarks()) texts.push_back({each.name, each.about});
  texts.insert(texts.end(), std::begin(laboratory_benchmarks), std::end(laboratory_benchmarks));
  return texts;
}

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const BenchmarkText& each : all_texts()) names.push_back(each.name);
  return names;
}

/// Lists the names in a sentence: "local, prefetch, ... or solver-loop".
std::string named_in_help() {
  const std::vector<std::string_view> names = all_names();
  return fmt::format("{} or {}", fmt::join(std::span(names).first(names.size() - 1), ", "), names.back());
}

const std::vector<OptionUse> uses_of_benchmarks = {
    {"--sizes", {"local", "prefetch", "arrays", "labels"}},
    {"--types", {"local", "prefetch", "allreduce", "auto", "splitphase"}},
    {"--threads", {"local", "prefetch", "shared", "teams"}},
    {"--counts",
     {"labels", "allreduce", "auto", "splitphase", "shared", "teams", "interpose", "bundle", "reduce", "fields",
      "solver-loop"}},
    {"--operators", {"allreduce", "auto", "splitphase"}},
    {"--methods", {"allreduce", "auto", "splitphase", "shared", "teams", "reduce", "fields", "interpose"}},
    {"--schedules", {"allreduce", "auto", "splitphase", "shared", "teams", "reduce"}},
    {"--distribution", {"reduce"}},
    {"--reproblas", {"reduce"}},
    {"--interface", {"allreduce", "auto"}},
    {"--poll", {"splitphase"}},
    {"--rows", {"allreduce"}},
};

/// Writes a line for each benchmark: its name, the comparison, and the options that only some benchmarks take.
std::string table_of_benchmarks() {
  std::string table = "Benchmarks:\n";
  for (const auto& [name, about] : all_texts()) {
    std::vector<std::string_view> options;
    for (const OptionUse& use : uses_of_benchmarks)
      if (std::ranges::count(use.users, name) > 0) options.push_back(use.option);
    fmt::format_to(std::back_inserter(table), "  {:<26}{}; {}\n", name, about, fmt::join(options, ", "));
  }
  return table +
         "  all benchmarks            --rounds, --confidence, --raw, --json\n  benchmarks over ranks     --ranks, "
         "--launches, --libraries, --yes\n\n";
}

}  // namespace

void BenchOptions::add_to(CLI::App& app) {
  app.add_option("name", name, named_in_help())->required();
  app.add_option("--sizes", sizes, "local, prefetch, labels: elements; arrays: points of a field")
      ->delimiter(',')
      ->check(from_to(1, most_elements_in_memory));
  app.add_option("--types", types,
                 "local, prefetch, allreduce, splitphase: f64, f32; allreduce and splitphase also i32")
      ->delimiter(',');
  app.add_option("--threads", threads, "local, prefetch, shared, teams: numbers of threads of each process")
      ->delimiter(',')
      ->check(CLI::Range(1, 256));
  app.add_option("--counts", counts,
                 "allreduce, auto, splitphase, shared, teams, interpose: numbers of elements per rank or thread; "
                 "bundle: numbers of sums; reduce: numbers of elements; fields: numbers of points; labels: numbers of "
                 "groups; solver-loop: numbers of cells along one side of a square of sea ice")
      ->delimiter(',')
      ->check(from_to(1, most_elements_in_memory));
  app.add_option("--operators", operators, "allreduce, splitphase: sum, min, max, user_sum, user_max")->delimiter(',');
  app.add_option("--methods", methods,
                 fmt::format("allreduce, auto, splitphase, shared, teams, reduce: {}; fields: {}; interpose: one of {}",
                             fmt::join(built_methods(), ", "), fmt::join(methods_rounding_once(), ", "),
                             fmt::join(methods_promising_the_same_bits(), ", ")))
      ->delimiter(',');
  app.add_option("--schedules", schedules,
                 "allreduce, splitphase, shared, teams, reduce: names that `steadfold schedules` lists, with "
                 "parameters; except for reduce also auto and mpich")
      ->delimiter(',');
  app.add_option(
         "--distribution", distribution,
         "reduce: how many elements each rank has: lower, upper, power2, optimized[:deviation=x], balanced, or a file")
      ->capture_default_str();
  app.add_option("--reproblas", reproblas, std::string("reduce: ") + reproblas_help);
  app.add_option("--interface", interface, "allreduce: the network interface whose sent bytes are counted");
  app.add_option("--poll", poll_microseconds,
                 "splitphase: the longest time of computation between two tests of the started call, in microseconds")
      ->check(CLI::Range(0.1, 1e6));
  app.add_option("--rows", rows,
                 "allreduce: the number of rows of every rank; for the MPI library a loop adds the rows first")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--rounds", rounds, "The number of samples of every measured candidate")->check(CLI::Range(3, 10001));
  app.add_option("--confidence", confidence, "The confidence level of the intervals")
      ->check(CLI::Range(0.5, 0.999))
      ->capture_default_str();
}

std::vector<std::string> BenchOptions::arguments() const {
  std::vector<std::string> words = {name, fmt::format("--rounds={}", rounds)};
  const BenchOptions usual;
  if (rows != usual.rows) words.push_back(fmt::format("--rows={}", rows));
  if (distribution != usual.distribution) words.push_back("--distribution=" + distribution);
  if (!reproblas.empty()) words.push_back("--reproblas=" + reproblas);
  if (poll_microseconds != usual.poll_microseconds) words.push_back(fmt::format("--poll={}", poll_microseconds));
  if (!counts.empty()) words.push_back(fmt::format("--counts={}", fmt::join(counts, ",")));
  if (!types.empty()) words.push_back(fmt::format("--types={}", fmt::join(types, ",")));
  if (!operators.empty()) words.push_back(fmt::format("--operators={}", fmt::join(operators, ",")));
  if (!methods.empty()) words.push_back(fmt::format("--methods={}", fmt::join(methods, ",")));
  if (!threads.empty()) words.push_back(fmt::format("--threads={}", fmt::join(threads, ",")));
  if (!interface.empty()) words.push_back("--interface=" + interface);
  if (!schedules.empty()) words.push_back(fmt::format("--schedules={}", fmt::join(schedules, ",")));
  return words;
}

bool AskedBench::starts_ranks() const {
  const Launch launch = launch_of_this_process();
  return !ranks.empty() || !libraries.empty() || launches > 1 || (launches == 1 && launch.rank_count == 1) ||
         !launch.launched;
}

std::string local_table(const bench::Measurement& measurement, double confidence) {
  return table_of_local(rows_of_local(measurement, confidence));
}
std::string ranks_table(const bench::Measurement& measurement, double confidence) {
  return table_over_ranks(rows_over_ranks(measurement, confidence));
}
std::string choices_table(const bench::Measurement& measurement, double confidence) {
  return table_of_choices(rows_of_choices(measurement, confidence));
}

bench::Told tell(LongWork& work, TableOf table_of, double confidence) {
  work.show("measuring", 0);
  return [&work, table_of, confidence](const bench::Measurement& so_far, std::size_t contests) {
    const std::size_t done = so_far.contests.size();
    work.show(fmt::format("{} of {} comparisons measured", done, contests),
              static_cast<double>(done) / static_cast<double>(contests));
    work.keep([so_far, table_of, confidence] { return table_of(so_far, confidence); });
  };
}

bench::AllreduceOptions asked_in_place_of(bench::AllreduceOptions defaults, const BenchOptions& options) {
  if (!options.counts.empty()) defaults.counts = options.counts;
  if (!options.types.empty()) defaults.types = options.types;
  if (!options.operators.empty()) defaults.operators = options.operators;
  if (!options.methods.empty()) defaults.methods = options.methods;
  if (!options.schedules.empty()) defaults.schedules = options.schedules;
  defaults.interface = options.interface;
  defaults.rounds = options.rounds;
  return defaults;
}

namespace {

constexpr const char* worker_name = "bench-worker";

/// Throws Failure if neither this command nor the laboratory has a benchmark of that name.
void check_benchmark(const std::string& name) {
  const std::vector<std::string_view> known = all_names();
  if (std::ranges::count(known, name) == 0) throw Failure(schedule::unknown_name("benchmark", name, known));
}

/// Returns the benchmark of this name. Throws Failure if this program does not have it.
const Benchmark& named(std::span<const Benchmark> known, const std::string& name) {
  const auto found = std::ranges::find(known, name, &Benchmark::name);
  if (found != known.end()) return *found;
  check_benchmark(name);
  throw missing_laboratory("bench " + name);
}

/// Measures in one launch, with this command or with the command for another MPI library.
bench::Measurement launched(const BenchOptions& options, const Benchmark& benchmark, const std::string& library,
                            int rank_count) {
  std::vector<std::string> arguments = options.arguments();
  if (library.empty() && benchmark.launched != nullptr) return benchmark.launched(options, rank_count);
  if (library.empty())
    return bench::measurement_in(ask(worker_name, arguments, rank_count, Placement::on_cores,
                                     "run the benchmark with mpirun and steadfold bench to see the error")
                                     .at("measurement"));
  arguments.insert(arguments.begin(), "bench-launch");
  arguments.push_back(fmt::format("--ranks={}", rank_count));
  return bench::measurement_in(ask_command(command_for(library), worker_name, arguments).at("measurement"));
}

/// Appends the contests of `more` (comparisons of candidates with rivals), and the name of its MPI library.
void append(bench::Measurement& all, const bench::Measurement& more) {
  all.contests.insert(all.contests.end(), more.contests.begin(), more.contests.end());
  auto& names = all.environment["mpi"].get_ref<std::string&>();
  const auto name = more.environment["mpi"].get<std::string>();
  if (names.find(name) == std::string::npos) names += "; " + name;
}

/// Pools `first` and the other measurements; empty measurements are skipped.
bench::Measurement all_of(bench::Measurement first, const std::vector<bench::Measurement>& others) {
  for (const bench::Measurement& each : others) {
    if (each.contests.empty()) continue;
    first.contests.empty() ? void(first = each) : append(first, each);
  }
  return first;
}

std::vector<int> counts_of(const AskedBench& asked, const Benchmark& benchmark) {
  return rank_counts(asked.ranks.empty() ? benchmark.usual_rank_counts : asked.ranks);
}

/// Returns the values of STEADFOLD_TRANSPORT with which ranks are started, in turn. If an entry is empty, the variable
/// is not set.
std::vector<std::string> transports_of(const Benchmark& benchmark) {
  if (!benchmark.varies_transport || std::getenv("STEADFOLD_TRANSPORT") != nullptr) return {""};
  return {"", "mpi"};
}

}  // namespace

bench::Measurement by_launches(const AskedBench& asked, const Benchmark& benchmark, LongWork& work,
                               const bench::Measurement& before) {
  if (benchmark.prepare != nullptr) benchmark.prepare(asked.options);
  const std::vector<std::string> libraries =
      asked.libraries.empty() ? std::vector<std::string>{""} : split(asked.libraries, "--libraries");
  struct StartedRanks {
    std::string library;
    int count;
    std::string transport;  // value of STEADFOLD_TRANSPORT; empty: the value in the environment, or the default
  };
  std::vector<StartedRanks> jobs;
  for (const int count : counts_of(asked, benchmark))
    for (const std::string& library : libraries)
      for (const std::string& transport : transports_of(benchmark)) jobs.push_back({library, count, transport});
  std::vector<bench::Measurement> measurements(jobs.size());
  const std::size_t launches = static_cast<std::size_t>(std::max(asked.launches, 1));
  for (std::size_t done = 0; done < launches * jobs.size(); ++done) {
    const std::size_t i = done % jobs.size();
    const auto& [library, count, transport] = jobs[i];
    work.show(
        fmt::format("launch {} of {}: {} on {} ranks{}{}", done + 1, launches * jobs.size(), asked.options.name, count,
                    library.empty() ? "" : " of " + library, transport.empty() ? "" : ", transport " + transport),
        static_cast<double>(done) / static_cast<double>(launches * jobs.size()));
    if (!transport.empty()) setenv("STEADFOLD_TRANSPORT", transport.c_str(), 1);
    bench::Measurement measured = launched(asked.options, benchmark, library, count);
    if (!transport.empty()) unsetenv("STEADFOLD_TRANSPORT");
    const bool is_first = done < jobs.size();
    is_first ? void(measurements[i] = std::move(measured)) : bench::pool(measurements[i], measured);
    work.keep([before, measurements, table = benchmark.table, confidence = asked.options.confidence] {
      return table(all_of(before, measurements), confidence);
    });
  }
  return all_of(before, measurements);
}

namespace {

void check(const AskedBench& asked, const Benchmark& benchmark, const Job& job) {
  const std::string& name = asked.options.name;
  if (benchmark.alone != nullptr && job.rank_count() > 1)
    throw Failure("bench " + name +
                  " starts its own ranks or threads (but mpirun started it on several ranks), start it without mpirun");
  if (benchmark.is_of_one_process && (!asked.ranks.empty() || !asked.libraries.empty() || asked.launches > 0))
    throw Failure("bench " + name +
                  " measures one process (--ranks, --launches and --libraries start several), leave out these options");
  if (benchmark.check != nullptr) benchmark.check(asked);
  if (benchmark.is_of_one_process || !asked.starts_ranks()) return;
  if (launch_of_this_process().rank_count > 1)
    throw Failure(
        "bench cannot start ranks under a launcher (every rank would start all ranks), leave out mpirun, or leave out "
        "--ranks, --launches and --libraries");
  agree_to_many(counts_of(asked, benchmark), asked.yes);
}

/// Whether the measurement takes minutes. One launch of all schedules takes half a minute by default.
bool takes_minutes(const AskedBench& asked, const Benchmark& benchmark) {
  if (benchmark.is_of_one_process || !asked.options.schedules.empty()) return false;
  const int launches = std::max(asked.launches, 1) * static_cast<int>(counts_of(asked, benchmark).size());
  return benchmark.takes_minutes || launches * asked.options.rounds > 3 * BenchOptions().rounds;
}

bench::Measurement measured(const AskedBench& asked, const Benchmark& benchmark, const Job& job) {
  if (takes_minutes(asked, benchmark)) announce_minutes("measuring " + asked.options.name);
  LongWork work(asked.json ? LongWork::Output::json : LongWork::Output::for_people);
  if (benchmark.alone != nullptr) return benchmark.alone(asked, work);
  if (asked.starts_ranks()) return by_launches(asked, benchmark, work);
  work.show("measuring " + asked.options.name, 0);
  return benchmark.over_ranks(asked.options, job);
}

Result run(const AskedBench& asked, const Benchmark& benchmark, const Job& job) {
  check(asked, benchmark, job);
  const bool writes_raw = !asked.raw.empty() && job.rank() == 0;
  job.together([&] {
    if (writes_raw) require_writable("--raw", asked.raw, {asked.options.distribution});
  });
  const bench::Measurement measurement = measured(asked, benchmark, job);
  job.together([&] {
    if (!writes_raw) return;
    std::ostringstream raw;
    bench::write_raw(asked.options.name, measurement, raw);
    write_whole("--raw", asked.raw, raw.str());
  });
  if (job.rank() != 0) return {};
  const double confidence = asked.options.confidence;
  if (!asked.json)
    return {benchmark.table(measurement, confidence) + (benchmark.note == nullptr ? "" : benchmark.note(measurement))};
  Json object = {{"environment", measurement.environment},
                 {"confidence", confidence},
                 {"rows", benchmark.rows(measurement, confidence)}};
  if (benchmark.add_to_json != nullptr) benchmark.add_to_json(measurement, object);
  return {line_of(object)};
}

void declare(CLI::App& bench, AskedBench& asked) {
  asked.options.add_to(bench);
  bench.add_option("--ranks", asked.ranks,
                   "Numbers of ranks to start, separated by commas, each rank on its own core if there are enough "
                   "cores; default: the ranks of the job that a launcher started, else 2");
  bench.add_flag("--yes", asked.yes, yes_help);
  bench
      .add_option("--launches", asked.launches,
                  "The number of launches; several launches show how much results vary between launches")
      ->check(CLI::Range(1, 1000));
  bench.add_option(
      "--libraries", asked.libraries,
      "MPI libraries to measure in turn, each with the steadfold command that was built for it: openmpi,mpich");
  bench.add_option("--raw", asked.raw, "Write every sample to a file, one JSON object per line");
  bench.add_flag("--json", asked.json, "Print one JSON object");
}

}  // namespace

std::string benchmark_in(std::span<char* const> arguments) {
  CLI::App app;
  AskedBench asked;
  declare(*app.add_subcommand("bench"), asked);
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
    return asked.options.name;
  } catch (const CLI::Error&) {
    return "";
  }
}

void add_bench(CLI::App& app, Action& action, std::span<const Benchmark> known) {
  const auto asked = std::make_shared<AskedBench>();
  CLI::App& bench = *app.add_subcommand(
      "bench", "Measure calls and rival implementations in turn: `steadfold bench --help` lists the benchmarks");
  declare(bench, *asked);
  bench.footer(table_of_benchmarks());
  check_words(*bench.get_option("name"), check_benchmark);
  bench.callback([asked, &bench, &action, known] {
    const Benchmark& benchmark = named(known, asked->options.name);
    refuse_unused(bench, asked->options.name, uses_of_benchmarks);
    action = [asked, &benchmark](const Job& job) { return run(*asked, benchmark, job); };
  });
}

void add_bench_worker(CLI::App& app, Action& action, std::span<const Benchmark> known) {
  CLI::App& worker = *app.add_subcommand(worker_name, "The ranks that bench starts")->group("");
  const auto options = std::make_shared<BenchOptions>();
  options->add_to(worker);
  worker.callback([options, &action, known] {
    action = [options, known](const Job& job) {
      return answer(job, worker_name, [&](Json& answer) {
        const bench::Measurement measurement = named(known, options->name).over_ranks(*options, job);
        if (job.rank() == 0) answer["measurement"] = bench::to_json(measurement);
      });
    };
  });
}

void add_bench_launch(CLI::App& app, Action& action, std::span<const Benchmark> known) {
  CLI::App& launch = *app.add_subcommand("bench-launch", "One launch of bench, started by another command")->group("");
  const auto options = std::make_shared<BenchOptions>();
  const auto ranks = std::make_shared<int>(2);
  options->add_to(launch);
  launch.add_option("--ranks", *ranks);
  launch.callback([options, ranks, &action, known] {
    action = [options, ranks, known](const Job& /*job*/) -> Result {
      const bench::Measurement measurement = launched(*options, named(known, options->name), "", *ranks);
      return {line_of({{worker_name, 1}, {"measurement", bench::to_json(measurement)}})};
    };
  });
}

void add_bench(CLI::App& app, Action& action) { add_bench(app, action, benchmarks()); }
void add_bench_worker(CLI::App& app, Action& action) { add_bench_worker(app, action, benchmarks()); }
void add_bench_launch(CLI::App& app, Action& action) { add_bench_launch(app, action, benchmarks()); }

}  // namespace steadfold::command
