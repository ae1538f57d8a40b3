// `steadfold check-schedules`: proves every schedule symbolically, for every rank count up to a limit.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "command.hpp"
#include "long_work.hpp"
#include "program/launcher.hpp"
#include "schedule/checker/checker.hpp"

namespace steadfold::command {
namespace {

using schedule::Prover;
using schedule::SweepPart;
using schedule::SweepResult;

struct Options {
  int max_ranks = 64;
  int threads = 0;  // number of threads; 0: one per core
  bool json = false;
};

/// Estimates the time of a part, in any unit. Up to 32 ranks all roots are tried, beyond 32 only a few.
double cost_of(const SweepPart& part) {
  const double ranks = part.rank_count;
  return (part.rank_count <= 32 ? 16 : 1) * ranks * ranks;
}

std::string summary_of(const SweepResult& sweep) {
  std::string text;
  for (const std::string& failure : sweep.failures) text += failure + "\n";
  return text + fmt::format("{} passed, {} failed", sweep.passed, sweep.failures.size());
}

/// A sweep whose parts are distributed to threads. Small jobs come first, so at any time all schedules are proved up to
/// some rank count. The results are in the order of the parts.
class SharedSweep {
 public:
  SharedSweep(int max_ranks, LongWork& work)
      : max_ranks_(max_ranks), work_(work), parts_(schedule::parts_of_sweep(1, max_ranks)) {
    for (std::size_t i = 0; i < parts_.size(); ++i) order_.push_back(i);
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return parts_[i].rank_count; });
    for (const SweepPart& part : parts_) cost_ += cost_of(part);
    results_.resize(parts_.size());
    is_proved_.resize(parts_.size());
  }

  SweepResult prove(int threads) {
    {
      std::vector<std::jthread> others;
      for (int i = 1; i < threads; ++i) others.emplace_back([this] { take_parts(); });
      take_parts();
    }
    if (thrown_) std::rethrow_exception(thrown_);
    SweepResult all;
    for (SweepResult& each : results_) all.add(std::move(each));
    return all;
  }

 private:
  void take_parts() {
    Prover prover;
    try {
      for (std::size_t i = next(); i < parts_.size(); i = next()) put(i, check_part(parts_[i], prover));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      thrown_ = std::current_exception();
      taken_ = order_.size();
    }
  }

  /// Returns the next part for a thread; the number of parts if none is left.
  std::size_t next() {
    const std::lock_guard lock(mutex_);
    return taken_ < order_.size() ? order_[taken_++] : parts_.size();
  }

  void put(std::size_t part, SweepResult result) {
    const std::lock_guard lock(mutex_);
    is_proved_[part] = true;
    proved_cost_ += cost_of(parts_[part]);
    so_far_.add(result);
    results_[part] = std::move(result);
    while (proved_ < order_.size() && is_proved_[order_[proved_]]) ++proved_;
    if (proved_ == order_.size()) return;
    const int at = parts_[order_[proved_]].rank_count;
    work_.show(fmt::format("checking for {} of {} ranks, {} passed, {} failed", at, max_ranks_, so_far_.passed,
                           so_far_.failures.size()),
               proved_cost_ / cost_);
    work_.keep([sweep = so_far_, at] {
      return fmt::format("{}; every schedule was checked for up to {} ranks\n", summary_of(sweep), at - 1);
    });
  }

  const int max_ranks_;
  LongWork& work_;
  const std::vector<SweepPart> parts_;
  std::vector<std::size_t> order_;  // parts in the order in which threads take them
  double cost_ = 0;

  std::mutex mutex_;        // guards the following members
  std::size_t taken_ = 0;   // number of parts that threads have taken
  std::size_t proved_ = 0;  // index in order_ up to which all parts are proved
  double proved_cost_ = 0;
  std::vector<bool> is_proved_;  // by part: whether it is proved
  std::vector<SweepResult> results_;
  SweepResult so_far_;
  std::exception_ptr thrown_;
};

Result run(const Options& options) {
  constexpr int many_ranks = 200;
  if (options.max_ranks >= many_ranks)
    announce_minutes(fmt::format("checking every schedule for every rank count up to {}", options.max_ranks));
  LongWork work(options.json ? LongWork::Output::json : LongWork::Output::for_people);
  const int threads = options.threads > 0 ? options.threads : std::max(core_count(), 1);
  const SweepResult sweep = SharedSweep(options.max_ranks, work).prove(threads);
  const ExitStatus status = sweep.failures.empty() ? all_well : check_failed;
  if (options.json)
    return {line_of({{"passed", sweep.passed}, {"failed", sweep.failures.size()}, {"failures", sweep.failures}}),
            status};
  return {summary_of(sweep) + "\n", status};
}

}  // namespace

void add_check_schedules(CLI::App& app, Action& action) {
  CLI::App& check = *app.add_subcommand(
      "check-schedules", "Check symbolically that every schedule is correct, for every number of ranks up to a limit");
  const auto options = std::make_shared<Options>();
  check.add_option("--max-ranks", options->max_ranks, "The greatest number of ranks")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  check.add_option("--threads", options->threads, "Number of threads; default: one per core")
      ->check(CLI::Range(1, 256));
  check.add_flag("--json", options->json, "Print one JSON object");
  check.callback([options, &action] {
    action = [options](const Job& job) { return job.rank() == 0 ? run(*options) : Result{}; };
  });
}

}  // namespace steadfold::command
