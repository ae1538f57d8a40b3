// example_climate: a small ocean on a grid that is dealt to ranks in blocks. Its global means enter every step, so a
// last bit of a sum reaches every cell; its heat budget is kept exactly, over a restart with another number of ranks,
// too.
//   mpirun -n 3 example_climate [--plain] [--json]     one job
//   example_climate --compare                          starts the jobs itself, on several rank counts
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "common/launch.hpp"
#include "common/run.hpp"
#include "compare.hpp"
#include "job.hpp"
#include "table.hpp"

namespace {

struct Arguments {
  climate::Task task;
  std::vector<std::uint64_t> cells = {48, 36, 4};
  std::vector<int> rank_counts = {1, 2, 3, 4, 5};
  bool json = false, compare = false;
};

void declare(CLI::App& app, Arguments& arguments) {
  auto* json = app.add_flag("--json", arguments.json, "print one JSON object instead of a table");
  auto* compare = app.add_flag("--compare", arguments.compare,
                               "start jobs of several rank counts, and a restart, and compare their bits");
  compare->excludes(json);
  app.add_option("--ranks", arguments.rank_counts, "rank counts to compare")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->needs(compare)
      ->capture_default_str();
  app.add_option("--cells", arguments.cells, "cells along longitude and latitude, and levels")
      ->delimiter(',')
      ->expected(3)
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{4096}))
      ->capture_default_str();
  app.add_option("--steps", arguments.task.steps, "steps of the model")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_flag("--plain", arguments.task.plain, "sums by loops and MPI_Allreduce, the control")->excludes(compare);
  app.add_option("--save", arguments.task.save, "a directory for the state after the last step")->excludes(compare);
  app.add_option("--load", arguments.task.load, "goes on from there, on any number of ranks")->excludes(compare);
}

/// What every rank does. `complaint` is about the command line, the same on all ranks.
int run(const Arguments& arguments, const std::string& complaint) {
  return example::run_on_ranks(complaint, "try fewer --cells", [&](const example::Ranks& ranks) {
    const climate::Record record = climate::run_job(arguments.task, ranks);
    if (example::is_first(ranks)) fmt::print("{}", arguments.json ? record.dump() + "\n" : climate::describe(record));
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Lets a small ocean mix and take heat through its surface, over any number of ranks");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
    const auto& cells = arguments.cells;
    arguments.task.grid = {.columns = cells[0], .rows = cells[1], .levels = cells[2]};
    if (!arguments.compare) return run(arguments, "");
    if (const int ranks = example::ranks_of_outer_job(); ranks > 1)
      return run(arguments,
                 fmt::format("--compare starts ranks itself (these are {} already), leave out mpirun", ranks));
    return climate::compare(fmt::format("--cells {},{},{}", cells[0], cells[1], cells[2]), arguments.task.steps,
                            arguments.rank_counts);
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return run(arguments, fmt::format("cannot use the command line ({}), see --help", error.what()));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return example::usage_error;
  }
}
