// example_solver: conjugate gradients, whose path to the solution hangs on the last bits of scalar products. The same
// system is solved with plain sums and MPI_Allreduce, and with Steadfold's reductions.
//   mpirun -n 3 example_solver [--json]          one job
//   example_solver --compare                     starts the jobs itself, on several rank and thread counts
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>

#include "common/launch.hpp"
#include "common/run.hpp"
#include "compare.hpp"
#include "job.hpp"
#include "table.hpp"

namespace {

struct Arguments {
  solver::Task task;
  std::vector<std::uint64_t> points = {32};
  std::string algorithm = "cg";
  std::vector<std::string> dots;
  std::vector<unsigned> threads;
  std::vector<int> rank_counts = {1, 2, 3, 4, 5};
  bool json = false, compare = false;
};

/// A range that a NaN is not in.
CLI::Validator between(double low, double high) {
  const auto complain = [=](const std::string& text) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value >= low && value <= high ? std::string()
                                         : fmt::format("Value {} not in range {} to {}", text, low, high);
  };
  return {complain, fmt::format("in [{} - {}]", low, high)};
}

/// What is solved, and how.
void declare_task(CLI::App& app, Arguments& arguments) {
  solver::Task& task = arguments.task;
  app.add_option("--points", arguments.points, "points inside the box along x, y and z, or one number for all three")
      ->delimiter(',')
      ->expected(1, 3)
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{4096}))
      ->capture_default_str();
  app.add_option("--contrast", task.problem.contrast, "the greatest k to the least; 1: Poisson's equation")
      ->check(between(1, 1e12))
      ->capture_default_str();
  app.add_option("--tolerance", task.goal.tolerance, "ends where the residual is that small, to the right-hand side")
      ->check(between(0, 1))
      ->capture_default_str();
  app.add_option("--iterations", task.goal.most_iterations, "ends there at the latest")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--algorithm", arguments.algorithm, "the form of conjugate gradients")
      ->check(CLI::IsMember({"cg", "pipelined"}))
      ->capture_default_str();
  app.add_option("--dot", arguments.dots, "how scalar products are added up")
      ->delimiter(',')
      ->check(CLI::IsMember({"plain", "exact", "binned", "tree"}))
      ->default_str("all");
}

void declare(CLI::App& app, Arguments& arguments) {
  declare_task(app, arguments);
  auto* json = app.add_flag("--json", arguments.json, "print one JSON object instead of a table");
  auto* compare = app.add_flag("--compare", arguments.compare,
                               "start jobs of several rank and thread counts and compare their bits");
  compare->excludes(json);
  app.add_option("--ranks", arguments.rank_counts, "rank counts to compare")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->needs(compare)
      ->capture_default_str();
  app.add_option("--threads", arguments.threads, "threads per rank; several with --compare")
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->default_str("1; with --compare 1,2");
  app.add_option("--planes", arguments.task.planes, "planes in z per rank; by default equal shares")
      ->delimiter(',')
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{4096}))
      ->excludes(compare);
  app.add_option("--repeat", arguments.task.repetitions, "solve so many times; times are medians")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

/// Checks what hangs together and completes the task. Returns a complaint, if there is one.
std::string complete(Arguments& arguments) {
  solver::Task& task = arguments.task;
  const auto& points = arguments.points;
  if (points.size() == 2)
    return fmt::format("no box ({} and {} points along its edges), give --points one number or three", points[0],
                       points[1]);
  for (std::size_t axis = 0; axis < 3; ++axis) task.problem.points[axis] = points[points.size() == 1 ? 0 : axis];
  if (arguments.threads.empty()) arguments.threads = arguments.compare ? std::vector{1U, 2U} : std::vector{1U};
  if (!arguments.compare && arguments.threads.size() > 1)
    return fmt::format("one job has one number of threads (these are {}), give one or add --compare",
                       arguments.threads.size());
  task.threads = arguments.threads.front();
  task.algorithm = arguments.algorithm == "cg" ? solver::Algorithm::cg : solver::Algorithm::pipelined;
  if (!arguments.dots.empty())
    std::erase_if(task.dots, [&](solver::Dot dot) {
      return std::find(arguments.dots.begin(), arguments.dots.end(), solver::name_of(dot)) == arguments.dots.end();
    });
  return {};
}

/// The task as words of a command line.
std::string words_of(const solver::Task& task) {
  const auto& [x, y, z] = task.problem.points;
  std::string words =
      fmt::format("--points {},{},{} --contrast {} --tolerance {} --iterations {} --algorithm {} --repeat {} --dot ", x,
                  y, z, task.problem.contrast, task.goal.tolerance, task.goal.most_iterations,
                  solver::name_of(task.algorithm), task.repetitions);
  for (const solver::Dot dot : task.dots) words += fmt::format("{},", solver::name_of(dot));
  words.pop_back();
  return words;
}

/// What every rank does. `complaint` is about the command line, the same on all ranks.
int run(const Arguments& arguments, const std::string& complaint) {
  return example::run_on_ranks(complaint, "try fewer --points", [&](const example::Ranks& ranks) {
    const solver::Record record = solver::run_job(arguments.task, ranks);
    if (example::is_first(ranks)) fmt::print("{}", arguments.json ? record.dump() + "\n" : solver::describe(record));
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Solves -div(k grad u) = f by conjugate gradients over any number of ranks");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
    std::string complaint = complete(arguments);
    if (!arguments.compare || !complaint.empty()) return run(arguments, complaint);
    if (const int ranks = example::ranks_of_outer_job(); ranks > 1)
      return run(arguments,
                 fmt::format("--compare starts ranks itself (these are {} already), leave out mpirun", ranks));
    return solver::compare(words_of(arguments.task), arguments.rank_counts, arguments.threads);
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return run(arguments, fmt::format("cannot use the command line ({}), see --help", error.what()));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return example::usage_error;
  }
}
