// Reduce and broadcast: the complete reduce of any schedule to rank 0, then a binomial broadcast of the values.
// Rank order: the order of the reduce at root 0, which keeps rank order.
// Cost: the reduce's cost, and then ceil(log2 p)(alpha + n beta).
// Source: Gruber & Freinberger, section 1.2: the naive allreduce with which other schedules are compared.
#include <algorithm>

#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/block_size.hpp"
#include "schedule/algorithms/broadcast.hpp"

namespace steadfold::schedule::algorithms {
namespace {

// The reduce that comes first: its algorithm and its context.
struct Reduce {
  const Algorithm* algorithm;
  Context context;

  explicit Reduce(Context c) : algorithm(&binomial_algorithm), context(c) {
    const Spec::Parameter* asked = c.spec ? c.spec->parameter("reduce") : nullptr;
    context.collective = Collective::reduce;
    context.root = 0;
    context.spec = asked ? &asked->nested.front() : nullptr;
    if (asked) algorithm = context.spec->algorithm;
  }
};

void check_reduce_broadcast(const Spec& spec) {
  require_nested(spec, "reduce", Collective::reduce);
  check_block(spec);
}

Steps reduce_broadcast(Context c) {
  const Reduce reduce(c);
  return reduce_then_broadcast(reduce.algorithm->steps(reduce.context), c);
}

Count reduce_broadcast_messages(Context c) {
  const Reduce reduce(c);
  return reduce.algorithm->messages(reduce.context) + (c.ranks() - 1) * c.segments;
}

Count reduce_broadcast_partials(Context c) {
  const Reduce reduce(c);
  return reduce.algorithm->partial_messages(reduce.context);
}

Count reduce_broadcast_unit(Context c) {
  const Reduce reduce(c);
  return reduce.algorithm->unit_of(reduce.context);
}

// Returns the rounds. The broadcast begins with the last segment. If every rank sends its block to the root, the last
// segment arrives before the others, after as many rounds as there are segments.
Count reduce_broadcast_rounds(Context c) {
  const Reduce reduce(c);
  Count until_last = reduce.algorithm->rounds(reduce.context);
  if (reduce.algorithm->partials == Partials::of_one_rank && c.segments > 1)
    until_last = std::min(until_last, Count{c.segments});
  return until_last + broadcast_rounds(c.rank_count, c.segments);
}

constexpr std::array<std::string_view, 2> reduce_parameters = {"reduce", "block"};
constexpr std::array<std::string_view, 3> reduce_examples = {"reduce=[linear]", "reduce=[flat]",
                                                             "reduce=[knomial:k=3]"};

}  // namespace

constexpr Algorithm reduce_broadcast_algorithm = {
    .name = "reduce_broadcast",
    .sentence =
        "a reduce to rank 0 with any schedule (reduce=[name], default binomial), then a binomial broadcast of the "
        "result",
    .collectives = Collective::allreduce,
    .keeps_rank_order = KeepsRankOrder::always,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "allreduce only",
    .parameters = reduce_parameters,
    .source = "S1",
    .steps = reduce_broadcast,
    .messages = reduce_broadcast_messages,
    .rounds = reduce_broadcast_rounds,
    .partial_messages = reduce_broadcast_partials,
    .check_parameters = check_reduce_broadcast,
    .examples = reduce_examples,
    .segments = Segments::pipelined,
    .unit = reduce_broadcast_unit,
    .uneven = true,
};

}  // namespace steadfold::schedule::algorithms
