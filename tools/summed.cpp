// Computes one sum, or another operation: a plan is bound once, its messages are traced in one run, and then runs are
// timed without a trace.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include "measure.hpp"
#include "program/methods.hpp"
#include "steadfold/plan.hpp"
#include "steadfold/started.hpp"
#include "steadfold/team.hpp"

namespace steadfold::command {
namespace {

template <class T>
std::uint64_t pattern(T value) noexcept {
  if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(value);
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(value);
}

/// Returns the bits of a result.
template <class Result>
auto words_of(const Result& value) noexcept {
  if constexpr (std::is_same_v<Result, Statistics>)
    return std::bit_cast<std::array<std::uint64_t, sizeof value / 8>>(value);
  else
    return std::array{pattern(value)};
}

template <class Words>
bool same_everywhere(const Job& job, const Words& words) {
  return std::ranges::all_of(job.gather(words), [&](const Words& other) { return other == words; });
}

Traffic traffic_of(const Job& job, const sf_figures& own) {
  Traffic all;
  for (const sf_figures& figures : job.gather(own)) {
    all.messages += figures.messages;
    all.rounds = std::max<std::uint64_t>(all.rounds, figures.rounds);
    all.bytes += figures.bytes;
  }
  return all;
}

using Clock = std::chrono::steady_clock;

/// Returns the time of the slowest rank, in seconds.
double slowest(const Job& job, Clock::duration mine) {
  return std::chrono::duration<double>(std::ranges::max(job.gather(mine))).count();
}

/// A plan, and the elements that it reduces.
template <class T, class Result>
class Runner {
 public:
  template <class Op>
  Runner(const Job& job, const Share& share, const Sum& sum, const Op& op)
      : job_(job), group_(job.group()), elements_(std::get<std::vector<T>>(share.elements)), rooted_(sum.rooted) {
    Options options{.method = method_named(sum.method), .layout = Layout::intervals({share.mine}, share.element_count)};
    if (sum.rooted) options.root = 0;
    if (sum.schedule != "auto") options.schedule = sum.schedule;
    if (group_.handle() == nullptr) group_ = group_of(alone_.emplace(1)[0]);
    job.together([&] { plan_.emplace(op, elements_.size(), group_, options); });
  }

  Result run() {
    Result value{};
    job_.together([&] { value = plan_->run(elements_); });
    return value;
  }

  /// Runs the plan once. Returns the run's traffic and sets `value`.
  std::optional<Traffic> trace(Result& value) {
    job_.together([&] { plan_->trace(true); });
    value = run();
    const Traffic traffic = traffic_of(job_, plan_->figures());
    job_.together([&] { plan_->trace(false); });
    if (plan_->schedule() == "native") return std::nullopt;
    return traffic;
  }

  /// Runs the plan for about half a second at most, but at least once. Returns the median of the slowest rank's times;
  /// `same` becomes false if a run on this rank gave another result than `value`.
  double time(const Result& value, bool& same) {
    std::vector<double> seconds;
    std::size_t runs = 1;
    for (std::size_t i = 0; i < runs; ++i) {
      const auto before = Clock::now();
      barrier(group_);
      const auto start = Clock::now();
      const Result again = plan_->run(elements_);
      const auto end = Clock::now();
      same = same && (words_of(again) == words_of(value) || (rooted_ && job_.rank() != 0));
      seconds.push_back(slowest(job_, end - start));
      if (i == 0) runs = static_cast<std::size_t>(std::clamp(0.5 / slowest(job_, end - before), 1.0, 31.0));
    }
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(runs / 2), seconds.end());
    return seconds[runs / 2];
  }

  std::string schedule() const { return plan_->schedule(); }

  std::string compared() const {
    const std::string text = plan_->describe();
    const auto begin = text.find("\npredicted ");
    return begin == std::string::npos ? "" : text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
  }

 private:
  const Job& job_;
  std::optional<Team> alone_;  // used if there is no job, in place of the job's group
  Group group_;
  const std::vector<T>& elements_;
  bool rooted_;
  std::optional<Plan<T, Result>> plan_;
};

/// Writes the value of the operation to the result.
template <class T>
void take_value(Summed& result, T value, const std::string&) {
  result.value = static_cast<double>(value);
  result.bits = fmt::format("{:0{}X}", pattern(value), 2 * sizeof(T));
}
template <class T>
void take_value(Summed& result, const Statistics& found, const std::string& operation) {
  take_value<double>(result,
                     operation == "std"   ? found.deviation
                     : operation == "var" ? found.variance
                                          : found.mean,
                     "");
  result.statistics = found;
}

template <class T, class Result, class Op>
Summed summed_by(const Job& job, const Share& share, const Sum& sum, const Op& op) {
  Runner<T, Result> runner(job, share, sum, op);
  Summed result;
  result.schedule = runner.schedule();
  result.compared = runner.compared();
  Result value{};
  if (sum.measured) {
    result.traffic = runner.trace(value);
    job.together([&] { result.seconds = runner.time(value, result.same_in_all_runs); });
    result.same_in_all_runs =
        same_everywhere(job, std::array{result.same_in_all_runs ? 0 : 1}) && result.same_in_all_runs;
  } else {
    value = runner.run();
  }
  result.same_on_all_ranks = sum.rooted || same_everywhere(job, words_of(value));
  take_value<T>(result, value, sum.operation);
  return result;
}

template <class T>
Summed summed_as(const Job& job, const Share& share, const Sum& sum) {
  if (sum.operation == "sum") return summed_by<T, T>(job, share, sum, plus);
  if (sum.operation == "mean") return summed_by<T, T>(job, share, sum, mean);
  if (sum.operation == "min") return summed_by<T, T>(job, share, sum, min);
  if (sum.operation == "max") return summed_by<T, T>(job, share, sum, max);
  return summed_by<T, Statistics>(job, share, sum, statistics);
}

}  // namespace

Summed summed(const Job& job, const Share& share, const Sum& sum) {
  const bool wide = std::holds_alternative<std::vector<double>>(share.elements);
  return wide ? summed_as<double>(job, share, sum) : summed_as<float>(job, share, sum);
}

}  // namespace steadfold::command
