#include "node_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "bench/statistics.hpp"

namespace steadfold::command::studies::node {
namespace {

constexpr unsigned most_threads = 16;  // as [S2]'s machine has

}  // namespace

std::vector<unsigned> thread_counts(const Asked& asked, unsigned least, Findings& found) {
  std::vector<unsigned> counts;
  for (const int ranks : asked.ranks) {
    const auto threads = static_cast<unsigned>(ranks);
    if (threads > most_threads)
      found.left_out.push_back(
          fmt::format("{} threads: not measured (there may be {}), ask for fewer", threads, most_threads));
    else if (threads >= least)
      counts.push_back(threads);
  }
  return counts;
}

bool is_oversubscribed(unsigned threads) { return threads > std::thread::hardware_concurrency(); }

void add_times(Json& row, const std::vector<double>& seconds) {
  row["seconds"] = bench::quantile(seconds, 0.5);
  row["quartiles"] = {bench::quantile(seconds, 0.25), bench::quantile(seconds, 0.75)};
  row["max"] = *std::ranges::max_element(seconds);
}

}  // namespace steadfold::command::studies::node
