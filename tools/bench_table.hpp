// What `steadfold bench` prints for people.
#pragma once

#include <string>

#include "command.hpp"

namespace steadfold::command {

/// The table of rows of `bench local`, one line per row.
std::string table_of_local(const Json& rows);

/// A table for every contest over ranks, its rivals first.
std::string table_over_ranks(const Json& rows);

/// A table of rows of `bench auto` for every job, and how many of them are as wished.
std::string table_of_choices(const Json& rows);

}  // namespace steadfold::command
