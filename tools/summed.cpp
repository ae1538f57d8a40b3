// One sum: a plan is bound once, traced for its messages, then timed without a trace.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <bit>

#include "measure.hpp"
#include "program/methods.hpp"
#include "steadfold/mpi.hpp"

namespace steadfold::command {
namespace {

template <class T>
std::uint64_t pattern(T value) noexcept {
  if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(value);
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(value);
}

bool same_everywhere(std::uint64_t word) {
  std::uint64_t words[] = {word, ~word};
  MPI_Allreduce(MPI_IN_PLACE, words, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  return words[0] == ~words[1];
}

Traffic traffic_of(const sf_figures& figures) {
  std::uint64_t sums[] = {figures.messages, figures.bytes};
  std::uint64_t rounds = figures.rounds;
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return {sums[0], rounds, sums[1]};
}

double slowest(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/// A plan and the elements that it runs over.
template <class T>
class Runner {
 public:
  Runner(const Job& job, const Share& share, const Sum& sum)
      : job_(job), elements_(std::get<std::vector<T>>(share.elements)), rooted_(sum.rooted) {
    Options options{.method = method_named(sum.method), .layout = Layout::intervals({share.mine}, share.element_count)};
    if (sum.rooted) options.root = 0;
    if (sum.schedule != "auto") options.schedule = sum.schedule;
    job.together([&] { plan_.emplace(plus, elements_.size(), MPI_COMM_WORLD, options); });
  }

  T run() {
    T value{};
    job_.together([&] { value = plan_->run(elements_); });
    return value;
  }

  /// Runs once. Returns the run's traffic and sets `value`.
  std::optional<Traffic> trace(T& value) {
    job_.together([&] { plan_->trace(true); });
    value = run();
    const Traffic traffic = traffic_of(plan_->figures());
    job_.together([&] { plan_->trace(false); });
    if (plan_->schedule() == "native") return std::nullopt;
    return traffic;
  }

  /// Runs for about half a second at most, but at least once. Returns the median of the slowest rank's times; `same`
  /// becomes false if a run on this rank gave another result than `value`.
  double time(T value, bool& same) {
    std::vector<double> seconds;
    std::size_t runs = 1;
    for (std::size_t i = 0; i < runs; ++i) {
      const double before = MPI_Wtime();
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      const T again = plan_->run(elements_);
      const double end = MPI_Wtime();
      same = same && (pattern(again) == pattern(value) || (rooted_ && job_.rank() != 0));
      seconds.push_back(slowest(end - start));
      if (i == 0) runs = static_cast<std::size_t>(std::clamp(0.5 / slowest(end - before), 1.0, 31.0));
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
  const std::vector<T>& elements_;
  bool rooted_;
  std::optional<Plan<T>> plan_;
};

template <class T>
Summed summed_as(const Job& job, const Share& share, const Sum& sum) {
  Runner<T> runner(job, share, sum);
  Summed result;
  result.schedule = runner.schedule();
  result.compared = runner.compared();
  T value{};
  if (sum.measured) {
    result.traffic = runner.trace(value);
    job.together([&] { result.seconds = runner.time(value, result.same_in_all_runs); });
    result.same_in_all_runs = same_everywhere(result.same_in_all_runs ? 0 : 1) && result.same_in_all_runs;
  } else {
    value = runner.run();
  }
  result.same_on_all_ranks = sum.rooted || same_everywhere(pattern(value));
  result.value = static_cast<double>(value);
  result.bits = fmt::format("{:0{}X}", pattern(value), 2 * sizeof(T));
  return result;
}

}  // namespace

Summed summed(const Job& job, const Share& share, const Sum& sum) {
  const bool wide = std::holds_alternative<std::vector<double>>(share.elements);
  return wide ? summed_as<double>(job, share, sum) : summed_as<float>(job, share, sum);
}

}  // namespace steadfold::command
