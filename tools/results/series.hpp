// Distributes rows to plots and their lines, by the names of their fields, because each benchmark and study has
// different fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"

namespace steadfold::command::results {

struct Sample {
  double x = 0;
  double y = 0;
  double low = 0;  // equal to `high` if there is no interval
  double high = 0;
};

/// The role of a line: the measured candidate, a rival, or a limit.
enum class Role : std::uint8_t { own, rival, limit };

struct Series {
  std::string name;
  Role role = Role::own;
  std::vector<Sample> samples = {};  // x ascends
  bool is_line = true;               // false if an x comes twice: the points differ in a field that the plot lacks
};

/// The greatest number of lines in a plot, so that no two lines have the same colour.
inline constexpr std::size_t most_lines = 24;

struct Plot {
  std::string title;  // the labels of its rows that differ from the labels of other plots
  std::string x_name;
  std::string y_name;
  std::vector<Series> series = {};
};

/// The plots of rows that have the same fields. Empty if no field is a size, or no field is a result.
std::vector<Plot> plots_in(const std::vector<const Json*>& rows);

}  // namespace steadfold::command::results
