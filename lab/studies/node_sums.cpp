// Double sweep against single sweep, over the length of the vector: sums of doubles that are dealt to pinned threads.
// Source: [S2], performance of the double sweep sum, comparison between double sweep and single sweep.
#include "bench/statistics.hpp"
#include "node.hpp"
#include "node_sum_race.hpp"
#include "node_threads.hpp"

namespace steadfold::command::studies::node {
namespace {

constexpr std::size_t lengths[] = {16, 256, 4096, 65536, 1048576};

}  // namespace

Findings sums(const Asked& asked) {
  Findings found;
  for (const unsigned threads : thread_counts(asked, 1, found)) {
    for (const std::size_t elements : lengths) {
      if (elements > asked.largest) continue;
      const std::vector<Raced> raced = race_sums(threads, numbers_to_add(elements), asked.rounds);
      const double plain_seconds = bench::quantile(raced[plain_way].seconds, 0.5);
      for (std::size_t i = 0; i < raced.size(); ++i) {
        Json row = row_of("sums", threads, elements, i, raced[i]);
        row["ratio_to_plain"] = bench::quantile(raced[i].seconds, 0.5) / plain_seconds;
        found.rows.push_back(std::move(row));
      }
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::node
