// The study of [S4]: butterfly-like allreduces. One file per part, and butterfly_networks.cpp with what they share.
// Source: [S4] sections III and IV.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "predicted.hpp"
#include "study.hpp"

namespace steadfold::command::studies::butterfly {

Findings adaptable(const Asked& asked);
Findings time(const Asked& asked);
Findings best(const Asked& asked);
Findings special(const Asked& asked);

inline constexpr std::array<Part, 4> parts = {{
    {"adaptable", "for which ranks and ports n-way dissemination can be adapted by boundaries alone, and what it sends",
     adaptable},
    {"time", "predicted rounds and times by ranks, n, links and ports", time},
    {"best", "the fastest n, and what the n that [S4] takes costs beside it", best},
    {"special", "predicted times of dissemination as ratios to those of bruck, n ports, by how the ranks fit n",
     special},
}};

using order::Rank;

inline constexpr int most_messages = 5;  // [S4] section IV: to so many ranks per round

/// What every rank brings.
struct Payload {
  const char* name;
  arithmetic::Type type;
  order::Count columns;
  arithmetic::Operation operation;  // bruck and dissemination refuse plain sums of floating-point numbers
};
inline constexpr Payload payloads[] = {
    {"1 int", arithmetic::Type::i32, 1, arithmetic::Operation::sum},
    {"255 doubles", arithmetic::Type::f64, 255, arithmetic::Operation::max},
};

/// A network that has room for any number of ranks.
struct Links {
  const char* name;
  std::string (*topology)(Rank);
};
extern const std::array<Links, 6> all_links;

/// Every number of ranks up to 64 and as many as were asked for; beyond that powers of 2 to 6 and their neighbours.
std::vector<Rank> rank_counts(const Asked& asked);

/// One allreduce. Ports: of every rank; 0: as many as the schedule is made for.
prediction::Prediction predicted(Rank ranks, const std::string& schedule, const Payload& payload, const Links& links,
                                 std::uint32_t ports, const Asked& asked);

inline std::string with_n(const std::string& schedule, int n) { return schedule + ":n=" + std::to_string(n); }

}  // namespace steadfold::command::studies::butterfly
