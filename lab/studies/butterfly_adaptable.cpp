// Which pairs (p, n) are adaptable, with rounds and messages of `dissemination:n=` for all of them.
// Source: [S4] section III.B, (8). It gives no table; "the n-way dissemination algorithm can not be adapted for all
// pairs" (section III.D). The others send second partials here, in the same messages.
#include <fmt/format.h>

#include "butterfly.hpp"
#include "schedule/registry.hpp"

namespace steadfold::command::studies::butterfly {
namespace {

constexpr order::Rank most_ranks = 1024;
constexpr int most_ports = 9;  // with so many, every rank count has an n

Json row_of(order::Rank ranks, int n) {
  const schedule::Spec spec = schedule::parse(fmt::format("dissemination:n={}:strict=1", n));
  const schedule::Context context{.rank_count = ranks, .spec = &spec};
  const std::uint64_t messages = spec.algorithm->messages(context);
  return {{"part", "adaptable"},
          {"ranks", ranks},
          {"n", n},
          {"adaptable", !schedule::refusal(spec, ranks)},
          {"rounds", spec.algorithm->rounds(context)},
          {"messages", messages},
          {"second_partials", spec.algorithm->partial_messages(context) - messages}};
}

}  // namespace

Findings adaptable(const Asked& /*asked*/) {
  Findings found;
  for (order::Rank ranks = 1; ranks <= most_ranks; ++ranks)
    for (int n = 1; n <= most_ports; ++n) found.rows.push_back(row_of(ranks, n));
  return found;
}

}  // namespace steadfold::command::studies::butterfly
