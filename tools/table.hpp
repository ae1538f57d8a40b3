// Writes tables of text for people.
#pragma once

#include <string>
#include <vector>

namespace steadfold::command {

/// Writes rows as lines with columns of minimal width and two blanks between columns. The first row is the head.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace steadfold::command
