#include "order/pe_intersecting.hpp"

#include <stdexcept>
#include <string>

namespace steadfold::order {
namespace {

[[noreturn]] void refuse(std::size_t rank, Index start, Index before) {
  throw std::invalid_argument("rank " + std::to_string(rank) + " starts at element " + std::to_string(start) +
                              " (the rank before starts at " + std::to_string(before) +
                              ", and starts must be monotone), give elements to ranks in rank order");
}

}  // namespace

/// For every rank, the function counts the right children x > 0 of the rank whose left sibling, which starts at
/// parent(x), starts before the rank's first index. Like Algorithm 2 of Stelz 2022, it moves from one maximal subtree
/// to the next. Line 1 of Algorithm 2 leaves out rank 0, which has none. A rank that starts at 0 after empty ranks has
/// none either, and Algorithm 2 would not end for it.
Count pe_intersecting_nodes(std::span<const Index> starts, Count element_count) {
  Count nodes = 0;
  for (std::size_t rank = 0; rank < starts.size(); ++rank) {
    const Index start = starts[rank];
    const Index before = rank == 0 ? 0 : starts[rank - 1];
    if (start < before || (rank == 0 && start > 0) || start > element_count) refuse(rank, start, before);
    const Index end = rank + 1 < starts.size() ? starts[rank + 1] : element_count;
    if (start == 0) continue;
    // `last` is the end of the previous subtree. Nothing overflows, not even at the largest index.
    for (Index last = start - 1; last < end - 1;) {
      ++nodes;
      last = largest_subtree_child(last + 1);
    }
  }
  return nodes;
}

}  // namespace steadfold::order
