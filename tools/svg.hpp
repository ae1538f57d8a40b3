// The elements of an SVG picture as text, for pictures of their own and for those inside a page.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace steadfold::command {

/// The text as XML and HTML take it, between tags and inside quotes. What neither may hold becomes a blank, and bytes
/// that are not UTF-8 (as paths may have) become replacement characters.
std::string escaped_markup(std::string_view text);

/// How wide a text is likely to be, in pixels: fonts differ, so this is an upper bound for usual texts.
double text_width(std::string_view text, double font_size);

struct Point {
  double x = 0;
  double y = 0;
};

enum class Anchor : std::uint8_t { start, middle, end };
enum class Head : std::uint8_t { filled, open };

/// Elements, added one behind the other: later ones hide earlier ones. Lengths are pixels, and y grows downwards.
/// `classes` are those of the style sheet.
class Drawing {
 public:
  void line(Point from, Point to, std::string_view classes);
  /// A line whose head stands at `to`.
  void arrow(Point from, Point to, Head head, std::string_view classes);
  void box(Point corner, double width, double height, std::string_view classes);
  void circle(Point centre, double radius, std::string_view classes);
  void polygon(std::span<const Point> corners, std::string_view classes);
  void text(Point place, std::string_view text, std::string_view classes, Anchor anchor = Anchor::start);

  /// Elements up to the matching `close` belong together, and are named by a sentence. `attributes` stand in the tag.
  void open(std::string_view classes, std::string_view sentence, std::string_view attributes = "");
  void close() { elements_ += "</g>\n"; }

  const std::string& elements() const noexcept { return elements_; }

 private:
  std::string elements_;
};

/// What stands around a picture's elements.
struct Frame {
  std::string title;       // what is seen, in a few words
  std::string sentence;    // what a reader who does not see it should know
  std::string attributes;  // of the tag
  std::string style;       // a style sheet; empty: the page has one
  double width = 0;
  double height = 0;
};

/// The whole element `svg`, on a white ground if it has a style sheet of its own.
std::string svg(const Frame& frame, const Drawing& drawing);

}  // namespace steadfold::command
