// Tables for people.
#pragma once

#include <string>
#include <vector>

namespace steadfold::command {

/// Lines of columns as wide as they need be, two blanks between them; the first row is the head.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace steadfold::command
