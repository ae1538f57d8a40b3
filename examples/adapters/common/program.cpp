// The command line; see library.hpp.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <limits>
#include <stdexcept>

#include "adapters/common/job.hpp"

namespace adapters {
namespace {

struct Arguments {
  Task task;
  std::vector<std::uint64_t> points = {24};
  std::vector<int> rank_counts = {1, 2, 3, 4, 5};
  bool json = false, compare = false;
};

/// A range that a NaN is not in.
CLI::Validator between(double low, double high) {
  const auto complain = [=](const std::string& text) {
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool fits = fault == std::errc() && end == text.data() + text.size() && value >= low && value <= high;
    return fits ? std::string() : fmt::format("Value {} not in range {} to {}", text, low, high);
  };
  return {complain, fmt::format("in [{} - {}]", low, high)};
}

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
  auto* json = app.add_flag("--json", arguments.json, "print one JSON object instead of a table");
  auto* compare = app.add_flag("--compare", arguments.compare, "start jobs on several numbers of ranks and compare");
  compare->excludes(json);
  app.add_option("--ranks", arguments.rank_counts, "numbers of ranks to compare")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->needs(compare)
      ->capture_default_str();
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
  const auto run = [&](const std::string& complaint) {
    return example::run_on_ranks(complaint, "try fewer --points", [&](const example::Ranks& ranks) {
      begin();
      const example::Record record = run_job(library, arguments.task, ranks);
      if (ranks.rank == 0) fmt::print("{}", arguments.json ? record.dump() + "\n" : describe(record));
      end();
    });
  };
  try {
    app.parse(argc, argv);
    std::string complaint = complete(arguments);
    if (!arguments.compare || !complaint.empty()) return run(complaint);
    if (const int ranks = example::ranks_of_outer_job(); ranks > 1)
      return run(fmt::format("--compare starts ranks itself (these are {} already), leave out mpirun", ranks));
    return compare(words_of(arguments.task), arguments.rank_counts);
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return run(fmt::format("cannot use the command line ({}), see --help", error.what()));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return example::usage_error;
  }
}

}  // namespace adapters
