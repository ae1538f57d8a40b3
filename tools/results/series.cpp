#include "results/series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

namespace steadfold::command::results {
namespace {

using Rows = std::vector<const Json*>;
using Names = std::vector<std::string>;

// What may stand on the x axis, the best first.
constexpr std::array<std::string_view, 11> sizes = {"elements", "count",    "points", "columns", "width", "bytes",
                                                    "block",    "summands", "ranks",  "threads", "n"};
// Numbers that tell rows apart beside the size.
constexpr std::array<std::string_view, 5> numbers_that_divide = {"ranks", "threads", "rows", "n", "columns"};
// What stands in one plot, line beside line, and what never does.
constexpr std::array<std::string_view, 6> compared = {"kernel", "variant", "method", "schedule", "call", "tree"};
constexpr std::array<std::string_view, 5> kept_apart = {"type", "operator", "library", "transport", "part"};
// Texts that tell nothing, or are told otherwise.
constexpr std::array<std::string_view, 4> ignored = {"rival", "chosen", "target", "status"};
// Results, if there is no time.
constexpr std::array<std::string_view, 6> results_but_times = {"ratio",  "relative_error", "error",
                                                               "rounds", "messages",       "nodes"};
constexpr std::array<std::string_view, 3> compared_apart = {"method", "call", "tree"};
constexpr std::size_t most_series = 10;
constexpr std::size_t far_too_many = 24;

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Numbers that can be drawn: differences and quotients of what is measured do not overflow.
bool can_be_drawn(double number) { return std::abs(number) < 1e290; }

std::optional<double> number_in(const Json& row, const std::string& field) {
  const auto found = row.find(field);
  if (found == row.end() || !found->is_number()) return std::nullopt;
  const auto number = found->get<double>();
  return can_be_drawn(number) ? std::optional(number) : std::nullopt;
}

std::string text_in(const Json& row, const std::string& field) {
  const auto found = row.find(field);
  if (found == row.end() || found->is_null()) return "-";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string key_of(const Json& row, const Names& fields) {
  Json key = Json::array();
  for (const std::string& field : fields) key.push_back(text_in(row, field));
  return key.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::size_t different(const Rows& rows, const Names& fields) {
  std::set<std::string> keys;
  for (const Json* const row : rows) keys.insert(key_of(*row, fields));
  return keys.size();
}

Names without(const Names& names, const std::string& left_out) {
  Names rest = names;
  std::erase(rest, left_out);
  return rest;
}

/// Labels that follow from the others tell nothing more.
Names without_repeated(const Rows& rows, Names labels) {
  const std::size_t told = different(rows, labels);
  for (std::size_t i = labels.size(); i-- > 0 && labels.size() > 1;) {
    const Names fewer = without(labels, labels[i]);
    if (different(rows, fewer) == told) labels = fewer;
  }
  return labels;
}

/// The fields that tell rows apart, whatever is on the x axis.
Names labels_of(const Rows& rows) {
  Names labels;
  for (const auto& [name, value] : rows.front()->items()) {
    const bool may_be = value.is_string() ? !is_one_of(ignored, name) : is_one_of(numbers_that_divide, name);
    const bool is_repeated = name == "variant" && rows.front()->contains("kernel");
    if (may_be && !is_repeated && different(rows, {name}) > 1) labels.push_back(name);
  }
  return labels;
}

/// The size of which the lines have the most points; empty if every line would have one only.
std::string x_of(const Rows& rows, const Names& labels) {
  std::string best;
  double most_points = 1;
  for (const std::string_view size : sizes) {
    const std::string name(size);
    if (!std::ranges::all_of(rows, [&](const Json* row) { return number_in(*row, name).has_value(); })) continue;
    Names fields = without(labels, name);
    const auto lines = static_cast<double>(different(rows, fields));
    fields.push_back(name);
    const double points = static_cast<double>(different(rows, fields)) / lines;
    if (points > most_points) best = name, most_points = points;
  }
  return best;
}

/// The fields on the y axis, which all have one unit.
Names ys_of(const Rows& rows) {
  const auto has = [&](const std::string& field) {
    return std::ranges::any_of(rows, [&](const Json* row) { return number_in(*row, field).has_value(); });
  };
  if (has("ns_per_element")) return {"ns_per_element"};
  Names times;
  for (const auto& [name, value] : rows.front()->items()) {
    const bool is_time = name == "seconds" || name.ends_with("_seconds");
    if (is_time && !name.starts_with("rival_") && has(name)) times.push_back(name);
  }
  if (!times.empty()) return times;
  for (const std::string_view name : results_but_times)
    if (has(std::string(name))) return {std::string(name)};
  return {};
}

/// How many plots there are if rows that have these fields in common share one, and the most lines in one of them.
struct Split {
  std::size_t plots = 0;
  std::size_t most_lines = 0;
};
Split split_by(const Rows& rows, const Names& fields, const Names& labels, std::size_t lines_per_key) {
  std::map<std::string, std::set<std::string>> lines;
  for (const Json* const row : rows) lines[key_of(*row, fields)].insert(key_of(*row, labels));
  Split split{.plots = lines.size()};
  for (const auto& [plot, keys] : lines) split.most_lines = std::max(split.most_lines, keys.size() * lines_per_key);
  return split;
}

/// The first fields and those of the others with which as few plots as can be have at most `most_series` lines.
Names best_split(const Rows& rows, const Names& first, Names others, const Names& labels, std::size_t lines_per_key) {
  others.resize(std::min<std::size_t>(others.size(), 6));  // every subset is tried
  Names best;
  auto least = std::pair(std::numeric_limits<std::size_t>::max(), std::size_t{0});
  for (std::size_t subset = 0; subset < std::size_t{1} << others.size(); ++subset) {
    Names fields = first;
    for (std::size_t i = 0; i < others.size(); ++i)
      if ((subset >> i & 1) != 0) fields.push_back(others[i]);
    const Split split = split_by(rows, fields, labels, lines_per_key);
    const auto cost = std::pair(split.most_lines - std::min(split.most_lines, most_series), split.plots);
    if (cost < least) best = fields, least = cost;
  }
  return best;
}

/// What rows of a plot have in common. What people compare is taken apart only if there is far too much of it.
Names shared_in_a_plot(const Rows& rows, const Names& labels, std::size_t lines_per_key) {
  Names apart;
  Names open;
  for (const std::string& label : labels) {
    if (is_one_of(kept_apart, label)) {
      apart.push_back(label);
    } else if (!is_one_of(compared, label)) {
      open.push_back(label);
    }
  }
  Names shared = best_split(rows, apart, open, labels, lines_per_key);
  for (const std::string_view name : compared_apart) {
    if (split_by(rows, shared, labels, lines_per_key).most_lines <= far_too_many) break;
    if (std::ranges::find(labels, name) != labels.end()) shared.emplace_back(name);
  }
  return shared;
}

std::string joined(const Json& row, const Names& fields, bool with_names) {
  std::string text;
  for (const std::string& field : fields) {
    text += text.empty() ? "" : ", ";
    const bool is_text = row.contains(field) && row[field].is_string();
    text += (with_names || !is_text ? field + " " : "") + text_in(row, field);
  }
  return text;
}

/// A rival's name without that of its library, which may be long: as in the tables of `bench`.
std::string name_of_rival(const Json& rival) {
  const std::string name = text_in(rival, "rival");
  const std::size_t library = name.rfind(": ");
  return library == std::string::npos ? name : name.substr(library + 2);
}

/// The interval of a field: "ratio_interval", or "ns_interval" of "ns_per_element".
Sample sample_of(const Json& row, double x, const std::string& field, double y) {
  const std::string stem = field.substr(0, field.find("_per_element"));
  const auto found = row.find(stem + "_interval");
  const auto is_end = [](const Json& end) { return end.is_number() && can_be_drawn(end.get<double>()); };
  if (found == row.end() || !found->is_array() || found->size() != 2 || !std::ranges::all_of(*found, is_end))
    return {x, y, y, y};
  return {x, y, (*found)[0].get<double>(), (*found)[1].get<double>()};
}

class PlotMaker {
 public:
  PlotMaker(const Rows& rows, std::string x, Names ys, const Names& labels) : x_(std::move(x)), ys_(std::move(ys)) {
    const Names others = without_repeated(rows, without(labels, x_));
    shared_ = shared_in_a_plot(rows, others, ys_.size());
    for (const std::string& label : others)
      if (std::ranges::find(shared_, label) == shared_.end()) told_by_line_.push_back(label);
  }

  std::vector<Plot> plots(const Rows& rows) const {
    std::vector<std::pair<std::string, Plot>> found;
    for (const Json* const row : rows) {
      const std::string key = key_of(*row, shared_);
      auto place = std::ranges::find(found, key, [](const auto& each) { return each.first; });
      if (place == found.end()) {
        found.emplace_back(key, Plot{.title = joined(*row, shared_, true), .x_name = x_, .y_name = y_name()});
        place = std::prev(found.end());
      }
      add(place->second, *row);
    }
    std::vector<Plot> plots;
    for (auto& [key, plot] : found) {
      if (finished(plot)) plots.push_back(std::move(plot));
    }
    return plots;
  }

 private:
  std::string y_name() const { return ys_.size() == 1 ? ys_.front() : "seconds"; }

  static void add(Plot& plot, const std::string& name, Role role, const Sample& sample) {
    if (!can_be_drawn(sample.y)) return;
    auto place =
        std::ranges::find_if(plot.series, [&](const Series& each) { return each.name == name && each.role == role; });
    if (place == plot.series.end()) {
      plot.series.push_back({.name = name, .role = role});
      place = std::prev(plot.series.end());
    }
    // Rows beside the same rival repeat its time.
    const bool is_known = std::ranges::any_of(place->samples, [&](const Sample& each) { return each.x == sample.x; });
    if (role == Role::own || !is_known) place->samples.push_back(sample);
  }

  void add(Plot& plot, const Json& row) const {
    const double x = *number_in(row, x_);
    const std::string name = joined(row, told_by_line_, false);
    for (const std::string& field : ys_) {
      const std::optional<double> y = number_in(row, field);
      if (!y) continue;
      const std::string of_field = ys_.size() == 1 ? "" : (name.empty() ? "" : ", ") + field;
      // A reading loop is its own limit.
      const std::optional<double> to_limit = field == "ns_per_element" ? number_in(row, "ratio_to_read") : std::nullopt;
      if (to_limit && *to_limit > 0)
        add(plot, "limit: read", Role::limit, {x, *y / *to_limit, *y / *to_limit, *y / *to_limit});
      if (!to_limit || *to_limit != 1) {
        const std::string known_as = name + of_field;
        add(plot, known_as.empty() ? field : known_as, Role::own, sample_of(row, x, field, *y));
      }
      if (const std::optional<double> of_rival = number_in(row, "rival_seconds"); of_rival && field == "seconds")
        add(plot, name_of_rival(row), Role::rival, sample_of(row, x, "rival_seconds", *of_rival));
      if (field == "ratio") add(plot, "rival", Role::limit, {x, 1, 1, 1});
      if (const std::optional<double> bound = number_in(row, "bound"); bound && field == "relative_error")
        add(plot, "bound", Role::limit, {x, *bound, *bound, *bound});
    }
  }

  /// Whether some line has two points.
  static bool finished(Plot& plot) {
    bool has_line = false;
    for (Series& series : plot.series) {
      std::ranges::stable_sort(series.samples, {}, &Sample::x);
      has_line = has_line || (!series.samples.empty() && series.samples.front().x < series.samples.back().x);
    }
    return has_line;
  }

  std::string x_;
  Names ys_;
  Names shared_;        // the labels that rows of one plot have in common
  Names told_by_line_;  // the others, which name its lines
};

}  // namespace

std::vector<Plot> plots_in(const Rows& rows) {
  if (rows.empty()) return {};
  const Names labels = labels_of(rows);
  const std::string x = x_of(rows, labels);
  const Names ys = ys_of(rows);
  if (x.empty() || ys.empty()) return {};
  return PlotMaker(rows, x, ys, labels).plots(rows);
}

}  // namespace steadfold::command::results
