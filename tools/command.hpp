// Types of all subcommands: the result of an action, and the functions that declare subcommands.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "program/job.hpp"

// The headers of CLI11 and nlohmann-json take seconds to compile, so only files that declare options or build objects
// include them.
namespace CLI {
class App;
}

namespace steadfold::command {

using Json = nlohmann::ordered_json;

/// The text that rank 0 prints on standard output, and the exit status of all ranks.
struct Result {
  std::string text;
  ExitStatus status = all_well;
};

/// The work of a subcommand, which runs on every rank.
using Action = std::function<Result(const Job&)>;

/// Each of these functions declares a subcommand. When a user chooses the subcommand, its options are checked and
/// `action` is set.
void add_sum(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_verify_worker(CLI::App& app, Action& action);
void add_schedules(CLI::App& app, Action& action);
void add_check_schedules(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_draw(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_vectors(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_bench_worker(CLI::App& app, Action& action);
void add_bench_launch(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_tune_worker(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);

/// Writes a JSON object as one line. Bytes that are not UTF-8, as in some paths, are replaced.
std::string line_of(const Json& json);

}  // namespace steadfold::command
