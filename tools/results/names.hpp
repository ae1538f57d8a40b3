// Names of the fields of results on a page, with their units.
#pragma once

#include <string>
#include <string_view>

namespace steadfold::command::results {

/// The name of a field for people: "time per element" for "ns_per_element", "tree" for "tree_us".
std::string spoken(std::string_view field);

/// The unit of the numbers of a field on a page, and their factor for this unit.
struct Unit {
  std::string name;  // empty: none
  double factor = 1;
};
/// `largest` is the largest of the numbers that are shown together.
Unit unit_of(std::string_view field, double largest);

/// The label of an axis, such as "time (µs)".
std::string axis_label(std::string_view field, const Unit& unit);

/// A count with its digits in groups: "100 000".
std::string grouped(double count);
/// A number with three digits and its unit, such as "1.25 µs".
std::string quantity(std::string_view field, double number);
/// A size with its noun: "100 000 elements", "1 rank".
std::string size_text(std::string_view field, double size);

}  // namespace steadfold::command::results
