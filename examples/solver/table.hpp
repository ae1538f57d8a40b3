// The records of jobs for people: one job's in detail, or one row per rank and thread count.
#pragma once

#include <string>
#include <vector>

#include "common/launch.hpp"

namespace solver {

using example::Record;

/// The problem, and the result of each kind of scalar products.
std::string describe(const Record& record);

/// A table of several jobs. Values that differ from the `first` job are marked, on a terminal also by colour.
std::string table_head(const Record& record);
std::string table_row(const Record& record, const Record& first);

/// Whether all that Steadfold reduced has the same bits in all records.
bool same_by_steadfold(const std::vector<Record>& records);

/// How many different runs the jobs gave, with and without Steadfold.
std::string conclude(const std::vector<Record>& records);

}  // namespace solver
