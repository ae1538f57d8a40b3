#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <sstream>

namespace steadfold::command::pictures {

double add_paragraph(Drawing& drawing, Point place, const std::string& text, double width, const char* classes) {
  constexpr double font_size = 11;
  constexpr double line_height = 15;
  std::istringstream words(text);
  std::string line;
  const auto end_line = [&] {
    drawing.text(place, line, classes);
    place.y += line_height;
    line.clear();
  };
  for (std::string word; words >> word;) {
    if (!line.empty() && text_width(line + " " + word, font_size) > width) end_line();
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) end_line();
  return place.y;
}

std::string text_of_run(order::Index first, order::Count count) {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + count - 1);
}

std::string counted(order::Count count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace steadfold::command::pictures
