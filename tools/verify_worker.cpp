// `steadfold verify-worker`: the ranks that `verify` starts. Reads the file once and sums it for every requested case.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "measure.hpp"
#include "verify_case.hpp"
#include "worker.hpp"

namespace steadfold::command {
namespace {

struct VerifyWorkerOptions {
  Request request;
  std::vector<std::string> cases;
};

Json rows_of(const Job& job, const VerifyWorkerOptions& options, const Share& share) {
  Json rows = Json::array();
  for (const std::string& text : options.cases) {
    const Case each = case_in(text);
    const Summed summed = command::summed(
        job, share,
        {.method = each.method, .schedule = each.schedule, .rooted = options.request.rooted_by(each.schedule)});
    rows.push_back({{"ranks", job.rank_count()},
                    {"method", each.method},
                    {"schedule", each.schedule},
                    {"ran", summed.schedule},
                    {"compared", summed.compared},
                    {"bits", summed.bits},
                    {"same_on_all_ranks", summed.same_on_all_ranks}});
  }
  return rows;
}

Result run(const Job& job, const VerifyWorkerOptions& options) {
  return answer(job, "verify-worker", [&](Json& answer) {
    const Share share = load(job, options.request);
    answer["missing"] = share.missing_count;
    answer["rows"] = rows_of(job, options, share);
  });
}

}  // namespace

void add_verify_worker(CLI::App& app, Action& action) {
  CLI::App& worker = *app.add_subcommand("verify-worker", "The ranks that verify starts")->group("");
  const auto options = std::make_shared<VerifyWorkerOptions>();
  options->request.add_to(worker);
  worker.add_option("--case", options->cases, "METHOD@SCHEDULE")->required()->allow_extra_args(false);
  worker.callback([options, &action] { action = [options](const Job& job) { return run(job, *options); }; });
}

}  // namespace steadfold::command
