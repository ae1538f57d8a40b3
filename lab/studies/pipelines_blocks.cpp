// The linear pipeline's time by block, for the jobs that [S1] ran, beside the lemma's block and the best one in [S1].
// Source: [S1] figure 4 and section 2.3: of powers of ten 10^4 is best, but 10^3 with one process per node and 10^5 on
// one node; none is known for 36 x 32, a job that took too long. It counts blocks in floats.
#include <fmt/format.h>
#include <cmath>

#include "pipelines.hpp"

namespace steadfold::command::studies::pipelines {
namespace {

using order::Count;

constexpr Count count = 10'000'000;

struct Published {
  Configuration configuration;
  Count block;  // the best one; 0: not stated
};
constexpr Published all_published[] = {{{1, 16}, 100'000}, {{1, 32}, 100'000}, {{20, 1}, 1'000},   {{20, 16}, 10'000},
                                       {{20, 32}, 10'000}, {{36, 1}, 1'000},   {{36, 16}, 10'000}, {{36, 32}, 0}};

struct Tried {
  Count block;
  Time time;
};

std::vector<Tried> tried(const Configuration& configuration, const Asked& asked) {
  std::vector<Tried> all;
  for (Count block = 10; block <= count; block *= 10) {
    all.push_back(
        {block, time_of(floats(configuration.ranks(), count), fmt::format("pipelined_linear:block={}", block), asked)});
  }
  return all;
}

void add_rows(const Published& published, const Asked& asked, Json& rows) {
  const Configuration& configuration = published.configuration;
  const std::vector<Tried> all = tried(configuration, asked);
  const Count best = std::ranges::min_element(all, {}, [](const Tried& each) { return each.time.seconds; })->block;
  const Count lemma =
      block_of(count, scenario_of(floats(configuration.ranks(), count), "pipelined_linear", asked).segments);
  for (const Tried& each : all) {
    rows.push_back({{"part", "blocks"},
                    {"configuration", text_of(configuration)},
                    {"ranks", configuration.ranks()},
                    {"block", each.block},
                    {"seconds", each.time.seconds},
                    {"by", each.time.by},
                    {"best_block", best},
                    {"lemma_block", lemma},
                    {"published_block", published.block > 0 ? Json(published.block) : Json()}});
  }
}

}  // namespace

Findings blocks(const Asked& asked) {
  Findings found;
  for (const Published& each : all_published) add_rows(each, linear(asked), found.rows);
  return found;
}

}  // namespace steadfold::command::studies::pipelines
