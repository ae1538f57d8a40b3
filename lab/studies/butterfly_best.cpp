// The fastest n of every number of ranks, beside the n that [S4] takes: 5 for Bruck's algorithm, for n-way
// dissemination the smallest that boundaries fit; and beside the one that `dissemination` takes here.
// Source: [S4] section IV: "further research on the choice of n depending on the bandwidth, latency and message rate of
// the underlying network needs to be done".
#include <algorithm>
#include <span>

#include "butterfly.hpp"

namespace steadfold::command::studies::butterfly {
namespace {

/// One network and one payload.
struct Case {
  Rank ranks;
  const Payload& payload;
  const Links& links;
  bool one_port;  // else n
  const Asked& asked;

  double us(const std::string& schedule) const {
    return predicted(ranks, schedule, payload, links, one_port ? 1 : 0, asked).seconds.value() * 1e6;
  }
};

constexpr double rounding = 1e-9;

struct Best {
  std::string schedule;
  int n = 0;  // 0: not named
  double us = 0;
};

/// Ties go to the smaller n.
Best best_of(const Case& each, const std::string& schedule) {
  Best best{schedule, 1, each.us(with_n(schedule, 1))};
  for (int n = 2; n <= most_messages; ++n) {
    const double us = each.us(with_n(schedule, n));
    if (us < best.us * (1 - rounding)) best = {schedule, n, us};
  }
  return best;
}

constexpr const char* default_n = "dissemination";
constexpr const char* smallest_n = "dissemination:strict=1";

std::uint32_t n_of(const char* schedule, Rank ranks) {
  const schedule::Spec spec = schedule::parse(schedule);
  return spec.algorithm->port_count({.rank_count = ranks, .spec = &spec});
}

/// The names of the fastest, between commas.
std::string fastest_of(std::span<const Best> all) {
  const double least = std::ranges::min(all, {}, &Best::us).us;
  std::string names;
  for (const Best& each : all) {
    if (least < each.us * (1 - rounding)) continue;
    names += (names.empty() ? "" : ", ") + (each.n > 0 ? with_n(each.schedule, each.n) : each.schedule);
  }
  return names;
}

Json row_of(const Case& each) {
  const Best bruck = best_of(each, "bruck");
  const Best dissemination = best_of(each, "dissemination");
  const Best pairwise{"pairwise_exchange", 0, each.us("pairwise_exchange")};
  const Best tree{"binomial", 0, each.us("binomial")};
  const Best bruck_5{"bruck", most_messages, each.us(with_n("bruck", most_messages))};
  const Best smallest{"dissemination", 0, each.us(smallest_n)};
  const double default_us = each.us(default_n);
  return {{"part", "best"},
          {"payload", each.payload.name},
          {"ranks", each.ranks},
          {"links", each.links.name},
          {"ports", each.one_port ? "1" : "n"},
          {"bruck_n", bruck.n},
          {"bruck_us", bruck.us},
          {"bruck_5_us", bruck_5.us},
          {"dissemination_n", dissemination.n},
          {"dissemination_us", dissemination.us},
          {"smallest_n", n_of(smallest_n, each.ranks)},
          {"smallest_us", smallest.us},
          {"smallest_to_best", smallest.us / dissemination.us},
          {"default_n", n_of(default_n, each.ranks)},
          {"default_us", default_us},
          {"default_to_best", default_us / dissemination.us},
          {"pairwise_us", pairwise.us},
          {"tree_us", tree.us},
          {"fastest", fastest_of(std::array{tree, pairwise, bruck, dissemination})},
          {"fastest_with_their_n", fastest_of(std::array{tree, pairwise, bruck_5, smallest})}};
}

}  // namespace

Findings best(const Asked& asked) {
  Findings found;
  for (const Payload& payload : payloads)
    for (const Rank ranks : rank_counts(asked))
      for (const Links& links : all_links)
        for (const bool one_port : {true, false})
          found.rows.push_back(row_of({ranks, payload, links, one_port, asked}));
  return found;
}

}  // namespace steadfold::command::studies::butterfly
