#include "results/series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <unordered_map>

#include "results/names.hpp"
#include "results/results.hpp"

namespace steadfold::command::results {
namespace {

using Rows = std::vector<const Json*>;
using Names = std::vector<std::string>;

// The fields that can be on the x axis, the best first.
constexpr std::array<std::string_view, 11> sizes = {"elements", "count",    "points", "columns", "width", "bytes",
                                                    "block",    "summands", "ranks",  "threads", "n"};
// Fields whose numbers distinguish rows, besides the size.
constexpr std::array<std::string_view, 6> numbers_that_divide = {"ranks", "threads", "rows", "n", "columns", "ports"};
// Fields whose values share one plot, and fields whose values never do.
constexpr std::array<std::string_view, 6> compared = {"kernel", "variant", "method", "schedule", "call", "tree"};
constexpr std::array<std::string_view, 5> kept_apart = {"type", "operator", "library", "transport", "part"};
// Text fields that have no information for a reader, or that the page shows in another place.
constexpr std::array<std::string_view, 4> ignored = {"rival", "chosen", "target", "status"};
// The names of times: a field is a time if its name is, or ends with, one of these ("seconds", "tree_us").
constexpr std::array<std::string_view, 2> units_of_time = {"seconds", "us"};
// Fields that are results, if no field is a time.
constexpr std::array<std::string_view, 6> results_but_times = {"ratio",  "relative_error", "error",
                                                               "rounds", "messages",       "nodes"};
constexpr std::array<std::string_view, 3> compared_apart = {"method", "call", "tree"};
constexpr std::size_t most_series = 10;
constexpr std::size_t far_too_many = most_lines;
// Largest number of labels; a plot of rows with more fields would be unreadable.
constexpr std::size_t most_labels = 32;

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Whether a number can be drawn: differences and quotients of numbers in this range do not overflow.
bool can_be_drawn(double number) { return std::abs(number) < 1e290; }

std::string text_of(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string text_in(const Json& row, const std::string& field) {
  const auto found = row.find(field);
  return found == row.end() ? "-" : text_of(*found);
}

/// Joins the values of some fields to one key. The lengths separate the texts of two fields.
std::string key_of(const Json& row, const Names& fields) {
  std::string key;
  for (const std::string& field : fields) {
    const std::string text = text_in(row, field);
    key += std::to_string(text.size()) + ":" + text;
  }
  return key;
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

/// Removes labels that follow from other labels, because they add no information.
Names without_repeated(const Rows& rows, Names labels) {
  const std::size_t told = different(rows, labels);
  for (std::size_t i = labels.size(); i-- > 0 && labels.size() > 1;) {
    const Names fewer = without(labels, labels[i]);
    if (different(rows, fewer) == told) labels = fewer;
  }
  return labels;
}

/// The values that all rows have in one field.
struct Field {
  std::string name;
  std::string text;  // value in the first row that has the field
  std::size_t rows = 0;
  bool has_text = false;
  bool has_number = false;
  bool is_mixed = false;
};

/// Collects the fields of all rows in one pass. A search for every field would take long if rows have thousands of
/// fields.
std::vector<Field> fields_among(const Rows& rows) {
  std::vector<Field> fields;
  std::unordered_map<std::string, std::size_t> places;
  for (const Json* const row : rows) {
    for (const auto& [name, value] : row->items()) {
      const auto [place, is_new] = places.try_emplace(name, fields.size());
      if (is_new) fields.push_back({.name = name, .text = value.is_structured() ? "" : text_of(value)});
      Field& field = fields[place->second];
      ++field.rows;
      field.has_text = field.has_text || value.is_string();
      field.has_number = field.has_number || (value.is_number() && can_be_drawn(value.get<double>()));
      field.is_mixed = field.is_mixed || (!value.is_structured() && field.text != text_of(value));
    }
  }
  for (Field& field : fields) field.is_mixed = field.is_mixed || field.rows < rows.size();
  return fields;
}

/// Returns the fields that distinguish rows, whatever field is on the x axis.
Names labels_of(const std::vector<Field>& fields) {
  const bool has_kernel = std::ranges::find(fields, "kernel", &Field::name) != fields.end();
  Names labels;
  for (const Field& field : fields) {
    const bool may_be = field.has_text ? !is_one_of(ignored, field.name) : is_one_of(numbers_that_divide, field.name);
    const bool is_repeated = field.name == "variant" && has_kernel;
    if (may_be && !is_repeated && field.is_mixed) labels.push_back(field.name);
  }
  return labels;
}

/// Returns the size field with which the lines have the most points; empty if every line would have only one point.
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

/// Returns the fields on the y axis, which all have the same unit.
Names ys_of(const std::vector<Field>& fields) {
  const auto has = [&](std::string_view field) {
    const auto found = std::ranges::find(fields, field, &Field::name);
    return found != fields.end() && found->has_number;
  };
  if (has("ns_per_element")) return {"ns_per_element"};
  for (const std::string_view unit : units_of_time) {
    Names times;
    for (const Field& field : fields) {
      const bool is_time = field.name == unit || field.name.ends_with("_" + std::string(unit));
      if (is_time && !field.name.starts_with("rival_") && field.has_number) times.push_back(field.name);
    }
    if (!times.empty()) return times;
  }
  for (const std::string_view name : results_but_times)
    if (has(name)) return {std::string(name)};
  return {};
}

/// The number of plots if rows with equal values in some fields share a plot, and the largest number of lines in a
/// plot.
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

/// Returns the first fields, and the subset of the other fields that gives the fewest plots with at most `most_series`
/// lines.
Names best_split(const Rows& rows, const Names& first, Names others, const Names& labels, std::size_t lines_per_key) {
  others.resize(std::min<std::size_t>(others.size(), 6));  // limits the work, because every subset is tried
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

/// Returns the fields in which all rows of a plot agree. Rows that people compare go to different plots only if one
/// plot would have far too many lines.
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

/// Returns a rival's name without the name of its library, which may be long, as in the tables of `bench`.
std::string name_of_rival(const Json& rival) {
  const std::string name = text_in(rival, "rival");
  const std::size_t library = name.rfind(": ");
  return library == std::string::npos ? name : name.substr(library + 2);
}

/// Returns a point with its interval. The interval is in a field such as "ratio_interval", or "ns_interval" for
/// "ns_per_element".
Sample sample_of(const Json& row, double x, const std::string& field, double y) {
  const std::string stem = field.substr(0, field.find("_per_element"));
  const auto found = row.find(stem + "_interval");
  const auto is_end = [](const Json& end) { return end.is_number() && can_be_drawn(end.get<double>()); };
  if (found == row.end() || !found->is_array() || found->size() != 2 || !std::ranges::all_of(*found, is_end))
    return {x, y, y, y};
  return {x, y, (*found)[0].get<double>(), (*found)[1].get<double>()};
}

/// Whether two numbers are nearly equal. Rows with the same rival repeat the rival's time, or values that follow from
/// it.
bool is_nearly(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

/// A second point that a row gives: a point on the line of its rival, or of its limit.
struct Reference {
  const Json* row;
  Role role;
  std::string name;
  Sample sample;
};

std::vector<Reference> references_of(const Json& row, double x, const std::string& field, double y) {
  std::vector<Reference> found;
  const auto add = [&](Role role, const std::string& name, const Sample& sample) {
    if (can_be_drawn(sample.y)) found.push_back({&row, role, name, sample});
  };
  const auto add_limit = [&](const std::string& name, double limit) {
    add(Role::limit, name, {x, limit, limit, limit});
  };
  if (field == "ns_per_element") {
    if (const auto to_limit = number_in(row, "ratio_to_read"); to_limit && *to_limit > 0)
      add_limit("limit: read", y / *to_limit);
  }
  if (field == "seconds") {
    if (const auto of_rival = number_in(row, "rival_seconds"))
      add(Role::rival, name_of_rival(row), sample_of(row, x, "rival_seconds", *of_rival));
  }
  if (field == "ratio") add_limit("rival", 1);
  if (field == "relative_error") {
    if (const auto bound = number_in(row, "bound")) add_limit("bound", *bound);
  }
  return found;
}

/// Whether the points of rows with equal values in these fields make one line. If some of these rows differ in the
/// fields `all`, their points must have some x in common and equal values there, or one value everywhere.
bool make_one_line(const std::vector<Reference>& points, const Names& fields, const Names& all) {
  std::map<std::pair<double, std::string>, double> values_of_all;
  std::map<std::pair<double, std::string>, double> values;
  std::set<std::string> keys_of_all;
  std::set<std::string> keys;
  bool have_met = false;
  bool are_equal = true;
  for (const Reference& point : points) {
    const std::string key_of_all = key_of(*point.row, all);
    const std::string key = key_of(*point.row, fields);
    keys_of_all.insert(key_of_all);
    keys.insert(key);
    const auto [of_all, is_new] = values_of_all.try_emplace({point.sample.x, key_of_all}, point.sample.y);
    const auto [value, is_first] = values.try_emplace({point.sample.x, key}, of_all->second);
    if (!is_nearly(value->second, of_all->second)) return false;
    have_met = have_met || (is_new && !is_first);
    are_equal = are_equal && is_nearly(point.sample.y, points.front().sample.y);
  }
  return have_met || are_equal || keys.size() == keys_of_all.size();
}

/// A plot under construction, whose lines are added point by point.
class PlotInWork {
 public:
  explicit PlotInWork(Plot& plot) : plot_(plot) {}

  void add_own(const std::string& name, const Sample& sample) {
    if (can_be_drawn(sample.y)) plot_.series[place_of(Role::own, name)].samples.push_back(sample);
  }

  /// Adds a point of a rival or a limit. Rows with the same rival repeat the rival's time, so only the first row with
  /// the rival is used.
  void add_reference(const Reference& point, const std::string& name) {
    const std::size_t place = place_of(point.role, name);
    if (known_.insert({place, point.sample.x}).second) plot_.series[place].samples.push_back(point.sample);
  }

 private:
  std::size_t place_of(Role role, const std::string& name) {
    const auto [place, is_new] = places_.try_emplace({role, name}, plot_.series.size());
    if (is_new) plot_.series.push_back({.name = name, .role = role});
    return place->second;
  }

  Plot& plot_;
  std::map<std::pair<Role, std::string>, std::size_t> places_;
  std::set<std::pair<std::size_t, double>> known_;
};

class PlotMaker {
 public:
  PlotMaker(const Rows& rows, std::string x, Names ys, const Names& labels) : x_(std::move(x)), ys_(std::move(ys)) {
    const auto is_shared = [&](const std::string& label) { return std::ranges::find(shared_, label) != shared_.end(); };
    const Names but_x = without(labels, x_);
    const Names others = without_repeated(rows, but_x);
    shared_ = shared_in_a_plot(rows, others, ys_.size());
    std::ranges::remove_copy_if(others, std::back_inserter(told_by_line_), is_shared);
    std::ranges::remove_copy_if(but_x, std::back_inserter(told_by_reference_), [&](const std::string& label) {
      return is_shared(label) || is_one_of(compared, label);
    });
  }

  std::vector<Plot> plots(const Rows& rows) const {
    std::vector<Rows> parts;
    std::unordered_map<std::string, std::size_t> places;
    for (const Json* const row : rows) {
      const auto [place, is_new] = places.try_emplace(key_of(*row, shared_), parts.size());
      if (is_new) parts.emplace_back();
      parts[place->second].push_back(row);
    }
    std::vector<Plot> plots;
    for (const Rows& part : parts) {
      for (Plot& plot : cut(plot_of(part)))
        if (finished(plot)) plots.push_back(std::move(plot));
    }
    return plots;
  }

 private:
  /// Cuts a plot with more than `most_lines` lines into several plots.
  static std::vector<Plot> cut(Plot plot) {
    const std::size_t count = (plot.series.size() + most_lines - 1) / most_lines;
    if (count == 1) return {std::move(plot)};
    std::vector<Plot> plots;
    for (std::size_t i = 0; i < count; ++i) {
      const auto first = plot.series.begin() + static_cast<std::ptrdiff_t>(i * most_lines);
      const auto last =
          plot.series.begin() + static_cast<std::ptrdiff_t>(std::min((i + 1) * most_lines, plot.series.size()));
      plots.push_back({.title = (plot.title.empty() ? "" : plot.title + ", ") + "part " + std::to_string(i + 1) +
                                " of " + std::to_string(count),
                       .x_name = plot.x_name,
                       .y_name = plot.y_name,
                       .series = {std::move_iterator(first), std::move_iterator(last)}});
    }
    return plots;
  }

  Plot plot_of(const Rows& rows) const {
    Plot plot{.title = joined(*rows.front(), shared_, true), .x_name = x_, .y_name = y_name()};
    PlotInWork in_work(plot);
    std::map<std::pair<Role, std::string>, std::vector<Reference>> references;
    for (const Json* const row : rows) {
      add_own(in_work, *row);
      for (Reference& point : references_in(*row)) references[{point.role, point.name}].push_back(std::move(point));
    }
    for (const auto& [key, points] : references) {
      const Names told = told_by(points);
      for (const Reference& point : points) {
        const std::string apart = joined(*point.row, told, false);
        in_work.add_reference(point, point.name + (apart.empty() ? "" : ", ") + apart);
      }
    }
    return plot;
  }

  /// Returns the name of the y axis. If several fields are on it, they are times in one unit.
  std::string y_name() const { return ys_.size() == 1 ? ys_.front() : ys_.front().substr(ys_.front().rfind('_') + 1); }

  void add_own(PlotInWork& plot, const Json& row) const {
    const double x = *number_in(row, x_);
    const std::string name = joined(row, told_by_line_, false);
    for (const std::string& field : ys_) {
      const std::optional<double> y = number_in(row, field);
      // The row of the loop that only reads is itself the limit, so it has no line.
      if (!y || (field == "ns_per_element" && number_in(row, "ratio_to_read") == 1)) continue;
      const std::string of_field = ys_.size() == 1 ? "" : (name.empty() ? "" : ", ") + spoken(field);
      const std::string known_as = name + of_field;
      plot.add_own(known_as.empty() ? spoken(field) : known_as, sample_of(row, x, field, *y));
    }
  }

  std::vector<Reference> references_in(const Json& row) const {
    std::vector<Reference> all;
    for (const std::string& field : ys_) {
      const std::optional<double> y = number_in(row, field);
      if (!y) continue;
      for (Reference& each : references_of(row, *number_in(row, x_), field, *y)) all.push_back(std::move(each));
    }
    return all;
  }

  /// Returns the smallest set of fields in which the lines of one rival or limit differ.
  Names told_by(const std::vector<Reference>& points) const {
    Names told = told_by_reference_;
    for (std::size_t i = told.size(); i-- > 0;) {
      const Names fewer = without(told, told[i]);
      if (make_one_line(points, fewer, told_by_reference_)) told = fewer;
    }
    return told;
  }

  /// Whether some line of the plot has two points.
  static bool finished(Plot& plot) {
    bool has_line = false;
    for (Series& series : plot.series) {
      std::vector<Sample>& samples = series.samples;
      std::ranges::stable_sort(samples, {}, &Sample::x);
      has_line = has_line || samples.front().x < samples.back().x;
      series.is_line = std::ranges::adjacent_find(samples, {}, &Sample::x) == samples.end();
    }
    return has_line;
  }

  std::string x_;
  Names ys_;
  Names shared_;             // labels that the rows of one plot have in common
  Names told_by_line_;       // the other labels, which name the plot's lines
  Names told_by_reference_;  // fields in which lines of a rival may differ: all that are not compared with the rival
};

}  // namespace

std::optional<double> number_in(const Json& row, const std::string& field) {
  const auto found = row.find(field);
  if (found == row.end() || !found->is_number()) return std::nullopt;
  const auto number = found->get<double>();
  return can_be_drawn(number) ? std::optional(number) : std::nullopt;
}

std::vector<Plot> plots_in(const Rows& rows) {
  if (rows.empty()) return {};
  const std::vector<Field> fields = fields_among(rows);
  const Names labels = labels_of(fields);
  if (labels.size() > most_labels) return {};
  const std::string x = x_of(rows, labels);
  const Names ys = ys_of(fields);
  if (x.empty() || ys.empty()) return {};
  return PlotMaker(rows, x, ys, labels).plots(rows);
}

}  // namespace steadfold::command::results
