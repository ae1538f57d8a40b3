// The laboratory, `steadfold-lab`: the command `steadfold` with studies and with benchmarks that no user decides by.
#include <algorithm>
#include <vector>

#include "laboratory.hpp"
#include "tools/command_line.hpp"

namespace steadfold::command {
namespace {

constexpr SubcommandRow of_the_laboratory[] = {
    {"bench", [](CLI::App& app, Action& action) { add_bench(app, action, laboratory::benchmarks()); }},
    {"bench-worker", [](CLI::App& app, Action& action) { add_bench_worker(app, action, laboratory::benchmarks()); },
     Job::Mpi::always},
    {"bench-launch", [](CLI::App& app, Action& action) { add_bench_launch(app, action, laboratory::benchmarks()); }},
    {"study", laboratory::add_study, Job::Mpi::never},
    {"control-worker", laboratory::add_control_worker, Job::Mpi::always},
};

/// The command's subcommands, with those of the laboratory in their places.
std::vector<SubcommandRow> all_subcommands() {
  const auto known = subcommands();
  std::vector<SubcommandRow> rows(known.begin(), known.end());
  for (const SubcommandRow& row : of_the_laboratory) {
    const auto place = std::ranges::find(rows, std::string_view(row.name), &SubcommandRow::name);
    place == rows.end() ? rows.push_back(row) : void(*place = row);
  }
  return rows;
}

}  // namespace
}  // namespace steadfold::command

int main(int argc, char** argv) {
  return steadfold::command::run_command_line(steadfold::command::all_subcommands(), argc, argv);
}
