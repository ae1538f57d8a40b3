// The records of jobs for people: one job's in detail, or one row per pair of jobs, with plain sums and with
// Steadfold's.
#pragma once

#include <string>
#include <vector>

#include "common/launch.hpp"

namespace climate {

using example::Record;

std::string describe(const Record& record);

/// Two jobs with equal steps and ranks: one with plain sums, one with Steadfold's. `label`: on which ranks.
struct Pair {
  std::string label;
  Record plain, steadfold;
};

std::string table_head(const Pair& first);
/// Values that differ from the `first` pair are marked, on a terminal also by colour.
std::string table_row(const Pair& pair, const Pair& first);

/// Whether all that Steadfold reduced has the same bits in all pairs.
bool same_by_steadfold(const std::vector<Pair>& pairs);

/// How many different oceans the jobs ended with.
std::string conclude(const std::vector<Pair>& pairs);

}  // namespace climate
