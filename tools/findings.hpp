// What `doctor` and `vectors` have in common: lines about wrong results, from all ranks.
#pragma once

#include <string>
#include <vector>

#include "program/job.hpp"

namespace steadfold::command {

/// Returns the lines of every rank, by rank; with several ranks each line begins with its rank. Collective.
std::vector<std::string> lines_of_all_ranks(const Job& job, const std::vector<std::string>& lines);

/// Returns the first twenty lines as text for people, and "..." if there are more.
std::string first_lines(const std::vector<std::string>& lines);

}  // namespace steadfold::command
