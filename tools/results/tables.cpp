#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "results/results.hpp"
#include "svg.hpp"

namespace steadfold::command::results {
namespace {

using Rows = std::vector<const Json*>;

std::string markup_of(const Json& value);

/// What stands between the parts of a value that has several.
std::string joined_markup(const Json& values, const char* between) {
  std::string text;
  for (const auto& [name, value] : values.items()) {
    if (!text.empty()) text += between;
    text += (values.is_object() ? escaped_markup(name) + ": " : "") + markup_of(value);
  }
  return text;
}

bool has_parts(const Json& value) {
  return std::ranges::any_of(value, [](const Json& each) { return each.is_structured(); });
}

/// Numbers with a fraction have four digits here, and all of them where the pointer rests. Lists of objects are folded.
/// Calls itself as deep as `read` allows.
std::string markup_of(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_number_float())
    return fmt::format("<span title=\"{}\">{:.4g}</span>", value.dump(), value.get<double>());
  if (value.is_string()) return escaped_markup(value.get<std::string>());
  if (value.is_object()) return joined_markup(value, "; ");
  if (!value.is_array()) return value.dump();
  if (!has_parts(value)) return "[" + joined_markup(value, ", ") + "]";
  return fmt::format("<details><summary>{}</summary>{}</details>", value.size(), joined_markup(value, "<br>"));
}

std::string cell(const Json& value) {
  return fmt::format("<td{}>{}</td>", value.is_number() ? " class=\"number\"" : "", markup_of(value));
}

/// The fields of all rows, in the order in which they first appear.
std::vector<std::string> fields_of(const Rows& rows) {
  std::vector<std::string> fields;
  for (const Json* const row : rows) {
    for (const auto& [name, value] : row->items())
      if (std::ranges::find(fields, name) == fields.end()) fields.push_back(name);
  }
  return fields;
}

bool is_the_same_everywhere(const Rows& rows, const std::string& field) {
  return rows.size() > 1 && std::ranges::all_of(rows, [&](const Json* row) {
           return row->contains(field) && rows.front()->contains(field) && !(*row)[field].is_structured() &&
                  (*row)[field] == (*rows.front())[field];
         });
}

/// The field whose values an interval bounds: "ratio" for "ratio_interval".
std::optional<std::string> bounded_by(const std::string& field, const std::vector<std::string>& fields) {
  constexpr std::string_view ending = "_interval";
  if (!field.ends_with(ending)) return std::nullopt;
  const std::string name = field.substr(0, field.size() - ending.size());
  for (const std::string& each : {name, name + "_per_element"})
    if (std::ranges::find(fields, each) != fields.end()) return each;
  return std::nullopt;
}

/// A value with the interval that belongs to it: "0.93 [0.90, 0.95]".
std::string cell_of(const Json& row, const std::string& field, const std::string& interval) {
  if (!row.contains(field)) return "<td></td>";
  if (interval.empty() || !row.contains(interval)) return cell(row[field]);
  return fmt::format("<td class=\"number\">{} {}</td>", markup_of(row[field]), markup_of(row[interval]));
}

/// A field, and its interval or nothing.
using Column = std::pair<std::string, std::string>;

/// The columns of rows, without the fields in `left_out`.
std::vector<Column> columns_of(const std::vector<std::string>& fields, const Json& left_out) {
  std::vector<Column> columns;
  for (const std::string& field : fields) {
    if (!left_out.contains(field) && !bounded_by(field, fields)) columns.emplace_back(field, "");
  }
  for (const std::string& field : fields) {
    const std::optional<std::string> bounded = bounded_by(field, fields);
    if (!bounded) continue;
    const auto column = std::ranges::find(columns, *bounded, &Column::first);
    column == columns.end() ? columns.emplace_back(field, "") : * column = {*bounded, field};
  }
  return columns;
}

}  // namespace

std::string table_of_fields(const Json& object) {
  std::string text = "<div class=\"wide\"><table>\n";
  for (const auto& [name, value] : object.items())
    text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped_markup(name), markup_of(value));
  return text + "</table></div>\n";
}

std::string table_of_rows(const Rows& rows) {
  const std::vector<std::string> fields = fields_of(rows);
  Json same = Json::object();
  for (const std::string& field : fields)
    if (is_the_same_everywhere(rows, field)) same[field] = (*rows.front())[field];
  const std::vector<Column> columns = columns_of(fields, same);
  std::string text = same.empty() ? "" : "<p>The same in all rows:</p>\n" + table_of_fields(same);
  text += "<div class=\"wide\"><table>\n<thead><tr>";
  for (const auto& [field, interval] : columns)
    text += fmt::format("<th scope=\"col\">{}{}</th>", escaped_markup(field), interval.empty() ? "" : " [interval]");
  text += "</tr></thead>\n<tbody>\n";
  for (const Json* const row : rows) {
    text += "<tr>";
    for (const auto& [field, interval] : columns) text += cell_of(*row, field, interval);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace steadfold::command::results
