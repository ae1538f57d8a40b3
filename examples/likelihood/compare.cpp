// The comparison; see compare.hpp.
#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "common/launch.hpp"
#include "table.hpp"

namespace likelihood {

int compare(const Size& size, const std::vector<int>& rank_counts) {
  example::prepare_environment();
  std::vector<Record> records;
  for (const int rank_count : rank_counts) {
    records.push_back(
        example::run_ranks(rank_count, fmt::format("--sites {} --search-sites {}", size.sites, size.search_sites)));
    if (records.size() == 1) fmt::print("{}", table_head(records.front()));
    fmt::print("{}", table_row(records.back(), records.front()));
    std::fflush(stdout);
  }
  fmt::print("\n");
  example::warn_of_few_cores(*std::max_element(rank_counts.begin(), rank_counts.end()));
  fmt::print("{}", conclude(records));
  return same_by_steadfold(records) ? 0 : 1;
}

}  // namespace likelihood
