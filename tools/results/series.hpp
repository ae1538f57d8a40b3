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
  double low = 0;  // lower end of the interval; equal to `high` if there is no interval
  double high = 0;
};

/// The role of a line: a measurement of the library, a rival, or a limit.
enum class Role : std::uint8_t { own, rival, limit };

struct Series {
  std::string name;
  Role role = Role::own;
  std::vector<Sample> samples = {};  // points of the line, with ascending x
  // False if an x occurs twice, because the points differ in a field that the plot does not show.
  bool is_line = true;
};

/// The largest number of lines in a plot, so that no two lines have the same colour.
inline constexpr std::size_t most_lines = 24;

struct Plot {
  std::string title;  // labels of the plot's rows that differ from the labels of other plots
  std::string x_name;
  std::string y_name;
  std::vector<Series> series = {};
};

/// Returns the plots of rows that have the same fields. The list is empty if no field is a size, or no field is a
/// result.
std::vector<Plot> plots_in(const std::vector<const Json*>& rows);

}  // namespace steadfold::command::results
