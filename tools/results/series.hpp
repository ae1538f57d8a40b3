// Which rows become which lines of which plots: chosen by the names of their fields, since every benchmark and study
// has rows of its own.
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

/// What a line stands for: what was measured, what it is measured beside, or what bounds it.
enum class Role : std::uint8_t { own, rival, limit };

struct Series {
  std::string name;
  Role role = Role::own;
  std::vector<Sample> samples = {};  // x ascends
  bool is_line = true;               // false if an x comes twice: something untold tells the points apart
};

/// More do not share a plot: no two lines of one have the same colour.
inline constexpr std::size_t most_lines = 24;

struct Plot {
  std::string title;  // what is the same in all of its rows, of what differs elsewhere
  std::string x_name;
  std::string y_name;
  std::vector<Series> series = {};
};

/// The plots of rows that have the same fields; none if no field is a size, or none is a result.
std::vector<Plot> plots_in(const std::vector<const Json*>& rows);

}  // namespace steadfold::command::results
