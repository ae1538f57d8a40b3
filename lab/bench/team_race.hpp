// One contest of allreduces between the workers of a team: a sum of one vector per worker, by calls and plans of the
// team and by rivals, as one worker goes through them.
// Source: [S2] for the setting.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/contest.hpp"
#include "bench/harness.hpp"
#include "program/job.hpp"
#include "program/methods.hpp"
#include "steadfold/team.hpp"

namespace steadfold::bench {

class TeamRace {
 public:
  /// Of vectors of `count` doubles.
  TeamRace(const Team::Member& member, std::size_t count) : member_(member), mine_(count), result_(count), due_(count) {
    const int rank = member.group().rank();
    const int ranks = member.group().size();
    for (std::size_t i = 0; i < count; ++i) {
      mine_[i] = 1.0 + rank + static_cast<double>(i % 7);
      due_[i] = ranks * (1.0 + static_cast<double>(i % 7)) + ranks * (ranks - 1.0) / 2;
    }
  }
  TeamRace(const TeamRace&) = delete;
  TeamRace& operator=(const TeamRace&) = delete;

  std::span<const double> mine() const noexcept { return mine_; }
  std::span<double> result() noexcept { return result_; }

  /// Before any `add`. Rivals may refer to `mine` and `result`.
  void add_rival(Candidate rival) {
    entrants_.push_back({rival.name, {{"method", "rival"}}, {}});
    candidates_.push_back(std::move(rival));
    rival_count_ += 1;
  }

  void add(const std::string& method, const std::string& schedule) {
    const Options options{.method = command::method_named(method), .schedule = schedule == "auto" ? "" : schedule};
    if (schedule == "auto")
      add_way(method, schedule, "allreduce", calls_of([this, options] {
                std::copy(mine_.begin(), mine_.end(), result_.begin());
                sf::allreduce(result_, sf::plus, member_, options);
              }));
    auto plan =
        std::make_shared<VectorPlan<double>>(Plan<double>::of_vectors(sf::plus, mine_.size(), member_, options));
    add_way(method, schedule, "plan", calls_of([this, plan] { plan->run(mine_, result_); }));
  }

  /// Collective. Throws Failure if a result of the team is wrong.
  void check(const Together& together) {
    for (std::size_t i = rival_count_; i < candidates_.size(); ++i) {
      together.barrier();
      std::fill(result_.begin(), result_.end(), 0.0);
      candidates_[i].run(1);
      if (result_ != due_) throw command::Failure("wrong result of " + candidates_[i].name);
    }
  }

  /// `labels` are those of the method's, the count's and the place's: see contest.hpp.
  Contest measure(Json labels, int rounds, const Together& together) {
    const Json common = {{"operator", "sum"},
                         {"type", "f64"},
                         {"count", mine_.size()},
                         {"bytes", mine_.size() * sizeof(double)},
                         {"transport", member_.group().transport()}};
    labels.update(common);
    Contest contest{.labels = std::move(labels), .entrants = entrants_, .rival_count = rival_count_};
    auto samples = interleave(candidates_, rounds, together);
    for (std::size_t i = 0; i < samples.size(); ++i) contest.entrants[i].launches = {std::move(samples[i])};
    return contest;
  }

 private:
  void add_way(const std::string& method, const std::string& schedule, const std::string& call,
               std::function<void(std::size_t)> run) {
    std::vector<std::size_t> rivals(rival_count_);
    std::iota(rivals.begin(), rivals.end(), std::size_t{0});
    const std::string name = fmt::format("{} {} {}", method, schedule, call);
    entrants_.push_back({name,
                         {{"method", method},
                          {"schedule", schedule},
                          {"call", call},
                          {"passthrough", false},
                          {"same_on_all_ranks", true}},
                         {},
                         rivals});
    candidates_.push_back({.name = name, .run = std::move(run)});
  }

  Team::Member member_;
  std::vector<double> mine_;
  std::vector<double> result_;
  std::vector<double> due_;
  std::vector<Candidate> candidates_;
  std::vector<Entrant> entrants_;
  std::size_t rival_count_ = 0;
};

}  // namespace steadfold::bench
