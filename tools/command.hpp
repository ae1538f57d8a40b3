// What all subcommands share: the processes of a run, how they agree on failures, and what an action returns.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

// CLI11 and nlohmann-json take seconds to compile: only files that declare options or build objects include them.
namespace CLI {
class App;
}

namespace steadfold::command {

using Json = nlohmann::ordered_json;

enum ExitStatus : int { all_well = 0, check_failed = 1, bad_input = 2 };

/// Ends the command: rank 0 prints the text, "problem (why), suggestion", and every rank exits with the status.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& text, ExitStatus status = bad_input)
      : std::runtime_error(text), status_(status) {}
  ExitStatus status() const noexcept { return status_; }

 private:
  ExitStatus status_;
};

/// The processes of this run, from its beginning to its end. MPI is started only if needed: `verify` starts launchers,
/// which must not find themselves inside a job.
class Job {
 public:
  enum class Mpi { always, under_a_launcher, never };

  Job(Mpi mpi, int& argc, char**& argv);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int rank() const noexcept { return rank_; }
  int rank_count() const noexcept { return rank_count_; }

  /// Throws Failure if the launcher belongs to another MPI library than the command, or started the ranks with
  /// different command lines, so that they would wait for each other. Collective.
  void check_start(int argc, char** argv) const;

  /// Does the work on every rank, then asks whether it went well everywhere. If not, every rank throws the Failure of
  /// the lowest failing rank, so that no rank waits for one that gave up. Collective.
  void together(const std::function<void()>& work) const;

 private:
  bool mpi_;
  int rank_ = 0;
  int rank_count_ = 1;
};

/// What rank 0 prints on standard output, and the exit status of all ranks.
struct Result {
  std::string text;
  ExitStatus status = all_well;
};

/// A subcommand's work; runs on every rank.
using Action = std::function<Result(const Job&)>;

/// Each declares a subcommand. When it is chosen, its options are checked and `action` is set.
void add_sum(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_verify_worker(CLI::App& app, Action& action);
void add_schedules(CLI::App& app, Action& action);
void add_check_schedules(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_bench_worker(CLI::App& app, Action& action);
void add_bench_launch(CLI::App& app, Action& action);
void add_study(CLI::App& app, Action& action);

/// A JSON object as one line. Bytes that are not UTF-8 (as paths may hold) are replaced.
std::string line_of(const Json& json);

}  // namespace steadfold::command
