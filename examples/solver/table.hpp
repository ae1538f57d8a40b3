// The records of jobs for people: one job's in detail, or one row per rank and thread count.
#pragma once

#include <string>
#include <vector>

#include "common/launch.hpp"

namespace solver {

using example::Record;

/// What was solved, and what each kind of scalar products made of it.
std::string describe(const Record& record);

/// A table of several jobs; what differs from the `first` one is marked, on a terminal by colour too.
std::string table_head(const Record& record);
std::string table_row(const Record& record, const Record& first);

/// Whether all that Steadfold reduced has the same bits in all records.
bool same_by_steadfold(const std::vector<Record>& records);

/// How many different runs the jobs gave, with and without Steadfold.
std::string conclude(const std::vector<Record>& records);

}  // namespace solver
