// Reads results of `bench`, `study` and `verify`, as --json prints them, and shows them on a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"

namespace steadfold::command::results {

/// One JSON object of a file.
struct Results {
  std::string place;  // path of the file, and the line if the file has several objects
  std::string kind;   // name of the subcommand: bench, study or verify
  Json object;        // the object, which has "rows", an array of objects
};

/// Reads the objects of a file: one object, or one per line. Throws Failure if the file cannot be read, is not JSON, or
/// has objects that none of the three commands prints.
std::vector<Results> read(const std::string& path);

/// Returns the number in a field of a row. The result is empty if the field has no number, or if the number is too
/// large to be drawn.
std::optional<double> number_in(const Json& row, const std::string& field);
/// Returns the text in a field of an object. The result is empty if the field has no text.
std::string string_in(const Json& object, const std::string& field);

/// Returns at most a dozen findings, each a sentence without its full stop. A group has rows with the same fields.
std::vector<std::string> findings_of(const Results& results, const std::vector<std::vector<const Json*>>& groups);

/// Writes an object's fields as an HTML table of two columns.
std::string table_of_fields(const Json& object);
/// Writes rows as an HTML table. If there are several rows, values that are the same in all of them are written once,
/// above the table. An interval follows its value.
std::string table_of_rows(const std::vector<const Json*>& rows);

/// Draws the rows' times or ratios over their sizes, as SVG inside a page, with rivals and limits. There is one plot
/// per combination of the other fields that differ. The list is empty if the rows do not have two sizes.
std::string plots_of(const std::vector<const Json*>& rows);
/// Returns the part of the page's style sheet that plots need: a colour for each line.
std::string style_of_plots();

}  // namespace steadfold::command::results
