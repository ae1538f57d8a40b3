// Functions of `sum` and `verify`: read a file over all ranks, and sum it through the public interface.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "command.hpp"
#include "readers/reader.hpp"
#include "request.hpp"
#include "steadfold/types.hpp"

namespace steadfold::command {

/// The elements of this rank, and their indices.
struct Share {
  std::variant<std::vector<double>, std::vector<float>> elements;
  Interval mine{};
  std::uint64_t element_count = 0;
  readers::Found found = {};                        // where in the file the elements are
  std::optional<readers::TableReading> table = {};  // how the file was read if it is a table
  std::uint64_t missing_count = 0;                  // number of rows left out because their number is missing
};

/// Reads this rank's part of the file, given by the distribution. Collective; a failure is thrown on all ranks.
Share load(const Job& job, const Request& request);

/// The operations of `sum`; `std` and `var` have the divisor count, as NumPy's functions.
inline constexpr std::array<std::string_view, 7> operations = {"sum", "mean", "min", "max", "std", "var", "statistics"};

/// The way to compute a sum or another operation, and whether to measure the time, too.
struct Sum {
  std::string operation = "sum";
  std::string method = {};
  std::string schedule = {};  // name of the schedule; empty or "auto": the library chooses
  bool rooted = false;
  bool measured = false;
};

/// The messages of the whole job. Their number is unknown if the MPI library itself makes the reduction.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t rounds = 0;
  std::uint64_t bytes = 0;
};

struct Summed {
  double value = 0;
  std::string bits;
  std::optional<Statistics> statistics = {};  // all of them, if they were computed
  std::string schedule;                       // name of the schedule that the run used
  std::string compared;  // the line of the plan's text that compares predictions; empty if there is none
  bool same_on_all_ranks = true;
  bool same_in_all_runs = true;
  std::optional<Traffic> traffic;
  double seconds = 0;  // seconds; median, over the runs, of the time of the slowest rank
};

/// Reduces the shares of all ranks. The result is that of rank 0; unless only the root gets it, the bits of all ranks
/// are compared. Collective; a failure is thrown on all ranks.
Summed summed(const Job& job, const Share& share, const Sum& sum);

}  // namespace steadfold::command
