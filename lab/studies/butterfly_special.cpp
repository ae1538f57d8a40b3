// n-way dissemination beside Bruck's algorithm with the same n, on ranks with n ports, by how well the ranks fit n.
// Source: [S4] section III: they have the same rounds; dissemination keeps one sum where nothing counts twice, Bruck's
// algorithm two in every round but the last; some pairs (p, n) are not adaptable.
#include <algorithm>
#include <map>

#include "butterfly.hpp"

namespace steadfold::command::studies::butterfly {
namespace {

const char* kind_of(Rank ranks, int n) {
  Rank power = n + 1;
  while (power < ranks) power *= n + 1;
  if (ranks == power) return "(n + 1)^k";
  if (ranks == power - 1) return "(n + 1)^k - 1";
  const schedule::Spec strict = schedule::parse(with_n("dissemination", n) + ":strict=1");
  return schedule::refusal(strict, ranks) ? "not adaptable" : "adaptable";
}

/// Times by dissemination as ratios to those by Bruck's algorithm.
Json row_of(const Payload& payload, const Links& links, int n, const std::string& kind, std::vector<double> ratios) {
  constexpr double rounding = 1e-9;
  std::ranges::sort(ratios);
  const auto faster = std::ranges::lower_bound(ratios, 1 - rounding) - ratios.begin();
  const auto slower = ratios.end() - std::ranges::upper_bound(ratios, 1 + rounding);
  return {{"part", "special"},
          {"payload", payload.name},
          {"links", links.name},
          {"n", n},
          {"ranks_are", kind},
          {"rank_counts", ratios.size()},
          {"dissemination_first", faster},
          {"bruck_first", slower},
          {"least_ratio", ratios.front()},
          {"median_ratio", ratios[ratios.size() / 2]},
          {"greatest_ratio", ratios.back()}};
}

}  // namespace

Findings special(const Asked& asked) {
  Findings found;
  for (const Payload& payload : payloads) {
    for (const Links& links : all_links) {
      for (int n = 1; n <= most_messages; ++n) {
        std::map<std::string, std::vector<double>> ratios;
        const auto us = [&](const char* schedule, Rank ranks) {
          return predicted(ranks, with_n(schedule, n), payload, links, 0, asked).seconds.value();
        };
        for (const Rank ranks : rank_counts(asked))
          ratios[kind_of(ranks, n)].push_back(us("dissemination", ranks) / us("bruck", ranks));
        for (const auto& [kind, all] : ratios) found.rows.push_back(row_of(payload, links, n, kind, all));
      }
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::butterfly
