#include "svg.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace steadfold::command {
namespace {

/// Returns the text with bytes that are not UTF-8 replaced. The JSON library replaces them when it writes.
std::string in_utf8(std::string_view text) {
  using Json = nlohmann::json;
  return Json::parse(Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

/// Replaces two code points that XML cannot represent.
void replace_noncharacters(std::string& text) {
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = text.find(none); at != std::string::npos; at = text.find(none, at))
      text.replace(at, none.size(), "\xEF\xBF\xBD");
  }
}

std::string class_of(std::string_view classes) {
  return classes.empty() ? std::string() : fmt::format(" class=\"{}\"", classes);
}

/// Rounds a length to two decimals, because more would not be visible.
double rounded(double length) { return std::round(length * 100) / 100 + 0.0; }

}  // namespace

std::string escaped_markup(std::string_view text) {
  std::string valid = in_utf8(text);
  replace_noncharacters(valid);
  std::string result;
  for (const char c : valid) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    }
  }
  return result;
}

double text_width(std::string_view text, double font_size) {
  return 0.58 * font_size * static_cast<double>(text.size());
}

void Drawing::line(Point from, Point to, std::string_view classes) {
  elements_ += fmt::format("<line{} x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", class_of(classes), rounded(from.x),
                           rounded(from.y), rounded(to.x), rounded(to.y));
}

void Drawing::arrow(Point from, Point to, Head head, std::string_view classes) {
  constexpr double length = 9;
  constexpr double half_width = 3.5;
  const double distance = std::hypot(to.x - from.x, to.y - from.y);
  const Point along = {(to.x - from.x) / distance, (to.y - from.y) / distance};
  const Point foot = {to.x - length * along.x, to.y - length * along.y};
  line(from, foot, classes);
  elements_ += fmt::format("<path class=\"{} {}\" d=\"M{} {}L{} {}L{} {}Z\"/>\n", classes,
                           head == Head::filled ? "filled" : "open", rounded(to.x), rounded(to.y),
                           rounded(foot.x - half_width * along.y), rounded(foot.y + half_width * along.x),
                           rounded(foot.x + half_width * along.y), rounded(foot.y - half_width * along.x));
}

void Drawing::box(Point corner, double width, double height, std::string_view classes) {
  elements_ += fmt::format("<rect{} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", class_of(classes),
                           rounded(corner.x), rounded(corner.y), rounded(width), rounded(height));
}

void Drawing::circle(Point centre, double radius, std::string_view classes) {
  elements_ += fmt::format("<circle{} cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", class_of(classes), rounded(centre.x),
                           rounded(centre.y), rounded(radius));
}

void Drawing::polygon(std::span<const Point> corners, std::string_view classes) {
  std::string points;
  for (const Point& each : corners)
    points += fmt::format("{}{},{}", points.empty() ? "" : " ", rounded(each.x), rounded(each.y));
  elements_ += fmt::format("<polygon{} points=\"{}\"/>\n", class_of(classes), points);
}

void Drawing::text(Point place, std::string_view text, std::string_view classes, Anchor anchor) {
  constexpr std::string_view names[] = {"start", "middle", "end"};
  elements_ +=
      fmt::format("<text{} x=\"{}\" y=\"{}\"{}>{}</text>\n", class_of(classes), rounded(place.x), rounded(place.y),
                  anchor == Anchor::start ? std::string()
                                          : fmt::format(" text-anchor=\"{}\"", names[static_cast<std::size_t>(anchor)]),
                  escaped_markup(text));
}

void Drawing::open(std::string_view classes, std::string_view sentence, std::string_view attributes) {
  elements_ += fmt::format("<g{}{}{}><title>{}</title>\n", class_of(classes), attributes.empty() ? "" : " ", attributes,
                           escaped_markup(sentence));
}

std::string svg(const Frame& frame, const Drawing& drawing) {
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\"{2}{3}>\n"
      "<title>{4}</title>\n<desc>{5}</desc>\n",
      std::ceil(frame.width), std::ceil(frame.height), frame.attributes.empty() ? "" : " ", frame.attributes,
      escaped_markup(frame.title), escaped_markup(frame.sentence));
  if (!frame.style.empty()) {
    // The picture has a background. Otherwise its dark lines would be on a dark background if the page is dark. If the
    // system uses dark colours, so does the picture. The colours keep their hue.
    text += "<style>" + frame.style +
            "@media (prefers-color-scheme:dark){svg{filter:invert(1) hue-rotate(180deg)}}</style>\n<rect "
            "width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  }
  return text + drawing.elements() + "</svg>\n";
}

}  // namespace steadfold::command
