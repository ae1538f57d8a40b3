// Run times and blocks by vector length, on 36 x 32 ranks, or as many as were asked for, that have a full-duplex port
// each and are not grouped in nodes. Source: [S1] figures 2, 3, 5, 6 and 7, of which only the text is available, and
// its running-time estimates; corollary 3 gives the linear pipeline's time, for one reduce and one broadcast of its
// lemma's best blocks each.
#include <fmt/format.h>
#include <charconv>
#include <cmath>
#include <limits>

#include "pipelines.hpp"

namespace steadfold::command::studies::pipelines {
namespace {

using order::Count;

std::string with_block(const std::string& schedule, Count block) { return fmt::format("{}:block={}", schedule, block); }

/// The best block found by doubling or halving as long as that helps.
struct Best {
  Count block;
  double seconds;
};
Best best_from(Best start, const Vectors& vectors, const std::string& schedule, const char* by, const Asked& asked) {
  Best best = start;
  for (const bool grows : {true, false}) {
    for (Best next = start;;) {
      next.block = grows ? next.block * 2 : next.block / 2;
      if (next.block == 0 || next.block / 2 >= vectors.columns) break;
      const Time time = time_of(vectors, with_block(schedule, next.block), asked);
      if (time.by != std::string_view(by) || time.seconds >= best.seconds) break;
      next.seconds = time.seconds;
      best = next;
    }
    if (best.block != start.block) break;
  }
  return best;
}

std::vector<Count> blocks_of(BlockSizes tried, Count count) {
  std::vector<Count> blocks = {10};
  if (tried == BlockSizes::powers_of_ten) {
    while (blocks.back() < count) blocks.push_back(10 * blocks.back());
  } else {
    blocks = {std::max(count / 4, Count{1}), std::max(count / 2, Count{1}), count};
  }
  return blocks;
}

/// The time with the best of the blocks that [S1] tried.
double seconds_as_tried(const Algorithm& algorithm, const Vectors& vectors, const Asked& asked) {
  double least = std::numeric_limits<double>::infinity();
  for (const Count block : blocks_of(algorithm.tried, vectors.columns))
    least = std::min(least, time_of(vectors, with_block(algorithm.schedule, block), asked).seconds);
  return least;
}

/// The time by corollary 3 of [S1].
double published_seconds(const Vectors& vectors, const transport::LogGP& link) {
  const double bytes = static_cast<double>(vectors.columns * vectors.element_bytes());
  const double hops = vectors.ranks - 2;
  return 2 * hops * link.gap + 4 * std::sqrt(hops * link.gap * link.per_byte * bytes) + 2 * link.per_byte * bytes;
}

/// How many times its own time on a port a long vector costs, without merging; nothing if it is not simulated.
std::optional<double> vectors_moved(const Vectors& vectors, const std::string& schedule, const Asked& asked) {
  const double one = asked.link.per_byte * static_cast<double>(vectors.columns * vectors.element_bytes());
  if (vectors.columns < counts[std::size(counts) - 1] || one == 0) return std::nullopt;
  prediction::Scenario scenario = scenario_of(vectors, schedule, asked);
  scenario.seconds_per_operation = 0;
  return predicted_seconds(scenario, *transport::make_topology("flat", asked.link, vectors.ranks)) / one;
}

Json row_of(const Configuration& configuration, const Algorithm& algorithm, const Vectors& vectors,
            const Asked& asked) {
  const std::string schedule = algorithm.schedule;
  const std::uint32_t segments = scenario_of(vectors, schedule, asked).segments;
  const Time time = time_of(vectors, schedule, asked);
  const bool is_simulated = time.by == std::string_view("simulation");
  const std::optional<double> moved = is_simulated ? vectors_moved(vectors, schedule, asked) : std::nullopt;
  Json row = {{"part", "sizes"},
              {"configuration", text_of(configuration)},
              {"ranks", vectors.ranks},
              {"floats", vectors.columns},
              {"algorithm", schedule},
              {"of", algorithm.of},
              {"seconds", time.seconds},
              {"by", time.by},
              {"model_seconds", json_of(modelled_seconds(vectors, schedule, asked))},
              {"block", nullptr},
              {"best_block", nullptr},
              {"best_seconds", nullptr},
              {"as_tried_seconds", nullptr},
              {"vectors", json_of(moved)},
              {"published_vectors", moved && algorithm.vectors > 0 ? Json(algorithm.vectors) : Json()},
              {"published_seconds", nullptr}};
  if (algorithm.tried != BlockSizes::none) {
    const Count block = block_of(vectors.columns, segments);
    const Best best = best_from({block, time.seconds}, vectors, schedule, time.by, asked);
    row.update({{"block", block},
                {"best_block", best.block},
                {"best_seconds", best.seconds},
                {"as_tried_seconds", seconds_as_tried(algorithm, vectors, asked)}});
  }
  if (schedule == "pipelined_linear") row["published_seconds"] = published_seconds(vectors, asked.link);
  return row;
}

/// The whole number that begins the text, from 1 to 4096, and what follows it; 0 if there is none.
int number_at(const char*& at, const char* last) {
  int number = 0;
  const auto [end, failed] = std::from_chars(at, last, number);
  at = end;
  return failed == std::errc() && number >= 1 && number <= 4096 ? number : 0;
}

Configuration configuration_in(const std::string& text) {
  const char* at = text.data();
  const char* const last = at + text.size();
  Configuration read{.nodes = number_at(at, last), .processes = 0};
  if (read.nodes > 0 && at != last && *at == 'x') read.processes = number_at(++at, last);
  if (read.processes > 0 && at == last && read.ranks() >= 2 && read.ranks() <= 4096) return read;
  throw Failure("--configurations cannot be understood ('" + text +
                "' is no nodes x processes of 2 to 4096 ranks), write 20x16,36x32");
}

}  // namespace

std::string text_of(const Configuration& configuration) {
  return fmt::format("{} x {}", configuration.nodes, configuration.processes);
}

std::vector<Configuration> configurations_in(const Asked& asked) {
  std::vector<Configuration> all;
  for (const std::string& text : asked.configurations) all.push_back(configuration_in(text));
  return all;
}

Time time_of(const Vectors& vectors, const std::string& schedule, const Asked& asked) {
  constexpr Count most_cells = 1'400'000;  // slots on all ranks together
  constexpr Count most_messages = 2'400'000;
  const prediction::Scenario scenario = scenario_of(vectors, schedule, asked);
  schedule::Context context = call::context_of(scenario.description, scenario.schedule, vectors.ranks);
  context.segments = scenario.segments;
  if (static_cast<Count>(vectors.ranks) * scenario.segments > most_cells ||
      scenario.schedule.algorithm->messages(context) > most_messages)
    return {modelled_seconds(vectors, schedule, asked).value(), "model"};
  const auto topology = transport::make_topology("flat", asked.link, vectors.ranks);
  return {predicted_seconds(scenario, *topology), "simulation"};
}

Findings sizes(const Asked& given) {
  const Asked asked = linear(given);
  Findings found;
  for (const Configuration& each : configurations_in(asked)) {
    for (const Count count : counts) {
      if (count > asked.largest) continue;
      for (const Algorithm& algorithm : algorithms)
        found.rows.push_back(row_of(each, algorithm, floats(each.ranks(), count), asked));
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::pipelines
