// Native: the transport adds the 64-bit words of all ranks' partials. Over MPI this is one MPI_Allreduce, which the
// network may offload. Adding words needs no rank order.
// Cost: the MPI library's allreduce of the words.
#include "schedule/algorithms/algorithms.hpp"
#include "schedule/algorithms/blocks.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::algorithms {
namespace {

Steps native(Context c) {
  for (std::uint32_t s = 0; s < c.segments; ++s) {
    co_yield make::lift(partial(0, s), c.rank);
    co_yield make::add_words(partial(1, s), partial(0, s), c.rank_count);
  }
  if (c.rooted() && c.rank != c.root) co_return;
  const bool has_block = c.scatters();
  const Blocks blocks(c);
  const std::uint32_t end = has_block ? blocks.end(c.rank) : c.segments;
  for (std::uint32_t s = has_block ? blocks.begin(c.rank) : 0; s < end; ++s)
    co_yield make::finish(value(0, s), partial(1, s));
}

}  // namespace

constexpr Algorithm native_algorithm = {
    .name = "native",
    .sentence = "the MPI library adds the 64-bit words of all partial results in one allreduce",
    .collectives = reductions,
    .keeps_rank_order = KeepsRankOrder::never,
    .same_on_all_ranks = SameOnAllRanks::yes,
    .restrictions = "only method exact, and method binned with the double sweep",
    .parameters = {},
    .source = "ours",
    .steps = native,
    .messages = nullptr,
    .rounds = nullptr,
    .adds_words = true,
};

}  // namespace steadfold::schedule::algorithms
