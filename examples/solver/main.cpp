// example_solver: conjugate gradients, whose path to the solution hangs on the last bits of scalar products. The same
// system is solved with plain sums and MPI_Allreduce, and with Steadfold's reductions.
//   mpirun -n 3 example_solver [--json]          one job
//   example_solver --compare                     starts the jobs itself, on several rank and thread counts
#include <fmt/format.h>

#include <algorithm>

#include "common/program.hpp"
#include "compare.hpp"
#include "job.hpp"
#include "table.hpp"

namespace {

using example::between;

struct Arguments {
  solver::Task task;
  std::vector<std::uint64_t> points = {32};
  std::string algorithm = "cg";
  std::vector<std::string> dots;
  std::vector<unsigned> threads;
  example::Options options = {.rank_counts = {1, 2, 3, 4, 5}};
};

/// The problem, and the options of its solution.
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
  auto* compare =
      example::declare(app, arguments.options, "start jobs of several rank and thread counts and compare their bits");
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

/// Checks combinations of options and completes the task. Returns an error text, or nothing.
std::string complete(Arguments& arguments) {
  solver::Task& task = arguments.task;
  const auto& points = arguments.points;
  if (points.size() == 2)
    return fmt::format("no box ({} and {} points along its edges), give --points one number or three", points[0],
                       points[1]);
  for (std::size_t axis = 0; axis < 3; ++axis) task.problem.points[axis] = points[points.size() == 1 ? 0 : axis];
  if (arguments.threads.empty()) arguments.threads = arguments.options.compare ? std::vector{1U, 2U} : std::vector{1U};
  if (!arguments.options.compare && arguments.threads.size() > 1)
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Solves -div(k grad u) = f by conjugate gradients over any number of ranks");
  Arguments arguments;
  declare(app, arguments);
  return example::run_program(
      app, argc, argv, arguments.options,
      {.complete = [&] { return complete(arguments); },
       .advice = "try fewer --points",
       .job = [&](const example::Ranks& ranks) { return solver::run_job(arguments.task, ranks); },
       .describe = solver::describe,
       .compare =
           [&] {
             return solver::compare(words_of(arguments.task), arguments.options.rank_counts, arguments.threads);
           }});
}
