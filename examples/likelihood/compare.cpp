// The comparison; see compare.hpp.
#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "launch.hpp"
#include "table.hpp"

namespace likelihood {
namespace {

Record run_ranks(const Size& size, int rank_count) {
  const std::string command =
      job_command(rank_count, fmt::format("--json --sites {} --search-sites {}", size.sites, size.search_sites));
  const Record record = Record::parse(output_of(command), nullptr, false);
  if (record.is_discarded() || record.at("ranks") != rank_count)
    throw std::runtime_error(
        fmt::format("a job did not print one record of {} ranks (the launcher may belong to another "
                    "MPI library), run it by itself: {}",
                    rank_count, command));
  return record;
}

void warn_of_few_cores(const std::vector<int>& rank_counts) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores > 0 && *std::max_element(rank_counts.begin(), rank_counts.end()) > cores)
    fmt::print("This machine has {} core{}: on more ranks, times are mostly those of waiting for a core.\n", cores,
               cores == 1 ? "" : "s");
}

}  // namespace

int compare(const Size& size, const std::vector<int>& rank_counts) {
  prepare_environment();
  std::vector<Record> records;
  for (const int rank_count : rank_counts) {
    records.push_back(run_ranks(size, rank_count));
    if (records.size() == 1) fmt::print("{}", table_head(records.front()));
    fmt::print("{}", table_row(records.back(), records.front()));
    std::fflush(stdout);
  }
  fmt::print("\n");
  warn_of_few_cores(rank_counts);
  fmt::print("{}", conclude(records));
  return same_by_steadfold(records) ? 0 : 1;
}

}  // namespace likelihood
