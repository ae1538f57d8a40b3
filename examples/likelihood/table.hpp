// The records of jobs for people: one row per rank count, two columns per way to add up.
#pragma once

#include <string>
#include <vector>

#include "common/launch.hpp"

namespace likelihood {

using example::Record;

std::string table_head(const Record& record);

/// One row. Bits that differ from those in `first` are marked, on a terminal also by colour.
std::string table_row(const Record& record, const Record& first);

std::string describe_search(const Record& record);

/// Whether all that Steadfold added up has the same bits in all records.
bool same_by_steadfold(const std::vector<Record>& records);

/// How many different results the rank counts gave, with and without Steadfold.
std::string conclude(const std::vector<Record>& records);

}  // namespace likelihood
