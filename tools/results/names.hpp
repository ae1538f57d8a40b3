// The names that a page shows for the fields of results, with their units.
#pragma once

#include <string>
#include <string_view>

namespace steadfold::command::results {

/// Returns the name of a field for people: "time per element" for "ns_per_element", "tree" for "tree_us".
std::string spoken(std::string_view field);

/// The unit in which a page shows the numbers of a field, and the factor that converts them to this unit.
struct Unit {
  std::string name;  // name of the unit; empty if there is none
  double factor = 1;
};
/// Returns the unit. `largest` is the largest of the numbers that are shown together.
Unit unit_of(std::string_view field, double largest);

/// Returns the label of an axis, such as "time (µs)".
std::string axis_label(std::string_view field, const Unit& unit);

/// Writes a count with its digits in groups: "100 000".
std::string grouped(double count);
/// Writes a number with three digits and its unit, such as "1.25 µs".
std::string quantity(std::string_view field, double number);
/// Writes a size with its noun: "100 000 elements", "1 rank".
std::string size_text(std::string_view field, double size);

}  // namespace steadfold::command::results
