// The command line; see library.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "adapters/common/job.hpp"
#include "common/program.hpp"

namespace adapters {
namespace {

using example::between;

struct Arguments {
  Task task;
  std::vector<std::uint64_t> points = {24};
  example::Options options = {.rank_counts = {1, 2, 3, 4, 5}};
};

void declare(CLI::App& app, Arguments& arguments) {
  Task& task = arguments.task;
  app.add_option("--points", arguments.points, "points inside the box along x, y and z, or one number for all three")
      ->delimiter(',')
      ->expected(1, 3)
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1024}))
      ->capture_default_str();
  app.add_option("--contrast", task.problem.contrast, "the greatest k to the least; 1: Poisson's equation")
      ->check(between(1, 1e12))
      ->capture_default_str();
  app.add_option("--solver", task.solver, "the Krylov method")
      ->check(CLI::IsMember({"cg", "gmres"}))
      ->capture_default_str();
  app.add_option("--preconditioner", task.preconditioner, "of the solver")
      ->check(CLI::IsMember({"jacobi", "none"}))
      ->capture_default_str();
  app.add_option("--product", task.product, "the matrix-vector product: in the order of columns, or the library's own")
      ->check(CLI::IsMember({"ordered", "own"}))
      ->capture_default_str();
  app.add_option("--dot", task.dots, "how dot products are added up")
      ->delimiter(',')
      ->check(CLI::IsMember({"plain", "exact", "binned"}))
      ->default_str("all");
  app.add_option("--tolerance", task.tolerance, "ends where the residual is that small, to the right-hand side")
      ->check(between(0, 1))
      ->capture_default_str();
  app.add_option("--iterations", task.most_iterations, "ends there at the latest")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--repeat", task.repetitions, "solve so many times; times are medians")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--values", task.values, "the JSON object has the bits of the solution, too");
  example::declare(app, arguments.options, "start jobs on several numbers of ranks and compare");
}

/// Completes the task. Returns a complaint, if there is one.
std::string complete(Arguments& arguments) {
  Task& task = arguments.task;
  const auto& points = arguments.points;
  if (points.size() == 2)
    return fmt::format("no box ({} and {} points along its edges), give --points one number or three", points[0],
                       points[1]);
  for (std::size_t axis = 0; axis < 3; ++axis) task.problem.points[axis] = points[points.size() == 1 ? 0 : axis];
  if (task.problem.count() > static_cast<std::uint64_t>(std::numeric_limits<int>::max()) / 8)
    return fmt::format("a matrix too large ({} rows, the library counts entries by int), try fewer --points",
                       task.problem.count());
  std::vector<std::string> dots;  // each once, in one order
  for (const char* dot : {"plain", "exact", "binned"})
    if (std::find(task.dots.begin(), task.dots.end(), dot) != task.dots.end()) dots.emplace_back(dot);
  task.dots = dots;
  return {};
}

/// The task as words of a command line.
std::string words_of(const Task& task) {
  const auto& [x, y, z] = task.problem.points;
  return fmt::format(
      "--points {},{},{} --contrast {} --solver {} --preconditioner {} --product {} --tolerance {} --iterations {} "
      "--repeat {} --dot {}",
      x, y, z, task.problem.contrast, task.solver, task.preconditioner, task.product, task.tolerance,
      task.most_iterations, task.repetitions, fmt::join(task.dots, ","));
}

}  // namespace

int run_program(int argc, char** argv, const Library& library, const std::function<void()>& begin,
                const std::function<void()>& end) {
  CLI::App app(fmt::format("Solves -div(k grad u) = f with {} and reproducible dot products", library.version));
  Arguments arguments;
  declare(app, arguments);
  return example::run_program(
      app, argc, argv, arguments.options,
      {.complete = [&] { return complete(arguments); },
       .advice = "try fewer --points",
       .job =
           [&](const example::Ranks& ranks) {
             begin();
             example::Record record = run_job(library, arguments.task, ranks);
             end();
             return record;
           },
       .describe = describe,
       .compare = [&] { return compare(words_of(arguments.task), arguments.options.rank_counts); }});
}

}  // namespace adapters
