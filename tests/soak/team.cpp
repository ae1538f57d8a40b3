// The soak over teams: programs on threads of this process, over the public C interface.
#include "program.hpp"
#include "watchdog.hpp"

namespace steadfold::soak {
namespace {

constexpr std::uint64_t cases_of_program = 25;
constexpr std::uint64_t most_workers = 9;

void run_program(std::uint64_t seed, const Options& options, Tally& total) {
  const std::uint64_t workers = 1 + Random(mixed(seed, 3)).below(most_workers);
  sf_team* team = nullptr;
  if (sf_team_create(static_cast<int>(workers), &team) != SF_OK) std::fprintf(stderr, "no team: %s\n", sf_error_text());
  run_on_team({.seed = seed, .cases = cases_of_program}, team, options, total);
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
