// Tables of `steadfold bench` for people.
#pragma once

#include <string>

#include "command.hpp"

namespace steadfold::command {

/// The table of rows of `bench local`, one line per row.
std::string table_of_local(const Json& rows);

/// A table for every contest over ranks, its rivals first.
std::string table_over_ranks(const Json& rows);

/// A table of the rows of `bench auto` for every job, and the number of choices that meet the goal.
std::string table_of_choices(const Json& rows);

}  // namespace steadfold::command
