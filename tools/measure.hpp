// Functions of `sum` and `verify`: read a file over all ranks, and sum it through the public interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "command.hpp"
#include "request.hpp"

namespace steadfold::command {

/// This rank's elements and their indices.
struct Share {
  std::variant<std::vector<double>, std::vector<float>> elements;
  Interval mine{};
  std::uint64_t element_count = 0;
  std::optional<bool> has_header = {};  // for a table: whether line 1 was read as the names of the columns
};

/// Reads this rank's part of the file, given by the distribution. Collective; a failure is thrown on all ranks.
Share load(const Job& job, const Request& request);

/// How to compute a sum, and whether to measure the time, too.
struct Sum {
  std::string method;
  std::string schedule;  // empty or "auto": the library's choice
  bool rooted = false;
  bool measured = false;
};

/// Traffic of the whole job. Unknown if the MPI library itself makes the reduction.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t rounds = 0;
  std::uint64_t bytes = 0;
};

struct Summed {
  double value = 0;
  std::string bits;
  std::string schedule;  // schedule of the run
  std::string compared;  // the line of the plan's text that compares predictions; empty: none
  bool same_on_all_ranks = true;
  bool same_in_all_runs = true;
  std::optional<Traffic> traffic;
  double seconds = 0;  // median over the runs, of the slowest rank
};

/// Sums the shares of all ranks. The result is rank 0's; unless rooted, all ranks' bits are compared. Collective; a
/// failure is thrown on all ranks.
Summed summed(const Job& job, const Share& share, const Sum& sum);

}  // namespace steadfold::command
