// example_climate: a small ocean on a grid that is dealt to ranks in blocks. Its global means enter every step, so a
// last bit of a sum reaches every cell; its heat budget is kept exactly, over a restart with another number of ranks,
// too.
//   mpirun -n 3 example_climate [--plain] [--json]     one job
//   example_climate --compare                          starts the jobs itself, on several rank counts
#include <fmt/format.h>

#include "common/program.hpp"
#include "compare.hpp"
#include "job.hpp"
#include "table.hpp"

namespace {

struct Arguments {
  climate::Task task;
  std::vector<std::uint64_t> cells = {48, 36, 4};
  example::Options options = {.rank_counts = {1, 2, 3, 4, 5}};
};

void declare(CLI::App& app, Arguments& arguments) {
  auto* compare = example::declare(app, arguments.options,
                                   "start jobs of several rank counts, and a restart, and compare their bits");
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Lets a small ocean mix and take heat through its surface, over any number of ranks");
  Arguments arguments;
  declare(app, arguments);
  const auto& cells = arguments.cells;
  return example::run_program(
      app, argc, argv, arguments.options,
      {.complete =
           [&] {
             arguments.task.grid = {.columns = cells[0], .rows = cells[1], .levels = cells[2]};
             return std::string();
           },
       .advice = "try fewer --cells",
       .job = [&](const example::Ranks& ranks) { return climate::run_job(arguments.task, ranks); },
       .describe = climate::describe,
       .compare =
           [&] {
             return climate::compare(fmt::format("--cells {},{},{}", cells[0], cells[1], cells[2]),
                                     arguments.task.steps, arguments.options.rank_counts);
           }});
}
