// `steadfold-lab control-worker`: the ranks that `study topology` starts for its control.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "control.hpp"
#include "laboratory.hpp"
#include "tools/worker.hpp"

namespace steadfold::command {

void laboratory::add_control_worker(CLI::App& app, Action& action) {
  CLI::App& worker = *app.add_subcommand("control-worker", "The ranks of study topology")->group("");
  worker.callback([&action] {
    action = [](const Job& job) {
      return answer(job, "control-worker", [&](Json& answer) {
        const ControlSums sums = control_sums(job);
        answer.update({{"plain", sums.plain}, {"tree", sums.tree}, {"exact", sums.exact}});
      });
    };
  });
}

}  // namespace steadfold::command
