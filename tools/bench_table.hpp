// Writes the results of `steadfold bench` as tables for people.
#pragma once

#include <string>

#include "command.hpp"

namespace steadfold::command {

/// Writes the rows of `bench local` as a table, one line per row.
std::string table_of_local(const Json& rows);

/// Writes a table for every contest over ranks (a comparison of candidates with rivals); the rivals come first.
std::string table_over_ranks(const Json& rows);

/// Writes a table of the rows of `bench auto` for every job, and the number of choices that meet the goal.
std::string table_of_choices(const Json& rows);

}  // namespace steadfold::command
