// The comparison; see compare.hpp.
#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "common/launch.hpp"
#include "table.hpp"

namespace solver {

int compare(const std::string& arguments, const std::vector<int>& rank_counts,
            const std::vector<unsigned>& thread_counts) {
  example::prepare_environment();
  std::vector<Record> records;
  int most_workers = 1;
  for (const int rank_count : rank_counts) {
    for (const unsigned threads : thread_counts) {
      records.push_back(example::run_ranks(rank_count, fmt::format("{} --threads {}", arguments, threads)));
      if (records.size() == 1) fmt::print("{}", table_head(records.front()));
      fmt::print("{}", table_row(records.back(), records.front()));
      std::fflush(stdout);
      most_workers = std::max(most_workers, rank_count * static_cast<int>(threads));
    }
  }
  fmt::print("\n");
  example::warn_of_few_cores(most_workers);
  fmt::print("{}", conclude(records));
  return same_by_steadfold(records) ? 0 : 1;
}

}  // namespace solver
