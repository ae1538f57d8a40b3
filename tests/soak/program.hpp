// One rank's part of a program over the public C interface of groups: the group of a communicator, or of a team.
#pragma once

#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "driver.hpp"
#include "group_library.hpp"
#include "runner.hpp"
#include "steadfold/steadfold_team.h"

namespace steadfold::soak {

struct Program {
  std::uint64_t seed = 0;
  std::uint64_t cases = 0;         // the number of cases, unless one case is chosen
  std::uint64_t segments = 10000;  // the most segments of a schedule
  bool adds_words = true;          // the group's transport adds words
};

/// Runs the program on this rank. Plans that cases left behind are freed after `then`.
template <class Then>
void run_cases(const Program& program, sf_group* group, const Options& options, Tally& tally, const Then& then) {
  const auto ranks = static_cast<std::size_t>(sf_group_size(group));
  Preparation preparation(
      program.seed, ranks, 1,
      {.elements = 3000, .segments = program.segments, .adds_words = program.adds_words, .merges_accumulators = true});
  GroupLibrary library(group);
  Runner runner(library, preparation, static_cast<std::size_t>(sf_group_rank(group)), tally);
  const std::uint64_t first = options.only.value_or(0);
  for (std::uint64_t number = first; number < (options.only ? first + 1 : program.cases); ++number) runner.run(number);
  then();
}

/// Runs the program on the workers of a team in this process, each on its own thread, the first on this thread.
inline void run_on_team(const Program& program, sf_team* team, const Options& options, Tally& total) {
  std::mutex mutex;
  const auto run = [&](std::int32_t worker) {
    Tally tally;
    sf_group* group = nullptr;
    if (sf_team_group(team, worker, &group) != SF_OK) std::fprintf(stderr, "no group: %s\n", sf_error_text());
    run_cases(program, group, options, tally, [] {});
    const std::lock_guard lock(mutex);
    total.cases += tally.cases;
    total.compared += tally.compared;
    total.wrong += tally.wrong;
  };
  std::vector<std::jthread> threads;
  for (std::int32_t worker = 1; worker < sf_team_size(team); ++worker) threads.emplace_back(run, worker);
  run(0);
}

}  // namespace steadfold::soak
