#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>

#include "results/results.hpp"
#include "svg.hpp"

namespace steadfold::command::results {
namespace {

using Rows = std::vector<const Json*>;

std::string markup_of(const Json& value);

/// Joins the parts of a value. `between` is the separator.
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

/// Writes a value in HTML. Numbers with a fraction are shown with four digits, and with all digits when the mouse
/// pointer is on them. Lists of objects are folded. The recursion is as deep as `read` allows.
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

/// Returns the fields of all rows, in the order in which they first appear.
std::vector<std::string> fields_of(const Rows& rows) {
  std::vector<std::string> fields;
  std::unordered_set<std::string> known;
  for (const Json* const row : rows) {
    for (const auto& [name, value] : row->items())
      if (known.insert(name).second) fields.push_back(name);
  }
  return fields;
}

/// Returns the row's value of a field, or null. In most rows a field has the same position `place` as in `fields`, so
/// this position is tried first. This order saves searches in rows of thousands of fields.
const Json* value_in(const Json& row, const std::vector<std::string>& fields, std::size_t place) {
  const auto& all = row.get_ref<const Json::object_t&>();
  if (place < all.size()) {
    const auto likely = all.begin() + static_cast<std::ptrdiff_t>(place);
    if (likely->first == fields[place]) return &likely->second;
  }
  const auto found = row.find(fields[place]);
  return found == row.end() ? nullptr : &*found;
}

bool is_the_same_everywhere(const Rows& rows, const std::vector<std::string>& fields, std::size_t place) {
  const Json* const first = value_in(*rows.front(), fields, place);
  if (rows.size() < 2 || first == nullptr || first->is_structured()) return false;
  return std::ranges::all_of(rows, [&](const Json* row) {
    const Json* const value = value_in(*row, fields, place);
    return value != nullptr && *value == *first;
  });
}

/// Returns the field whose values an interval bounds: "ratio" for "ratio_interval".
std::optional<std::string> bounded_by(const std::string& field, const std::vector<std::string>& fields) {
  constexpr std::string_view ending = "_interval";
  if (!field.ends_with(ending)) return std::nullopt;
  const std::string name = field.substr(0, field.size() - ending.size());
  for (const std::string& each : {name, name + "_per_element"})
    if (std::ranges::find(fields, each) != fields.end()) return each;
  return std::nullopt;
}

/// A column of a table: the index of its field, and the index of the field with its interval, if there is one.
struct Column {
  std::size_t field;
  std::optional<std::size_t> interval = std::nullopt;
};

/// Writes the cell of a row: a value with its interval, as in "0.93 [0.90, 0.95]".
std::string cell_of(const Json& row, const std::vector<std::string>& fields, const Column& column) {
  const Json* const value = value_in(row, fields, column.field);
  const Json* const interval = column.interval ? value_in(row, fields, *column.interval) : nullptr;
  if (value == nullptr) return "<td></td>";
  if (interval == nullptr) return cell(*value);
  return fmt::format("<td class=\"number\">{} {}</td>", markup_of(*value), markup_of(*interval));
}

/// Returns the columns of rows, without the fields in `left_out`. A second interval of a field has a separate column.
std::vector<Column> columns_of(const std::vector<std::string>& fields, const std::set<std::size_t>& left_out) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!left_out.contains(i) && !bounded_by(fields[i], fields)) columns.push_back({i});
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::optional<std::string> bounded = bounded_by(fields[i], fields);
    if (!bounded) continue;
    const auto column = std::ranges::find(columns, *bounded, [&](const Column& each) { return fields[each.field]; });
    if (column != columns.end() && !column->interval) {
      column->interval = i;
    } else {
      columns.push_back({i});
    }
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
  std::set<std::size_t> left_out;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!is_the_same_everywhere(rows, fields, i)) continue;
    same[fields[i]] = *value_in(*rows.front(), fields, i);
    left_out.insert(i);
  }
  const std::vector<Column> columns = columns_of(fields, left_out);
  std::string text = same.empty() ? "" : "<p>The same in all rows:</p>\n" + table_of_fields(same);
  text += "<div class=\"wide\"><table>\n<thead><tr>";
  for (const Column& column : columns)
    text += fmt::format("<th scope=\"col\">{}{}</th>", escaped_markup(fields[column.field]),
                        column.interval ? " [interval]" : "");
  text += "</tr></thead>\n<tbody>\n";
  for (const Json* const row : rows) {
    text += "<tr>";
    for (const Column& column : columns) text += cell_of(*row, fields, column);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace steadfold::command::results
