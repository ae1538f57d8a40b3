// Some schedules are not in the table of recorded proofs. If a plan with such a schedule is bound, the functions here
// choose the number of ranks and segments for which the schedule is proved: the numbers of the call, or the largest
// within the limits. Cost: at most some milliseconds for any call.
#include <algorithm>

#include "schedule/checker/checker.hpp"

namespace steadfold::schedule {
namespace {

constexpr Rank most_ranks = 1024;             // some schedules prepare O(rank count) data for each rank
constexpr Count most_steps = Count{1} << 16;  // number of steps of all ranks

bool is_affordable(const Algorithm& algorithm, Context context) {
  if (context.rank_count > most_ranks) return false;
  Count steps = 0;
  for (context.rank = 0; context.rank < context.rank_count; ++context.rank)
    for (Steps each = algorithm.steps(context); each.next() != nullptr;)
      if (++steps > most_steps) return false;
  return true;
}

// Returns a small number of segments: at most three, or one unit. If ranks have blocks, one segment per rank.
std::uint32_t few_segments(const Algorithm& algorithm, const Context& context) {
  if (context.collective == Collective::reduce_scatter) return static_cast<std::uint32_t>(context.rank_count);
  return std::max(algorithm.segments_up_to(3, context), static_cast<std::uint32_t>(algorithm.unit_of(context)));
}

bool takes_fewer_segments(const Algorithm& algorithm, Context& context) {
  const std::uint32_t few = few_segments(algorithm, context);
  if (few >= context.segments) return false;
  context.segments = few;
  context.blocks = {};
  return true;
}

// Halves the rank count; returns false if that is not possible. `nodes` receives the nodes of the remaining ranks.
bool takes_half_of_ranks(const Algorithm& algorithm, Context& context, std::optional<order::Nodes>& nodes) {
  if (context.rank_count == 1 || context.layout != nullptr) return false;
  context.rank_count /= 2;
  if (context.nodes) context.nodes = &nodes.emplace(context.nodes->first_ranks(context.rank_count));
  context.root = std::min(context.root, context.rank_count - 1);
  context.blocks = {};
  context.segments = few_segments(algorithm, context);
  return true;
}

}  // namespace

std::optional<std::string> check_when_bound(const Spec& spec, const Context& context) {
  if (is_swept(spec)) return std::nullopt;
  Context tried = context;
  tried.spec = &spec;
  const Algorithm& algorithm = *spec.algorithm;
  if (algorithm.layouts == Layouts::any) tried.layout = nullptr;
  std::optional<order::Nodes> nodes;
  while (!is_affordable(algorithm, tried))
    if (!takes_fewer_segments(algorithm, tried) && !takes_half_of_ranks(algorithm, tried, nodes)) return std::nullopt;
  return check(algorithm, tried);
}

}  // namespace steadfold::schedule
