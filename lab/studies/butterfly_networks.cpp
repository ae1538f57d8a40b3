// The networks and payloads of the study.
// Source: [S4] section IV for the payloads, the smallest and the largest of a GASPI allreduce, and for the fat tree, of
// which it tells no more. Section III.A argues about networks with one link between neighbours: here a torus.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "butterfly.hpp"

namespace steadfold::command::studies::butterfly {
namespace {

/// The smallest box for so many ranks of which no side is more than twice another.
std::string sides_for(Rank ranks) {
  std::array<Rank, 3> best{};
  Rank places = std::numeric_limits<Rank>::max();
  for (Rank c = 1; places > c * c * c; ++c) {
    for (Rank b = c; b <= 2 * c; ++b) {
      const Rank a = std::max(b, (ranks - 1) / (b * c) + 1);
      if (a <= 2 * c && a * b * c < places) best = {a, b, c}, places = a * b * c;
    }
  }
  return fmt::format("{}x{}x{}", best[0], best[1], best[2]);
}

}  // namespace

const std::array<Links, 6> all_links = {{
    {"flat", [](Rank) { return std::string("flat"); }},
    {"nodes of 2", [](Rank) { return std::string("two_level:size=2:links=1"); }},
    {"fat tree", [](Rank) { return std::string("fat_tree:arity=8"); }},
    {"fat tree 2:1", [](Rank) { return std::string("fat_tree:arity=8:oversubscription=2"); }},
    {"torus", [](Rank ranks) { return "torus:sides=" + sides_for(ranks); }},
    {"torus, half duplex", [](Rank ranks) { return "torus:sides=" + sides_for(ranks) + ":half_duplex=1"; }},
}};

std::vector<Rank> rank_counts(const Asked& asked) {
  constexpr Rank every = 64;
  const Rank most = asked.most_ranks;
  std::set<Rank> counts;
  for (Rank ranks = 2; ranks <= std::min(every, most); ++ranks) counts.insert(ranks);
  for (int base = 2; base <= most_messages + 1; ++base) {
    for (Rank power = base; power - 1 <= most; power *= base) {
      for (const Rank ranks : {power - 1, power, power + 1})
        if (ranks > every && ranks <= most) counts.insert(ranks);
    }
  }
  return {counts.begin(), counts.end()};
}

prediction::Prediction predicted(Rank ranks, const std::string& schedule, const Payload& payload, const Links& links,
                                 std::uint32_t ports, const Asked& asked) {
  const Vectors vectors{
      .ranks = ranks, .columns = payload.columns, .type = payload.type, .operation = payload.operation};
  prediction::Scenario scenario = scenario_of(vectors, schedule, asked);
  scenario.ports = ports;
  return predict(scenario, *transport::make_topology(links.topology(ranks), asked.link, ranks));
}

}  // namespace steadfold::command::studies::butterfly
