#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "results/names.hpp"
#include "results/results.hpp"
#include "results/series.hpp"
#include "svg.hpp"

namespace steadfold::command::results {
namespace {

constexpr double left = 64;
constexpr double plot_width = 520;
constexpr double top = 52;
constexpr double before_names = 40;  // pixels for thin lines and for samples of the lines
constexpr double label_height = 14;
constexpr std::size_t most_plots = 24;  // largest number of plots of rows with the same fields
constexpr std::size_t most_letters = 48;
constexpr int most_ticks = 16;

// The colours of a line of a plot, on a light and on a dark page. Every colour has a contrast of 3 or more to the page,
// and is as far as possible from the colours before it. This also holds for eyes that lack one kind of cone (in Oklab,
// after Machado et al.).
struct Colour {
  std::string_view on_light;
  std::string_view on_dark;
};
constexpr std::array<Colour, 24> colours = {
    {{"#0060b0", "#78b8ff"}, {"#d05000", "#ffa050"}, {"#000000", "#d80060"}, {"#780030", "#7848ff"},
     {"#9090a8", "#c0ffd8"}, {"#0090ff", "#fff000"}, {"#a80078", "#0090c0"}, {"#0000c0", "#a8c0a8"},
     {"#009060", "#c07800"}, {"#784800", "#c0d8ff"}, {"#7800f0", "#ff18c0"}, {"#ff00ff", "#a878ff"},
     {"#7878c0", "#307878"}, {"#600078", "#78f090"}, {"#f04878", "#c09090"}, {"#d87800", "#d8d830"},
     {"#306048", "#f07860"}, {"#a818a8", "#c04890"}, {"#c04890", "#a86018"}, {"#484860", "#a8a8c0"},
     {"#9048d8", "#a830d8"}, {"#7890d8", "#ffc0d8"}, {"#487848", "#d8ff90"}, {"#483060", "#30d878"}}};
static_assert(colours.size() == most_lines);

/// The positions of values on an axis, and the values that are written beside it.
class Axis {
 public:
  Axis(double low, double high) {
    is_logarithmic_ = low > 0 && high / low >= 8;
    if (!is_logarithmic_ && low > 0) low = 0;
    widen(low, high);
    low_ = is_logarithmic_ ? std::log10(low) : low;
    high_ = is_logarithmic_ ? std::log10(high) : high;
    const double room = 0.04 * (high_ - low_);
    if (is_logarithmic_ || low_ < 0) low_ -= room;
    high_ += room;
  }

  /// Returns the position of a value on the axis, from 0 to 1.
  double place(double value) const { return ((is_logarithmic_ ? std::log10(value) : value) - low_) / (high_ - low_); }

  std::vector<double> ticks() const { return is_logarithmic_ ? logarithmic_ticks() : even_ticks(); }

 private:
  /// Moves the ends of the axis so far apart that doubles between them, and the ticks, differ.
  static void widen(double& low, double& high) {
    const double magnitude = std::max(std::abs(low), std::abs(high));
    if (high - low < 1e-9 * magnitude) low -= 0.05 * magnitude, high += 0.05 * magnitude;
    if (high - low < 1e-290) high = low + 1;
  }

  std::vector<double> logarithmic_ticks() const {
    std::vector<double> found;
    const bool is_short = high_ - low_ < 2;
    const double step = std::max(1.0, std::ceil((high_ - low_) / 9));
    for (double decade = std::floor(low_); decade <= high_; decade += step) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        if (digit > 1 && !is_short) break;
        const double log = decade + std::log10(digit);
        if (log >= low_ && log <= high_) found.push_back(std::pow(10, decade) * digit);
      }
    }
    return found;
  }
  std::vector<double> even_ticks() const {
    const double rough = (high_ - low_) / 6;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
    std::vector<double> found;
    const double first = std::ceil(low_ / step);
    for (int i = 0; i < most_ticks && (first + i) * step <= high_; ++i) found.push_back((first + i) * step + 0.0);
    return found;
  }

  bool is_logarithmic_ = false;
  double low_ = 0;
  double high_ = 1;
};

template <class Low, class High>
Axis axis_over(const Plot& plot, Low low_of, High high_of) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Series& series : plot.series) {
    for (const Sample& sample : series.samples) {
      low = std::min(low, low_of(sample));
      high = std::max(high, high_of(sample));
    }
  }
  return {low, high};
}

/// Shortens a name to a limited number of letters, because names may have any length. Never cuts a letter of several
/// bytes.
std::string shortened(const std::string& text) {
  if (text.size() <= most_letters) return text;
  std::size_t end = most_letters - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

/// The mark of a line. Lines differ in their colours (each colour occurs once per plot), in their marks, and in the
/// names at their ends. Lines after the eighth are also dashed.
enum class Mark : std::uint8_t { circle, square, diamond };
struct Style {
  std::string classes;
  Mark mark = Mark::circle;
  bool is_open = false;
};
/// Returns the style of a line. `number` is the number of the line in its plot.
Style style_of(Role role, std::size_t number) {
  constexpr std::size_t without_dashes = 8;
  const auto mark = static_cast<Mark>(number % 3);
  const std::string colour = fmt::format(" line{}", number);
  if (role == Role::rival) return {"rival" + colour, mark, true};
  if (role == Role::limit) return {"limit" + colour, mark, true};
  const std::size_t dashes = number / without_dashes;
  return {"own" + (dashes > 0 ? fmt::format(" dashes{}", dashes) : "") + colour, mark, dashes % 2 == 1};
}

class PlotPicture {
 public:
  explicit PlotPicture(const Plot& plot)
      : plot_(plot),
        x_(axis_over(
            plot, [](const Sample& s) { return s.x; }, [](const Sample& s) { return s.x; })),
        y_(axis_over(
            plot, [](const Sample& s) { return std::min(s.y, s.low); },
            [](const Sample& s) { return std::max(s.y, s.high); })),
        unit_(unit_of(plot.y_name, greatest(plot))),
        height_(std::max(240.0, label_height * static_cast<double>(plot.series.size()))) {
    double names = 0;
    for (const Series& series : plot.series) names = std::max(names, text_width(name_of(series), 11));
    width_ = left + plot_width + before_names + names + 8;
  }

  std::string document() {
    drawing_.text({left, 16}, heading(), "heading");
    add_axes();
    for (std::size_t i = 0; i < plot_.series.size(); ++i)
      add_series(plot_.series[i], style_of(plot_.series[i].role, i));
    add_names();
    return svg({.title = heading(),
                .sentence = fmt::format("A plot of {} lines; the table below has the numbers.", plot_.series.size()),
                .attributes =
                    fmt::format("data-series=\"{}\" font-family=\"sans-serif\" font-size=\"11\"", plot_.series.size()),
                .style = "",
                .width = width_,
                .height = bottom() + 40},
               drawing_);
  }

 private:
  double bottom() const { return top + height_; }
  double at_x(double x) const { return left + plot_width * x_.place(x); }
  double at_y(double y) const { return bottom() - height_ * y_.place(y); }
  Point at(const Sample& sample) const { return {at_x(sample.x), at_y(sample.y)}; }

  std::string heading() const {
    const std::string what = fmt::format("{} by {}", spoken(plot_.y_name), spoken(plot_.x_name));
    return plot_.title.empty() ? what : what + ": " + plot_.title;
  }
  static std::string name_of(const Series& series) {
    return (series.role == Role::rival ? "beside: " : "") + shortened(series.name);
  }

  void add_axes() {
    for (const double tick : x_.ticks()) {
      drawing_.line({at_x(tick), top}, {at_x(tick), bottom()}, "grid");
      drawing_.text({at_x(tick), bottom() + 15}, tick_text(tick), "", Anchor::middle);
    }
    for (const double tick : y_.ticks()) {
      drawing_.line({left, at_y(tick)}, {left + plot_width, at_y(tick)}, "grid");
      drawing_.text({left - 6, at_y(tick) + 4}, tick_text(tick * unit_.factor), "", Anchor::end);
    }
    drawing_.line({left, bottom()}, {left + plot_width, bottom()}, "axis");
    drawing_.line({left, top}, {left, bottom()}, "axis");
    drawing_.text({left + plot_width / 2, bottom() + 32}, axis_label(plot_.x_name, unit_of(plot_.x_name, 0)), "",
                  Anchor::middle);
    drawing_.text({8, top - 14}, axis_label(plot_.y_name, unit_), "");
  }

  /// Writes the number at a tick. Long powers of ten are written with the letter of an SI prefix.
  static std::string tick_text(double tick) {
    constexpr std::array<std::pair<double, std::string_view>, 4> letters = {
        {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}};
    const double size = std::abs(tick);
    for (const auto& [unit, letter] : letters)
      if (size >= std::max(unit, 1e4) && size < 1e15) return fmt::format("{:g}{}", tick / unit, letter);
    return fmt::format("{:g}", tick);
  }

  static double greatest(const Plot& plot) {
    double most = 0;
    for (const Series& series : plot.series)
      for (const Sample& sample : series.samples) most = std::max(most, std::abs(sample.y));
    return most;
  }

  void add_series(const Series& series, const Style& style) {
    drawing_.open("series", name_of(series));
    for (std::size_t i = 1; series.is_line && i < series.samples.size(); ++i)
      drawing_.line(at(series.samples[i - 1]), at(series.samples[i]), style.classes);
    for (const Sample& sample : series.samples) {
      if (sample.low < sample.high) add_interval(sample, style);
      if (series.role != Role::limit) add_mark(at(sample), style);
    }
    drawing_.close();
  }

  void add_interval(const Sample& sample, const Style& style) {
    const double x = at_x(sample.x);
    const std::string classes = style.classes + " interval";
    drawing_.line({x, at_y(sample.low)}, {x, at_y(sample.high)}, classes);
    for (const double end : {sample.low, sample.high}) drawing_.line({x - 3, at_y(end)}, {x + 3, at_y(end)}, classes);
  }

  void add_mark(Point place, const Style& style) {
    const std::string classes = style.classes + (style.is_open ? " mark open" : " mark");
    if (style.mark == Mark::circle) return drawing_.circle(place, 3.2, classes);
    if (style.mark == Mark::square) return drawing_.box({place.x - 3, place.y - 3}, 6, 6, classes);
    const std::array<Point, 4> corners = {
        {{place.x, place.y - 4.4}, {place.x + 4.4, place.y}, {place.x, place.y + 4.4}, {place.x - 4.4, place.y}}};
    drawing_.polygon(corners, classes);
  }

  /// Writes the names at the ends of the lines. The names are moved apart, so that they do not overlap. Each has a
  /// sample of its line, and a thin line to the line's end.
  void add_names() {
    std::vector<std::pair<double, const Series*>> names;
    names.reserve(plot_.series.size());
    for (const Series& series : plot_.series) names.emplace_back(at_y(series.samples.back().y), &series);
    std::ranges::stable_sort(names, {}, [](const auto& each) { return each.first; });
    double lowest = bottom() - label_height * static_cast<double>(names.size() - 1);
    double free = top;
    for (const auto& [wanted, series] : names) {
      const double y = std::min(std::max(wanted, free), std::max(lowest, free));
      free = y + label_height;
      lowest += label_height;
      const auto number = static_cast<std::size_t>(series - plot_.series.data());
      const double end = left + plot_width + before_names;
      drawing_.line({at_x(series->samples.back().x) + 5, wanted}, {end - 24, y}, fmt::format("lead line{}", number));
      drawing_.line({end - 24, y}, {end - 5, y}, style_of(series->role, number).classes + " sample");
      drawing_.text({end, y + 4}, name_of(*series), "");
    }
  }

  const Plot& plot_;
  Axis x_;
  Axis y_;
  Unit unit_;
  double height_;
  double width_ = 0;
  Drawing drawing_;
};

}  // namespace

std::string style_of_plots() {
  std::string light;
  std::string dark;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    light += fmt::format(".line{0}{{stroke:{1};fill:{1}}}", i, colours[i].on_light);
    dark += fmt::format(".line{0}{{stroke:{1};fill:{1}}}", i, colours[i].on_dark);
  }
  return light + "\n@media (prefers-color-scheme:dark){" + dark + "}\n";
}

std::string plots_of(const std::vector<const Json*>& rows) {
  const std::vector<Plot> plots = plots_in(rows);
  std::string text;
  for (const Plot& plot : plots) {
    if (&plot - plots.data() == static_cast<std::ptrdiff_t>(most_plots)) break;
    text += "<figure class=\"wide\">" + PlotPicture(plot).document() + "</figure>\n";
  }
  if (plots.size() > most_plots)
    text += fmt::format("<p>{} more plots are left out; the table has all rows.</p>\n", plots.size() - most_plots);
  return text;
}

}  // namespace steadfold::command::results
