// Writes findings: sentences about results. Rows are recognised by the names of their fields, as in series.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "results/names.hpp"
#include "results/results.hpp"
#include "results/series.hpp"

namespace steadfold::command::results {
namespace {

using Rows = std::vector<const Json*>;
using Sentences = std::vector<std::string>;

constexpr std::size_t most_sentences = 12;

Rows pointers_to(const Json& rows) {
  Rows all;
  for (const Json& row : rows) all.push_back(&row);
  return all;
}

/// Writes a range of numbers: "0.23", or "0.23 to 1.7".
std::string range(double low, double high) {
  const std::string first = fmt::format("{:.3g}", low);
  const std::string last = fmt::format("{:.3g}", high);
  return first == last ? first : first + " to " + last;
}

Sentences of_verify(const Json& object) {
  std::map<std::string, std::pair<std::size_t, std::set<std::string>>> methods;
  for (const Json& row : object["rows"]) {
    auto& [sums, results] = methods[string_in(row, "method")];
    ++sums;
    results.insert(string_in(row, "bits"));
    if (row.value("same_on_all_ranks", Json(true)) == Json(false)) results.insert("ranks differ");
  }
  Sentences told = {object["identical"].get<bool>() ? "Every method that promises the same bits gave the same bits."
                                                    : "A method that promises the same bits gave different bits."};
  for (const auto& [method, found] : methods) {
    const auto& [sums, results] = found;
    told.push_back(results.size() == 1
                       ? fmt::format("{}: the same bits in {}, {}", method,
                                     size_text("sums", static_cast<double>(sums)), *results.begin())
                       : fmt::format("{}: {} different results in {} sums", method, results.size(), sums));
  }
  return told;
}

/// Writes a number of elements of a type, in plain words.
std::string elements_text(double count, const std::string& type) {
  const std::string name = type == "f64" ? "double" : type == "f32" ? "float" : "element";
  return grouped(count) + " " + name + (count == 1 ? "" : "s");
}

/// Writes the finding about kernels: their time at the largest size for each type and number of threads, compared with
/// the loop that most programs have.
Sentences of_kernels(const Rows& rows) {
  struct Best {
    double elements = 0;
    std::map<std::string, double> ratios = {};
  };
  std::map<std::pair<std::string, double>, Best> parts;
  for (const Json* const row : rows) {
    const std::string kernel = string_in(*row, "kernel");
    const auto ratio = number_in(*row, "ratio_to_accumulate");
    const auto elements = number_in(*row, "elements");
    if (!ratio || !elements || kernel == "accumulate" || kernel == "read") continue;
    Best& best = parts[{string_in(*row, "type"), number_in(*row, "threads").value_or(1)}];
    if (*elements > best.elements) best = {.elements = *elements};
    if (*elements < best.elements) continue;
    const auto [place, is_new] = best.ratios.try_emplace(kernel, *ratio);
    if (!is_new) place->second = std::min(place->second, *ratio);
  }
  Sentences told;
  for (const auto& [key, best] : parts) {
    const std::string on = key.second > 1 ? " on " + size_text("threads", key.second) : "";
    for (const auto& [kernel, ratio] : best.ratios)
      told.push_back(fmt::format("{}: {:.3g} × std::accumulate at {}{}", kernel, ratio,
                                 elements_text(best.elements, key.first), on));
  }
  return told;
}

/// The values that the rows of one sentence share.
struct Beside {
  Rows rows;
  std::string rival;
  std::set<std::string> schedules = {};
};

/// Returns the rival's name without the name of its library, which may be long.
std::string rival_of(const Json& row) {
  const std::string name = string_in(row, "rival");
  const std::size_t library = name.rfind(": ");
  return library == std::string::npos ? name : name.substr(library + 2);
}

std::string subject_of(const Json& row) {
  for (const char* const field : {"method", "kernel", "call", "variant"})
    if (const std::string name = string_in(row, field); !name.empty()) return name;
  return "Steadfold";
}

/// Returns the fields in which these rows differ, besides the compared fields.
std::vector<std::string> mixed_fields(const Rows& rows) {
  std::vector<std::string> mixed;
  for (const char* const field : {"call", "operator", "type", "library", "transport"}) {
    const auto differs = [&](const Json* row) { return string_in(*row, field) != string_in(*rows.front(), field); };
    if (std::ranges::any_of(rows, differs)) mixed.emplace_back(field);
  }
  return mixed;
}

std::string circumstances_of(const Json& row, const std::vector<std::string>& mixed) {
  std::string text;
  for (const std::string& field : mixed)
    if (const std::string name = string_in(row, field); !name.empty())
      text += ", " + (field == "call" ? "" : field + " ") + name;
  for (const char* const field : {"ranks", "threads"})
    if (const auto count = number_in(row, field); count && *count > 1) text += ", " + size_text(field, *count);
  return text;
}

/// The smallest and the largest ratio.
struct Ratios {
  double low = INFINITY;
  double high = -INFINITY;

  void add(double ratio) { low = std::min(low, ratio), high = std::max(high, ratio); }
};

/// Returns the field that says how large calls are; empty if there is none.
std::string size_field(const Rows& rows) {
  for (const char* const field : {"count", "elements", "points"})
    if (std::ranges::all_of(rows, [&](const Json* row) { return number_in(*row, field).has_value(); })) return field;
  return "";
}

/// Writes a sentence with the ratios at the smallest and the largest size, and the largest ratio between these sizes if
/// it is larger than both.
std::string sentence_of(const std::string& subject, const Beside& each) {
  const std::string field = size_field(each.rows);
  std::map<double, Ratios> by_size;
  for (const Json* const row : each.rows)
    by_size[field.empty() ? 0 : *number_in(*row, field)].add(*number_in(*row, "ratio"));
  const auto at = [&](double size) { return field.empty() ? "" : " at " + size_text(field, size); };
  const auto& [least, first] = *by_size.begin();
  const auto& [most, last] = *by_size.rbegin();
  std::string text = fmt::format("{}: {} × {}{}", subject, range(first.low, first.high), each.rival, at(least));
  if (by_size.size() > 1) text += fmt::format(", {} ×{}", range(last.low, last.high), at(most));
  double between = 0;
  for (const auto& [size, ratios] : by_size) between = std::max(between, ratios.high);
  return between > std::max(first.high, last.high) ? text + fmt::format(", up to {:.3g} × between", between) : text;
}

/// Writes the finding about rivals: how long calls take compared with a rival, over all sizes. If there are several
/// schedules, only the schedule that the library chooses is included.
Sentences of_rivals(const Rows& rows) {
  const auto is_auto = [](const Json* row) { return string_in(*row, "schedule") == "auto"; };
  const bool has_auto = std::ranges::any_of(rows, is_auto);
  const std::vector<std::string> mixed = mixed_fields(rows);
  std::vector<std::pair<std::string, Beside>> parts;
  std::map<std::string, std::size_t> places;
  for (const Json* const row : rows) {
    const std::string rival = rival_of(*row);
    if (!number_in(*row, "ratio") || rival.empty() || (has_auto && !is_auto(row))) continue;
    const std::string subject = subject_of(*row) + circumstances_of(*row, mixed);
    const auto [place, is_new] = places.try_emplace(subject + "\n" + rival, parts.size());
    if (is_new) parts.push_back({subject, {.rows = {}, .rival = rival}});
    parts[place->second].second.rows.push_back(row);
    parts[place->second].second.schedules.insert(string_in(*row, "schedule"));
  }
  Sentences told;
  for (const auto& [subject, each] : parts)
    told.push_back(sentence_of(subject, each) +
                   (each.schedules.size() > 1 ? fmt::format(", over {} schedules", each.schedules.size()) : ""));
  return told;
}

/// Writes the finding about a plot: the smallest and the largest value at the largest x, without rivals and limits. If
/// the plot has only one line, how the line changes.
std::string sentence_of(const Plot& plot) {
  std::vector<const Series*> own;
  for (const Series& series : plot.series)
    if (series.role == Role::own && series.is_line) own.push_back(&series);
  if (own.empty()) return "";
  double last = -INFINITY;
  for (const Series* const series : own) last = std::max(last, series->samples.back().x);
  std::erase_if(own, [&](const Series* series) { return series->samples.back().x < last; });
  const std::string of_plot = (plot.title.empty() ? "" : plot.title + ": ") + spoken(plot.y_name);
  const auto y_of = [](const Series* series) { return series->samples.back().y; };
  if (own.size() > 1) {
    const auto [least, most] = std::ranges::minmax(own, {}, y_of);
    if (y_of(least) == y_of(most))
      return fmt::format("{} at {}: {} for each of the {} lines of the plot", of_plot, size_text(plot.x_name, last),
                         quantity(plot.y_name, y_of(least)), own.size());
    return fmt::format("{} at {}: {} ({}) is the lowest, {} ({}) the highest of {}", of_plot,
                       size_text(plot.x_name, last), least->name, quantity(plot.y_name, y_of(least)), most->name,
                       quantity(plot.y_name, y_of(most)), own.size());
  }
  const Sample first = own.front()->samples.front();
  return fmt::format("{}: {} at {}, {} at {}", of_plot, quantity(plot.y_name, first.y), size_text(plot.x_name, first.x),
                     quantity(plot.y_name, y_of(own.front())), size_text(plot.x_name, last));
}

Sentences of_plots(const std::vector<Rows>& groups) {
  Sentences told;
  for (const Rows& rows : groups)
    for (const Plot& plot : plots_in(rows))
      if (std::string sentence = sentence_of(plot); !sentence.empty()) told.push_back(std::move(sentence));
  return told;
}

}  // namespace

Sentences findings_of(const Results& results, const std::vector<Rows>& groups) {
  if (results.kind == "verify") return of_verify(results.object);
  const Rows rows = pointers_to(results.object["rows"]);
  Sentences told = of_kernels(rows);
  if (told.empty()) told = of_rivals(rows);
  if (told.empty()) told = of_plots(groups);
  if (told.size() <= most_sentences) return told;
  const std::size_t left_out = told.size() - most_sentences;
  told.resize(most_sentences);
  told.push_back(fmt::format("{} more findings are in the plots and tables", left_out));
  return told;
}

}  // namespace steadfold::command::results
