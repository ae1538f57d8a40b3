// Strong scaling of the same sums: one vector, more and more threads. Source: [S2], scaling of double sweep and single
// sweep sum, N = 4096 and 16384; the smaller one is ours, since [S2] also speaks of small problems.
#include <algorithm>

#include "bench/statistics.hpp"
#include "node.hpp"
#include "node_sum_race.hpp"
#include "node_threads.hpp"

namespace steadfold::command::studies::node {
namespace {

constexpr std::size_t lengths[] = {1024, 4096, 16384};
constexpr int passes = 3;  // numbers of threads in turn: what disturbs the machine for a while disturbs all of them

std::vector<Raced> pooled(std::vector<Raced> all, std::vector<Raced> more) {
  if (all.empty()) return more;
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].seconds.insert(all[i].seconds.end(), more[i].seconds.begin(), more[i].seconds.end());
  return all;
}

}  // namespace

Findings scaling(const Asked& asked) {
  Findings found;
  std::vector<unsigned> counts = thread_counts(asked, 2, found);
  counts.insert(counts.begin(), 1);
  for (const std::size_t elements : lengths) {
    if (elements > asked.largest) continue;
    const std::vector<double> numbers = numbers_to_add(elements);
    std::vector<std::vector<Raced>> raced(counts.size());
    for (int pass = 0; pass < passes; ++pass)
      for (std::size_t i = 0; i < counts.size(); ++i)
        raced[i] = pooled(std::move(raced[i]), race_sums(counts[i], numbers, (asked.rounds + passes - 1) / passes));
    for (std::size_t way = 0; way < std::size(ways); ++way) {
      const double alone = bench::quantile(raced[0][way].seconds, 0.5);
      for (std::size_t i = 0; i < counts.size(); ++i) {
        Json row = row_of("scaling", counts[i], elements, way, raced[i][way]);
        row["speedup"] = alone / bench::quantile(raced[i][way].seconds, 0.5);
        found.rows.push_back(std::move(row));
      }
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::node
