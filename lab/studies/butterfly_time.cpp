// Rounds, messages and predicted times of the allreduces that [S4] compares, by ranks, n, links and ports.
// Source: [S4] figures 5 to 14, of which only the text is available. `binomial` is its binomial spanning tree: a reduce
// and a broadcast.
#include "butterfly.hpp"

namespace steadfold::command::studies::butterfly {
namespace {

struct Way {
  std::string schedule;
  int n;  // 0: it has none
  std::uint32_t ports;

  std::string name() const { return n == 0 ? schedule : with_n(schedule, n); }
};

/// Each n with one port, where messages of a round go one after the other, and with n ports.
std::vector<Way> all_ways() {
  std::vector<Way> ways = {{"binomial", 0, 1}, {"recursive_doubling", 0, 1}, {"pairwise_exchange", 0, 1}};
  for (const char* schedule : {"bruck", "dissemination"}) {
    for (int n = 1; n <= most_messages; ++n) {
      ways.push_back({schedule, n, 1});
      if (n > 1) ways.push_back({schedule, n, static_cast<std::uint32_t>(n)});
    }
  }
  return ways;
}

Json row_of(Rank ranks, const Way& way, const Payload& payload, const Links& links, const Asked& asked) {
  const prediction::Prediction found = predicted(ranks, way.name(), payload, links, way.ports, asked);
  return {{"part", "time"},
          {"payload", payload.name},
          {"ranks", ranks},
          {"links", links.name},
          {"topology", links.topology(ranks)},
          {"schedule", way.schedule},
          {"n", way.n > 0 ? Json(way.n) : Json()},
          {"ports", way.ports},
          {"rounds", found.rounds.value()},
          {"messages", found.messages.value()},
          {"bytes", found.bytes.value()},
          {"us", found.seconds.value() * 1e6}};
}

}  // namespace

Findings time(const Asked& asked) {
  Findings found;
  const std::vector<Way> ways = all_ways();
  for (const Payload& payload : payloads)
    for (const Rank ranks : rank_counts(asked))
      for (const Links& links : all_links)
        for (const Way& way : ways) found.rows.push_back(row_of(ranks, way, payload, links, asked));
  return found;
}

}  // namespace steadfold::command::studies::butterfly
