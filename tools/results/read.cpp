#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "output.hpp"
#include "results/results.hpp"

namespace steadfold::command::results {
namespace {

constexpr const char* what_is_known = "give the output of steadfold bench, study or verify with --json";

/// Returns the greatest depth of open brackets. The parser could find it, too, but would take time in proportion to the
/// square of the number of rows.
int depth_of(const std::string& text) {
  int depth = 0;
  int most = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted && c == '\\') ++i;
    if (is_quoted) continue;
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return most;
}

/// Parses a text. `first_line` is the line of the file on which the text begins.
Json parsed(const std::string& text, const std::string& path, std::size_t first_line) {
  constexpr int deepest = 32;  // largest depth of brackets, because the functions that show values are recursive
  if (depth_of(text) > deepest)
    throw Failure(fmt::format("{} cannot be shown (its values are nested more than {} levels deep), {}", path, deepest,
                              what_is_known));
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t end = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    throw Failure(fmt::format("{} cannot be read (line {} is not JSON), {}", path,
                              first_line + static_cast<std::size_t>(line), what_is_known));
  } catch (const Json::out_of_range&) {
    throw Failure(fmt::format("{} cannot be read (a number in it is larger than any double), {}", path, what_is_known));
  }
}

bool has(const Json& object, const char* field, bool (*is_right)(const Json&)) {
  const auto found = object.find(field);
  return found != object.end() && is_right(*found);
}

/// Returns the kind of an object. Throws Failure if none of the commands prints objects of this form.
std::string kind_of(const Json& object, const std::string& place) {
  const auto is_of_objects = [](const Json& rows) {
    return rows.is_array() && std::ranges::all_of(rows, [](const Json& row) { return row.is_object(); });
  };
  const auto unknown = [&](const char* why) {
    return Failure(fmt::format("{} cannot be shown ({}), {}", place, why, what_is_known));
  };
  if (!object.is_object()) throw unknown("it is not a JSON object");
  if (!has(object, "rows", is_of_objects)) throw unknown("it has no array \"rows\" of objects");
  if (has(object, "identical", [](const Json& each) { return each.is_boolean(); })) return "verify";
  if (has(object, "study", [](const Json& each) { return each.is_string() || each.is_null(); })) return "study";
  if (has(object, "environment", [](const Json& each) { return each.is_object(); })) return "bench";
  throw unknown("it has \"rows\", but neither \"environment\" (bench), \"study\" nor \"identical\" (verify)");
}

struct Line {
  std::size_t number;
  std::string text;
};

std::vector<Line> lines_with_text(const std::string& text) {
  std::vector<Line> lines;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back({number, std::move(line)});
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string string_in(const Json& object, const std::string& field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<Results> read(const std::string& path) {
  const std::string text = contents_of(path, "name a file with results");
  const std::vector<Line> lines = lines_with_text(text);
  if (lines.empty()) throw Failure(fmt::format("{} cannot be read (it is empty), {}", path, what_is_known));
  std::vector<Results> all;
  const auto add = [&](Json object, const std::string& place) {
    std::string kind = kind_of(object, place);
    all.push_back({.place = place, .kind = std::move(kind), .object = std::move(object)});
  };
  // A single line may be the beginning of an object that occupies several lines.
  if (lines.size() == 1 || !Json::accept(lines.front().text)) {
    add(parsed(text, path, 1), path);
    return all;
  }
  for (const Line& line : lines)
    add(parsed(line.text, path, line.number), fmt::format("{}, line {}", path, line.number));
  return all;
}

}  // namespace steadfold::command::results
