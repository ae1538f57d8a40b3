#include "node_sum_race.hpp"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "bench/fast_math.hpp"
#include "bench/harness.hpp"
#include "bench/vectors.hpp"
#include "lab/bench/pinned.hpp"
#include "lab/bench/thread_rivals.hpp"
#include "node_threads.hpp"
#include "program/methods.hpp"
#include "steadfold/team.hpp"

namespace steadfold::command::studies::node {
namespace {

bool is_loop(const Way& way) { return way.method == std::string_view("fastmath"); }

/// What a result may be: these bits, or so near to the sum.
struct Due {
  double sum = 0;
  std::optional<double> tolerance = std::nullopt;

  bool is_met_by(double result) const {
    if (tolerance) return std::abs(result - sum) <= *tolerance;
    return std::bit_cast<std::uint64_t>(result) == std::bit_cast<std::uint64_t>(sum);
  }
};

/// By one thread, without a team. Any order of adding n numbers is off by at most (n - 1) u times the sum of absolute
/// values, but for terms of u^2; twice that here.
Due due_of(const Way& way, std::span<const double> numbers) {
  const bool promises = !is_loop(way) && promises_the_same_bits(way.method);
  if (promises) return {.sum = sum(numbers, LocalOptions{.method = method_named(family_of(way.method))})};
  const double most = static_cast<double>(numbers.size()) * std::numeric_limits<double>::epsilon();
  return {.sum = sum(numbers), .tolerance = most * abs_sum(numbers)};
}

/// One thread's end of a way.
class Summing {
 public:
  Summing(const Way& way, std::span<const double> share, const Team::Member& member)
      : share_(share), is_loop_(is_loop(way)), plan_(plus, is_loop_ ? 1 : share.size(), member, options_of(way)) {}

  double run() {
    if (!is_loop_) return result_ = plan_.run(share_);
    const double mine = bench::fast_sum(share_.data(), share_.size());
    return result_ = plan_.run(std::span(&mine, 1));
  }
  double result() const { return result_; }
  std::string chosen() const {
    return plan_.describe().find("\ntogether:") != std::string::npos ? "together" : plan_.schedule();
  }

 private:
  static Options options_of(const Way& way) {
    return {.method = is_loop(way) ? plain() : method_named(way.method),
            .schedule = way.schedule == std::string_view("auto") ? "" : way.schedule};
  }

  std::span<const double> share_;
  bool is_loop_;
  Plan<double> plan_;
  double result_ = 0;
};

std::span<const double> share_of(std::span<const double> numbers, unsigned thread, unsigned threads) {
  const std::size_t first = numbers.size() * thread / threads;
  return numbers.subspan(first, numbers.size() * (thread + 1) / threads - first);
}

/// All ways on one thread.
class Runner {
 public:
  Runner(std::span<const double> share, const Team::Member& member, std::span<const Due> due,
         std::atomic<const Way*>& wrong) {
    for (std::size_t i = 0; i < std::size(ways); ++i) {
      sums_.push_back(std::make_unique<Summing>(ways[i], share, member));
      Summing& sum = *sums_.back();
      candidates_.push_back({.name = ways[i].method,
                             .run = bench::calls_of([&sum] { bench::keep(sum.run()); }),
                             .finish = [&sum, due = due[i], &wrong, i] {
                               if (!due.is_met_by(sum.result())) wrong.store(&ways[i]);
                             }});
    }
  }

  std::vector<Raced> race(int rounds, const bench::Together& together) {
    auto samples = bench::interleave(candidates_, rounds, together);
    std::vector<Raced> raced;
    for (std::size_t i = 0; i < samples.size(); ++i)
      raced.push_back({.chosen = sums_[i]->chosen(),
                       .bits = fmt::format("{:016X}", std::bit_cast<std::uint64_t>(sums_[i]->result())),
                       .seconds = std::move(samples[i].seconds)});
    return raced;
  }

 private:
  std::vector<std::unique_ptr<Summing>> sums_;
  std::vector<bench::Candidate> candidates_;
};

}  // namespace

std::vector<double> numbers_to_add(std::size_t elements) {
  std::vector<double> numbers(elements);
  const std::size_t half = elements / 2;
  for (std::size_t i = 0; i < elements; ++i) {
    if (i % 2 == 1)
      numbers[i] = std::ldexp(bench::element_at(0, i), -90);
    else
      numbers[i] =
          i < half ? bench::element_at(0, i) : -bench::element_at(0, 40503 * i % half);  // odd: every place once
  }
  return numbers;
}

std::vector<Raced> race_sums(unsigned threads, std::span<const double> numbers, int rounds) {
  std::vector<Due> due;
  for (const Way& way : ways) due.push_back(due_of(way, numbers));
  std::atomic<const Way*> wrong = nullptr;
  std::vector<Raced> raced;
  bench::Meeting meeting(threads);
  const Team team(static_cast<int>(threads));
  bench::on_pinned_threads(threads, 0, [&](unsigned thread) {
    const bench::Together together = meeting.together();
    Runner runner(share_of(numbers, thread, threads), team[static_cast<int>(thread)], due, wrong);
    std::vector<Raced> mine = runner.race(rounds, together);
    if (thread == 0) raced = std::move(mine);
    together.barrier();
  });
  if (const Way* const way = wrong.load())
    throw Failure(
        fmt::format("wrong sum of {} numbers by {} {} on {} threads (it is not that of one thread), report it",
                    numbers.size(), way->method, way->schedule, threads));
  return raced;
}

Json row_of(const char* part, unsigned threads, std::size_t elements, std::size_t way, const Raced& raced) {
  Json row = {{"part", part},
              {"elements", elements},
              {"threads", threads},
              {"oversubscribed", is_oversubscribed(threads)},
              {"method", ways[way].method},
              {"schedule", ways[way].schedule},
              {"chosen", raced.chosen}};
  add_times(row, raced.seconds);
  row["bits"] = raced.bits;
  return row;
}

}  // namespace steadfold::command::studies::node
