// The table of benchmarks that `steadfold bench` runs, and the types that their functions share.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench.hpp"
#include "bench/contest.hpp"
#include "bench_table.hpp"
#include "command.hpp"
#include "long_work.hpp"

namespace steadfold::command {

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
  double confidence = bench::usual_confidence;  // level of confidence of intervals; the ranks do not need it

  void add_to(CLI::App& app);
  /// Returns the options that the ranks need, as arguments for another run of the command.
  std::vector<std::string> arguments() const;
};

/// The options that only the process that prints needs.
struct AskedBench {
  BenchOptions options;
  std::string ranks;      // numbers of ranks to start; empty: the ranks of the job
  int launches = 0;       // number of launches; 0: the ranks of the job measure
  std::string libraries;  // MPI libraries to measure with; empty: the library of this command
  std::string raw;
  bool json = false;
  bool yes = false;

  /// Whether to start ranks: if the user asks for it, or if there is no job in which to measure.
  bool starts_ranks() const;
};

/// A function that writes the table for people, with intervals of this confidence.
using TableOf = std::string (*)(const bench::Measurement& measurement, double confidence);
std::string local_table(const bench::Measurement& measurement, double confidence);
std::string ranks_table(const bench::Measurement& measurement, double confidence);
std::string choices_table(const bench::Measurement& measurement, double confidence);

/// A benchmark. If a function is null, the common behaviour is used.
struct Benchmark {
  std::string_view name;
  /// The comparison that the benchmark makes, for the help. `laboratory_benchmarks` has the texts of the laboratory's
  /// benchmarks.
  std::string_view about = {};
  /// Measures over the ranks of this job. Collective.
  bench::Measurement (*over_ranks)(const BenchOptions& options, const Job& job) = nullptr;
  /// Measures in this process, and starts other processes if it needs some.
  bench::Measurement (*alone)(const AskedBench& asked, LongWork& work) = nullptr;
  /// Measures in one launch of another program, instead of in ranks of this command.
  bench::Measurement (*launched)(const BenchOptions& options, int rank_count) = nullptr;
  /// Throws Failure if the benchmark cannot measure with these options.
  void (*check)(const AskedBench& asked) = nullptr;
  /// Prepares this process for ranks that it starts.
  void (*prepare)(const BenchOptions& options) = nullptr;
  bool is_of_one_process = false;  // whether the benchmark runs in one process, without ranks
  bool takes_minutes = false;      // whether a measurement takes minutes, whatever the options
  bool varies_transport = false;   // whether ranks are started with each transport in turn
  const char* usual_rank_counts = "2";
  Json (*rows)(const bench::Measurement& measurement, double confidence) = bench::rows_over_ranks;
  TableOf table = ranks_table;
  /// Adds fields besides the rows to the JSON object.
  void (*add_to_json)(const bench::Measurement& measurement, Json& object) = nullptr;
  /// The text below the table.
  std::string (*note)(const bench::Measurement& measurement) = nullptr;
};

/// Returns the benchmarks of `steadfold`, in the order in which the help names them.
std::span<const Benchmark> benchmarks();

/// Add three subcommands for these benchmarks, which must live as long as the program: the subcommand of users, its
/// ranks, and one launch of ranks for the command of another MPI library.
void add_bench(CLI::App& app, Action& action, std::span<const Benchmark> known);
void add_bench_worker(CLI::App& app, Action& action, std::span<const Benchmark> known);
void add_bench_launch(CLI::App& app, Action& action, std::span<const Benchmark> known);

/// Returns the name of the benchmark in the arguments; empty if the arguments are wrong.
std::string benchmark_in(std::span<char* const> arguments);

/// Shows the progress of measurements in this process, and keeps their tables for an interrupt.
bench::Told tell(LongWork& work, TableOf table_of, double confidence);

/// Returns the benchmark's defaults, with the given options in place of the defaults.
bench::AllreduceOptions asked_in_place_of(bench::AllreduceOptions defaults, const BenchOptions& options);

/// Starts ranks and measures over them. The launches with one rank count and library are far apart in time: all rank
/// counts and libraries are measured once, then all again. The result begins with `before`, an earlier measurement.
bench::Measurement by_launches(const AskedBench& asked, const Benchmark& benchmark, LongWork& work,
                               const bench::Measurement& before = {});

}  // namespace steadfold::command
