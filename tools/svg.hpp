// Writes elements of an SVG picture as text, for separate pictures and for pictures inside a page.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace steadfold::command {

/// Returns the text with escapes for XML and HTML, between tags and inside quotes. Characters that both forbid become
/// blanks, and bytes that are not UTF-8 (as in some paths) become replacement characters.
std::string escaped_markup(std::string_view text);

/// Returns an upper bound, in pixels, for the width of a text in usual fonts.
double text_width(std::string_view text, double font_size);

struct Point {
  double x = 0;
  double y = 0;
};

enum class Anchor : std::uint8_t { start, middle, end };
enum class Head : std::uint8_t { filled, open };

/// A list of the elements of a picture. Later elements hide earlier ones. Lengths are pixels, and y grows downwards.
/// `classes` are classes of the style sheet.
class Drawing {
 public:
  void line(Point from, Point to, std::string_view classes);
  /// Draws a line with an arrow head at `to`.
  void arrow(Point from, Point to, Head head, std::string_view classes);
  void box(Point corner, double width, double height, std::string_view classes);
  void circle(Point centre, double radius, std::string_view classes);
  void polygon(std::span<const Point> corners, std::string_view classes);
  void text(Point place, std::string_view text, std::string_view classes, Anchor anchor = Anchor::start);

  /// Opens a group, which ends at the matching `close`. A sentence describes it for readers who do not see it.
  /// `attributes` belong to the tag.
  void open(std::string_view classes, std::string_view sentence, std::string_view attributes = "");
  void close() { elements_ += "</g>\n"; }

  const std::string& elements() const noexcept { return elements_; }

 private:
  std::string elements_;
};

/// The properties of a whole picture.
struct Frame {
  std::string title;       // title of the picture, in a few words
  std::string sentence;    // a description for a reader who does not see the picture
  std::string attributes;  // attributes of the tag `svg`
  std::string style;       // a style sheet; empty: the page has one
  double width = 0;
  double height = 0;
};

/// Returns the whole element `svg`, with a white background if it has a style sheet.
std::string svg(const Frame& frame, const Drawing& drawing);

}  // namespace steadfold::command
