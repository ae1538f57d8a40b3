// steadfold bench NAME: measures beside rivals, interleaved, and prints ratios. Benchmarks over ranks run in the job
// that the command was started in, or start ranks themselves, several times, and pool all launches.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "bench/bench.hpp"
#include "bench/contest.hpp"
#include "bench_table.hpp"
#include "command.hpp"
#include "interposer.hpp"
#include "kernels/target.hpp"
#include "long_work.hpp"
#include "output.hpp"
#include "program/methods.hpp"
#include "request.hpp"
#include "solver_loop.hpp"
#include "spread.hpp"
#include "values.hpp"
#include "worker.hpp"

namespace steadfold::command {
namespace {

constexpr std::string_view benchmarks[] = {"local",     "prefetch",  "arrays",     "shared", "teams",
                                           "allreduce", "auto",      "splitphase", "bundle", "fields",
                                           "reduce",    "interpose", "solver-loop"};

/// "local, prefetch, ... or reduce".
std::string all_benchmarks() {
  const std::span names(benchmarks);
  return fmt::format("{} or {}", fmt::join(names.first(names.size() - 1), ", "), names.back());
}

struct BenchOptions {
  std::string name;
  std::vector<std::size_t> sizes;
  std::vector<std::string> types;
  std::vector<std::size_t> counts;
  std::vector<std::string> operators;
  std::vector<std::string> methods;
  std::vector<std::string> schedules;
  std::vector<unsigned> threads;
  std::string distribution = "upper";
  std::string reproblas;
  std::string interface;
  double poll_microseconds = 50;
  std::size_t rows = 1;
  int rounds = 15;
  double confidence = bench::usual_confidence;  // ranks do not need it

  void add_to(CLI::App& app);
  /// The options that the ranks need, as arguments for another run of the command.
  std::vector<std::string> arguments() const;
};

const std::vector<OptionUse> uses_of_benchmarks = {
    {"--sizes", {"local", "prefetch", "arrays"}},
    {"--types", {"local", "prefetch", "allreduce", "auto", "splitphase"}},
    {"--threads", {"local", "prefetch", "shared", "teams"}},
    {"--counts",
     {"allreduce", "auto", "splitphase", "shared", "teams", "interpose", "bundle", "reduce", "fields", "solver-loop"}},
    {"--operators", {"allreduce", "auto", "splitphase"}},
    {"--methods", {"allreduce", "auto", "splitphase", "shared", "teams", "reduce", "fields", "interpose"}},
    {"--schedules", {"allreduce", "auto", "splitphase", "shared", "teams", "reduce"}},
    {"--distribution", {"reduce"}},
    {"--reproblas", {"reduce"}},
    {"--interface", {"allreduce", "auto"}},
    {"--poll", {"splitphase"}},
    {"--rows", {"allreduce"}},
};

/// What only the process that prints needs to know.
struct Asked {
  BenchOptions options;
  std::string ranks;      // empty: those of the job
  int launches = 0;       // 0: run in the job
  std::string libraries;  // empty: the one that this command is built for
  std::string raw;
  bool json = false;
  bool yes = false;
};

void BenchOptions::add_to(CLI::App& app) {
  app.add_option("name", name, all_benchmarks())->required();
  app.add_option("--sizes", sizes, "local, prefetch: elements; arrays: points of a field")
      ->delimiter(',')
      ->check(from_to(1, most_elements_in_memory));
  app.add_option("--types", types, "local, prefetch, allreduce, splitphase: f64, f32; but for the first two i32, too")
      ->delimiter(',');
  app.add_option("--threads", threads,
                 "local, prefetch, shared, teams: threads of each process, which may be several numbers")
      ->delimiter(',')
      ->check(CLI::Range(1, 256));
  app.add_option(
         "--counts", counts,
         "allreduce, auto, splitphase, shared, teams, interpose: elements per rank or thread; bundle: sums; reduce: "
         "elements; fields: points; solver-loop: cells along a side of a square of sea ice")
      ->delimiter(',')
      ->check(from_to(1, most_elements_in_memory));
  app.add_option("--operators", operators, "allreduce, splitphase: sum, min, max, user_sum, user_max")->delimiter(',');
  app.add_option(
         "--methods", methods,
         "allreduce, auto, splitphase, shared, teams, reduce: tree, exact, binned, plain; fields: exact, binned; "
         "interpose: one of tree, exact, binned")
      ->delimiter(',');
  app.add_option("--schedules", schedules,
                 "allreduce, splitphase, shared, teams, reduce: names of `steadfold schedules`, with parameters; but "
                 "for reduce "
                 "auto, mpich, too")
      ->delimiter(',');
  app.add_option("--distribution", distribution,
                 "reduce: who holds what: lower, upper, power2, optimized[:deviation=x], balanced, or a file")
      ->capture_default_str();
  app.add_option("--reproblas", reproblas, std::string("reduce: ") + reproblas_help);
  app.add_option("--interface", interface, "allreduce: count the bytes that a rank's network interface sends");
  app.add_option("--poll", poll_microseconds, "splitphase: most microseconds of computation between two tests")
      ->check(CLI::Range(0.1, 1e6));
  app.add_option("--rows", rows, "allreduce: rows that every rank brings; rivals add theirs in a loop first")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--rounds", rounds, "samples of every candidate")->check(CLI::Range(3, 10001));
  app.add_option("--confidence", confidence,
                 "Of the intervals: the share of other runs like this one whose medians they hold")
      ->check(CLI::Range(0.5, 0.999))
      ->capture_default_str();
}

std::vector<std::string> BenchOptions::arguments() const {
  std::vector<std::string> words = {name, fmt::format("--rounds={}", rounds)};
  if (name == "allreduce" && rows > 1) words.push_back(fmt::format("--rows={}", rows));
  if (name == "reduce") words.push_back("--distribution=" + distribution);
  if (name == "reduce" && !reproblas.empty()) words.push_back("--reproblas=" + reproblas);
  if (name == "splitphase") words.push_back(fmt::format("--poll={}", poll_microseconds));
  if (!counts.empty()) words.push_back(fmt::format("--counts={}", fmt::join(counts, ",")));
  if (!types.empty()) words.push_back(fmt::format("--types={}", fmt::join(types, ",")));
  if (!operators.empty()) words.push_back(fmt::format("--operators={}", fmt::join(operators, ",")));
  if (!methods.empty()) words.push_back(fmt::format("--methods={}", fmt::join(methods, ",")));
  if (name == "teams" && !threads.empty()) words.push_back(fmt::format("--threads={}", fmt::join(threads, ",")));
  if (!interface.empty()) words.push_back("--interface=" + interface);
  if (!schedules.empty()) words.push_back(fmt::format("--schedules={}", fmt::join(schedules, ",")));
  return words;
}

/// Shows how far measurements of this process are, and keeps the tables of what is measured.
using TableOf = std::function<std::string(const bench::Measurement&)>;

bench::Told tell(LongWork& work, const TableOf& table_of) {
  work.show("measuring", 0);
  return [&work, table_of](const bench::Measurement& so_far, std::size_t contests) {
    const std::size_t done = so_far.contests.size();
    work.show(fmt::format("{} of {} comparisons measured", done, contests),
              static_cast<double>(done) / static_cast<double>(contests));
    work.keep([so_far, table_of] { return table_of(so_far); });
  };
}

TableOf local_table(double confidence) {
  return [confidence](const auto& measurement) { return table_of_local(rows_of_local(measurement, confidence)); };
}
TableOf ranks_table(double confidence) {
  return [confidence](const auto& measurement) { return table_over_ranks(rows_over_ranks(measurement, confidence)); };
}
TableOf choices_table(double confidence) {
  return [confidence](const auto& measurement) { return table_of_choices(rows_of_choices(measurement, confidence)); };
}

bench::Measurement local(const BenchOptions& options, LongWork& work) {
  bench::LocalOptions local{.rounds = options.rounds, .by_prefetch = options.name == "prefetch"};
  if (local.by_prefetch) local.sizes = {10000, 100000, 1000000, 10000000};
  if (!options.sizes.empty()) local.sizes = options.sizes;
  if (!options.types.empty()) local.types = options.types;
  if (!options.threads.empty()) local.threads = options.threads;
  for (const auto& type : local.types)
    if (type != "f64" && type != "f32")
      throw Failure("unknown type '" + type + "' (it is not measured), take f64 or f32");
  return bench::local(local, tell(work, local_table(options.confidence)));
}

bench::Measurement arrays(const BenchOptions& options, LongWork& work) {
  bench::ArraysOptions arrays{.rounds = options.rounds};
  if (!options.sizes.empty()) arrays.points = options.sizes;
  return bench::arrays(arrays, tell(work, local_table(options.confidence)));
}

constexpr const char* choice_name = "auto";
const bench::AllreduceOptions choice_options = {.counts = {1, 255, 1000, 10000, 100000, 1000000},
                                                .methods = {"tree", "exact", "binned"},
                                                .is_choice = true};  // unless others are asked for
const bench::SharedOptions teams_options = {.threads = {1, 2}};      // unless others are asked for

/// What was asked for in place of the benchmark's defaults.
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

/// Of `bench interpose`, which measures by one method.
std::string interposed_method(const BenchOptions& options) {
  if (options.methods.size() > 1 || (options.methods.size() == 1 && options.methods.front() == "plain"))
    throw Failure(
        "bench interpose measures one method (an environment variable says which), give --methods tree, exact "
        "or binned");
  if (options.methods.empty()) return "tree";
  method_named(options.methods.front());
  return options.methods.front();
}

/// Measures over the ranks of this job.
bench::Measurement over_ranks(const BenchOptions& options, const Job& job) {
  if (options.name == "allreduce") {
    bench::AllreduceOptions allreduce = asked_in_place_of(bench::AllreduceOptions{}, options);
    allreduce.rows = options.rows;
    return bench::allreduce(allreduce, job);
  }
  if (options.name == choice_name) {
    bench::AllreduceOptions choice = asked_in_place_of(choice_options, options);
    const auto named = std::ranges::find(choice.schedules, "auto");
    if (!choice.schedules.empty() && named == choice.schedules.end()) choice.schedules.emplace_back("auto");
    return bench::allreduce(choice, job);
  }
  if (options.name == "splitphase") {
    bench::SplitphaseOptions split{.poll_seconds = options.poll_microseconds * 1e-6};
    split.allreduce = asked_in_place_of(split.allreduce, options);
    return bench::splitphase(split, job);
  }
  if (options.name == "teams") return bench::teams(asked_in_place_of(teams_options, options));
  if (options.name == "bundle") {
    bench::BundleOptions bundle{.rounds = options.rounds};
    if (!options.counts.empty()) bundle.counts = options.counts;
    return bench::bundle(bundle);
  }
  if (options.name == "fields") {
    bench::FieldsOptions fields{.rounds = options.rounds};
    if (!options.counts.empty()) fields.points = options.counts;
    if (!options.methods.empty()) fields.methods = options.methods;
    return bench::fields(fields, job);
  }
  if (options.name == "interpose") {
    bench::InterposeOptions interpose{.method = interposed_method(options), .rounds = options.rounds};
    if (!options.counts.empty()) interpose.counts = options.counts;
    return bench::interpose(interpose);
  }
  bench::ReduceOptions reduce{
      .distribution = options.distribution, .reproblas = options.reproblas, .rounds = options.rounds};
  reduce.spread = [&](std::uint64_t count, int ranks) { return spread(options.distribution, count, ranks); };
  if (!options.counts.empty()) reduce.counts = options.counts;
  if (!options.methods.empty()) reduce.methods = options.methods;
  if (!options.schedules.empty()) reduce.schedules = options.schedules;
  return bench::reduce(reduce, job);
}

constexpr const char* worker_name = "bench-worker";
constexpr const char* solver_loop_name = "solver-loop";

SolverLoopOptions solver_loop_options(const BenchOptions& options) {
  SolverLoopOptions asked{.rounds = options.rounds};
  if (!options.counts.empty()) asked.counts = options.counts;
  check(asked);
  return asked;
}

/// Measures in one launch, by this command or by that of another MPI library.
bench::Measurement launched(const BenchOptions& options, const std::string& library, int rank_count) {
  std::vector<std::string> arguments = options.arguments();
  if (library.empty() && options.name == solver_loop_name) return solver_loop(solver_loop_options(options), rank_count);
  if (library.empty())
    return bench::measurement_in(
        ask(worker_name, arguments, rank_count, Placement::on_cores, "try it with mpirun and steadfold bench")
            .at("measurement"));
  arguments.insert(arguments.begin(), "bench-launch");
  arguments.push_back(fmt::format("--ranks={}", rank_count));
  return bench::measurement_in(ask_command(command_for(library), worker_name, arguments).at("measurement"));
}

/// Appends the contests of `more` and the name of its MPI library.
void append(bench::Measurement& all, const bench::Measurement& more) {
  all.contests.insert(all.contests.end(), more.contests.begin(), more.contests.end());
  auto& names = all.environment["mpi"].get_ref<std::string&>();
  const auto name = more.environment["mpi"].get<std::string>();
  if (names.find(name) == std::string::npos) names += "; " + name;
}

/// Of `first` and the others, those that have been made.
bench::Measurement all_of(bench::Measurement first, const std::vector<bench::Measurement>& others) {
  for (const bench::Measurement& each : others) {
    if (each.contests.empty()) continue;
    first.contests.empty() ? void(first = each) : append(first, each);
  }
  return first;
}

std::vector<int> counts_of(const Asked& asked) {
  const std::string usual = asked.options.name == solver_loop_name ? "1,2,4"
                            : asked.options.name == choice_name    ? "2,4,8"
                                                                   : "2";
  return rank_counts(asked.ranks.empty() ? usual : asked.ranks);
}

/// The transports by which ranks are started, in turn.
std::vector<std::string> transports_of(const Asked& asked) {
  if (asked.options.name != choice_name || std::getenv("STEADFOLD_TRANSPORT") != nullptr) return {""};
  return {"", "mpi"};
}

TableOf table_for(const BenchOptions& options) {
  return options.name == choice_name ? choices_table(options.confidence) : ranks_table(options.confidence);
}

/// Measures over ranks started for it. Launches of one job are far apart in time: all rank counts and libraries are
/// measured once, then all again.
bench::Measurement by_launches(const Asked& asked, LongWork& work, const bench::Measurement& before = {}) {
  if (asked.options.name == "interpose") preload_interposer(interposed_method(asked.options));
  const std::vector<std::string> libraries =
      asked.libraries.empty() ? std::vector<std::string>{""} : split(asked.libraries, "--libraries");
  struct StartedRanks {
    std::string library;
    int count;
    std::string transport;  // empty: what the environment says, or the usual one
  };
  std::vector<StartedRanks> jobs;
  for (const int count : counts_of(asked))
    for (const std::string& library : libraries)
      for (const std::string& transport : transports_of(asked)) jobs.push_back({library, count, transport});
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
    bench::Measurement measured = launched(asked.options, library, count);
    if (!transport.empty()) unsetenv("STEADFOLD_TRANSPORT");
    const bool is_first = done < jobs.size();
    is_first ? void(measurements[i] = std::move(measured)) : bench::pool(measurements[i], measured);
    work.keep([before, measurements, table = table_for(asked.options)] { return table(all_of(before, measurements)); });
  }
  return all_of(before, measurements);
}

/// Threads of this process; then ranks that are started, by themselves and with as many threads each.
bench::Measurement threads_and_ranks(const Asked& asked, LongWork& work) {
  const bench::SharedOptions threads = asked_in_place_of(bench::SharedOptions{}, asked.options);
  const bench::Measurement of_threads = bench::shared(threads, tell(work, ranks_table(asked.options.confidence)));
  Asked ranks = asked;
  ranks.options.name = "allreduce";
  ranks.options.counts = threads.counts;
  ranks.options.methods = threads.methods;
  ranks.options.schedules = threads.schedules;
  const bench::Measurement with_ranks = by_launches(ranks, work, of_threads);
  ranks.options.name = "teams";
  return by_launches(ranks, work, with_ranks);
}

/// Whether to start ranks: if asked for, or if there is no job to measure in.
bool starts_ranks(const Asked& asked) {
  const Launch launch = launch_of_this_process();
  return !asked.ranks.empty() || !asked.libraries.empty() || asked.launches > 1 ||
         (asked.launches == 1 && launch.rank_count == 1) || !launch.launched;
}

bool is_of_one_process(const std::string& name) { return name == "local" || name == "prefetch" || name == "arrays"; }

void check(const CLI::App& app, const std::string& name) {
  if (std::ranges::find(benchmarks, name) == std::end(benchmarks))
    throw Failure(schedule::unknown_name("benchmark", name, benchmarks));
  refuse_unused(app, name, uses_of_benchmarks);
}

void check(const Asked& asked, const Job& job) {
  const std::string& name = asked.options.name;
  const bool is_local = is_of_one_process(name);
  if ((is_local || name == "shared") && job.rank_count() > 1)
    throw Failure("bench " + name + " starts what it measures (it was started on several ranks), start it alone");
  if (is_local && (!asked.ranks.empty() || !asked.libraries.empty() || asked.launches > 0))
    throw Failure("bench " + name +
                  " measures one process (--ranks, --launches and --libraries start several), leave them out");
  if (name == "interpose") {
    interposed_method(asked.options);
    if (!starts_ranks(asked) && !is_interposed())
      throw Failure("bench interpose runs in a job with the interposer (this one was started without), start it alone");
  }
  if (name == solver_loop_name) {
    solver_loop_options(asked.options);
    if (!starts_ranks(asked))
      throw Failure("bench solver-loop starts what it measures (it was started by a launcher), start it alone");
  }
  if (is_local || !starts_ranks(asked)) return;
  if (launch_of_this_process().rank_count > 1)
    throw Failure(
        "bench cannot start ranks under a launcher (it would start them for every rank), leave out --ranks, "
        "--launches and --libraries, or mpirun");
  agree_to_many(counts_of(asked), asked.yes);
}

/// One launch of all schedules takes half a minute by default.
bool takes_minutes(const Asked& asked) {
  if (is_of_one_process(asked.options.name) || !asked.options.schedules.empty()) return false;
  const int launches = std::max(asked.launches, 1) * static_cast<int>(counts_of(asked).size());
  return asked.options.name == "shared" || launches * asked.options.rounds > 3 * BenchOptions().rounds;
}

bench::Measurement measured(const Asked& asked, const Job& job) {
  if (takes_minutes(asked)) announce_minutes("measuring " + asked.options.name);
  LongWork work(asked.json ? LongWork::Output::json : LongWork::Output::for_people);
  if (asked.options.name == "local" || asked.options.name == "prefetch") return local(asked.options, work);
  if (asked.options.name == "arrays") return arrays(asked.options, work);
  if (asked.options.name == "shared") return threads_and_ranks(asked, work);
  if (starts_ranks(asked)) return by_launches(asked, work);
  work.show("measuring " + asked.options.name, 0);
  return over_ranks(asked.options, job);
}

Result run(const Asked& asked, const Job& job) {
  check(asked, job);
  const bool writes_raw = !asked.raw.empty() && job.rank() == 0;
  job.together([&] {
    if (writes_raw) require_writable("--raw", asked.raw, {asked.options.distribution});
  });
  const bench::Measurement measurement = measured(asked, job);
  job.together([&] {
    if (!writes_raw) return;
    std::ostringstream raw;
    bench::write_raw(asked.options.name, measurement, raw);
    write_whole("--raw", asked.raw, raw.str());
  });
  if (job.rank() != 0) return {};
  const bool is_local = is_of_one_process(asked.options.name);
  const double confidence = asked.options.confidence;
  if (asked.json) {
    const Json rows = is_local                            ? rows_of_local(measurement, confidence)
                      : asked.options.name == "shared"    ? rows_by_rival(measurement, confidence)
                      : asked.options.name == choice_name ? rows_of_choices(measurement, confidence)
                                                          : rows_over_ranks(measurement, confidence);
    Json object = {{"environment", measurement.environment}, {"confidence", confidence}, {"rows", rows}};
    if (asked.options.name == solver_loop_name) object["predicted"] = predicted_solves(measurement);
    return {line_of(object)};
  }
  if (asked.options.name == solver_loop_name)
    return {ranks_table(confidence)(measurement) + table_of_predicted_solves(predicted_solves(measurement))};
  if (!is_local) return {table_for(asked.options)(measurement)};
  const std::string table = local_table(confidence)(measurement);
  if (asked.options.name != "prefetch") return {table};
  return {table + fmt::format("{} is taken here; STEADFOLD_PREFETCH=off, near or far takes another\n",
                              kernels::name_of(kernels::prefetch))};
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  const auto asked = std::make_shared<Asked>();
  CLI::App& bench =
      *app.add_subcommand("bench",
                          "Measure beside rivals, interleaved: local, arrays; shared; teams, allreduce, "
                          "auto, splitphase, bundle, fields, reduce, interpose, solver-loop (over ranks)");
  asked->options.add_to(bench);
  bench.add_option(
      "--ranks", asked->ranks,
      "Start so many ranks, between commas, each on a core of its own while there are enough; default: those of the "
      "job that a launcher started, else 2");
  bench.add_flag("--yes", asked->yes, yes_help);
  bench.add_option("--launches", asked->launches, "Start them so often: what differs between launches counts too")
      ->check(CLI::Range(1, 1000));
  bench.add_option("--libraries", asked->libraries,
                   "By the commands built for these MPI libraries, in turn: openmpi,mpich");
  bench.add_option("--raw", asked->raw, "Write every sample to a file, one JSON object per line");
  bench.add_flag("--json", asked->json, "Print one JSON object");
  bench.callback([asked, &bench, &action] {
    check(bench, asked->options.name);
    action = [asked](const Job& job) { return run(*asked, job); };
  });
}

void add_bench_worker(CLI::App& app, Action& action) {
  CLI::App& worker = *app.add_subcommand(worker_name, "The ranks of bench")->group("");
  const auto options = std::make_shared<BenchOptions>();
  options->add_to(worker);
  worker.callback([options, &action] {
    action = [options](const Job& job) {
      return answer(job, worker_name, [&](Json& answer) {
        const bench::Measurement measurement = over_ranks(*options, job);
        if (job.rank() == 0) answer["measurement"] = bench::to_json(measurement);
      });
    };
  });
}

void add_bench_launch(CLI::App& app, Action& action) {
  CLI::App& launch = *app.add_subcommand("bench-launch", "One launch of bench, for another command")->group("");
  const auto options = std::make_shared<BenchOptions>();
  const auto ranks = std::make_shared<int>(2);
  options->add_to(launch);
  launch.add_option("--ranks", *ranks);
  launch.callback([options, ranks, &action] {
    action = [options, ranks](const Job& /*job*/) -> Result {
      return {line_of({{worker_name, 1}, {"measurement", bench::to_json(launched(*options, "", *ranks))}})};
    };
  });
}

}  // namespace steadfold::command
