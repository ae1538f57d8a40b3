// What `steadfold bench` prints for people.
#pragma once

#include <string>

#include "command.hpp"

namespace steadfold::command {

/// Rows of `bench local`: a line each.
std::string table_of_local(const Json& rows);

/// Rows over ranks: a table for every contest, its rivals first.
std::string table_over_ranks(const Json& rows);

}  // namespace steadfold::command
