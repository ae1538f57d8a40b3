#include "findings.hpp"

#include <algorithm>
#include <sstream>

namespace steadfold::command {

std::vector<std::string> lines_of_all_ranks(const Job& job, const std::vector<std::string>& lines) {
  std::string mine;
  for (const std::string& line : lines) mine += line + "\n";
  const std::vector<std::string> told = job.gather(mine);
  std::vector<std::string> all;
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    std::istringstream stream(told[rank]);
    for (std::string line; std::getline(stream, line);)
      all.push_back((told.size() > 1 ? "rank " + std::to_string(rank) + ": " : "") + line);
  }
  return all;
}

std::string first_lines(const std::vector<std::string>& lines) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) text += "  " + lines[i] + "\n";
  return text + (lines.size() > most ? "  ...\n" : "");
}

}  // namespace steadfold::command
