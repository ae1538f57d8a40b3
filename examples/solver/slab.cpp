// Dealing planes to ranks; see slab.hpp.
#include "slab.hpp"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

namespace solver {

Slab deal(const Problem& problem, const std::vector<std::uint64_t>& counts, const example::Ranks& ranks) {
  const std::uint64_t height = problem.points[2];
  if (!counts.empty() && counts.size() != ranks.count)
    throw std::invalid_argument(fmt::format("cannot deal planes ({} counts for {} ranks), give --planes one per rank",
                                            counts.size(), ranks.count));
  if (const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
      !counts.empty() && total != height)
    throw std::invalid_argument(
        fmt::format("cannot deal planes ({} in all, the box has {}), let --planes add up to that", total, height));

  Slab mine;
  std::uint64_t begin = 0;
  for (std::uint64_t rank = 0; rank < ranks.count; ++rank) {
    const sf::Interval share = ranks.share(height, rank);
    const std::uint64_t end = counts.empty() ? share.end : begin + counts[rank];
    if (rank == ranks.rank) mine.planes = {begin, end};
    if (rank < ranks.rank && begin < end) mine.below = static_cast<int>(rank);
    if (rank > ranks.rank && begin < end && mine.above == MPI_PROC_NULL) mine.above = static_cast<int>(rank);
    begin = end;
  }
  return mine;
}

}  // namespace solver
