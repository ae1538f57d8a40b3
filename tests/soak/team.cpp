// The soak over teams: programs on threads of this process, by the public C interface.
#include <mutex>
#include <thread>
#include <vector>

#include "driver.hpp"
#include "group_library.hpp"
#include "runner.hpp"
#include "steadfold/steadfold_team.h"
#include "watchdog.hpp"

namespace steadfold::soak {
namespace {

constexpr std::uint64_t cases_of_program = 25;
constexpr std::uint64_t most_workers = 9;

/// One worker's part of a program.
Tally run_worker(sf_team* team, std::size_t worker, std::size_t workers, std::uint64_t seed, const Options& options) {
  Tally tally;
  sf_group* group = nullptr;
  if (sf_team_group(team, static_cast<int>(worker), &group) != SF_OK)
    std::fprintf(stderr, "no group: %s\n", sf_error_text());
  Preparation preparation(seed, workers, 1, {.elements = 3000});
  GroupLibrary library(group);
  Runner runner(library, preparation, worker, tally);
  const std::uint64_t first = options.only.value_or(0);
  for (std::uint64_t number = first; number < (options.only ? first + 1 : cases_of_program); ++number)
    runner.run(number);
  return tally;
}

void run_program(std::uint64_t seed, const Options& options, Tally& total) {
  const std::size_t workers = 1 + Random(mixed(seed, 3)).below(most_workers);
  sf_team* team = nullptr;
  if (sf_team_create(static_cast<int>(workers), &team) != SF_OK) std::fprintf(stderr, "no team: %s\n", sf_error_text());
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    for (std::size_t worker = 0; worker < workers; ++worker)
      threads.emplace_back([&, worker] {
        const Tally tally = run_worker(team, worker, workers, seed, options);
        const std::lock_guard lock(mutex);
        total.cases += tally.cases;
        total.compared += tally.compared;
        total.wrong += tally.wrong;
      });
  }
  sf_team_free(team);
}

int soak(const Options& options) {
  Tally total;
  const Clock clock(options.seconds);
  std::uint64_t done = 0;
  for (; done < options.programs && !clock.is_over(); ++done) run_program(options.seed + done, options, total);
  return conclude(total, done);
}

}  // namespace
}  // namespace steadfold::soak

int main(int argc, char** argv) {
  const auto options = steadfold::soak::options_of(argc, argv);
  steadfold::soak::watch();
  return steadfold::soak::soak(options);
}
